"""report.nsight(): a page in ncu's layout, of numbers that the report has."""

import re

import numpy as np
import pytest

from helpers import sources, xray
from softgpu.tests.xray.nsight.record import METRICS

from pycuda import gpuarray  # isort: skip


@pytest.fixture(scope="module")
def report():
    n = 1 << 14
    x, out = gpuarray.to_gpu(np.ones(n, np.float32)), gpuarray.empty(n // 256, np.float32)
    kernel = sources.kernel("reduce/shared.cu")
    return xray.profile(kernel, x, out, np.int64(n), grid=n // 256, block=256, shared=1024)


@pytest.fixture
def page(report):
    """{section: {name: (unit, value)}} as a reader finds them in the text."""
    sections = {}
    for part in repr(report.nsight()).split("    Section: ")[1:]:
        title, *lines = part.splitlines()
        rows = [re.fullmatch(r"    (\S.*?) {2,}(?:(\S+) +)?([\d.,]+)", x) for x in lines]
        sections[title] = {row[1]: (row[2] or "", row[3]) for row in rows if row}
    return sections


def test_it_is_still_a_dict_of_metrics(report):
    metrics = report.nsight()
    assert metrics == report.counted() | report.modelled() and list(metrics)[:12] == METRICS


def test_each_metric_is_on_the_page(report, page):
    counted = page["Command line profiler metrics"]
    shown = counted | page["Command line profiler metrics (modelled)"]
    assert {name: int(value.replace(",", "")) for name, (_, value) in shown.items()} == {
        **report.nsight()
    }
    assert sorted(counted) == sorted(METRICS)
    assert shown["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == ("sector", "2,048")
    assert shown["dram__bytes_read.sum"] == ("byte", "65,536")


def test_sections_are_those_of_ncu(report, page):
    launch, occupancy = page["Launch Statistics"], page["Occupancy"]
    assert launch["Grid Size"] == ("", "64") and launch["Threads"] == ("thread", "16,384")
    assert launch["Dynamic Shared Memory Per Block"] == ("byte/block", "1,024")
    assert launch["Registers Per Thread"] == ("register/thread", str(report.registers))
    assert occupancy["Theoretical Occupancy"] == ("%", f"{100 * report.occupancy.share:.2f}")
    most = [int(value) for name, (_, value) in occupancy.items() if name.startswith("Block Limit")]
    assert len(most) == 3 and min(most) == report.occupancy.blocks
    assert "shared (64, 1, 1)x(256, 1, 1), CC 9.0" in repr(report.nsight())


def test_a_notebook_gets_tables(report, page):
    html = report.nsight()._repr_html_()
    assert html.count("<table>") == len(page) and "<td>byte/block</td><td>1,024</td>" in html
