"""Eight elements, and the thread that writes or reads each."""

from helpers import plots


def picture():
    return plots.owners([range(8), range(7, -1, -1)], ["writes out", "reads x"])
