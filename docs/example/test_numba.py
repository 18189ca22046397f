"""A kernel written in Python, with shared memory, atomics and a barrier of the whole grid."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
from numba import cuda, float32

THREADS = 256


@cuda.jit
def block_sums(x, total):
    shared = cuda.shared.array(THREADS, float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    shared[thread] = x[i] if i < x.size else 0
    step = THREADS // 2
    while step:
        cuda.syncthreads()
        if thread < step:
            shared[thread] += shared[thread + step]
        step //= 2
    if thread == 0:
        cuda.atomic.add(total, 0, shared[0])


@cuda.jit("void(int32[:])")
def neighbours(values):
    """Every block reads what the next one has written before the barrier."""
    block = cuda.blockIdx.x
    values[block] = block
    cuda.cg.this_grid().sync()
    after = values[(block + 1) % cuda.gridDim.x]
    cuda.cg.this_grid().sync()
    values[block] = after


def test_block_sums():
    x, total = np.arange(10_000, dtype=np.float32), np.zeros(1, np.float32)
    block_sums[-(-x.size // THREADS), THREADS](x, total)
    assert total[0] == x.sum()


def test_neighbours():
    values = np.zeros(20, np.int32)
    neighbours[20, 1](values)
    assert values.tolist() == [*range(1, 20), 0]
