"""The threads that take 24 elements, if there are only 4."""

from helpers import plots


def picture():
    return plots.owners([[i % 4 for i in range(24)]], ["x"])
