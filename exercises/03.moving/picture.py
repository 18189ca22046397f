"""What each block of four threads fetches of twelve elements, and which thread fetches it."""

from helpers import plots


def picture():
    rows = [[-1] * 12 for block in range(3)]
    for block, row in enumerate(rows):
        for k, thread in enumerate((0, 1, 2, 3, 0, 1, 2, 3), 4 * block - 2):
            if 0 <= k < 12:
                row[k] = thread
    return plots.owners(rows, [f"block {block}" for block in range(3)])
