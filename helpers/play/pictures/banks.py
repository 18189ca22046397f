"""What one access of a warp costs: banks of shared memory, sectors of global memory."""

import numpy as np

from ..page import Page
from ..tables import recorded

__all__ = ["banks", "table"]

STRIDES = [*range(10), 12, 15, 16, 17, 31, 32, 33]  # in elements, from lane to lane
OFFSETS = list(range(9))
TYPES = {4: "float", 8: "float2", 16: "float4"}  # by their bytes
KERNEL = """
__global__ void touch(const {T} *x, {T} *y, int stride, int offset)
{{
    extern __shared__ {T} s[];
    int at = threadIdx.x * stride + offset;
    {T} far = x[at];
    {T} near = s[at];
    y[threadIdx.x] = far;
    y[threadIdx.x + 32] = near;
}}
"""


def banks():
    """32 lanes access element lane * stride + offset: how many wavefronts it takes in shared
    memory, and how many sectors in global memory."""
    data = {"strides": STRIDES, "offsets": OFFSETS, "counts": recorded("banks")}
    words = "banks and sectors of one access of a warp; open it as HTML to play it"
    return Page("banks", "Banks and sectors", data, words, height=520)


def table():
    """{bytes of an element: for each stride [wavefronts, [sectors for each offset]]}, counted."""
    return {str(size): [_counted(size, stride) for stride in STRIDES] for size in TYPES}


def _counted(size, stride):
    from ... import sources, xray  # isort: skip  (it picks the driver that PyCUDA binds to)
    from pycuda import gpuarray

    kernel = sources.kernel(KERNEL.format(T=TYPES[size]))
    elements = 31 * max(STRIDES) + max(OFFSETS) + 1
    x = gpuarray.zeros(elements * size // 4, np.float32)
    y = gpuarray.zeros(64 * size // 4, np.float32)
    wavefronts, sectors = set(), []
    for offset in OFFSETS:
        numbers = np.int32(stride), np.int32(offset)
        shape = {"grid": 1, "block": 32, "shared": elements * size}
        report = xray.profile(kernel, x, y, *numbers, **shape)
        wavefronts.add(report.total["lds.wavefronts"])
        sectors.append(report.total["ld.sectors"])
    (same,) = wavefronts  # an offset moves all banks alike
    return [same, sectors]
