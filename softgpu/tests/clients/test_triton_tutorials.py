"""Triton's tutorials, as published, without their benchmarks: each checks its own results.

`make triton-tests` puts this file beside a checkout's python/tutorials; elsewhere it is skipped.
"""

from pathlib import Path

import pytest

from softgpu.tests import python

HERE = Path(__file__).parent
TUTORIALS = HERE / "python/tutorials"
SCRIPT = """
import runpy, softgpu
softgpu.install()
import torch, triton.testing
triton.testing.Mark.run = lambda *_, **__: None  # the benchmarks
{before}
globals().update(runpy.run_path({path!r}, run_name={run_as!r}))
{after}
"""
# PyTorch's own gradients in halves are off by 7e-2 on a CPU
IN_DOUBLES = """
norm = torch.nn.functional.layer_norm
torch.nn.functional.layer_norm = lambda x, shape, weight, bias, eps: norm(
    x.double(), shape, weight.double(), bias.double(), eps)
"""
# which it compares with, if it is there
WITHOUT_CUBLAS = """
from triton._C.libtriton import nvidia
nvidia.cublas.CublasLt = lambda workspace: None
"""
# of six kernels and two types it would compile 24 each
ONE_CONFIGURATION = """
from triton.runtime.autotuner import Autotuner
Autotuner.prune_configs = lambda self, given, prune=Autotuner.prune_configs: prune(self, given)[:1]
"""
ATTENTION = """
for causal in (False, True):
    test_op(1, 2, 256, 64, causal, False, "bwd", "triton-fp16")
    test_op(1, 2, 128, 64, causal, False, "fwd", "triton-fp8")
"""
PRODUCTS = """
for dtype in (torch.float16, torch.float8_e4m3fn):
    validate(32, 32, 32, dtype)
    validate(256, 256, 256, dtype)
"""
# what is done before and after; a tutorial that is imported leaves out what is for the command line
CASES = {
    "01-vector-add": (),
    "02-fused-softmax": (),
    "03-matrix-multiplication": (),
    "04-low-memory-dropout": (),
    "05-layer-norm": (IN_DOUBLES,),
    "06-fused-attention": ("", ATTENTION, "imported"),
    "07-extern-functions": (),
    "08-grouped-gemm": (),
    "09-persistent-matmul": (WITHOUT_CUBLAS + ONE_CONFIGURATION, PRODUCTS, "imported"),
    "10-block-scaled-matmul": (),
    "11-programmatic-dependent-launch": (),
}


def script_of(name, tutorials, first=""):
    before, after, run_as = (*CASES[name], *("", "", "__main__")[len(CASES[name]) :])
    path = str(tutorials / f"{name}.py")
    return SCRIPT.format(before=first + before, path=path, run_as=run_as, after=after)


@pytest.mark.skipif(not TUTORIALS.is_dir(), reason="make triton-tests brings the tutorials")
@pytest.mark.parametrize("name", CASES)
def test_a_tutorial_is_right(name):
    done = python("-c", script_of(name, TUTORIALS), cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "❌" not in done.stdout, done.stdout
