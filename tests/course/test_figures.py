"""Figures that the pages tell are those that were recorded, or that can be counted."""

import csv
import json
import re
import subprocess
import sys

import pytest

from helpers import exercises, links, peers, plots
from softgpu.tests.xray.nsight.record import GOLDEN
from softgpu.tests.xray.planted import FILES, planted
from tests import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import bench_kernels

README = (ROOT / "README.md").read_text()
PEERS = (ROOT / "docs/peers.md").read_text()
TAKE_IT = (ROOT / "docs/take_it_with_you.md").read_text()
SOFTGPU = "\n".join(p.read_text() for p in sorted((ROOT / "softgpu/docs").glob("*.md")))
TENS = (
    "", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    "a hundred", "a hundred and ten",
)  # fmt: skip
CLIENTS = {
    "PyCUDA": "pycuda", "numba-cuda": "numba", "numba-cuda-mlir": "numba_mlir", "reikna": "reikna",
    "Taichi": "taichi", "tinygrad": "tinygrad",
}  # fmt: skip


def in_a_line(text):
    return " ".join(text.split())


def number(text):
    return float(text.replace(",", ""))


def rows_of(path):
    with (ROOT / path).open(newline="") as file:
        return list(csv.DictReader(file))


def peer(case, contender):
    """The row of one case of make bench-gpu."""
    (row,) = (r for r in peers._large() if (r["case"], r["contender"]) == (case, contender))
    return row


@pytest.mark.parametrize(
    "says, case",
    [
        ("a bias added to each channel of int8 images", "add 1C11 int8"),
        ("product of 4096 × 4096 floats", "gemm 4096 float32"),
        ("product of 4096 × 4096 halves", "gemm 4096 float16"),
        ("product of 4096 × 4095 and 4095 × 4096 halves", "gemm 4096x4096x4095 float16"),
    ],
)
def test_the_times_beside_libraries_were_recorded(says, case):
    (told,) = re.findall(rf"^\| {says}[^|]*\| ([\d,]+) \| ([\d,]+),", PEERS, re.M)
    recorded = [float(peer(case, who)["median_us"]) for who in ("ours", "PyTorch")]
    assert [*map(number, told)] == [*map(round, recorded)]


BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def several(case, contender):
    """What one case of make bench-gpu on several GPUs took, in us."""
    (row,) = (
        r for r in links.rows(case.split()[0]) if (r["case"], r["contender"]) == (case, contender)
    )
    return float(row["median_us"])


def test_the_times_beside_nccl_were_recorded():
    row = r"^\| (\d+) ([KMG]?i?B) \| ([\d,.]+) \| ([\d,.]+) \| ([\d.]+) \|$"
    told = re.findall(row, PEERS, re.M)
    assert len(told) == 7
    for count, unit, ours, theirs, ratio in told:
        case = f"all_reduce {int(count) * BYTES[unit]} float32"
        times = [several(case, who) for who in ("ours", "NCCL")]
        assert [ours, theirs] == [f"{us:,.{0 if us >= 100 else 1}f}" for us in times]
        assert ratio == f"{times[0] / times[1]:.2f}"


def test_what_two_gpus_do_in_less_time_was_recorded():
    page = in_a_line(PEERS)
    for case in "split sum 2147483648 float32", "split product 16384 float16":
        both, one = (several(case, who) for who in ("ours", "one GPU"))
        for told in f"{both:,.0f}", f"{one:,.0f}", f"{one / both:.2f} times":
            assert told in page


MILESTONES = {  # after a notebook: what it tells of the learner's kernel, and of the obvious one
    "05": (1 << 26, ("05_packed_reduce", "packed"), ("02_naive_gpu_reduce", "atomic")),
    "07": (1 << 26, ("07_softmax", "registers"), ("07_softmax", "three_pass")),
    "13": (1 << 24, ("13_products", "packed"), ("13_products", "naive")),
    "16": (1 << 24, ("16_attention", "tiles"), ("16_attention", "products of 13")),
}


@pytest.mark.parametrize("notebook", MILESTONES)
def test_the_milestones_were_recorded(notebook):
    size, *steps = MILESTONES[notebook]
    row = rf"^\| {notebook} \|.*\| ([\d.,]+) µs \| ([\d.,]+) µs \|$"
    (told,) = re.findall(row, README, re.M)
    for text, (file, step) in zip(told, steps, strict=True):
        rows = rows_of(f"notebooks/recorded/{file}.csv")
        (us,) = (r["median_us"] for r in rows if (r["step"], r["size"]) == (step, str(size)))
        assert text == plots.digits(float(us))


def test_the_speed_of_short_rows_was_recorded():
    told = re.search(r"reach ([\d,]+) GB/s; PyTorch reaches ([\d,]+)\.", in_a_line(PEERS))
    for text, who in zip(told.groups(), ("ours", "PyTorch"), strict=True):
        row = peer("rowsum 1048576x32", who)
        speed = float(row["bytes_moved"]) / float(row["median_us"]) / 1e3
        assert number(text) == float(f"{speed:.3g}")


FLOATS, TENSOR = ["float32"], ["float16", "bfloat16", "tf32", "int8"]


def shares(words, who, types=(*FLOATS, *TENSOR)):
    """The least and the greatest share of the floor's speed, in percent, of some large cases."""
    found = [
        100 * peers._share(row)
        for row in peers._large()
        if peers._contender(row) == who
        and row["topic"] in words
        and (row["topic"] not in ("gemm", "conv2d") or row["case"].split()[-1] in types)
    ]
    return f"{min(found):.0f} to {max(found):.0f} %"


def test_the_shares_under_the_picture_were_recorded():
    text = in_a_line(PEERS)
    limited = "sum", "rowsum", "colsum", "softmax", "add", "less"
    windows, ours, theirs = ("im2col", "col2im"), "helpers.ops", "PyTorch"
    assert f"halves and int8: helpers.ops at {shares(limited, ours)}, PyTorch at" in text
    for told, topics, types in (
        ("im2col and col2im", windows, FLOATS),
        ("Products of floats", ("gemm",), FLOATS),
        ("by tensor cores", ("gemm",), TENSOR),
    ):
        both = [shares(topics, who, types) for who in (ours, theirs)]
        assert f"{told}: helpers.ops at {both[0]}, PyTorch at {both[1]}" in text
    both = shares(("conv2d",), ours), shares(("conv2d",), theirs)
    assert f"Convolutions: {both[0]}, and {both[1]}." in text


@pytest.mark.parametrize("path", sorted((ROOT / "softgpu/xray/chips").glob("*.csv")))
def test_a_chips_constants_are_made_of_what_was_measured(path):
    command = [sys.executable, ROOT / "bench/chip/constants.py", path]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(made) == json.loads(path.with_suffix(".json").read_text())


def test_exercises_and_what_judges_refuse_are_counted():
    names, kept = exercises.names(), json.loads((ROOT / "exercises/mutants.json").read_text())
    assert f"Each of more than {TENS[(len(names) - 1) // 10]} exercises has a judge" in README
    assert sorted(kept["mutants"]) == sorted(kept["refused"]) == sorted(names)
    refused, mutants = (sum(kept[what].values()) for what in ("refused", "mutants"))
    share = f"{refused / mutants:.0%}".replace("%", " %")
    told = f"{refused:,} of {mutants:,} small changes to the solutions, {share} (`make mutants`)"
    assert told in in_a_line((ROOT / "docs/lab.md").read_text())


def test_each_notebook_has_a_row():
    listed = re.findall(r"^\| \[(\w+)\]\(notebooks/(\w+)\.ipynb\) \|", README, re.M)
    names = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert listed == [(name, name) for name in names]


SUITES = re.findall(r"^\| (\S+) ([\w.]+)(?:, [^|]*)?" + r" \| ([\d,]+)" * 4, TAKE_IT, re.M)


def test_results_of_clients_add_up_for_the_versions_that_are_pinned():
    pages = "pyproject.toml", "scripts/client_tests.py"
    pins = "".join((ROOT / name).read_text() for name in pages)
    pinned = dict(re.findall(r'"([\w-]+)==([\w.]+)"', pins))
    names = (ROOT / "softgpu/tests/clients/tinygrad_expected.txt").read_text()
    pinned["tinygrad"] = re.search(r" commit (\w+)", names)[1]
    assert len(SUITES) == 8
    for client, version, *told in SUITES:
        assert pinned[client.lower().replace(".", "-")] == version
        tests, passed, failed, skipped = map(number, told)
        assert tests == passed + failed + skipped


@pytest.mark.parametrize("client", CLIENTS)
def test_what_clients_do_not_pass_is_what_is_expected(client):
    path = ROOT / f"softgpu/tests/clients/{CLIENTS[client]}_expected.txt"
    failing, reason = 0, ""
    for line in path.read_text().splitlines():
        own = ("skips itself", "not run", "a timing", f"{client} itself expects")
        failing += line.startswith("    ") and not reason.startswith(own)
        reason = reason if line.startswith("    ") else line
    (told,) = (suite[4] for suite in SUITES if suite[0] == client)
    assert number(told) == failing


def test_launches_that_were_counted_and_planted_bugs_are_counted():
    rows, text = rows_of(GOLDEN.relative_to(ROOT)), in_a_line(SOFTGPU)
    differing = sum(bool(row["why"]) for row in rows)
    assert f"on an H200 for {len(rows)} launches" in text
    assert f"equal in all but {differing}, where" in text
    bugs = sum(not p.missed for file in FILES for p in planted(file))
    assert f"holds over {(bugs - 1) // 10 * 10} kernels with a bug each" in text


def test_what_is_found_of_scor_is_counted():
    rows = rows_of("softgpu/tests/xray/planted/scor.csv")
    racy = [row["answer"] for row in rows if row["program"].startswith("race_")]
    clean = [row["answer"] for row in rows if not row["program"].startswith("race_")]
    text = in_a_line(SOFTGPU)
    assert f"{racy.count('found')} of the {len(racy)} racy ones are found" in text
    assert f"none of the {len(clean)} correct ones" in text and {*clean} == {"clean"}


def test_the_table_of_speeds_is_of_the_kernels_that_are_measured():
    table = re.search(r"<!-- speed -->(.*?)<!-- end -->", SOFTGPU, re.DOTALL)[1]
    rows = re.findall(r"^\| `([\w/]+\.cu)` \|", table, re.MULTILINE)
    assert rows == [case.file for case in bench_kernels.cases()], "run `make bench`"
