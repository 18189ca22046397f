"""17 floats from byte 4 on: three by themselves, three packs, two by themselves."""

from helpers import plots


def picture():
    return plots.owners(
        [[-1] * 3 + [k // 4 for k in range(12)] + [-1] * 2], ["from byte 4"], "pack"
    )
