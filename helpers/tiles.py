"""Who loads what of two matrices, and who writes what of their product: as a launch does it."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from softgpu.xray.launch import address_of

from . import plots, xray

__all__ = ["Tiles", "picture"]

NOBODY, SEVERAL = -1, -2
BROWN = "#96694c"  # an eighth colour: blocks often have eight warps


class Tiles:
    """Block 0 of a launch that multiplies a[m, k] by b[k, n]: for each element of a, b and c, the
    warp that asks for it, and how many requests do. The arguments begin with a, b and c."""

    def __init__(self, kernel: Any, *args: Any, grid: Any, block: Any) -> None:
        places: list[int] = []

        def look(read: Callable) -> None:
            places[:] = map(getattr(read, "address", address_of), args[:3])

        report = xray.profile(kernel, *args, grid=grid, block=block, after=look)
        self.warps = -(-int(np.prod(block)) // 32)
        self.owners = [np.full(x.size, NOBODY) for x in args[:3]]
        self.counts = [np.zeros(x.size, int) for x in args[:3]]
        for sample in report.samples:
            warp = int(sample["warp"])
            lanes = sample["lanes"][sample["mask"] >> np.arange(32, dtype=np.uint32) & 1 > 0]
            for x, place, owner, count in zip(args, places, self.owners, self.counts):
                first = (lanes.astype(np.int64) - place) // x.dtype.itemsize
                each = np.arange(sample["bytes"] // x.dtype.itemsize)
                if ((0 <= first) & (first < x.size)).all():
                    touched = np.unique(first[:, None] + each)
                    is_own = np.isin(owner[touched], (NOBODY, warp))
                    owner[touched] = np.where(is_own, warp, SEVERAL)
                    count[touched] += 1
        for found in self.owners, self.counts:
            found[:] = [one.reshape(x.shape) for one, x in zip(found, args)]

    @property
    def words(self) -> list[str]:
        """What block 0 does with a, b and c."""
        told = []
        for name, count in zip("abc", self.counts):
            high, wide = (np.count_nonzero(count.any(axis)) for axis in (1, 0))
            does = "makes" if name == "c" else "loads"
            times = "" if name == "c" else f", each {_times(count[count > 0].mean())}"
            told.append(f"{does} {high} × {wide} of {name}{times}")
        return told


def _times(number: float) -> str:
    return "once" if number == 1 else f"{number:g} times"


def picture(kernel: Any, *args: Any, grid: Any, block: Any) -> plots.Picture:
    """The matrices of such a launch, b over c and a beside it, with the elements that block 0 loads
    and makes: a colour for each of its warps."""
    tiles = Tiles(kernel, *args, grid=grid, block=block)
    (m, k), n = args[0].shape, args[1].shape[1]
    gap = (m + k) / 11
    corners = (-k - gap, 0), (0, -k - gap), (0, 0)
    grey = ["grey: several warps,"] * any((owner == SEVERAL).any() for owner in tiles.owners)

    def paint(axes: Any) -> None:
        for name, (left, top), owner in zip("abc", corners, tiles.owners):
            axes.text(left, top - gap / 6, name, va="bottom")
            high, wide = owner.shape
            extent = left, left + wide, top + high, top
            axes.imshow(_coloured(owner), extent=extent, interpolation="nearest")
            axes.add_patch(Rectangle((left, top), wide, high, fc="none", ec=plots.INK, lw=1))
        of_a, of_b, of_c = tiles.words
        words = "block 0, a colour for each warp,", *grey, of_a, of_b, f"and {of_c}"
        axes.text(n + gap, m, "\n".join(words), va="bottom", linespacing=1.4)
        axes.set(xlim=(-k - gap - 1, n + 1), ylim=(m + 1, -k - 2 * gap), aspect="equal")
        axes.set_axis_off()

    alt = f"Block 0 of {tiles.warps} warps {', '.join(tiles.words)}."
    return plots.draw(paint, alt, width=3.3 * (n + k) / (m + k), height=3.3)


def _coloured(owner: np.ndarray) -> np.ndarray:
    """The colours of the warps as an image."""
    colours = np.array([to_rgba(colour) for colour in (*plots.COLOURS, BROWN)])
    image = colours[owner % len(colours)]
    image[owner == SEVERAL] = to_rgba(plots.INK)
    image[owner == NOBODY] = 0
    return image
