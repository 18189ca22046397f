"""What a judge.py is written in: the launch of one case, with what must come out of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..words import Shown

__all__ = [
    "Boxes",
    "Far",
    "In",
    "Launch",
    "Out",
    "Rate",
    "SIZES",
    "blocks_for",
    "drawn",
    "same_place",
    "several",
]

SIZES = 1, 31, 32, 33, 255, 257, 1009, 0
NEIGHBOURS = 2  # blocks on either side of one whose work they may do
SPREAD = 8


def drawn(rng: np.random.Generator, step: int = 1) -> tuple[int, ...]:
    """Two sizes at random, multiples of a step: of a few blocks of 256, and beyond ten."""
    sizes = rng.integers(34, 1001), rng.integers(2561, 5121)
    return tuple(-(-int(n) // step) * step for n in sizes)


def several(count: int, what: str, of: int | None = None) -> str:
    """ "1 row", "2 rows of 30", "3 queries", "4 keys"."""
    plural = f"{what[:-1]}ies" if what[-1] == "y" and what[-2] not in "aeo" else f"{what}s"
    size = "" if of is None else f" of {of:,}"
    return f"{count:,} {what if count == 1 else plural}{size}"


@dataclass
class In:
    """An array that the kernel only reads. offset: elements past an aligned address.

    first: the element whose address the kernel gets."""

    values: np.ndarray
    offset: int = 0
    first: int = 0

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype


@dataclass
class Out:
    """An array that the kernel writes, and what must be in it then, to within a tolerance.

    initial: what is in it before; None: poison, which counts as never written.
    bits: every bit counts where the tolerance is 0, so -0 is not 0."""

    expected: np.ndarray
    tolerance: ArrayLike = 0
    dtype: DTypeLike = np.float32
    initial: np.ndarray | None = None
    offset: int = 0
    bits: bool = False


@dataclass
class Far:
    """An array too large to fill: `count` zeros, except for pieces at some places, {place: values}.

    expected: what must be at these places after the launch; nothing else is compared. tolerance: of
    all, or by place, too."""

    count: int
    dtype: DTypeLike
    pieces: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)
    tolerance: ArrayLike | dict = 0


@dataclass
class Boxes:
    """Tensor maps, which are a kernel's first argument. of: the array that each is of, and what
    makes the map of it on the GPU, where a Far lies in one row."""

    of: list[tuple[In | Out | Far, Callable]]


def _held(argument: Any) -> Any:
    """The values of an In or of an Out, or a number itself."""
    return getattr(argument, "values", getattr(argument, "expected", argument))


@dataclass
class Launch:
    """One launch: arguments in order, arrays as In, Out, Far or in Boxes. what: sizes, in words.
    One and the same Out for two arguments: the kernel works in place.

    blocks: ranges of block numbers in the grid, x fastest, if only these are to run."""

    arguments: list
    grid: int | tuple
    block: int | tuple
    shared: int = 0
    what: str = ""
    blocks: list = field(default_factory=list)

    @property
    def arrays(self) -> list:
        """The arguments, and after them the arrays behind maps."""
        boxes = (a for a in self.arguments if isinstance(a, Boxes))
        return [*self.arguments, *(array for box in boxes for array, _ in box.of)]

    @property
    def sizes(self) -> list[int]:
        """Its whole numbers, or the elements of its arrays if it has none; a block's threads."""
        numbers = [int(a) for a in self.arguments if isinstance(a, (int, np.integer))]
        sizes = (a.count if isinstance(a, Far) else np.size(_held(a)) for a in self.arrays)
        threads = prod(self.block) if isinstance(self.block, tuple) else self.block
        return [*(numbers or sizes), threads]

    def with_more_blocks(self) -> "Launch":
        """The same with neighbours of the blocks that run, some from all over the grid, and all of
        these counted from the other end: a kernel may share its elements out as it likes."""
        count = prod(self.grid) if isinstance(self.grid, tuple) else self.grid
        some = {*range(0, count, max(1, count // SPREAD))}.union(*self.blocks)
        some |= {count - 1 - block for block in some}
        some = {block + by for block in some for by in range(-NEIGHBOURS, NEIGHBOURS + 1)}
        blocks = [range(block, block + 1) for block in sorted(some) if 0 <= block < count]
        return replace(self, blocks=blocks)

    def with_blocks_of(self, threads: int) -> "Launch":
        """The same for other blocks, one more than are needed."""
        grid, *others = self.grid if isinstance(self.grid, tuple) else (self.grid,)
        grid = -(-grid * self.block // threads) + 1
        what = f"{self.what}, blocks of {threads}"
        return replace(self, grid=(grid, *others), block=threads, what=what)

    @property
    def heading(self) -> str:
        grid, block = (
            " x ".join(map(str, s)) if isinstance(s, tuple) else f"{s}"
            for s in (self.grid, self.block)
        )
        blanks = {"launch": self.what, "grid": grid, "block": block}
        if self.shared:
            return Shown.HEADING_SHARED(**blanks, shared=self.shared)
        return Shown.HEADING(**blanks)


@dataclass(frozen=True)
class Rate:
    """What the clock must predict of a product of large square matrices: so many TFLOP/s, if any.

    size: of a launch that is counted for it, m, n, k first. side: of the large ones; 0: k. beside:
    who else does it, {name: case of make bench-gpu}."""

    size: tuple[int, ...]
    least: float
    beside: dict
    side: int = 0

    @property
    def operations(self) -> int:
        return 2 * prod(self.size[:3])

    @property
    def more(self) -> int:
        """How many such launches make the large one."""
        return 2 * self.of_side**3 // self.operations

    @property
    def of_side(self) -> int:
        return self.side or self.size[2]


def same_place(launch: Launch, place: int) -> list:
    """What element `place` of an output is made from, where all arrays are as large as it."""
    inputs = [
        a.values if isinstance(a, In) else getattr(a, "initial", None) for a in launch.arguments
    ]
    return [values.ravel()[place] for values in inputs if values is not None]


def blocks_for(count: int, block: int = 256) -> int:
    """Blocks for so many threads, and one that has nothing to do where there are none."""
    return max(1, -(-count // block))
