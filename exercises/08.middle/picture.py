"""x[2, 3, 4] as it lies in memory, and the result to which each element belongs."""

from helpers import plots


def picture():
    return plots.owners(
        [[4 * o + k % 4 for k in range(12)] for o in (0, 1)], ["slice 0", "slice 1"], "result"
    )
