"""cublasLtMatmul against NumPy."""

from ctypes import byref, c_int, c_int64, c_size_t, c_ubyte, c_uint64, c_void_p, sizeof

import numpy as np
import pytest

from softgpu.tests.facts import missing

from . import Device, loaded
from .test_cublas import CODES, pointer, pytestmark  # noqa: F401

RELU, BIAS, GELU, RELU_AUX = 2, 4, 32, 130
FLOATS, INTEGERS, E4M3 = 68, 72, 28
NOT_SUPPORTED = 15


class Lt:
    """A handle, and products of NumPy's arrays by it."""

    def __init__(self):
        self.library = loaded("cublasLt")
        self.handle = c_void_p()
        assert self.library.cublasLtCreate(byref(self.handle)) == 0

    def made(self, kind, *words, **attributes):
        thing = c_void_p()
        assert getattr(self.library, f"cublasLt{kind}Create")(byref(thing), *words) == 0
        for number, value in attributes.items():
            number = int(number.removeprefix("_"))
            call = getattr(self.library, f"cublasLt{kind}SetAttribute")
            assert call(thing, number, byref(value), c_size_t(sizeof(value))) == 0
        return thing

    def layout(self, array, code, rows_first=False, count=1):
        m, n = array.shape[-2:]
        return self.made(
            "MatrixLayout", code, c_uint64(m), c_uint64(n), c_int64(n if rows_first else m),
            _1=c_int(rows_first), _5=c_int(count), _6=c_int64(m * n),
        )  # fmt: skip

    def matmul(self, description, alpha, a, b, beta, c, layouts, status=0):
        """What of c becomes; a, b and c are in device memory."""
        la, lb, lc = layouts
        preference, count = self.made("MatmulPreference", _1=c_uint64(1 << 20)), c_int()
        found = (c_ubyte * 256)()
        words = (self.handle, description, la, lb, lc, lc, preference, 1, found, byref(count))
        assert self.library.cublasLtMatmulAlgoGetHeuristic(*words) == 0 and count.value == 1
        words = self.handle, description, pointer(alpha), a, la, b, lb, pointer(beta), c, lc, c, lc
        call = self.library.cublasLtMatmul
        assert call(*words, found, None, c_size_t(0), None) == status
        return c.get()


@pytest.fixture(scope="module")
def lt():
    return Lt()


@pytest.fixture
def rng():
    return np.random.default_rng(2)


ONE, NONE, HALF = (np.array([value], np.float32) for value in (1, 0, 0.5))


@pytest.mark.parametrize("of", [np.float16, np.float32])
@pytest.mark.parametrize("epilogue", [1, RELU, BIAS, RELU | BIAS, GELU | BIAS])
def test_bias_and_activation(lt, rng, of, epilogue):
    a, b = (rng.standard_normal(s).astype(of) for s in ((30, 20), (30, 9)))
    bias = rng.standard_normal(20).astype(of)
    held = Device(bias)
    at = c_uint64(int(held.memory))
    description = lt.made("MatmulDesc", FLOATS, 0, _3=c_int(1), _7=c_int(epilogue), _8=at)
    c = Device(np.zeros((20, 9), of))
    layouts = [lt.layout(x, CODES[of]) for x in (a, b, c.like)]
    got = lt.matmul(description, ONE, Device(a), Device(b), NONE, c, layouts)
    wanted = a.T.astype(float) @ b.astype(float)
    if epilogue & BIAS:
        wanted += bias.astype(float)[:, None]
    if epilogue & RELU:
        wanted = np.maximum(wanted, 0)
    if epilogue & GELU:
        wanted *= 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (wanted + 0.044715 * wanted**3)))
    np.testing.assert_allclose(got, wanted, atol=1e-2 if of is np.float16 else 1e-5)


@pytest.mark.parametrize("transposed", [0, 1])
def test_matrices_by_rows_in_batches(lt, rng, transposed):
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((3, 4, 5), (3, 5, 6), (3, 4, 6)))
    given = np.ascontiguousarray(np.swapaxes(a, 1, 2)) if transposed else a
    description = lt.made("MatmulDesc", FLOATS, 0, _3=c_int(transposed))
    layouts = [lt.layout(x, 0, rows_first=True, count=3) for x in (given, b, c)]
    out = Device(c.ravel())
    got = lt.matmul(description, ONE, Device(given.ravel()), Device(b.ravel()), HALF, out, layouts)
    np.testing.assert_allclose(got.reshape(3, 4, 6), a @ b + 0.5 * c, atol=1e-5)


def test_fp8_is_scaled(lt):
    codes = np.array([[0x38, 0x40], [0xB8, 0x7E]], np.uint8)  # 1, 2, -1 and 448 as e4m3
    values = np.array([[1, 2], [-1, 448]], np.float32)
    quarter = Device(np.float32([0.25]))
    at = c_uint64(int(quarter.memory))
    largest = Device(np.zeros(1, np.float32))
    to = c_uint64(int(largest.memory))
    description = lt.made("MatmulDesc", FLOATS, 0, _3=c_int(1), _17=at, _21=to)
    c = Device(np.zeros((2, 2), np.float32))
    layouts = [lt.layout(codes, E4M3)] * 2 + [lt.layout(c.like, 0)]
    got = lt.matmul(description, ONE, Device(codes), Device(codes), NONE, c, layouts)
    assert (got == values.T @ values / 4).all()
    assert largest.get() == got.max()


@pytest.mark.parametrize("of", [np.int32, np.int8])
def test_bytes_become_integers_or_are_rounded(lt, rng, of):
    a, b = (rng.integers(-9, 9, s).astype(np.int8) for s in ((16, 8), (16, 4)))
    exact = of is np.int32
    description = lt.made("MatmulDesc", INTEGERS, 10 if exact else 0, _3=c_int(1))
    c = Device(np.zeros((8, 4), of))
    layouts = [lt.layout(x, CODES[x.dtype.type]) for x in (a, b, c.like)]
    factors = [np.array([v], np.int32 if exact else np.float32) for v in (2 if exact else 0.5, 0)]
    got = lt.matmul(description, factors[0], Device(a), Device(b), factors[1], c, layouts)
    sums = a.T.astype(np.int32) @ b
    wanted = 2 * sums if exact else np.clip(np.rint(sums / 2), -128, 127)
    assert (got == wanted).all()


def test_what_there_is_not_is_refused(lt, rng, capfd):
    description = lt.made("MatmulDesc", FLOATS, 0, _7=c_int(RELU_AUX))
    x = np.zeros((4, 4), np.float32)
    layouts = [lt.layout(x, 0)] * 3
    lt.matmul(description, ONE, Device(x), Device(x), NONE, Device(x), layouts, NOT_SUPPORTED)
    assert not missing(capfd.readouterr().err, "cublasLtMatmul")
    assert lt.library.cublasLtMatrixTransform() == NOT_SUPPORTED
    assert not missing(capfd.readouterr().err, "cublasLtMatrixTransform")
