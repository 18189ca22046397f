"""helpers.ops beside the libraries, as make bench-gpu found them: how near each comes to the floor.

The floor of a case is what the memory allows: the bytes that must move at the ceiling's speed, and
an empty launch; of products, what the units for their type allow. notebooks/recorded/peers.csv is
what the last run left."""

from collections.abc import Iterable
from typing import Any

from . import bench, plots

__all__ = ["headline", "shares"]

TOPICS = {  # words of a case, and what the headline calls it
    "sum": "sum",
    "rowsum": "sums of rows",
    "colsum": "sums of columns",
    "softmax": "softmax",
    "add float32": "add, float",
    "add float16": "add, half",
    "add int8": "add, int8",
    "less float32": "less, float",
    "less float16": "less, half",
    "less int8": "less, int8",
    "im2col float32": "im2col, float",
    "im2col float16": "im2col, half",
    "col2im float32": "col2im, float",
    "col2im float16": "col2im, half",
    "gemm float32": "products, float",
    "gemm float16": "products, half",
    "gemm bfloat16": "products, bfloat16",
    "gemm tf32": "products, tf32",
    "gemm int8": "products, int8",
    "gemm e4m3": "products, e4m3",
    "conv2d float32": "convolutions, float",
    "conv2d float16": "convolutions, half",
    "attention backward": "gradients of attention",
    "attention float16": "attention, half",
    "attention float32": "attention, float",
}
BACK_ENDS = "flash2", "cuDNN", "efficient", "math"  # PyTorch's, of attention
LESS_EXACT = "PyTorch, short sums"  # of 8-bit floats
LARGE_US = 30  # of the floor: below, launches count, not kernels


def shares(topic: str, piece: str = "") -> plots.Picture:
    """A Picture of the large cases of a topic whose names contain this piece, a row each."""
    cases = [row for row in _large() if row["topic"] == topic and piece in row["case"]]
    if not cases:
        known = ", ".join(dict.fromkeys(row["topic"] for row in _large()))
        raise ValueError(f"no large case of {topic!r} with {piece!r}; topics are {known}")
    rows: dict[str, dict] = {}
    for row in cases:
        name = " ".join(word for word in row["case"].split()[1:] if word != piece)
        rows.setdefault(name, {})[_contender(row)] = _share(row)
    if topic == "conv2d":  # what is asked comes first in the name of a case
        rows = dict(sorted(rows.items(), key=lambda row: row[0].split()[0]))
    return plots.shares(rows, _source(cases), "the floor's speed", are_grouped=topic == "conv2d")


def headline() -> plots.Picture:
    """A Picture of all large cases, a row for each topic; of PyTorch's back ends the fastest."""
    rows: dict[str, dict] = {name: {} for name in TOPICS.values()}
    cases, best = _large(), dict[str, tuple[dict, float]]()
    for row in cases:
        name = TOPICS.get(_named(row, TOPICS), row["topic"])
        of = rows.setdefault(name, {})
        if row["contender"] in BACK_ENDS:
            best[row["case"]] = of, max(_share(row), best.get(row["case"], (of, 0))[1])
        else:
            of.setdefault(_contender(row), []).append(_share(row))
    for of, share in best.values():
        of.setdefault("PyTorch", []).append(share)
    rows = {name: values for name, values in rows.items() if values}
    return plots.shares(rows, _source(cases), of="the floor's speed")


def _large() -> list[dict[str, str]]:
    rows = [row for row in bench.peer_rows() if float(row["floor_us"]) >= LARGE_US]
    return [row for row in rows if row["median_us"] and row["contender"] != LESS_EXACT]


def _named(row: dict[str, str], names: Iterable[str]) -> Any:
    """The one whose words are all in the row's case, or None."""
    words = set(row["case"].split())
    return next((name for name in names if words.issuperset(name.split())), None)


def _contender(row: dict[str, str]) -> str:
    return "helpers.ops" if row["contender"] == "ours" else row["contender"]


def _share(row: dict[str, str]) -> float:
    return float(row["floor_us"]) / float(row["median_us"])


def _source(rows: list[dict[str, str]]) -> str:
    """Where, when and beside which libraries this was measured."""
    device, libraries = rows[-1]["device"], rows[-1]["libraries"]
    dates = " to ".join(sorted({f(row["date"] for row in rows) for f in (min, max)}))
    return f"{device}, {dates}; {libraries}"
