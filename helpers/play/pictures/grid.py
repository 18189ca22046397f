"""Which thread has which element, and what the last block does beyond the end."""

import numpy as np

from ..page import Page
from ..tables import recorded

__all__ = ["grid", "table"]

SIZES = list(range(1, 41))
BLOCKS = [4, 8, 16, 32]
KERNEL = """
__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    GUARD x[i] = i;
}
"""
GUARDS = {"with guard": "if (i < n)", "without": ""}


def grid():
    """A thread for each of n elements, in blocks: who does what, who has nothing to do, and what
    is overwritten where nobody asks whether i < n."""
    counts = recorded("grid")
    data = {"sizes": SIZES, "blocks": BLOCKS, "guards": GUARDS, "counts": counts}
    words = "a grid of blocks over n elements; open it as HTML to play it"
    return Page("grid", "Grid, blocks and the tail", data, words, height=480)


def table():
    """{guard: {block: for each n [threads that store, elements outside that they overwrite]}}."""
    return {
        guard: {str(block): [_stored(asks, n, block) for n in SIZES] for block in BLOCKS}
        for guard, asks in GUARDS.items()
    }


def _stored(asks, n, block):
    from ..trace import record  # isort: skip  (it picks the driver that PyCUDA binds to)
    from pycuda import gpuarray

    x = gpuarray.zeros(n, np.float32)
    text = KERNEL.replace("GUARD", asks)
    done = record(text, x, np.int32(n), grid=-(-n // block), block=block)
    places = [int(at) for _, access in done.accesses("store", 0) for at in access.index]
    return [len(places), len([at for at in places if at >= n])]
