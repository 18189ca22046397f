"""Gluon kernels with a planted mistake each, and the same done right.

    softgpu run planted_gluon.py NAME ...    # says what the sanitizer finds, in JSON

They make the mistakes that ConSan looks for, Triton's own sanitizer: with copies that run beside
the threads, tensor cores, mbarriers and specialised warps. Done right, they copy a tile or
multiply it by itself.
"""

import json
import sys

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from softgpu import xray

N = gl.constexpr(64)
FLAT = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0]))
SWIZZLED = gl.constexpr(gl.NVMMASharedLayout(128, 16, 2))
SUMS = gl.constexpr(gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))


@gluon.jit
def places(LAYOUT: gl.constexpr):
    row = gl.arange(0, N, gl.SliceLayout(1, LAYOUT))
    return row[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, LAYOUT))[None, :]


@gluon.jit
def mbarriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    """Ready to use, by copies as well, which see them only behind the fence."""
    bars = mbarrier.allocate_mbarrier(batch=COUNT)
    for i in gl.static_range(COUNT):
        mbarrier.init(bars.index(i), count=ARRIVALS)
    fence_async_shared()
    return bars


# ---- copies that threads start and wait for: cp.async ----


@gluon.jit
def copy_read_too_early(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """It waits until at most one copy is under way; there is only one."""
    tile = gl.allocate_shared_memory(gl.float16, [N, N], PLAIN)
    async_copy.async_load(tile, x + places(FLAT))
    async_copy.commit_group()
    async_copy.wait_group(1 if WRONG else 0)
    gl.store(y + places(FLAT), tile.load(FLAT))


# ---- TMA ----


@gluon.jit
def box_of_another_mbarrier(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """Two boxes, two mbarriers: the second is read after a wait for the first."""
    tiles = gl.allocate_shared_memory(gl.float16, [2, N, N], SWIZZLED)
    bars = mbarriers(2, 1)
    for i in gl.static_range(2):
        mbarrier.expect(bars.index(i), x_map.nbytes_per_cta)
        tma.async_load(x_map, [0, 0], bars.index(i), tiles.index(i))
    mbarrier.wait(bars.index(0 if WRONG else 1), 0)
    gl.store(y + places(FLAT), tiles.index(1).load(FLAT))
    mbarrier.wait(bars.index(1 if WRONG else 0), 0)


@gluon.jit
def box_of_another_phase(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """The second box is read after a wait for the phase of the first."""
    tile, bars = gl.allocate_shared_memory(gl.float16, [N, N], SWIZZLED), mbarriers(1, 1)
    bar = bars.index(0)
    mbarrier.expect(bar, x_map.nbytes_per_cta)
    tma.async_load(y_map, [0, 0], bar, tile)
    mbarrier.wait(bar, 0)
    mbarrier.expect(bar, x_map.nbytes_per_cta)
    tma.async_load(x_map, [0, 0], bar, tile)
    mbarrier.wait(bar, 0 if WRONG else 1)
    gl.store(y + places(FLAT), tile.load(FLAT))
    mbarrier.wait(bar, 1)


@gluon.jit
def box_stored_and_overwritten(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """The tile is filled again while TMA may still read it."""
    tile = gl.allocate_shared_memory(gl.float16, [N, N], SWIZZLED)
    tile.store(gl.load(x + places(FLAT)))
    fence_async_shared()
    tma.async_store(y_map, [0, 0], tile)
    if not WRONG:
        tma.store_wait(0)
    tile.store(gl.full([N, N], 0, gl.float16, FLAT))
    tma.store_wait(0)


@gluon.jit
def box_by_an_mbarrier_without_a_fence(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """The copy signals an mbarrier that it need not see begun."""
    tile = gl.allocate_shared_memory(gl.float16, [N, N], SWIZZLED)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    if not WRONG:
        fence_async_shared()
    mbarrier.expect(bar, x_map.nbytes_per_cta)
    tma.async_load(x_map, [0, 0], bar, tile)
    mbarrier.wait(bar, 0)
    gl.store(y + places(FLAT), tile.load(FLAT))


# ---- tensor cores ----


@gluon.jit
def product_whose_operand_is_overwritten(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """While wgmma may still read it."""
    tile = gl.allocate_shared_memory(gl.float16, [N, N], SWIZZLED)
    tile.store(gl.load(x + places(FLAT)))
    fence_async_shared()
    sums = gl.zeros([N, N], gl.float32, SUMS)
    sums = warpgroup_mma(tile, tile, sums, is_async=True)
    if not WRONG:
        sums = warpgroup_mma_wait(0, deps=[sums])
    tile.store(gl.full([N, N], 0, gl.float16, FLAT))
    if WRONG:
        sums = warpgroup_mma_wait(0, deps=[sums])
    gl.store(z + places(SUMS), sums)


@gluon.jit
def product_of_what_nobody_wrote(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """A GPU multiplies what happens to be there. ConSan does not look for this."""
    tile = gl.allocate_shared_memory(gl.float16, [N, N], SWIZZLED)
    if not WRONG:
        tile.store(gl.load(x + places(FLAT)))
        fence_async_shared()
    sums = gl.zeros([N, N], gl.float32, SUMS)
    sums = warpgroup_mma(tile, tile, sums, is_async=True)
    sums = warpgroup_mma_wait(0, deps=[sums])
    gl.store(z + places(SUMS), sums)


# ---- specialised warps, which hand tiles to each other ----


@gluon.jit
def fill_thrice(x, y, tile, bars, WRONG: gl.constexpr):
    for i in range(3):
        mbarrier.wait(bars.index(1), (i + 1) % 2, pred=not WRONG)
        tile.store(gl.load(x + places(FLAT)))
        mbarrier.arrive(bars.index(0), count=1)


@gluon.jit
def take_thrice(x, y, tile, bars, WRONG: gl.constexpr):
    for i in range(3):
        mbarrier.wait(bars.index(0), i % 2)
        gl.store(y + places(FLAT), tile.load(FLAT))
        mbarrier.arrive(bars.index(1), count=1)


@gluon.jit
def tile_filled_too_early(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """The producer does not wait until the tile is empty again."""
    tile, bars = gl.allocate_shared_memory(gl.float16, [N, N], PLAIN), mbarriers(2, 1)
    given = (x, y, tile, bars, WRONG)
    gl.warp_specialize([(take_thrice, given), (fill_thrice, given)], [4], [64])


@gluon.jit
def fill_for_two(x, y, tile, bars, WRONG: gl.constexpr):
    tile.store(gl.load(x + places(FLAT)))
    mbarrier.arrive(bars.index(0), count=2)
    mbarrier.wait(bars.index(1), 0)
    tile.store(gl.full([N, N], 0, gl.float16, FLAT))


@gluon.jit
def take_as_one(x, y, tile, bars, WRONG: gl.constexpr):
    mbarrier.wait(bars.index(0), 0)
    gl.store(y + places(FLAT), tile.load(FLAT))
    if WRONG:
        mbarrier.arrive(bars.index(1), count=2)
    else:
        mbarrier.arrive(bars.index(1), count=1)


@gluon.jit
def take_as_the_other(x, y, tile, bars, WRONG: gl.constexpr):
    mbarrier.wait(bars.index(0), 0)
    gl.store(y + N * N + places(FLAT), tile.load(FLAT))
    mbarrier.arrive(bars.index(1), pred=not WRONG)


@gluon.jit
def tile_of_two_readers(x, y, z, x_map, y_map, WRONG: gl.constexpr):
    """One of two consumers arrives for both, and the tile is overwritten under the other."""
    tile, bars = gl.allocate_shared_memory(gl.float16, [N, N], PLAIN), mbarriers(2, 2)
    given = (x, y, tile, bars, WRONG)
    gl.warp_specialize(
        [(take_as_one, given), (fill_for_two, given), (take_as_the_other, given)], [4, 4], [64, 64]
    )


def found(kernel, wrong):
    """What the sanitizer finds in one form of a kernel, and whether the result is right."""
    x = torch.randint(-4, 5, (64, 64), device="cuda").half()
    y = torch.zeros(2, 64, 64, device="cuda").half()
    z = torch.zeros(64, 64, device="cuda")
    x_map, y_map = (TensorDescriptor.from_tensor(t, [64, 64], SWIZZLED.value) for t in (x, y[0]))
    said = xray.sanitize(lambda: kernel[(1,)](x, y, z, x_map, y_map, WRONG=wrong, num_warps=4))
    right = torch.equal(z, x.float() @ x.float()) or torch.equal(y[0], x)
    return {"kinds": sorted({f.kind for f in said}), "right": right, "said": str(said)}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for wrong in (True, False):
            print(json.dumps({"name": name, "wrong": wrong, **found(globals()[name], wrong)}))
