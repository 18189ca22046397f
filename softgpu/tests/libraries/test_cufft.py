"""cuFFT against NumPy."""

from ctypes import byref, c_int, c_longlong, c_size_t, c_void_p

import numpy as np
import pytest

from softgpu.tests.facts import missing

from . import Device, loaded, software

R2C, C2R, C2C, D2Z, Z2D, Z2Z = 0x2A, 0x2C, 0x29, 0x6A, 0x6C, 0x69
EXECUTE = {R2C: "R2C", C2R: "C2R", C2C: "C2C", D2Z: "D2Z", Z2D: "Z2D", Z2Z: "Z2Z"}
REAL = {R2C: np.float32, C2R: np.float32, C2C: np.float32}
SHAPES = [
    (1,),
    (2,),
    (8,),
    (120,),
    (97,),
    (67,),
    (1024,),
    (4489,),
    (6, 10),
    (7, 131),
    (4, 3, 5),
    (2, 9, 8),
]
INVALID_PLAN, INVALID_TYPE, EXEC_FAILED, INVALID_SIZE, NOT_SUPPORTED = 1, 3, 6, 8, 16


@pytest.fixture(scope="module")
def fft():
    return loaded("cufft")


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def whole_numbers(*values):
    return (c_int * len(values))(*values)


def planned(fft, shape, kind, batch=1):
    """A handle, by the call for so many dimensions; by cufftPlanMany where there is a batch."""
    handle = c_int()
    if len(shape) == 1:
        status = fft.cufftPlan1d(byref(handle), *shape, kind, batch)
    elif batch == 1:
        status = getattr(fft, f"cufftPlan{len(shape)}d")(byref(handle), *shape, kind)
    else:
        n = whole_numbers(*shape)
        words = (None, 1, 0, None, 1, 0, kind, batch)
        status = fft.cufftPlanMany(byref(handle), len(shape), n, *words)
    assert status == 0
    return handle


def execute(fft, handle, kind, source, target, *direction):
    assert getattr(fft, f"cufftExec{EXECUTE[kind]}")(handle, source, target, *direction) == 0
    assert fft.cufftDestroy(handle) == 0


def spectra(rng, real, batch, *shape):
    """Complex numbers in C's order."""
    values = rng.standard_normal((batch, *shape, 2)).astype(real)
    return np.ascontiguousarray(values).view(np.result_type(real, np.complex64))[..., 0]


def close(real, got, wanted):
    scale = abs(wanted).max() * (4e-7 if real is np.float32 else 2e-14)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=scale)


@pytest.mark.parametrize("kind", [C2C, Z2Z])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("batch", [1, 3])
def test_complex_numbers_both_ways(fft, rng, kind, shape, batch):
    real = REAL.get(kind, np.float64)
    x, axes = spectra(rng, real, batch, *shape), range(1, len(shape) + 1)
    source, target = Device(x.ravel()), Device(np.zeros_like(x.ravel()))
    execute(fft, planned(fft, shape, kind, batch), kind, source, target, -1)
    forward = np.fft.fftn(x.astype(complex), axes=axes)
    close(real, target.get().reshape(x.shape), forward)
    execute(fft, planned(fft, shape, kind, batch), kind, target, target, 1)
    close(real, target.get().reshape(x.shape), x * np.prod(shape))


@pytest.mark.parametrize("kinds", [(R2C, C2R), (D2Z, Z2D)])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("batch", [1, 2])
def test_real_numbers_there_and_back(fft, rng, kinds, shape, batch):
    real = REAL.get(kinds[0], np.float64)
    x, axes = rng.standard_normal((batch, *shape)).astype(real), range(1, len(shape) + 1)
    forward = np.fft.rfftn(x.astype(float), axes=axes)
    result = np.zeros(forward.size, np.result_type(real, np.complex64))
    source, target = Device(x.ravel()), Device(result)
    execute(fft, planned(fft, shape, kinds[0], batch), kinds[0], source, target)
    close(real, target.get().reshape(forward.shape), forward)
    again = Device(np.zeros(x.size, real))
    execute(fft, planned(fft, shape, kinds[1], batch), kinds[1], target, again)
    close(real, again.get().reshape(x.shape), x * np.prod(shape))


def test_in_place_rows_of_real_numbers_have_room(fft, rng):
    x = rng.standard_normal((5, 7))
    padded = np.zeros((5, 8))
    padded[:, :7] = x
    data = Device(padded.ravel())
    execute(fft, planned(fft, (5, 7), D2Z), D2Z, data, data)
    close(np.float64, data.get().view(complex).reshape(5, 4), np.fft.rfft2(x))
    execute(fft, planned(fft, (5, 7), Z2D), Z2D, data, data)
    close(np.float64, data.get().reshape(5, 8)[:, :7], x * 35)


def test_a_spectrum_that_is_no_mirror_image_is_taken_as_one(fft, rng):
    half = spectra(rng, np.float64, 1, 4)[0]
    out = Device(np.zeros(6))
    execute(fft, planned(fft, (6,), Z2D), Z2D, Device(half), out)
    close(np.float64, out.get(), np.fft.irfft(half, 6) * 6)


def test_columns_of_a_matrix(fft, rng):
    x = spectra(rng, np.float64, 6, 10)
    data = Device(x.ravel())
    handle = c_int()
    n, rows = whole_numbers(6), whole_numbers(6)
    assert fft.cufftPlanMany(byref(handle), 1, n, rows, 10, 1, rows, 10, 1, Z2Z, 10) == 0
    execute(fft, handle, Z2Z, data, data, -1)
    close(np.float64, data.get().reshape(6, 10), np.fft.fft(x, axis=0))


def test_gaps_stay_as_they_are(fft, rng):
    x = spectra(rng, np.float64, 3, 4, 6)  # of 3 by 5 each, in rows of 6; 24 apart
    filled = np.full((3, 4, 6), 9 + 9j)
    out = Device(filled.ravel())
    handle = c_int()
    assert fft.cufftCreate(byref(handle)) == 0
    work, n, rows = c_size_t(), whole_numbers(3, 5), whole_numbers(4, 6)
    words = (rows, 1, 24, rows, 1, 24, Z2Z, 3, byref(work))
    assert fft.cufftMakePlanMany(handle, 2, n, *words) == 0
    execute(fft, handle, Z2Z, Device(x.ravel()), out, -1)
    filled[:, :3, :5] = np.fft.fft2(x[:, :3, :5])
    close(np.float64, out.get().reshape(3, 4, 6), filled)


@software
def test_a_plan_by_types_of_data(fft, rng):
    x = rng.standard_normal((3, 8))
    out = Device(np.zeros(15, complex))
    handle, work, n = c_int(), c_size_t(), (c_longlong * 1)(8)
    assert fft.cufftCreate(byref(handle)) == 0
    many = [c_longlong(value) for value in (1, 8, 1, 5, 3)]
    words = (handle, 1, n, None, *many[:2], 1, None, *many[2:4], 5, many[4], byref(work), 5)
    assert fft.cufftXtMakePlanMany(*words) == 0
    assert fft.cufftXtExec(handle, Device(x.ravel()), out, -1) == 0
    close(np.float64, out.get().reshape(3, 5), np.fft.rfft(x))
    halves = (*words[:6], 2, *words[7:])
    assert fft.cufftXtMakePlanMany(*halves) == NOT_SUPPORTED


@software
def test_what_is_wrong_is_refused(fft, capfd):
    handle, few = c_int(), Device(np.zeros(8, np.complex64))
    assert fft.cufftPlan1d(byref(handle), 0, C2C, 1) == INVALID_SIZE
    assert fft.cufftPlan1d(byref(handle), 8, 77, 1) == INVALID_TYPE
    assert fft.cufftExecC2C(12345, few, few, -1) == INVALID_PLAN
    handle = planned(fft, (9,), C2C)
    assert fft.cufftExecZ2Z(handle, few, few, -1) == INVALID_TYPE
    assert capfd.readouterr().err == ""
    assert fft.cufftExecC2C(handle, few, few, -1) == EXEC_FAILED
    assert not missing(capfd.readouterr().err, "64-byte")
    assert fft.cufftXtSetGPUs(handle, 1, None) == NOT_SUPPORTED
    assert not missing(capfd.readouterr().err, "cufftXtSetGPUs")
    assert fft.cufftSetStream(handle, c_void_p()) == 0
