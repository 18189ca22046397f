"""Put the figures that pages quote in their places: what was recorded, or can be counted.

    python -m tests.course.figures [--check]

A place stands between `<!-- figure: NAME -->` and `<!-- end -->`, in a sentence or around a table;
NAME is one of FIGURES. --check: change nothing, and fail where a page has another figure."""

import argparse
import csv
import json
import re
import sys

from helpers import bench, links, peers, plots
from softgpu.tests.xray.nsight.record import GOLDEN
from softgpu.tests.xray.planted import FILES, planted
from tests import ROOT

PLACE = re.compile(r"(?<!`)(<!-- figure: ([^>]+?) -->)(.*?)(<!-- end -->)", re.DOTALL)
OURS, THEIRS = "ours", "PyTorch"
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
REDUCED = "8 B", "16 KiB", "256 KiB", "1 MiB", "2 MiB", "16 MiB", "1 GiB"
FLOATS, TENSOR = ["float32"], ["float16", "bfloat16", "tf32", "int8", "e4m3"]
LIMITED = "sum", "rowsum", "colsum", "softmax", "add", "less"
SHARES = {  # what is multiplied counts by its types
    "sums, softmax, additions, comparisons": (LIMITED, FLOATS + TENSOR),
    "im2col and col2im": (("im2col", "col2im"), FLOATS),
    "products of floats": (("gemm",), FLOATS),
    "products by tensor cores": (("gemm",), TENSOR),
    "convolutions": (("conv2d",), FLOATS + TENSOR),
}


def rows_of(path):
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))


def of_library(case, contender):
    """The row of one case of make bench-gpu."""
    (row,) = (r for r in peers._large() if (r["case"], r["contender"]) == (case, contender))
    return row


def median(case, contender):
    return f"{float(of_library(case, contender)['median_us']):,.0f}"


def gb_per_s(case, contender):
    row = of_library(case, contender)
    speed = float(row["bytes_moved"]) / float(row["median_us"]) / 1e3
    return f"{float(f'{speed:.3g}'):,.0f}"


def of_ranks(case, contender):
    """What one case of make bench-gpu on several GPUs took, in µs."""
    rows = links.rows(case.split()[0])
    (row,) = (r for r in rows if (r["case"], r["contender"]) == (case, contender))
    return float(row["median_us"])


def all_reduce():
    lines = [
        "| all-reduce of floats | `ops.all_reduce` | NCCL | here / there |",
        "|---|---|---|---|",
    ]
    for size in REDUCED:
        count, unit = size.split()
        case = f"all_reduce {int(count) * BYTES[unit]} float32"
        here, there = (of_ranks(case, who) for who in ("ours", "NCCL"))
        us = [f"{us:,.{0 if us >= 100 else 1}f}" for us in (here, there)]
        lines.append(f"| {size} | {us[0]} | {us[1]} | {here / there:.2f} |")
    return table(lines)


def table(lines):
    return "\n".join(["", "", *lines, "", ""])


def shares():
    """The least and the greatest share of the floor's speed, in percent, of the large cases."""
    lines = [
        "| share of the floor's speed | `helpers.ops` | PyTorch |",
        "|---|---|---|",
    ]
    for what, (topics, types) in SHARES.items():
        both = []
        for who in ("helpers.ops", "PyTorch"):
            found = [
                100 * peers._share(row)
                for row in peers._large()
                if peers._contender(row) == who
                and row["topic"] in topics
                and (row["topic"] not in ("gemm", "conv2d") or row["case"].split()[-1] in types)
            ]
            both.append(f"{min(found):.0f} to {max(found):.0f} %")
        lines.append(f"| {what} | {both[0]} | {both[1]} |")
    return table(lines)


def products_of_squares(words):
    if len(words) == 2 and words[0].isdigit():
        return f"{words[0]}³", TYPES.get(words[1], words[1])
    return None


def other_products(words):
    if products_of_squares(words) is None:
        size = words[0].replace("x", " × ") if "x" in words[0] else f"{words[0]}³"
        return " ".join([size, *words[1:-1]]), TYPES[words[-1]]
    return None


def convolutions(*kind):
    """The place of a convolution of this kind: its layer, and what is asked of it."""

    def place(words):
        what, images, _, out, window, *found = words
        side, stride, _ = re.findall(r"\d+", window)
        layer = f"{images.replace('x', ' × ')} to {out}, {side} × {side}, stride {stride}"
        return (layer, WHAT[what]) if tuple(found) == kind else None

    return place


def matrices(words):
    return words[1], words[0].replace("x", " × ")


def attention(words):
    shape, *causal, dtype = words
    shape = shape.replace("x", " × ").replace("of", " of ")
    return (shape, "causal" if causal else "all keys") if dtype == "float16" else None


def beside(topic, name, place):
    """Times of a topic's cases, ours / the fastest of the others', in µs: place makes a case's row
    and column of its words, or None."""
    cases: dict = {}
    for row in bench.peer_rows():
        if row["topic"] == topic and row["contender"] != peers.LESS_EXACT:
            us = float(row["median_us"])
            cases.setdefault(row["case"], {})[row["contender"]] = us
    cells: dict = {}
    for case, times in cases.items():
        if where := place(case.split()[len(topic.split("_")) :]):
            both = [times.pop("ours"), *sorted(times.values())[:1]]
            cells.setdefault(where[0], {})[where[1]] = " / ".join(map(plots.digits, both))
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    lines = [f"| {name} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row, found in cells.items():
        lines.append(f"| {row} | {' | '.join(found.get(c, '') for c in columns)} |")
    return table(lines)


def step(file, name, size):
    """What a step of the course took, as recorded."""
    rows = rows_of(f"notebooks/recorded/{file}.csv")
    (us,) = (r["median_us"] for r in rows if (r["step"], r["size"]) == (name, str(size)))
    return f"{plots.digits(float(us))} µs"


def mutants(what):
    kept = json.loads((ROOT / "exercises/mutants.json").read_text())
    return sum(kept[what].values())


def golden():
    rows = rows_of(GOLDEN.relative_to(ROOT))
    on_h100 = sum(row["card"] == "H100" for row in rows)
    return len(rows), sum(bool(row["why"]) for row in rows), on_h100


def scor(is_racy):
    rows = rows_of("softgpu/tests/xray/planted/scor.csv")
    return [row["answer"] for row in rows if row["program"].startswith("race_") == is_racy]


def split(case):
    """(on both GPUs, on one, how many times as long) of a case of two GPUs."""
    both, one = (of_ranks(case, who) for who in ("ours", "one GPU"))
    return f"{both:,.0f}", f"{one:,.0f}", f"{one / both:.2f}"


def suites():
    """The clients' own tests; those that neither passed nor were skipped did not pass."""
    lines = [
        "| suite | tests | pass | do not | skip | command |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows_of("softgpu/tests/clients/suites.csv"):
        tests, passed, skipped = (int(row[what]) for what in ("tests", "passed", "skipped"))
        suite = ", ".join(filter(None, (f"{row['suite']} {row['version']}", row["what"])))
        counts = f"{tests:,} | {passed:,} | {tests - passed - skipped:,} | {skipped:,}"
        lines.append(f"| {suite} | {counts} | `{row['command']}` |")
    return table(lines)


LARGE, SMALLER = 1 << 26, 1 << 24
TYPES = {"float32": "floats", "float16": "halves"}
WHAT = {"forward": "forward", "input": "input gradient", "weight": "weight gradient"}
FIGURES = {
    "05 ours": lambda: step("05_packed_reduce", "packed", LARGE),
    "05 obvious": lambda: step("02_naive_gpu_reduce", "atomic", LARGE),
    "07 ours": lambda: step("07_softmax", "registers", LARGE),
    "07 obvious": lambda: step("07_softmax", "three_pass", LARGE),
    "13 ours": lambda: step("13_products", "packed", SMALLER),
    "13 obvious": lambda: step("13_products", "naive", SMALLER),
    "16 ours": lambda: step("16_attention", "tiles", SMALLER),
    "16 obvious": lambda: step("16_attention", "products of 13", SMALLER),
    "bias ours": lambda: median("add 1C11 int8", OURS),
    "bias PyTorch": lambda: median("add 1C11 int8", THEIRS),
    "floats ours": lambda: median("gemm 4096 float32", OURS),
    "floats cuBLAS": lambda: median("gemm 4096 float32", THEIRS),
    "halves ours": lambda: median("gemm 4096 float16", OURS),
    "halves cuBLAS": lambda: median("gemm 4096 float16", THEIRS),
    "odd halves ours": lambda: median("gemm 4096x4096x4095 float16", OURS),
    "odd halves cuBLAS": lambda: median("gemm 4096x4096x4095 float16", THEIRS),
    "short rows ours": lambda: gb_per_s("rowsum 1048576x32", OURS),
    "short rows PyTorch": lambda: gb_per_s("rowsum 1048576x32", THEIRS),
    "shares": shares,
    "squares": lambda: beside("gemm", "product", products_of_squares),
    "other products": lambda: beside("gemm", "product, m × n × k", other_products),
    "convolutions NCHW": lambda: beside("conv2d", "layer", convolutions("float16")),
    "convolutions of floats": lambda: beside("conv2d", "layer", convolutions("float32")),
    "attention": lambda: beside("attention", "attention", attention),
    "backward": lambda: beside("attention_backward", "backward pass", attention),
    "linear": lambda: beside("linear", "weights", matrices),
    "all-reduce": all_reduce,
    "split sum on both": lambda: split("split sum 2147483648 float32")[0],
    "split sum on one": lambda: split("split sum 2147483648 float32")[1],
    "split sum": lambda: split("split sum 2147483648 float32")[2],
    "split product on both": lambda: split("split product 16384 float16")[0],
    "split product on one": lambda: split("split product 16384 float16")[1],
    "split product": lambda: split("split product 16384 float16")[2],
    "mutants": lambda: f"{mutants('mutants'):,}",
    "refused mutants": lambda: f"{mutants('refused'):,}",
    "refused share": lambda: f"{mutants('refused') / mutants('mutants'):.0%}".replace("%", " %"),
    "counted launches": lambda: f"{golden()[0]:,}",
    "differing launches": lambda: f"{golden()[1]:,}",
    "launches counted on an H100": lambda: f"{golden()[2]:,}",
    "planted bugs": lambda: f"{sum(not p.missed for file in FILES for p in planted(file))}",
    "racy programs": lambda: f"{len(scor(True))}",
    "racy programs found": lambda: f"{scor(True).count('found')}",
    "correct programs": lambda: f"{len(scor(False))}",
    "suites": suites,
}


def pages():
    """{page: its text, with the figures as they are to be} of all pages that have some."""
    found = {}
    for folder in ".", "docs", "softgpu", "softgpu/docs", "docs/zh":
        for page in sorted((ROOT / folder).glob("*.md")):
            text = page.read_text(encoding="utf-8")
            if PLACE.search(text):
                found[page] = PLACE.sub(lambda m: f"{m[1]}{FIGURES[m[2]]()}{m[4]}", text)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    is_check, is_stale = parser.parse_args().check, False
    for page, text in pages().items():
        if page.read_text(encoding="utf-8") != text:
            is_stale = True
            print(f"{page.relative_to(ROOT)}", "is not what `make figures` makes" * is_check)
            if not is_check:
                page.write_text(text, encoding="utf-8")
    sys.exit(is_check and is_stale)


if __name__ == "__main__":
    main()
