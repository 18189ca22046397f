"""CuTe DSL on the software GPU: a kernel of ours, and CUTLASS's samples, which check themselves.

Skipped where CuTe DSL is not installed; `make cute-dsl-tests` runs this file with it.
"""

import importlib.util
from pathlib import Path

import pytest

from softgpu.tests import python

HERE = Path(__file__).parent
SAMPLES = HERE / "examples/python/CuTeDSL/cute"

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("nvidia_cutlass_dsl") and importlib.util.find_spec("torch")),
    reason="CuTe DSL is not installed: make cute-dsl-tests runs this",
)

PROGRAM = """
import softgpu
softgpu.install()
import torch
import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack
from softgpu import xray

@cute.kernel
def add(x: cute.Tensor, y: cute.Tensor, z: cute.Tensor, n: cutlass.Int32):
    i = cute.arch.block_idx()[0] * cute.arch.block_dim()[0] + cute.arch.thread_idx()[0]
    if i < n:
        z[i] = x[i] + y[i]  # HERE

@cute.jit
def launch(x: cute.Tensor, y: cute.Tensor, z: cute.Tensor, n: cutlass.Int32):
    add(x, y, z, n).launch(grid=[4, 1, 1], block=[256, 1, 1])

x, y = (torch.rand(1000, device="cuda") for _ in "xy")
z = torch.zeros_like(x)
given = [from_dlpack(t) for t in (x, y, z)]
launch(*given, 1000)
assert torch.equal(z, x + y)
print(xray.sanitize(lambda: launch(*given, 1000)))
print(xray.sanitize(lambda: launch(*given, 1001)))
"""


def test_a_kernel_is_right_and_what_it_does_wrong_is_found_by_its_line(tmp_path):
    (tmp_path / "script.py").write_text(PROGRAM)
    done = python("-W", "ignore", tmp_path / "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    right, wrong = done.stdout.split("nothing found")
    assert "out of bounds" not in right
    assert "out of bounds: script.py:" in wrong and "# HERE" in wrong


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="make cute-dsl-tests brings the samples")
@pytest.mark.parametrize(
    "sample",
    [
        "ampere/kernel/elementwise/elementwise_add.py --M 256 --N 512",
        "ampere/kernel/dense_gemm/sgemm.py --mnk 256,128,64",
        "ampere/kernel/dense_gemm/tensorop_gemm.py --mnkl 256,128,64,1 --atom_layout_mnk 2,2,1",
        "ampere/kernel/attention/flash_attention_v2.py --batch_size 1 --seqlen_q 128"
        " --seqlen_k 128 --num_head 2 --head_dim 64",
        "hopper/kernel/dense_gemm/dense_gemm.py --mnkl 256,384,192,2 --tolerance 0.01",
    ],
    ids=lambda words: Path(words.split()[0]).stem,
)
def test_a_sample_of_cutlass_is_right(sample, tmp_path):
    path, *words = sample.split()
    once = "--warmup_iterations=0", "--iterations=1"
    done = python("-W", "ignore", SAMPLES / path, *words, *once, cwd=tmp_path)
    assert done.returncode == 0 and "PASS" in done.stdout, done.stdout + done.stderr
