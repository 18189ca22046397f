"""The kernels of bench_pocl in Triton, as its interpreter runs them: block by block, in NumPy.

python bench/bench_triton.py    # where torch and triton are installed: seconds, as JSON
"""

import json
import os
import time

os.environ["TRITON_INTERPRET"] = "1"

import bench_pocl
import torch
import triton
import triton.language as tl

NARROW = 4
"""Products are of matrices so many times narrower, and take so many times cubed as long: as many
blocks less, each with as many steps less."""


@triton.jit
def wave(x, y, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + i, i < n)
    tl.store(y + i, tl.sin(v) * tl.exp(v), i < n)


@triton.jit
def reduce(x, sums, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(x + i, i < n, 0.0)))


@triton.jit
def histogram(x, counts, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.atomic_add(counts + tl.load(x + i, i < n).to(tl.int32), 1, i < n)


@triton.jit
def add4(x, y, z, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * 4 * SIZE + tl.arange(0, 4 * SIZE)
    tl.store(z + i, tl.load(x + i, i < 4 * n) + tl.load(y + i, i < 4 * n), i < 4 * n)


@triton.jit
def saxpy(x, y, z, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(z + i, 2.0 * tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def transpose(a, b, n, SIZE: tl.constexpr):
    rows = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tile = tl.load(a + rows[:, None] * n + columns[None, :])
    tl.store(b + columns[:, None] * n + rows[None, :], tl.trans(tile))


@triton.jit
def multiply(a, b, c, n, SIZE: tl.constexpr):
    rows = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for k in range(n):
        total += tl.load(a + rows * n + k)[:, None] * tl.load(b + k * n + columns)[None, :]
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def multiply_tiles(a, b, c, n, SIZE: tl.constexpr):
    rows = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    columns = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for first in range(0, n, SIZE):
        k = first + tl.arange(0, SIZE)
        of_a = tl.load(a + rows[:, None] * n + k[None, :])
        of_b = tl.load(b + k[:, None] * n + columns[None, :])
        total += tl.dot(of_a, of_b)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


def seconds() -> dict[str, float]:
    """Seconds of the processor that each kernel takes, whose result is compared."""
    torch.set_num_threads(1)
    taken = {}
    for case in bench_pocl.cases(bench_pocl.WIDTH // NARROW):
        kernel = globals()[case.kernel]
        out = torch.from_numpy(case.empty_result())
        arrays = [*map(torch.from_numpy, map(bench_pocl.np.ascontiguousarray, case.inputs)), out]
        begin = time.process_time()
        kernel[case.grid](*arrays, case.n, SIZE=case.block[0])
        narrow = NARROW**3 if "multiply" in case.kernel else 1
        taken[case.kernel] = (time.process_time() - begin) * narrow
        case.check(out.numpy())
    return taken


if __name__ == "__main__":
    print(json.dumps(seconds()))
