"""TileLang on the software GPU: a product of halves, watched.

Skipped where TileLang is not installed; `make tilelang-tests` runs this file with it.
"""

import importlib.util
import re

import pytest

from softgpu.tests import python
from softgpu.words import Report

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("tilelang") and importlib.util.find_spec("torch")),
    reason="TileLang is not installed: make tilelang-tests runs this",
)

PROGRAM = """
import softgpu
softgpu.install(libraries=["cudart"])
import torch
import tilelang
import tilelang.language as T
from softgpu import xray

@tilelang.jit(target={"kind": "cuda", "arch": "sm_90a"})
def product(m, n, k):
    @T.prim_func
    def main(
        A: T.Tensor((m, k), "float16"), B: T.Tensor((k, n), "float16"),
        C: T.Tensor((m, n), "float32"),
    ):
        with T.Kernel(T.ceildiv(n, 64), T.ceildiv(m, 64), threads=128) as (across, down):
            a, b = T.alloc_shared((64, 32), "float16"), T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, 32), num_stages=2):
                T.copy(A[down * 64, step * 32], a)
                T.copy(B[step * 32, across * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[down * 64, across * 64])
    return main

a, b = (torch.randint(-4, 5, size, device="cuda").half() for size in [(128, 96), (96, 192)])
c = torch.empty(128, 192, device="cuda")
call = product(128, 192, 96)
print(xray.sanitize(lambda: call(a, b, c)))
assert torch.equal(c, a.float() @ b.float())
"""


def test_a_product_is_right_and_clean(tmp_path):
    (tmp_path / "script.py").write_text(PROGRAM)
    done = python("-W", "ignore", tmp_path / "script.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(Report.CLEAN(kernel=r"\w+"), done.stdout)
