"""Launches of four mechanisms, predicted before a GPU had run them: tiles of floats in registers,
local memory, structs that are read in part, and scans in shared memory."""

from math import ceil

import numpy as np

from .cases import below, cases_of, floats, zeros

__all__ = ["MECHANISMS"]

I32, U32 = np.int32, np.uint32
_case = cases_of("mechanisms, blind", "mechanisms.cu")


def _tiles():
    for n in (512, 1024):
        matrices = floats(n * n), floats(n * n), zeros(n * n), I32(n)
        for kernel, side in (("product_2x2", 32), ("product_4x4", 64), ("product_8x8", 128)):
            yield _case(kernel, n, (n // side, n // side), 256, *matrices)
    for n in (1 << 18, 1 << 22):
        yield _case("filter_registers", n, n // 8 // 128, 128, floats(n), floats(32), zeros(n),
                    I32(n))  # fmt: skip
        m = n // 4
        yield _case("distances", m, m // 128, 128, floats(16 * m), floats(512), zeros(m, I32),
                    I32(m))  # fmt: skip


def _local_memory(n):
    side = int(n**0.5)
    yield _case("median_of_nine", n, (side // 256, side), 256, floats(n), zeros(n), I32(side))
    yield _case("bins_of_threads", n, 264, 256, below(1 << 30, n, U32), zeros(32, U32), I32(n))
    yield _case("look_up", n, n // 256, 256, below(16, n), floats(n), zeros(n), I32(n))
    yield _case("spilled", n, n // 1024, 1024, floats(n), zeros(n), I32(n))


def _structs(n):
    blocks = ceil(n / 256)
    yield _case("lengths", n, blocks, 256, floats(3 * n), zeros(n), I32(n))
    yield _case("step_particles", n, blocks, 256, floats(7 * n), np.float32(0.01), I32(n))
    yield _case("energy", n, blocks, 256, floats(7 * n), zeros(n), I32(n))
    yield _case("one_field", n, blocks, 256, below(5, 10 * n), zeros(n), I32(n))


def _scans(n):
    yield _case("scan_steps", n, n // 1024, 1024, floats(n), zeros(n), I32(n))
    yield _case("scan_tree", n, n // 1024, 512, floats(n), zeros(n), I32(n))
    yield _case("scan_runs", n, n // 2048, 256, floats(n), zeros(n), I32(n))


SIZES = 1 << 18, 1 << 22
MECHANISMS = [
    *_tiles(),
    *(case for n in SIZES for kind in (_local_memory, _structs, _scans) for case in kind(n)),
]
