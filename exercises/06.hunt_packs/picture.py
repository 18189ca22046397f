"""Rows of 11 floats in memory, and the stretch of 16 bytes in which each lies."""

from helpers import plots


def picture():
    return plots.owners(
        [[(11 * row + k) // 4 for k in range(11)] for row in range(4)],
        [f"row {row}" for row in range(4)],
        "pack",
    )
