"""cuTile's kernels on the software GPU: answers, findings and times, by lines of Python.

Skipped where cuTile is not installed; `make cutile-tests` runs this file with it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from softgpu.tests import ROOT
from softgpu.words import Report

pytest.importorskip("cuda.tile")
pytest.importorskip("torch")

SAMPLES = Path(__file__).parent / "samples"

PROGRAM = """
import softgpu
softgpu.install()
import cuda.tile as ct
import torch
from softgpu import xray

@ct.kernel
def product(a, b, c, SIDE: ct.Constant[int], DEEP: ct.Constant[int]):
    across, down = ct.bid(0), ct.bid(1)
    total = ct.zeros((SIDE, SIDE), dtype=ct.float32)
    for step in range(ct.num_tiles(a, axis=1, shape=(SIDE, DEEP))):
        tile_a = ct.load(a, (down, step), (SIDE, DEEP), padding_mode=ZERO)
        tile_b = ct.load(b, (step, across), (DEEP, SIDE), padding_mode=ZERO)
        total = ct.mma(tile_a, tile_b, total)
    ct.store(c, (down, across), total)

ZERO = ct.PaddingMode.ZERO
a, b = (torch.randint(-4, 5, size, device="cuda").half() for size in [(100, 200), (200, 96)])
c = torch.empty(100, 96, device="cuda")
expected = a.float() @ b.float()
def call(): ct.launch(0, (2, 2), product, (a, b, c, 64, 64))
"""


def run(program, tmp_path, code=0):
    """What a script prints: cuTile reads kernels' sources from their file."""
    path = tmp_path / "script.py"
    path.write_text(program)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_product_of_odd_sizes_is_right_watched_too(tmp_path):
    said = run(PROGRAM + """
call()
assert torch.equal(c, expected)
c.zero_()
print(xray.sanitize(call))
assert torch.equal(c, expected)
""", tmp_path)  # fmt: skip
    assert re.search(Report.CLEAN(kernel=r"\w+"), said)


def test_it_is_counted_and_its_time_predicted_by_lines_of_python(tmp_path):
    said = run(
        PROGRAM
        + """
report = xray.profile(call)
assert report.total["hmma"] == 4 * 4 * 4 * 4  # tiles, steps, warps, products of a step
print(report)
""",
        tmp_path,
    )
    assert "total = ct.mma(tile_a, tile_b, total)" in said and "H200" in said


def test_a_kernel_that_insists_on_tma_is_refused(tmp_path):
    insisting = PROGRAM.replace("padding_mode=ZERO", "padding_mode=ZERO, allow_tma=True")
    said = run(insisting + "call()", tmp_path, code=1)
    assert "TMA" in said


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="make cutile-tests brings the samples")
@pytest.mark.parametrize("causal", [False, True])
def test_the_sample_of_attention_is_right(causal, tmp_path):
    run(f"""
import softgpu, sys
softgpu.install()
sys.path.insert(0, {str(SAMPLES)!r})
import torch
from AttentionFMHA import cutile_fmha, torch_fmha

q, k, v = (torch.randn(2, 4, 128, 64, device="cuda").half() for _ in "qkv")
expected = torch_fmha(q, k, v, is_causal={causal}, enable_gqa=False)
found = cutile_fmha(q, k, v, causal={causal})
torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)
""", tmp_path)  # fmt: skip
