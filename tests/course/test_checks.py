"""Checks take arrays of the host, and say so when given others."""

import numpy as np
import pytest

from helpers import autoinit, checks  # noqa: F401  (autoinit: before anything of pycuda)
from softgpu.tests.facts import refused

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

X = np.arange(4, dtype=np.float32).reshape(2, 2)
CHECKS = {
    "got": lambda x: checks.assert_close(x, X, 0),
    "expected": lambda x: checks.assert_equal(X, x),
    "sum": checks.sum_tolerance,
    "prod": checks.prod_tolerance,
    "softmax": checks.softmax,
    "softmax_tolerance": checks.softmax_tolerance,
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_array_on_the_gpu_is_refused(check):
    check(X)
    check(X.tolist())
    for on_gpu in gpuarray.to_gpu(X), checks.Guarded(X.shape, X.dtype):
        with refused(TypeError, type(on_gpu).__name__, ".get()"):
            check(on_gpu)


@pytest.mark.parametrize(
    "dtype, c_type", [("float32", "float"), ("int32", "int"), ("int8", "char")]
)
@pytest.mark.parametrize("source", ["x[i]", "x[n - 1 - i]"])
def test_guard_copied_onto_a_guard_is_found(source, dtype, c_type):
    """A copy without `if (i < n)` reads past the end of one array and writes past another's."""
    text = f"""__global__ void copy(const {c_type} *x, {c_type} *out, int n)
    {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = {source};
    }}"""
    n = 1000
    x, out = checks.Guarded(n, dtype).set(np.arange(n) % 100), checks.Guarded(n, dtype)
    run = SourceModule(text).get_function("copy")
    run(x.array, out.array, np.int32(n), grid=(4, 1), block=(256, 1, 1))
    sizes = [24 * x.dtype.itemsize, x.bytes] if x.dtype.itemsize > 1 else []
    with refused(AssertionError, *sizes):
        out.get()
    x.get()


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_poison_and_guards_are_never_the_same_twice(dtype):
    one, other = checks.Guarded(256, dtype), checks.Guarded(256, dtype)
    assert (one.get() != other.get()).any()
    apart = one.raw.get() != other.raw.get()
    assert apart[: one.start].any() and apart[one.start + one.bytes :].any()


def test_a_number_is_an_array_without_dimensions(recwarn):
    assert checks.Guarded((), "float32").set(2.5).get() == 2.5
    assert not recwarn.list


def test_poison_of_floats_is_nan():
    assert np.isnan(checks.Guarded((3, 5), "float16").get()).all()
