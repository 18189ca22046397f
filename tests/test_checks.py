"""Checks take arrays of the host, and say so when given others."""

import numpy as np
import pytest

from helpers import autoinit, checks  # noqa: F401  (autoinit: before anything of pycuda)

from pycuda import gpuarray  # isort: skip

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
        with pytest.raises(TypeError, match=r"is on the GPU: give what its \.get\(\) returns"):
            check(on_gpu)
