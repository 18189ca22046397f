"""PyCUDA's own kernels on arrays of float16."""

import numpy as np
import pytest

from helpers import autoinit  # noqa: F401
from softgpu.tests.facts import refused

from pycuda import elementwise, gpuarray  # isort: skip
from pycuda.driver import Stream  # isort: skip

X = np.array([0, 1.5, -2, 65504, np.inf], np.float16)


@pytest.mark.parametrize("shape", [0, 5, (2, 3)])
def test_arrays_of_halves_are_filled(shape):
    for made, value in (
        (gpuarray.zeros(shape, np.float16), 0),
        (gpuarray.ones(shape, np.float16), 1),
        (gpuarray.zeros_like(gpuarray.empty(shape, np.float16)), 0),
        (gpuarray.empty(shape, np.float16).fill(0.1), 0.1),
        (gpuarray.empty(shape, np.float16).fill(np.float16(-0.0), stream=Stream()), -0.0),
    ):
        assert made.get().tobytes() == np.full(shape, value, np.float16).tobytes()


def test_part_of_an_array_of_halves_is_filled():
    x = gpuarray.to_gpu(X)
    x[1:3].fill(7)
    assert x.get().tolist() == [0, 7, 7, 65504, np.inf]


def test_halves_are_converted_and_reckoned_with():
    x = gpuarray.to_gpu(X)
    assert (x.astype(np.float32).get() == X.astype(np.float32)).all()
    assert (x.astype(np.float32).astype(np.float16).get() == X).all()
    assert ((x * x).get()[:3] == X[:3] * X[:3]).all()
    assert ((x == x).get() == 1).all()
    double = elementwise.ElementwiseKernel("half *out, const half *x", "out[i] = x[i] + x[i]")
    out = gpuarray.empty_like(x)
    double(out, x)
    assert (out.get()[:3] == 2 * X[:3]).all()


@pytest.mark.parametrize(
    "use",
    [lambda x: x + x, lambda x: 2 * x, lambda x: -x, gpuarray.sum, lambda x: gpuarray.dot(x, x)],
)
def test_what_pycuda_cannot_do_with_halves_is_refused_in_words(use):
    with refused(TypeError, "float16", "x.astype(np.float32)"):
        use(gpuarray.to_gpu(X))
