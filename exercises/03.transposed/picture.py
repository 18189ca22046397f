"""The tiles of a matrix and of its transpose, 2 x 2 here."""

from helpers import plots


def picture():
    tiles = [[row // 2 * 3 + column // 2 for column in range(6)] for row in range(4)]
    rows = [*tiles, *zip(*tiles)]
    labels = [f"x, row {row}" for row in range(4)] + [f"out, row {row}" for row in range(6)]
    return plots.owners(rows, labels, "tile")
