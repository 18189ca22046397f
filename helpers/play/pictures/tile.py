"""A product by tiles: who loads what, and who uses it."""

import numpy as np

from ..page import Page

__all__ = ["tile"]

SIZE = 8
SIDES = (2, 4, 8)


def tile():
    """c = a b, of 8 * 8 elements, by tiles in shared memory: point at an element of c to see what
    its thread loads and what it uses; at one of a or b to see who loads it and who uses it."""
    data = {"size": SIZE, "runs": {side: _run(side) for side in SIDES}}
    words = "a product by tiles in shared memory; open it as HTML to play it"
    return Page("tile", "A tile of the product", data, words, height=560)


def _run(side):
    """Of the thread of each element of c, in the order in which it does so: [elements of a and of b
    that it loads, those that it uses]; b's are counted after a's."""
    from ..trace import lanes_of, record  # isort: skip  (it picks the driver)
    from pycuda import gpuarray

    from ... import sources

    a, b, c = (gpuarray.zeros((SIZE, SIZE), np.float32) for _ in range(3))
    kernel, blocks = sources.kernel("gemm/shared.cu", SIDE=side), SIZE // side
    sizes = [np.int64(SIZE)] * 3
    done = record(kernel, a, b, c, *sizes, grid=(blocks, blocks), block=(side, side))
    loads: dict = {}
    uses: dict = {}
    writes, fetched, tiles = {}, {}, {}
    for step in done.steps:
        block = step.warp // done.warps
        for access in step.accesses:
            if access.index is None:
                continue
            for lane, place in zip(lanes_of(access.mask), map(int, access.index)):
                thread = step.warp, lane
                if access.array in (0, 1):
                    fetched[thread] = place + access.array * SIZE * SIZE
                    loads.setdefault(thread, []).append(fetched[thread])
                elif access.array == 2:
                    writes[place] = thread
                elif access.what == "store":
                    tiles[block, place] = fetched[thread]
                else:
                    uses.setdefault(thread, []).append(tiles[block, place])
    return [[loads[writes[place]], uses[writes[place]]] for place in sorted(writes)]
