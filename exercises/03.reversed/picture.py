"""Two stretches of four elements, turned around."""

from helpers import plots


def picture():
    return plots.owners([range(8), [3, 2, 1, 0, 7, 6, 5, 4]], ["x", "out"], "element of x")
