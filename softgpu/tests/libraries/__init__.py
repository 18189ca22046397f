"""NVIDIA's libraries as ours, called as clients do that load them by name."""

import ctypes

import numpy as np
import pytest

from softgpu.libraries import LIBRARIES, serve
from softgpu.tests import autoinit  # first: the driver

software = pytest.mark.skipif(
    not autoinit.is_software, reason="where there is a GPU, NVIDIA's library may answer"
)


def loaded(name):
    """A library, found by its name alone."""
    serve([LIBRARIES[name]], aliases=True)
    return ctypes.CDLL(f"lib{name}.so")


class Device:
    """Device memory with a copy of an array."""

    def __init__(self, array):
        import pycuda.driver as cuda

        self.like = np.asarray(array)
        self.memory = cuda.to_device(np.asfortranarray(array).ravel("K"))
        self._as_parameter_ = ctypes.c_void_p(int(self.memory))

    def get(self):
        import pycuda.driver as cuda

        out = np.empty_like(self.like, order="F")
        cuda.memcpy_dtoh(out.ravel("K"), self.memory)
        return out
