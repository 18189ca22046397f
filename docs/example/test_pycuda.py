"""A kernel under PyCUDA."""

import numpy as np
import pytest

autoinit = pytest.importorskip("pycuda.autoinit", reason="PyCUDA is not installed")

SOURCE = """
__global__ void reverse(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[n - 1 - i] = x[i];
}
"""


def test_reverse():
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule

    reverse = SourceModule(SOURCE).get_function("reverse")
    x = np.arange(1000, dtype=np.float32)
    out = gpuarray.empty(x.size, np.float32)
    reverse(gpuarray.to_gpu(x), out, np.int32(x.size), grid=(4, 1), block=(256, 1, 1))
    assert (out.get() == x[::-1]).all()
