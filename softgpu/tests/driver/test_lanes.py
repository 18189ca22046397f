"""The arithmetic that kernels leave to C: exact where IEEE says what is right, else close."""

import math
from fractions import Fraction

import numpy as np
import pytest

from softgpu.tests.driver.harness import only_driver

MODES = ["rn", "rz", "rm", "rp"]
# exponent bits, mantissa bits
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
INTEGERS = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 3.4e38, -3.4e38]


@pytest.fixture
def driver():
    return only_driver()


def rounded(value, form, mode):
    """A nonzero Fraction as the bits of a format."""
    exponent_bits, mantissa_bits = FORMATS[form]
    bias = (1 << (exponent_bits - 1)) - 1
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    negative, size = value < 0, abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, 1 - bias)
    scaled = size / Fraction(2) ** (exponent - mantissa_bits)
    kept = scaled.numerator // scaled.denominator
    rest = scaled - kept
    away = mode == ("rm" if negative else "rp")
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and kept % 2)
    else:
        up = rest > 0 and away
    bits = ((exponent + bias - 1) << mantissa_bits) + kept + bool(up)
    if bits >= infinity:
        bits = infinity if mode == "rn" or away else infinity - 1
    return bits | negative << (exponent_bits + mantissa_bits)


def test_the_reference_itself():
    values = np.random.default_rng(0).integers(0, 1 << 63, 500, np.int64).view(np.float64)
    with np.errstate(over="ignore"):
        for value in values[np.isfinite(values) & (values != 0)]:
            exact = Fraction(float(value))
            assert rounded(exact, "f32", "rn") == int(np.float32(value).view(np.uint32))
            assert rounded(exact, "f64", "rz") == int(value.view(np.uint64))
            assert rounded(exact, "f16", "rn") == int(np.float16(value).view(np.uint16))


def value_of(bits, form):
    """The Fraction that bits of a finite number stand for."""
    if form == "bf16":
        return Fraction(float(np.uint32(int(bits) << 16).view(np.float32)))
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[form]
    return Fraction(float(INTEGERS[form](bits).view(kind)))


def random_bits(form, count, seed):
    """Finite numbers: of every exponent, near each other, and with few bits set."""
    rng = np.random.default_rng(seed)
    exponent_bits, mantissa_bits = FORMATS[form]
    width = exponent_bits + mantissa_bits + 1
    bias = (1 << (exponent_bits - 1)) - 1
    kinds = rng.integers(0, 3, count)
    exponents = np.where(kinds == 0, rng.integers(0, 2 * bias, count), bias)
    exponents = exponents + np.where(kinds == 2, rng.integers(-6, 7, count), 0)
    mantissas = rng.integers(0, 1 << mantissa_bits, count)
    sparse = (1 << rng.integers(0, mantissa_bits, count)) - rng.integers(0, 2, count)
    mantissas = np.where(rng.random(count) < 0.4, sparse, mantissas)
    signs = rng.integers(0, 2, count)
    bits = [int(s) << (width - 1) | int(e) << mantissa_bits | int(m)
            for s, e, m in zip(signs, exponents, mantissas)]  # fmt: skip
    return np.array(bits, INTEGERS[form])


OPERATIONS = {
    "add": (2, lambda a, b: a + b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, lambda a, b: a / b),
    "fma": (3, lambda a, b, c: a * b + c),
    "rcp": (1, lambda a: 1 / a),
}


@pytest.mark.parametrize("form", ["f32", "f64"])
@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_directed_rounding(driver, operation, mode, form):
    count, function = OPERATIONS[operation]
    inputs = [random_bits(form, 600, seed) for seed in range(count)]
    if operation == "fma":  # products that nearly cancel, and addends far below
        inputs[2][::3] = inputs[0][::3] ^ (1 << (31 if form == "f32" else 63))
        inputs[1][::3] = np.array([1.0], {"f32": np.float32, "f64": np.float64}[form]).view(
            INTEGERS[form]
        ) + np.arange(200, dtype=INTEGERS[form])
    got = driver.lanes(f"sg_{operation}_{mode}_{form}", *inputs, out=INTEGERS[form])
    for n, bits in enumerate(zip(*inputs)):
        values = [value_of(b, form) for b in bits]
        if operation in ("div", "rcp") and values[-1] == 0:
            continue
        exact = function(*values)
        if exact:
            assert int(got[n]) == rounded(exact, form, mode), (values, n)


@pytest.mark.parametrize("form", ["f32", "f64"])
@pytest.mark.parametrize("mode", MODES[1:])
def test_directed_square_root(driver, mode, form):
    bits = random_bits(form, 600, 5) & INTEGERS[form]((1 << (31 if form == "f32" else 63)) - 1)
    got = driver.lanes(f"sg_sqrt_{mode}_{form}", bits, out=INTEGERS[form])
    for given, root in zip(bits, got):
        exact = value_of(given, form)
        if not exact:
            continue
        below = value_of(root if mode != "rp" else root - 1, form)
        above = value_of(root + 1 if mode != "rp" else root, form)
        assert below * below <= exact <= above * above
        assert (below * below < exact) if mode == "rp" else (exact < above * above)


def test_directed_special_values(driver):
    a, b = (np.array(x, np.float32) for x in zip(*((x, y) for x in SPECIAL for y in SPECIAL)))
    with np.errstate(all="ignore"):
        expected = a + b
    got = driver.lanes("sg_add_rz_f32", a, b, out=np.float32)
    assert (np.isnan(got) == np.isnan(expected)).all()
    assert (got.view(np.uint32)[np.isnan(got)] == 0x7FFFFFFF).all()
    one, other = np.array([1.0], np.float32), np.array([-1.0], np.float32)
    zeros = [driver.lanes(f"sg_add_{m}_f32", one, other, out=np.uint32)[0] for m in MODES[1:]]
    assert zeros == [0, 0x80000000, 0]  # x - x is -0 only when rounding down


@pytest.mark.parametrize("mode", MODES[1:])
def test_conversions_from_integers(driver, mode):
    rng = np.random.default_rng(2)
    for kind in (np.int32, np.uint32, np.int64, np.uint64):
        info = np.iinfo(kind)
        name = f"{'u' if info.min == 0 else 's'}{info.bits}"
        values = rng.integers(info.min, info.max, 300, kind, endpoint=True)
        values >>= rng.integers(0, info.bits - 1, 300).astype(kind)
        values[:4] = info.max, info.min, info.max - 1, 1
        for form in ("f32", "f64"):
            got = driver.lanes(f"sg_cvt_{mode}_{form}_{name}", values, out=INTEGERS[form])
            for value, bits in zip(values, got):
                expected = rounded(Fraction(int(value)), form, mode) if value else 0
                assert int(bits) == expected, (name, form, value)


@pytest.mark.parametrize("to, source, mode", [
    *(("f32", "f64", m) for m in MODES[1:]),
    *((to, "f64", m) for to in ("f16", "bf16") for m in MODES),
    *((to, "f32", m) for to in ("f16", "bf16") for m in MODES[1:]),
])  # fmt: skip
def test_conversions_to_fewer_bits(driver, to, source, mode):
    rng = np.random.default_rng(3)
    exponent_bits, mantissa_bits = FORMATS[to]
    bias = (1 << (exponent_bits - 1)) - 1
    kind = {"f32": np.float32, "f64": np.float64}[source]
    low, high = max(-bias - mantissa_bits - 3, -145), min(bias + 3, 127)
    sizes = rng.integers(1 << 9, 1 << 22, 900) * 2.0 ** (rng.integers(low, high, 900) - 21)
    steps = rng.integers(0, 3, 900) - 1
    values = np.nextafter(sizes, sizes * (1 + steps), dtype=kind) * rng.choice([-1, 1], 900)
    values = values[(values != 0) & np.isfinite(values)].astype(kind)
    got = driver.lanes(f"sg_cvt_{mode}_{to}_{source}", values, out=INTEGERS[to])
    for value, bits in zip(values, got):
        assert int(bits) == rounded(Fraction(float(value)), to, mode), value
    special = np.array([0.0, -0.0, math.inf, -math.inf, math.nan], kind)
    got = driver.lanes(f"sg_cvt_{mode}_{to}_{source}", special, out=INTEGERS[to])
    sign, top = 1 << (exponent_bits + mantissa_bits), ((1 << exponent_bits) - 1) << mantissa_bits
    quiet = 1 << (mantissa_bits - 1)  # the NaN of a double goes over as far as it fits
    nan = top | quiet if source == "f64" else sign - 1
    assert got.tolist() == [0, sign, top, sign | top, nan]


@pytest.mark.parametrize(("form", "largest"), [("e4m3", 448.0), ("e5m2", 57344.0)])
def test_conversions_to_8_bits(driver, form, largest):
    """Every number of the format, what lies halfway between two, and what lies next to either."""
    exponent_bits, mantissa_bits = (4, 3) if form == "e4m3" else (5, 2)
    smallest = 2.0 ** (2 - (1 << (exponent_bits - 1)) - mantissa_bits)
    steps = np.arange(1 << mantissa_bits)
    exponents = 2.0 ** np.arange((1 << exponent_bits) - 1)[:, None]
    numbers = np.concatenate([steps, (exponents * (steps + (1 << mantissa_bits))).ravel()])
    numbers = numbers[numbers * smallest <= largest] * smallest
    codes = np.arange(len(numbers))
    assert numbers[-1] == largest and codes[-1] == {"e4m3": 0x7E, "e5m2": 0x7B}[form]
    between = ((numbers[:-1] + numbers[1:]) / 2).astype(np.float32)
    exact, tied = numbers.astype(np.float32), codes[:-1] + codes[:-1] % 2
    nearby = [(np.nextafter(between, np.float32(0)), codes[:-1])]
    nearby += [(np.nextafter(between, np.float32(math.inf)), codes[1:])]
    beyond = np.array([largest * 1.2, 3e38, math.inf], np.float32)
    nearby += [(exact, codes), (between, tied), (beyond, np.full(3, codes[-1]))]
    for values, expected in nearby:
        got = driver.lanes(f"sg_cvt_{form}_f32", values, out=np.uint8)
        assert got.tolist() == expected.tolist()
        got = driver.lanes(f"sg_cvt_{form}_f32", -values, out=np.uint8)
        assert got.tolist() == (expected | 0x80).tolist()
    for bits in (0x7FC00000, 0xFFC00000, 0x7F800001):
        nan = np.array([bits], np.uint32).view(np.float32)
        assert driver.lanes(f"sg_cvt_{form}_f32", nan, out=np.uint8).tolist() == [0x7F]


@pytest.mark.parametrize("form", ["f16", "bf16"])
def test_short_fma_rounds_once(driver, form):
    a, b, c = (random_bits(form, 6000, seed) for seed in (11, 12, 13))
    one = 0x3C00 if form == "f16" else 0x3F80
    # products one half of the last place away, and an addend that decides
    a[:1000], b[:1000] = one + np.arange(1000) % 100, one + np.arange(1000) % 7
    c[:1000] = np.arange(1000) % 5 + 1
    c[:1000:2] |= 0x8000
    got = driver.lanes(f"sg_fma_{form}", a, b, c, out=np.uint16)
    for n, bits in enumerate(zip(a, b, c)):
        x, y, z = (value_of(i, form) for i in bits)
        exact = x * y + z
        if exact:
            assert int(got[n]) == rounded(exact, form, "rn"), (bits, n)


@pytest.mark.parametrize("form, infinity", [("f16", 0x7C00), ("bf16", 0x7F80)])
def test_short_fma_of_special_values(driver, form, infinity):
    one = 0x3C00 if form == "f16" else 0x3F80
    minus = 0x8000
    rows = [
        (infinity, one, one, infinity), (infinity, 0, one, 0x7FFF), (0x7FFF, one, one, 0x7FFF),
        (infinity, one, infinity | minus, 0x7FFF), (one, one, one | minus, 0), (0, one, 0, 0),
        (0, one | minus, minus, minus), (infinity - 1, one + 1, 0, infinity),
    ]  # fmt: skip
    a, b, c, expected = (np.array(column, np.uint16) for column in zip(*rows))
    assert driver.lanes(f"sg_fma_{form}", a, b, c, out=np.uint16).tolist() == expected.tolist()


def test_64_bit_division(driver):
    rng = np.random.default_rng(4)
    for kind, name in ((np.int64, "s64"), (np.uint64, "u64")):
        info = np.iinfo(kind)
        a, b = (rng.integers(info.min, info.max, 300, kind, endpoint=True) for _ in range(2))
        b >>= rng.integers(0, 63, 300).astype(kind)
        a[:3], b[:3] = (info.min, info.max, 5), (-1 if name == "s64" else 1, 0, 0)
        quotients = driver.lanes(f"sg_div_{name}", a, b, out=kind)
        remainders = driver.lanes(f"sg_rem_{name}", a, b, out=kind)
        for x, y, q, r in zip(*(array.tolist() for array in (a, b, quotients, remainders))):
            if y == 0:
                assert q == r == (-1 if name == "s64" else info.max)
                continue
            expected = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
            assert r == x - expected * y
            assert q == (expected if expected <= info.max else info.min)


def test_fns(driver):
    rows = [(0b1010, 0, 1, 1), (0b1010, 0, 2, 3), (0b1010, 0, 3, -1), (0b1010, 3, -2, 1),
            (0b1010, 3, 0, 3), (0b1010, 2, 0, -1), (0b1010, 1, 1, 1), (0xFFFFFFFF, 31, -32, 0),
            (0xFFFFFFFF, 31, -(1 << 31), -1)]  # fmt: skip
    mask, base, offset, expected = (np.array(column) for column in zip(*rows))
    arguments = mask.astype(np.uint32), base.astype(np.uint32), offset.astype(np.int32)
    assert driver.lanes("sg_fns", *arguments, out=np.int32).tolist() == expected.tolist()


# --- approximations ------------------------------------------------------------------------------


def float_inputs(low, high, count=20000):
    rng = np.random.default_rng(6)
    spread = np.exp(rng.uniform(-100, 88, count)) * rng.choice([-1, 1], count)
    values = np.concatenate([rng.uniform(low, high, count), spread, np.linspace(low, high, count)])
    return values.astype(np.float32)


def ulps(got, exact):
    """Distance from a double, in units of the last place of float."""
    with np.errstate(over="ignore", invalid="ignore"):
        unit = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
        return np.abs(got.astype(np.float64) - exact) / unit


def test_ex2_and_lg2(driver):
    x = float_inputs(-126, 127)
    with np.errstate(over="ignore", under="ignore"):
        exact = np.exp2(x.astype(np.float64))
    fits = (exact < 3.4e38) & (exact > 1e-44)
    assert ulps(driver.lanes("sg_ex2_approx_f32", x, out=np.float32), exact)[fits].max() < 0.51
    x = np.abs(float_inputs(0.5, 2))
    exact = np.log2(x.astype(np.float64))
    got = driver.lanes("sg_lg2_approx_f32", x, out=np.float32)
    assert (np.abs(got - exact) <= np.abs(exact) * 2**-23.5 + 2e-10).all()


def test_sin_and_cos(driver):
    x = float_inputs(-np.pi, np.pi)
    for name, function in (("sin", np.sin), ("cos", np.cos)):
        got = driver.lanes(f"sg_{name}_approx_f32", x, out=np.float32)
        # the hardware counts full turns in a float: far out, no angle is left
        angle = np.where(np.abs(x) < 2.0**25 * np.pi, x.astype(np.float64), 0)
        assert np.abs(got - function(angle)).max() < 2**-24


def test_tanh(driver):
    x = float_inputs(-5, 5)
    exact = np.tanh(x.astype(np.float64))
    got = driver.lanes("sg_tanh_approx_f32", x, out=np.float32)
    assert (np.abs(got - exact) <= np.abs(exact) * 2**-23).all()


@pytest.mark.parametrize("name, given, expected", [
    ("ex2", [0, -0.0, math.inf, -math.inf, math.nan, 1, -149, -151, 128],
     [1, 1, math.inf, 0, math.nan, 2, 1.4e-45, 0, math.inf]),
    ("ex2_ftz", [-127, 1e-45], [0, 1]),
    ("lg2", [0, -0.0, math.inf, -math.inf, math.nan, 1, -1, 1.4e-45, 8],
     [-math.inf, -math.inf, math.inf, math.nan, math.nan, 0, math.nan, -149, 3]),
    ("lg2_ftz", [1.4e-45, -1.4e-45], [-math.inf, -math.inf]),
    ("sin", [0, -0.0, math.inf, math.nan, 1.4e-45], [0, -0.0, math.nan, math.nan, 1.4e-45]),
    ("sin_ftz", [1.4e-45, -1.4e-45], [0, -0.0]),
    ("cos", [0, -0.0, -math.inf, math.nan, 1.4e-45], [1, 1, math.nan, math.nan, 1]),
    ("tanh", [0, -0.0, math.inf, -math.inf, math.nan, 1e-45], [0, -0.0, 1, -1, math.nan, 1e-45]),
])  # fmt: skip
def test_special_values(driver, name, given, expected):
    opcode, _, flush = name.partition("_")
    function = f"sg_{opcode}_approx{'_ftz' if flush else ''}_f32"
    got = driver.lanes(function, np.array(given, np.float32), out=np.float32)
    wanted = np.array(expected, np.float32)
    same = (got.view(np.uint32) == wanted.view(np.uint32)) | (np.isnan(got) & np.isnan(wanted))
    assert same.all(), got


@pytest.mark.parametrize("name, function", [("ex2", np.exp2), ("tanh", np.tanh)])
def test_half_approximations(driver, name, function):
    bits = np.arange(65536).astype(np.uint16)
    x = bits.view(np.float16)
    with np.errstate(all="ignore"):
        exact = function(x.astype(np.float64)).astype(np.float16)
    got = driver.lanes(f"sg_{name}_approx_f16", bits, out=np.uint16).view(np.float16)
    finite = np.isfinite(exact)
    assert (np.isnan(got) == np.isnan(exact)).all()
    difference = np.abs(got[finite].astype(np.float32) - exact[finite].astype(np.float32))
    assert (difference <= np.spacing(exact[finite]).astype(np.float32)).all()


def test_double_approximations_use_upper_words(driver):
    rng = np.random.default_rng(7)
    x = np.exp(rng.uniform(-600, 600, 3000))
    for name, function in (("rcp", lambda v: 1 / v), ("rsqrt", lambda v: 1 / np.sqrt(v))):
        got = driver.lanes(f"sg_{name}_approx_ftz_f64", x, out=np.float64)
        assert (got.view(np.uint64) & np.uint64(0xFFFFFFFF) == 0).all()
        assert (np.abs(got / function(x) - 1) < 2.0**-19).all()
    special = np.array([0.0, -0.0, math.inf, -math.inf, 1e-310, -1e-310, 1.7e308, 4.0])
    got = driver.lanes("sg_rcp_approx_ftz_f64", special, out=np.float64)
    assert got.tolist()[:7] == [math.inf, -math.inf, 0, 0, math.inf, -math.inf, 0]
    assert np.signbit(got[3]) and got[7] == 0.25
    got = driver.lanes("sg_rsqrt_approx_ftz_f64", np.array([*special, -4.0, math.nan]), out=float)
    assert got.tolist()[:3] == [math.inf, -math.inf, 0] and got[7] == 0.5
    assert np.isnan(got[[3, 8, 9]]).all()


# --- atomics -------------------------------------------------------------------------------------

U32, S32, U64, S64, F32, F64, F16, BF16, F16X2, BF16X2, B16, B32, B64, B128 = range(14)
ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCHANGE, CAS = range(10)
ATOMICS = {
    ADD: lambda m, a, b: m + a,
    MIN: lambda m, a, b: min(m, a),
    MAX: lambda m, a, b: max(m, a),
    INC: lambda m, a, b: 0 if m >= a else m + 1,
    DEC: lambda m, a, b: a if m == 0 or m > a else m - 1,
    AND: lambda m, a, b: m & a,
    OR: lambda m, a, b: m | a,
    XOR: lambda m, a, b: m ^ a,
    EXCHANGE: lambda m, a, b: a,
    CAS: lambda m, a, b: b if m == a else m,
}


def run_atomic(driver, operation, type_number, memory, a, b):
    """Memory after one atomic of each lane, and what the lanes got."""
    slots = np.zeros((32, 16), np.uint8)
    slots[:, : memory.itemsize] = memory.view(np.uint8).reshape(32, -1)
    places = [driver.put(array) for array in (slots, a, b, np.zeros_like(memory))]
    driver.launch("atomic", *places, type_number << 32 | operation)
    after = driver.get(places[0], 512, np.uint8).reshape(32, 16)[:, : memory.itemsize]
    out = driver.get(places[3], memory.nbytes, np.uint8).view(memory.dtype)
    for place in places:
        driver.free(place)
    return np.ascontiguousarray(after).view(memory.dtype).ravel(), out


@pytest.mark.parametrize("type_number, kind", [
    (U32, np.uint32), (S32, np.int32), (U64, np.uint64), (S64, np.int64), (B32, np.uint32),
    (B16, np.uint16), (B64, np.uint64),
])  # fmt: skip
def test_integer_atomics(driver, type_number, kind):
    rng = np.random.default_rng(8)
    info = np.iinfo(kind)
    for operation, function in ATOMICS.items():
        if operation in (INC, DEC) and type_number != U32:
            continue
        memory, a, b = (rng.integers(info.min, info.max, 32, kind, endpoint=True) for _ in range(3))
        a[::3] = memory[::3]
        memory[5] = 0
        after, out = run_atomic(driver, operation, type_number, memory, a, b)
        assert (out == memory).all()
        expected = [function(*map(int, row)) for row in zip(memory, a, b)]
        wrapped = np.array([value % (1 << info.bits) for value in expected], np.uint64)
        assert (after.view(f"u{after.itemsize}") == wrapped).all(), operation


def test_128_bit_atomics(driver):
    memory = np.arange(128, dtype=np.uint32).reshape(32, 4).view("V16").ravel()
    a, b = memory.copy(), np.arange(500, 628, dtype=np.uint32).view("V16")
    a[1::2] = b[1::2]
    after, out = run_atomic(driver, CAS, B128, memory, a, b)
    assert out.tobytes() == memory.tobytes()
    assert after[::2].tobytes() == b[::2].tobytes()
    assert after[1::2].tobytes() == memory[1::2].tobytes()


def test_floating_atomics(driver):
    rng = np.random.default_rng(9)
    for type_number, kind in ((F32, np.float32), (F64, np.float64), (F16, np.float16)):
        memory, a = (rng.normal(size=32).astype(kind) for _ in range(2))
        after, out = run_atomic(driver, ADD, type_number, memory, a, a)
        assert (out == memory).all() and (after == memory + a).all()
    memory, a = (rng.normal(size=64).astype(np.float16) for _ in range(2))
    after, _ = run_atomic(driver, ADD, F16X2, memory.view(np.uint32), a.view(np.uint32), a)
    assert (after.view(np.float16) == memory + a).all()
    memory, a = (random_bits("bf16", 64, seed) for seed in (20, 21))
    after, _ = run_atomic(driver, ADD, BF16X2, memory.view(np.uint32), a.view(np.uint32), a)
    for got, x, y in zip(after.view(np.uint16), memory, a):
        exact = value_of(x, "bf16") + value_of(y, "bf16")
        if exact:
            assert int(got) == rounded(exact, "bf16", "rn")


def test_float_atomics_on_global_memory_flush_subnormals(driver):
    memory = np.full(32, 1e-40, np.float32)
    a = np.full(32, 1e-3, np.float32)
    a[16:] = -1e-40
    after, _ = run_atomic(driver, ADD, F32, memory, a, a)
    assert (after[:16] == np.float32(1e-3)).all() and (after[16:] == 0).all()
