"""What Nsight Compute counts for ldmatrix, stmatrix (probes.cu) and products, on an H200.

matrices.csv: wavefronts and conflicts in shared memory; products.csv: machine instructions of each
tensor pipe for one product of a warp."""

import csv
from pathlib import Path

from .patterns import PATTERNS, pattern

__all__ = ["METRICS", "matrices", "offsets", "products"]

METRICS = [
    f"l1tex__data_{what}_mem_shared_op_{op}.sum"
    for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")
    for op in ("ld", "st")
]
_HERE = Path(__file__).parent


def offsets(name):
    """The byte offset of each lane's row, of 16 bytes: a pattern, or places in a tile."""
    if name in PATTERNS:
        rows = pattern(name)
    elif name.startswith("stride"):
        rows = [lane * int(name.split()[1]) for lane in range(32)]
    else:
        shape, _, width = name.partition(",")[0].split()
        rows = _rows(shape, int(width), name)
    return [16 * max(row, 0) for row in rows]


def _rows(shape, width, name):
    swizzled, step = "exclusive or" in name, width + ("padded" in name)
    for lane in range(32):
        row, piece = (lane, 0) if shape == "rows" else (lane % 16, lane // 16)
        yield row * step + (piece ^ lane % min(width, 8) if swizzled else piece)


def matrices():
    """(kernel, pattern of loads, pattern of stores, {metric: value})"""
    with (_HERE / "matrices.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            counts = {metric: int(row[metric]) for metric in METRICS}
            yield row["kernel"], row["loads"], row["stores"], counts


def products():
    """{instruction: (pipe, machine instructions)}"""
    with (_HERE / "products.csv").open(newline="") as file:
        return {row["form"]: (row["pipe"], int(row["count"])) for row in csv.DictReader(file)}
