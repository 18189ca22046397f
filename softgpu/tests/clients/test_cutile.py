"""cuTile's kernels on the software GPU: answers, findings and times, by lines of Python.

Skipped where cuTile is not installed; `make triton-tests` runs this file with it.
"""

import os
import re
import subprocess
import sys

import pytest

from softgpu.tests import ROOT
from softgpu.words import Report

pytest.importorskip("cuda.tile")

PROGRAM = """
import softgpu
softgpu.install()
import cuda.tile as ct
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from softgpu import xray

@ct.kernel
def product(a, b, c, SIDE: ct.Constant[int], DEEP: ct.Constant[int]):
    across, down = ct.bid(0), ct.bid(1)
    total = ct.zeros((SIDE, SIDE), dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(SIDE, DEEP))):
        tile_a = ct.load(a, (down, step), (SIDE, DEEP), padding_mode=ZERO, allow_tma=False)
        tile_b = ct.load(b, (step, across), (DEEP, SIDE), padding_mode=ZERO, allow_tma=False)
        total = ct.mma(tile_a, tile_b, total)
    ct.store(c, (down, across), total, allow_tma=False)

ZERO, rng = ct.PaddingMode.ZERO, np.random.default_rng(14)
a = gpuarray.to_gpu(rng.integers(-4, 5, (100, 200)).astype(np.float16))
b = gpuarray.to_gpu(rng.integers(-4, 5, (200, 90)).astype(np.float16))
c = gpuarray.zeros((100, 90), np.float32)
expected = a.get().astype(np.float32) @ b.get()
def call(): ct.launch(0, (2, 2), product, (a, b, c, 64, 64))
"""


def run(program, tmp_path):
    """What a script prints: cuTile reads kernels' sources from their file."""
    path = tmp_path / "script.py"
    path.write_text(PROGRAM + program)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_product_of_odd_sizes_is_right_watched_too(tmp_path):
    said = run("""
call()
assert (c.get() == expected).all()
c.fill(0)
print(xray.sanitize(call))
assert (c.get() == expected).all()
""", tmp_path)  # fmt: skip
    assert re.search(Report.CLEAN(kernel=r"\w+"), said)


def test_it_is_counted_and_its_time_predicted_by_lines_of_python(tmp_path):
    said = run(
        """
report = xray.profile(call)
assert report.total["hmma"] == 4 * 4 * 4 * 4  # tiles, steps, warps, products of a step
print(report)
""",
        tmp_path,
    )
    assert "total = ct.mma(tile_a, tile_b, total)" in said and "H200" in said
