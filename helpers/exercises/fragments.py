"""Which halves of a product by tensor cores lie in the wrong registers, told by what came out."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from softgpu.phrases import Said, joined

from ..words import Part

__all__ = ["misplaced"]

PLACES_OF_A = (0, 0), (8, 0), (0, 8), (8, 8)  # of a lane's registers: where their quarters begin
PLACES_OF_B = (0, 0), (8, 0)
NEAR = 1e-2  # of the largest element


def misplaced(
    a: np.ndarray, b: np.ndarray, got: np.ndarray, names: Sequence[str | None] = "ab"
) -> Said | None:
    """What to look at, if got[16, 8] is a[16, 16] times b[16, 8] with some registers of one in
    each other's place, or the halves in them; or None. names: of both; None: it is right."""
    ways = (
        (name, first)
        for name, matrix, places, along in zip(names, (a, b), (PLACES_OF_A, PLACES_OF_B), (1, 0))
        for used, first in _mistakes(matrix, places, along)
        if name and first and _are_near(used @ b if matrix is a else a @ used, got)
    )
    told: dict[str, Said] = {}
    for name, places in ways:
        right, wrong = (f"{row}, {column}" for row, column in places)
        told.setdefault(name, Part.USED_AS(name=name, right=right, wrong=wrong))
    return Part.SHOULD_BE(which=joined(*told.values(), between=", or ")) if told else None


def _are_near(made: np.ndarray, got: np.ndarray) -> bool:
    return np.abs(made - got).max() <= NEAR * np.abs(made).max()


def _mistakes(matrix: np.ndarray, places: tuple[tuple[int, int], ...], along: int) -> Iterator:
    """(the matrix as it is used, (what a place should be, the place) of the first wrong one, or
    None) for each way to fill the registers; along: the axis on which a register has two halves."""
    turned = np.take(matrix, np.arange(16) ^ 1, along)
    swaps = [(), places, *((place,) for place in places)]  # of halves: nowhere, everywhere, in one
    for taken, swapped in product(product(places, repeat=len(places)), swaps):
        made = matrix.astype(float)
        for (row, column), (from_row, from_column) in zip(places, taken):
            made[row : row + 8, column : column + 8] = (
                turned if (row, column) in swapped else matrix
            )[from_row : from_row + 8, from_column : from_column + 8]
        moved = [(right, wrong) for wrong, right in zip(places, taken) if right != wrong]
        moved += [((row + 1 - along, column + along), (row, column)) for row, column in swapped]
        yield made, moved[0] if moved else None
