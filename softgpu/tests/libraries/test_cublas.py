"""cuBLAS against NumPy: every operation and type, with gaps between columns and elements."""

import csv
import ctypes
import zlib
from ctypes import byref, c_int64, c_longlong, c_void_p
from pathlib import Path

import numpy as np
import pytest

from softgpu import xray
from softgpu.tests import python
from softgpu.tests.facts import missing

from . import Device, loaded, software

from pycuda.compiler import SourceModule  # isort: skip

pytestmark = pytest.mark.long  # to compile the library takes a while

TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
REAL = {"S": np.float32, "D": np.float64, "C": np.float32, "Z": np.float64}
CODES = {np.float32: 0, np.float64: 1, np.float16: 2, np.int8: 3, np.complex64: 4, np.int32: 10}
TRANSPOSED = [lambda a: a, lambda a: a.T, lambda a: a.conj().T]
LOWER, UPPER = 0, 1
INVALID_VALUE, EXECUTION_FAILED, NOT_SUPPORTED = 7, 13, 15
_, *ON_A_GPU = csv.reader((Path(__file__).parent / "cublas_halves.csv").read_text().splitlines())
letters = pytest.mark.parametrize("letter", TYPES)


@pytest.fixture(scope="module")
def blas():
    library = loaded("cublas")
    handle = c_void_p()
    assert library.cublasCreate_v2(byref(handle)) == 0

    def call(name, *arguments, status=0):
        if name.endswith("_64"):
            arguments = [c_int64(a) if isinstance(a, int) else a for a in arguments]
        assert getattr(library, name)(handle, *arguments) == status, name

    call.handle, call.library = handle, library
    yield call
    assert library.cublasDestroy_v2(handle) == 0


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def drawn(rng, letter, *shape):
    values = rng.standard_normal(shape)
    if letter in "CZ":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(TYPES[letter])


def number(letter, value):
    return pointer(np.array([value], TYPES[letter]))


def pointer(array):
    """A pointer to an array's data on the host, which keeps it alive."""
    at = c_void_p(array.ctypes.data)
    at.array = array
    return at


def lead(matrix):
    """A matrix on the device, and its leading dimension."""
    device = matrix if isinstance(matrix, Device) else Device(matrix)
    return device, device.like.shape[0]


def close(letter, got, wanted):
    few = letter in "SC"
    np.testing.assert_allclose(
        got, wanted, rtol=2e-4 if few else 1e-11, atol=2e-4 if few else 1e-11
    )


@letters
@pytest.mark.parametrize("op_a", range(3))
@pytest.mark.parametrize("op_b", range(3))
@pytest.mark.parametrize("suffix", ["_v2", "_v2_64"])
def test_gemm(blas, rng, letter, op_a, op_b, suffix):
    m, n, k = 45, 19, 67
    shapes = [(m, k), (k, n)]
    a, b = (drawn(rng, letter, *(s if not op else s[::-1])) for s, op in zip(shapes, (op_a, op_b)))
    c = drawn(rng, letter, m + 3, n)
    alpha, beta = (1.5 - 0.5j, 0.25 + 2j) if letter in "CZ" else (1.5, 0.25)
    dc = Device(c)
    factors = number(letter, alpha), *lead(a), *lead(b), number(letter, beta)
    blas(f"cublas{letter}gemm{suffix}", op_a, op_b, m, n, k, *factors, *lead(dc))
    wanted = alpha * (TRANSPOSED[op_a](a) @ TRANSPOSED[op_b](b)) + beta * c[:m]
    close(letter, dc.get()[:m], wanted)
    assert (dc.get()[m:] == c[m:]).all()


@letters
def test_a_large_product_and_one_of_no_depth(blas, rng, letter):
    a, b = drawn(rng, letter, 300, 1100), drawn(rng, letter, 1100, 200)
    c = np.full((300, 200), np.nan, TYPES[letter])
    dc, one, none = Device(c), number(letter, 1), number(letter, 0)
    factors = one, *lead(a), *lead(b), none
    blas(f"cublas{letter}gemm_v2", 0, 0, 300, 200, 1100, *factors, dc, 300)
    close(letter, dc.get(), a @ b)
    blas(f"cublas{letter}gemm_v2", 0, 0, 300, 200, 0, one, None, 300, None, 1100, one, dc, 300)
    close(letter, dc.get(), a @ b)


@letters
def test_batches(blas, rng, letter):
    m, n, k, count = 5, 7, 3, 4
    a, b, c = (drawn(rng, letter, count, *s) for s in ((k, m), (n, k), (n, m)))  # of columns
    one, half = number(letter, 1), number(letter, 0.5)
    wanted = np.swapaxes(a, 1, 2) @ np.swapaxes(b, 1, 2) + 0.5 * np.swapaxes(c, 1, 2)
    da, db, dc = (Device(x.reshape(-1)) for x in (a, b, c))
    factors = one, da, m, c_longlong(m * k), db, k, c_longlong(k * n), half
    to = dc, m, c_longlong(m * n), count
    blas(f"cublas{letter}gemmStridedBatched", 0, 0, m, n, k, *factors, *to)
    close(letter, dc.get().reshape(count, n, m), np.swapaxes(wanted, 1, 2))
    dc = Device(c.reshape(-1))
    starts = (
        [int(d.memory) + i * d.like.nbytes // count for i in range(count)] for d in (da, db, dc)
    )
    lists = [Device(np.array(places, np.uint64)) for places in starts]
    factors = one, lists[0], m, lists[1], k, half
    blas(f"cublas{letter}gemmBatched", 0, 0, m, n, k, *factors, lists[2], m, count)
    close(letter, dc.get().reshape(count, n, m), np.swapaxes(wanted, 1, 2))


@pytest.mark.parametrize("code, one, small", [(2, 0x3C00, 0x0800), (14, 0x3F80, 0x3900)])
def test_halves_are_summed_as_tensor_cores_sum_them(blas, code, one, small):
    """Which cut 2^-26 off beside 1; floats would have rounded 30 of them up."""
    line = np.array(([one] + 15 * [small]) * 2, np.uint16)
    c = Device(np.array([3, 3], np.float32))
    for at, factors in enumerate([(1, 0), (0.5, 2)]):
        alpha, beta = (pointer(np.array([factor], np.float32)) for factor in factors)
        sides = Device(line), code, 32, Device(line), code, 32
        out = c_void_p(c._as_parameter_.value + 4 * at)
        blas("cublasGemmEx", 1, 0, 1, 1, 32, alpha, *sides, beta, out, 0, 1, 68, -1)
    assert c.get().tolist() == [2, 7]


def bits_of(values, kind):
    """Of floats as halves, or as bfloat16."""
    if kind == "f16":
        return values.astype(np.float32).astype(np.float16).view(np.uint16)
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


@pytest.mark.parametrize("size", sorted({tuple(row[:3]) for row in ON_A_GPU}))
def test_products_of_halves_have_the_bits_of_a_gpu(blas, size):
    """Of cuBLAS 13.1 on an H100: sizes that it neither splits along k nor pads."""
    m, n, k = map(int, size)
    for *_, kind, ways, result, crc in (row for row in ON_A_GPU if tuple(row[:3]) == size):
        rng = np.random.default_rng([m, n, k])
        a, b, c = (rng.standard_normal(shape) for shape in ((m, k), (k, n), (m, n)))
        a = bits_of(a if ways[0] == "T" else a.T, kind)
        b = bits_of(b if ways[1] == "T" else b.T, kind)
        c, code = c.T.astype(np.float32) * (result == "scaled"), {"f16": 2, "bf16": 14}[kind]
        factors = (0.3, 0.7) if result == "scaled" else (1, 0)
        alpha, beta = (pointer(np.array([factor], np.float32)) for factor in factors)
        of = 0 if result in ("f32", "scaled") else code
        out = Device((bits_of(c, kind) if of else c).ravel())
        sides = (Device(a.ravel()), code, a.shape[1]), (Device(b.ravel()), code, b.shape[1])
        how = [int(way == "T") for way in ways]
        blas("cublasGemmEx", *how, m, n, k, alpha, *sides[0], *sides[1], beta, out, of, m, 68, -1)
        got = out.get().reshape(n, m)[:8, :64]
        if of:
            got = got.view(np.float16) if kind == "f16" else got.astype(np.uint32) << 16
            got = got.astype(np.float32) if kind == "f16" else got.view(np.float32)
        assert f"{zlib.crc32(got.tobytes()):08x}" == crc, (size, kind, ways, result)


@pytest.mark.parametrize("of", [np.float16, np.float32])
def test_gemm_ex_of_halves_sums_floats(blas, rng, of):
    a, b = (rng.integers(-8, 8, s).astype(np.float16) for s in ((64, 700), (700, 32)))
    c = Device(np.zeros((64, 32), of))
    one, none = pointer(np.array([1], np.float32)), pointer(np.array([0], np.float32))
    factors = one, Device(a), 2, 64, Device(b), 2, 700, none
    blas("cublasGemmEx", 0, 0, 64, 32, 700, *factors, c, CODES[of], 64, 68, -1)
    exact = a.astype(np.float32) @ b.astype(np.float32)
    assert (c.get() == exact.astype(of)).all()


def test_gemm_of_halves_rounds_once(blas, rng):
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((33, 20), (20, 9)))
    c = Device(np.zeros((33, 9), np.float16))
    one, none = pointer(np.array([1], np.float16)), pointer(np.array([0], np.float16))
    blas("cublasHgemm", 0, 0, 33, 9, 20, one, Device(a), 33, Device(b), 20, none, c, 33)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert abs(c.get() - exact).max() <= 2.0**-11 * abs(exact).max() * 1.01


@pytest.mark.parametrize("of", [(-128, 128), (-128, -127)])
def test_bytes_are_multiplied_as_integers(blas, rng, of):
    a, b = (rng.integers(*of, s).astype(np.int8) for s in ((40, 3001), (3001, 24)))
    c = Device(rng.integers(-99, 99, (40, 24)).astype(np.int32))
    two, minus = (pointer(np.array([value], np.int32)) for value in (2, -1))
    factors = two, Device(a), 3, 40, Device(b), 3, 3001, minus
    blas("cublasGemmEx", 0, 0, 40, 24, 3001, *factors, c, 10, 40, 72, -1)
    assert (c.get() == 2 * (a.astype(np.int32) @ b) - c.like).all()


def triangle(a, uplo, unit=False):
    out = np.triu(a) if uplo == UPPER else np.tril(a)
    if unit:
        np.fill_diagonal(out, 1)
    return out


def mirrored(a, uplo, hermitian=False):
    half = triangle(a, uplo)
    other = half.conj().T if hermitian else half.T
    out = half + other - np.diag(np.diag(half))
    if hermitian:
        out -= 1j * np.diag(np.diag(out).imag)
    return out.astype(a.dtype)


def packed(a, uplo):
    return np.concatenate([a[: j + 1, j] if uplo == UPPER else a[j:, j] for j in range(len(a))])


def band(a, below, above):
    out = np.zeros((below + above + 1, a.shape[1]), a.dtype)
    for j in range(a.shape[1]):
        for i in range(max(0, j - above), min(len(a), j + below + 1)):
            out[above + i - j, j] = a[i, j]
    return out


def banded(a, below, above):
    return np.triu(np.tril(a, above), -below)


@letters
@pytest.mark.parametrize("op", range(3))
def test_matrices_times_vectors(blas, rng, letter, op):
    m, n = 23, 31
    a = drawn(rng, letter, m, n)
    rows, columns = (m, n) if not op else (n, m)
    x, y = drawn(rng, letter, columns * 2), drawn(rng, letter, rows)
    two, three = number(letter, 2), number(letter, 3)
    dy = Device(y)
    blas(f"cublas{letter}gemv_v2", op, m, n, two, Device(a), m, Device(x), 2, three, dy, -1)
    wanted = 2 * (TRANSPOSED[op](a) @ x[::2]) + 3 * y[::-1]
    close(letter, dy.get()[::-1], wanted)
    dy = Device(y)
    factors = two, *lead(band(a, 2, 4)), Device(x), 2, three
    blas(f"cublas{letter}gbmv_v2", op, m, n, 2, 4, *factors, dy, -1)
    wanted = 2 * (TRANSPOSED[op](banded(a, 2, 4)) @ x[::2]) + 3 * y[::-1]
    close(letter, dy.get()[::-1], wanted)


@letters
@pytest.mark.parametrize("uplo", [LOWER, UPPER])
@pytest.mark.parametrize("op", range(3))
@pytest.mark.parametrize("unit", [0, 1])
def test_triangles(blas, rng, letter, uplo, op, unit):
    n, k = 17, 3
    a = drawn(rng, letter, n, n) / 4 + 3 * np.eye(n, dtype=TYPES[letter])
    x = drawn(rng, letter, n)
    full, narrow = triangle(a, uplo, unit), triangle(banded(a, k, k), uplo, unit)
    cases = [
        ("tr", [n, Device(a), n], full),
        ("tp", [n, Device(packed(a, uplo))], full),
        ("tb", [n, k, Device(band(a, *((0, k) if uplo == UPPER else (k, 0)))), k + 1], narrow),
    ]
    for kind, arguments, whole in cases:
        for what in ("mv", "sv"):
            dx = Device(x)
            blas(f"cublas{letter}{kind}{what}_v2", uplo, op, unit, *arguments, dx, 1)
            matrix = TRANSPOSED[op](whole)
            close(letter, dx.get(), matrix @ x if what == "mv" else np.linalg.solve(matrix, x))


@letters
@pytest.mark.parametrize("uplo", [LOWER, UPPER])
def test_whole_matrices_of_which_a_half_is_stored(blas, rng, letter, uplo):
    n, k = 21, 4
    a, x, y = drawn(rng, letter, n, n), drawn(rng, letter, n), drawn(rng, letter, n)
    two, three = number(letter, 2), number(letter, 3)
    half = (0, k) if uplo == UPPER else (k, 0)
    dense, small, flat = Device(a), Device(band(a, *half)), Device(packed(a, uplo))
    kinds = [("sy", False)] + [("he", True)] * (letter in "CZ")
    for name, hermitian in kinds:
        whole = mirrored(a, uplo, hermitian)
        cases = [(f"{name}mv", [n, two, dense, n], whole)]
        first = {"S": "s", "D": "s"}.get(letter, "h")
        if letter in "SD" or hermitian:
            cases.append((f"{first}bmv", [n, k, two, small, k + 1], banded(whole, k, k)))
            cases.append((f"{first}pmv", [n, two, flat], whole))
        for call, arguments, matrix in cases:
            dy = Device(y)
            blas(f"cublas{letter}{call}_v2", uplo, *arguments, Device(x), 1, three, dy, 1)
            close(letter, dy.get(), 2 * (matrix @ x) + 3 * y)


@letters
@pytest.mark.parametrize("uplo", [LOWER, UPPER])
def test_updates_by_vectors(blas, rng, letter, uplo):
    n = 13
    a, x, y = drawn(rng, letter, n, n), drawn(rng, letter, n), drawn(rng, letter, n)
    by = 2 + 1j if letter in "CZ" else 2
    names = ["geru", "gerc"] if letter in "CZ" else ["ger"]
    for name in names:
        da = Device(a)
        blas(
            f"cublas{letter}{name}_v2", n, n, number(letter, by), Device(x), 1, Device(y), 1, da, n
        )
        close(letter, da.get(), a + by * np.outer(x, y.conj() if name == "gerc" else y))
    for hermitian in [False] + [True] * (letter in "CZ"):
        other = np.conj if hermitian else np.asarray
        real = 2 if hermitian else by
        factor = pointer(np.array([real], REAL[letter] if hermitian else TYPES[letter]))
        start = mirrored(a, uplo, hermitian)
        one = start + real * np.outer(x, other(x))
        two = start + by * np.outer(x, other(y)) + other(by) * np.outer(y, other(x))
        full, flat = ("her", "hpr") if hermitian else ("syr", "spr")
        for suffix, scale, more, whole in [
            ("", factor, [], one),
            ("2", number(letter, by), [Device(y), 1], two),
        ]:
            da = Device(a)
            blas(f"cublas{letter}{full}{suffix}_v2", uplo, n, scale, Device(x), 1, *more, da, n)
            close(letter, triangle(da.get(), uplo), triangle(whole, uplo))
            rest = 1 - uplo
            outside = triangle(np.ones((n, n)), rest) - np.eye(n) > 0
            assert (da.get()[outside] == a[outside]).all()
            if letter in "SD" or hermitian:
                dp = Device(packed(a, uplo))
                blas(f"cublas{letter}{flat}{suffix}_v2", uplo, n, scale, Device(x), 1, *more, dp)
                close(letter, dp.get(), packed(whole, uplo))


@letters
@pytest.mark.parametrize("uplo", [LOWER, UPPER])
@pytest.mark.parametrize("turned", [False, True])
def test_updates_by_matrices(blas, rng, letter, uplo, turned):
    n, k = 18, 11
    by, and_by = (2 + 1j, 0.5) if letter in "CZ" else (2, 0.5)
    for hermitian in [False] + [True] * (letter in "CZ"):
        op = (2 if hermitian else 1) if turned else 0
        a, b = (drawn(rng, letter, *((k, n) if turned else (n, k))) for _ in range(2))
        left, right = TRANSPOSED[op](a), TRANSPOSED[op](b)
        flip = TRANSPOSED[2 if hermitian else 1]
        c = mirrored(drawn(rng, letter, n, n), uplo, hermitian)
        name = "her" if hermitian else "syr"
        kind = REAL[letter] if hermitian else TYPES[letter]
        real = 2 if hermitian else by
        scales = [pointer(np.array([v], kind)) for v in (real, and_by)]
        alpha, lda = number(letter, by), a.shape[0]
        cases = [
            ("k_v2", [scales[0], Device(a), lda], real * (left @ flip(left))),
            (
                "2k_v2",
                [alpha, Device(a), lda, Device(b), lda],
                by * (left @ flip(right)) + flip(np.array([[by]]))[0, 0] * (right @ flip(left)),
            ),
            ("kx", [alpha, Device(a), lda, Device(b), lda], by * (left @ flip(right))),
        ]
        for suffix, arguments, sums in cases:
            dc = Device(c)
            blas(f"cublas{letter}{name}{suffix}", uplo, op, n, k, *arguments, scales[1], dc, n)
            whole = sums + and_by * c
            if hermitian:
                whole -= 1j * np.diag(np.diag(whole).imag)
            close(letter, triangle(dc.get(), uplo), triangle(whole, uplo))


@letters
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("uplo", [LOWER, UPPER])
@pytest.mark.parametrize("op", range(3))
def test_products_and_solutions_with_special_matrices(blas, rng, letter, side, uplo, op):
    m, n = 12, 20
    order = n if side else m
    a = drawn(rng, letter, order, order) / 4 + 3 * np.eye(order, dtype=TYPES[letter])
    b, c = drawn(rng, letter, m, n), drawn(rng, letter, m, n)
    two, three = number(letter, 2), number(letter, 3)

    def times(matrix):
        return b @ matrix if side else matrix @ b

    for name, hermitian in [("symm", False)] + [("hemm", True)] * (letter in "CZ"):
        dc = Device(c)
        factors = two, *lead(a), *lead(b), three
        blas(f"cublas{letter}{name}_v2", side, uplo, m, n, *factors, dc, m)
        close(letter, dc.get(), 2 * times(mirrored(a, uplo, hermitian)) + 3 * c)
    matrix = TRANSPOSED[op](triangle(a, uplo))
    dc, db = Device(c), Device(b)
    factors = two, *lead(a), *lead(b)
    blas(f"cublas{letter}trmm_v2", side, uplo, op, 0, m, n, *factors, dc, m)
    close(letter, dc.get(), 2 * times(matrix))
    blas(f"cublas{letter}trsm_v2", side, uplo, op, 0, m, n, two, Device(a), order, db, m)
    close(letter, db.get(), 2 * times(np.linalg.inv(matrix)))


@letters
def test_sums_and_scaled_rows(blas, rng, letter):
    m, n = 9, 14
    a, b, x = drawn(rng, letter, m, n), drawn(rng, letter, n, m), drawn(rng, letter, n)
    dc = Device(np.zeros((m, n), TYPES[letter]))
    two, three = number(letter, 2), number(letter, 3)
    blas(f"cublas{letter}geam", 0, 2, m, n, two, Device(a), m, three, Device(b), n, dc, m)
    close(letter, dc.get(), 2 * a + 3 * b.conj().T)
    blas(f"cublas{letter}dgmm", 1, m, n, Device(a), m, Device(x), 1, dc, m)
    close(letter, dc.get(), a * x)


@letters
def test_vectors(blas, rng, letter):
    n = 1000
    x, y = drawn(rng, letter, 2 * n), drawn(rng, letter, n)
    dx, dy, out = Device(x), Device(y), np.zeros(1, TYPES[letter])
    kind = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    real, index = np.zeros(1, REAL[letter]), np.zeros(1, np.int32)
    blas(f"cublas{kind}nrm2_v2", n, dx, 2, pointer(real))
    close(letter, real[0], np.linalg.norm(x[::2]))
    blas(f"cublas{kind}asum_v2", n, dx, 2, pointer(real))
    parts = abs(x[::2].real) + abs(x[::2].imag)
    np.testing.assert_allclose(real[0], parts.sum(), rtol=1e-5)
    blas(f"cublasI{letter.lower()}amax_v2", n, dx, 2, pointer(index))
    assert index[0] == parts.argmax() + 1
    blas(f"cublasI{letter.lower()}amin_v2", n, dx, 2, pointer(index))
    assert index[0] == parts.argmin() + 1
    for name in ["dotu", "dotc"] if letter in "CZ" else ["dot"]:
        blas(f"cublas{letter}{name}_v2", n, dx, 2, dy, 1, pointer(out))
        close(letter, out[0], ((x[::2].conj() if name == "dotc" else x[::2]) * y).sum())
    blas(f"cublas{letter}axpy_v2", n, number(letter, 3), dx, 2, dy, 1)
    close(letter, dy.get(), 3 * x[::2] + y)
    blas(f"cublas{letter}scal_v2", n, number(letter, 2), dx, 2)
    close(letter, dx.get()[::2], 2 * x[::2])
    assert (dx.get()[1::2] == x[1::2]).all()
    dy = Device(y)
    blas(f"cublas{letter}copy_v2", n, dx, 2, dy, -1)
    close(letter, dy.get()[::-1], 2 * x[::2])
    dx, dy = Device(x[:n].copy()), Device(y)
    blas(f"cublas{letter}swap_v2", n, dx, 1, dy, 1)
    assert (dx.get() == y).all() and (dy.get() == x[:n]).all()
    cosine, sine = pointer(np.array([0.6], REAL[letter])), number(letter, 0.8)
    blas(f"cublas{letter}rot_v2", n, dx, 1, dy, 1, cosine, sine)
    close(letter, dx.get(), 0.6 * y + 0.8 * x[:n])
    close(letter, dy.get(), 0.6 * x[:n] - 0.8 * y)


def test_matrices_and_vectors_go_to_the_device_and_back(blas, rng):
    a, back = (np.asfortranarray(rng.standard_normal((9, 4))) for _ in range(2))
    held, before = Device(np.zeros((7, 4))), back.copy()
    assert blas.library.cublasSetMatrix(6, 4, 8, pointer(a), 9, held, 7) == 0
    assert (held.get()[:6] == a[:6]).all() and (held.get()[6] == 0).all()
    assert blas.library.cublasGetMatrix(6, 4, 8, held, 7, pointer(back), 9) == 0
    assert (back[:6] == a[:6]).all() and (back[6:] == before[6:]).all()
    assert blas.library.cublasSetVector(4, 8, pointer(a), 9, held, 7) == 0
    assert blas.library.cublasGetVector(4, 8, held, 7, pointer(back), 1) == 0
    assert (back.T.ravel()[:4] == a[0]).all()


@pytest.mark.parametrize("of", [np.float16, np.float32])
def test_vectors_whose_type_is_an_argument(blas, rng, of):
    n, kind = 60, CODES[of]
    x, y = (rng.integers(-8, 8, size).astype(of) for size in (2 * n, n))
    dx, dy, out, index = Device(x), Device(y), np.zeros(1, of), np.zeros(1, np.int32)
    two, strided = pointer(np.array([2], np.float32)), x[::2].astype(np.float64)
    blas("cublasAxpyEx", n, two, 0, dx, kind, 2, dy, kind, -1, 0)
    assert (dy.get()[::-1] == 2 * strided + y[::-1]).all()
    blas("cublasScalEx", n, two, 0, dx, kind, 2, 0)
    assert (dx.get()[::2] == 2 * strided).all() and (dx.get()[1::2] == x[1::2]).all()
    blas("cublasScalEx", n, pointer(np.array([0.5], np.float32)), 0, dx, kind, 2, 0)
    for name, wanted in [("DotEx", strided @ y), ("DotcEx", strided @ y)]:
        words = (dx, kind, 2, Device(y), kind, 1, pointer(out), kind, 0)
        blas(f"cublas{name}", n, *words)
        assert out[0] == of(wanted)
    for name, wanted in [("Nrm2Ex", np.sqrt(strided @ strided)), ("AsumEx", abs(strided).sum())]:
        blas(f"cublas{name}", n, dx, kind, 2, pointer(out), kind, 0)
        np.testing.assert_allclose(out[0], wanted, rtol=1e-3)
    for name, find in [("max", np.argmax), ("min", np.argmin)]:
        blas(f"cublasIa{name}Ex", n, dx, kind, 2, pointer(index))
        assert index[0] == find(abs(strided)) + 1
    blas("cublasCopyEx", n, dx, kind, 2, dy, kind, -1)
    assert (dy.get()[::-1] == strided).all()
    c, s = (pointer(np.array([value], np.float32)) for value in (3, 2))
    dy = Device(y)
    blas("cublasRotEx", n, dx, kind, 2, dy, kind, 1, c, s, 0, 0)
    assert (dx.get()[::2] == 3 * strided + 2 * y).all()
    assert (dy.get() == 3 * y - 2 * strided).all()


@letters
def test_rotations_are_made(blas, letter):
    a, b, s = (np.array([v], TYPES[letter]) for v in (3, -4, 0))
    c = np.zeros(1, REAL[letter])
    blas(f"cublas{letter}rotg_v2", pointer(a), pointer(b), pointer(c), pointer(s))
    close(letter, [c[0] * 3 + s[0] * -4, c[0] * -4 - np.conj(s[0]) * 3], [a[0], 0])


def pointers(*arrays):
    """Device memory of each, and a list of where they are there."""
    held = [Device(array) for array in arrays]
    return held, Device(np.array([int(one.memory) for one in held], np.uint64))


@letters
def test_systems_in_batches(blas, rng, letter):
    n, count = 9, 3
    matrices = [drawn(rng, letter, n, n) for _ in range(count)]
    right = [drawn(rng, letter, n, 2) for _ in range(count)]
    held, at = pointers(*matrices)
    order, wrong = Device(np.zeros(n * count, np.int32)), Device(np.ones(count, np.int32))
    blas(f"cublas{letter}getrfBatched", n, at, n, order, wrong, count)
    assert not wrong.get().any()
    for op in range(3):
        solved, places = pointers(*right)
        told = np.ones(1, np.int32)
        words = (op, n, 2, at, n, order, places, n, pointer(told), count)
        blas(f"cublas{letter}getrsBatched", *words)
        assert told[0] == 0
        for a, b, x in zip(matrices, right, solved):
            close(letter, TRANSPOSED[op](a) @ x.get(), b)
    inverses, places = pointers(*(np.zeros_like(a) for a in matrices))
    blas(f"cublas{letter}getriBatched", n, at, n, order, places, n, wrong, count)
    for a, x in zip(matrices, inverses):
        close(letter, a @ x.get(), np.eye(n))


@letters
def test_inverses_in_batches(blas, rng, letter):
    good, bad = drawn(rng, letter, 6, 6), np.zeros((6, 6), TYPES[letter])
    held, at = pointers(good, bad)
    inverses, places = pointers(bad, bad)
    wrong = Device(np.zeros(2, np.int32))
    blas(f"cublas{letter}matinvBatched", 6, at, 6, places, 6, wrong, 2)
    close(letter, good @ inverses[0].get(), np.eye(6))
    assert list(wrong.get()) == [0, 1]
    assert (held[0].get() == good).all()


@letters
@pytest.mark.parametrize("uplo", [LOWER, UPPER])
def test_triangles_are_packed_and_unpacked(blas, rng, letter, uplo):
    a = drawn(rng, letter, 7, 7)
    flat, whole = Device(np.zeros(28, TYPES[letter])), Device(np.zeros((7, 7), TYPES[letter]))
    blas(f"cublas{letter}trttp", uplo, 7, Device(a), 7, flat)
    assert (flat.get() == packed(a, uplo)).all()
    blas(f"cublas{letter}tpttr", uplo, 7, flat, whole, 7)
    assert (whole.get() == triangle(a, uplo)).all()


def test_factors_and_results_on_the_device(blas, rng):
    x, y = rng.standard_normal((2, 500)).astype(np.float32)
    dx, dy, three, out = map(Device, (x, y, np.float32([3]), np.zeros(1, np.float32)))
    blas("cublasSetPointerMode_v2", 1)
    try:
        blas("cublasSaxpy_v2", 500, three, dx, 1, dy, 1)
        blas("cublasSdot_v2", 500, dx, 1, dx, 1, out)
    finally:
        blas("cublasSetPointerMode_v2", 0)
    close("S", dy.get(), 3 * x + y)
    close("S", out.get()[0], x @ x)


@letters
@pytest.mark.parametrize("n", [1, 5, 64, 130])
def test_what_a_factor_of_zero_leaves_out_is_not_read(blas, rng, letter, n):
    a, x = Device(drawn(rng, letter, n, n)), Device(drawn(rng, letter, n))
    one, none, unread = number(letter, 1), number(letter, 0), np.full((n, n), np.nan, TYPES[letter])
    rows = [
        ("gemv", [0, n, n, one, a, n, x, 1]),
        ("gemv", [1, n, n, one, a, n, x, 1]),
        ("gbmv", [0, n, n, 0, 0, one, a, n, x, 1]),
        ("symv", [LOWER, n, one, a, n, x, 1]),
    ]
    for name, arguments in rows:
        for step in (1, -2):
            y = Device(np.full(2 * n, np.nan, TYPES[letter]))
            blas(f"cublas{letter}{name}_v2", *arguments, none, y, step)
            assert np.isfinite(y.get()[: 2 * n : abs(step)][:n]).all(), name
    whole = [("gemm", [op_a, op_b, n, n, n]) for op_a in range(3) for op_b in range(3)]
    whole += [("symm", [side, LOWER, n, n]) for side in range(2)]
    for name, arguments in whole:
        c = Device(unread)
        blas(f"cublas{letter}{name}_v2", *arguments, one, a, n, a, n, none, c, n)
        assert np.isfinite(c.get()).all(), name
    for suffix, more in [("k_v2", []), ("2k_v2", [a, n]), ("kx", [a, n])]:
        c = Device(unread)
        blas(f"cublas{letter}syr{suffix}", UPPER, 0, n, n, one, a, n, *more, none, c, n)
        assert np.isfinite(triangle(c.get(), UPPER)).all()
    bad, y, c = Device(unread), Device(x.get()), Device(a.get())
    blas(f"cublas{letter}gemv_v2", 0, n, n, none, bad, n, x, 1, one, y, 1)
    blas(f"cublas{letter}gemm_v2", 0, 1, n, n, n, none, bad, n, bad, n, one, c, n)
    blas(f"cublas{letter}trsm_v2", 0, LOWER, 0, 0, n, n, none, a, n, bad, n)
    assert (y.get() == x.get()).all() and (c.get() == a.get()).all() and (bad.get() == 0).all()


@letters
def test_no_number_times_zero_is_none(blas, letter):
    for value in (np.nan, np.inf):
        x = Device(np.full(101, value, TYPES[letter]))
        blas(f"cublas{letter}scal_v2", 101, number(letter, 0), x, 1)
        assert np.isnan(x.get()).all()


@pytest.mark.parametrize("letter", "SD")
def test_modified_rotations_are_made(blas, letter):
    values = [np.array([v], TYPES[letter]) for v in (2, 3, 4, 5)]
    h, xy = np.zeros(5, TYPES[letter]), [Device(values[2]), Device(values[3])]
    blas(f"cublas{letter}rotmg_v2", *map(pointer, values), pointer(h))
    blas(f"cublas{letter}rotm_v2", 1, xy[0], 1, xy[1], 1, pointer(h))
    close(letter, [xy[0].get()[0], xy[1].get()[0]], [values[2][0], 0])
    close(letter, values[0] * values[2] ** 2, [2 * 4**2 + 3 * 5**2])


def test_a_graph_keeps_a_call(blas, rng):
    import pycuda.driver as cuda

    driver, graph, launched = ctypes.CDLL("libcuda.so.1"), c_void_p(), c_void_p()
    x, y = rng.standard_normal((2, 50)).astype(np.float32)
    dx, dy, stream, three = Device(x), Device(y), cuda.Stream(), number("S", 3)
    handle = c_void_p(stream.handle)
    blas("cublasSetStream_v2", handle)
    try:
        assert driver.cuStreamBeginCapture_v2(handle, 0) == 0
        blas("cublasSaxpy_v2", 50, three, dx, 1, dy, 1)
        assert driver.cuStreamEndCapture(handle, byref(graph)) == 0
    finally:
        blas("cublasSetStream_v2", None)
    three.array[0] = 9  # a factor of the host is what it was then
    assert (dy.get() == y).all()
    assert driver.cuGraphInstantiateWithFlags(byref(launched), graph, c_longlong(0)) == 0
    for _ in range(2):
        assert driver.cuGraphLaunch(launched, handle) == 0
    stream.synchronize()
    close("S", dy.get(), 6 * x + y)
    assert driver.cuGraphExecDestroy(launched) == driver.cuGraphDestroy(graph) == 0


@software
def test_only_what_a_call_writes_counts_as_written(blas, rng):
    import pycuda.driver as cuda

    n, one, none = 8, number("S", 1), number("S", 0)
    a, out, c = Device(drawn(rng, "S", n, n)), cuda.mem_alloc(4), cuda.mem_alloc(4 * n * n)
    reads = SourceModule("__global__ void f(float *o, float *c, int i) { *o = c[i]; }")
    kernel = reads.get_function("f")
    at = c_void_p(int(c))
    blas("cublasSsyrk_v2", LOWER, 0, n, n, one, a, n, none, at, n)

    def found(row, column):
        place = np.int32(row + column * n)
        return [f.kind for f in xray.sanitize(kernel, out, c, place, block=1, grid=1)]

    assert found(5, 2) == [] and found(2, 5) == ["uninitialised read"]


def test_a_call_gives_the_same_bits_again(blas, rng):
    n = 300
    a, c = Device(drawn(rng, "S", n, n)), [Device(np.zeros((n, n), np.float32)) for _ in range(2)]
    one, none = number("S", 1), number("S", 0)
    for out in c:
        blas("cublasSgemm_v2", 0, 0, n, n, n, one, a, n, a, n, none, out, n)
    assert (c[0].get() == c[1].get()).all()


def test_its_openblas_is_its_own_and_has_the_threads_of_a_launch():
    """NumPy's is another one, with functions of the same names."""
    program = (
        "import ctypes, softgpu; softgpu.install(libraries=['cublas']);"
        "name = 'scipy_openblas_get_num_threads64_'; assert not hasattr(ctypes.CDLL(None), name);"
        "print(getattr(ctypes.CDLL('libcublas.so.13'), name)())"
    )
    told = python("-c", program, SOFTGPU_THREADS="1", OPENBLAS_NUM_THREADS="2")
    assert told.stdout == "1\n", told.stderr


@software
def test_what_is_wrong_is_refused(blas, capfd):
    a = Device(np.zeros((8, 8), np.float32))
    one = pointer(np.ones(1, np.float32))
    gemm = "cublasSgemm_v2"
    blas(gemm, 0, 0, -1, 8, 8, one, a, 8, a, 8, one, a, 8, status=INVALID_VALUE)
    blas(gemm, 0, 0, 8, 8, 8, one, a, 7, a, 8, one, a, 8, status=INVALID_VALUE)
    blas(gemm, 5, 0, 8, 8, 8, one, a, 8, a, 8, one, a, 8, status=INVALID_VALUE)
    blas(gemm, 0, 0, 8, 8, 8, None, a, 8, a, 8, one, a, 8, status=INVALID_VALUE)
    assert blas.library.cublasSgemm_v2(None, 0, 0, 8, 8, 8, one, a, 8, a, 8, one, a, 8) == 1
    assert capfd.readouterr().err == ""
    blas(gemm, 0, 0, 8, 8, 9, one, a, 8, a, 9, one, a, 8, status=EXECUTION_FAILED)
    assert not missing(capfd.readouterr().err, "256-byte")
    blas("cublasSgeqrfBatched", status=NOT_SUPPORTED)
    assert not missing(capfd.readouterr().err, "cublasSgeqrfBatched")


def test_names_of_statuses(blas):
    blas.library.cublasGetStatusName.restype = ctypes.c_char_p
    assert blas.library.cublasGetStatusName(13) == b"CUBLAS_STATUS_EXECUTION_FAILED"
