"""Rounding that kernels leave to C is exact: in any direction, and once where formats are short.

All else that they leave to it the conformance suite compares with a GPU's answers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from softgpu.tests.driver.harness import only_driver

MODES = ["rn", "rz", "rm", "rp"]
# exponent bits, mantissa bits
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
INTEGERS = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


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
