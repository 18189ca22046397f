"""Triton's kernels on the software GPU: answers, and what xray says of them, by lines of Python.

Skipped where Triton or PyTorch is not installed; `make triton-tests` runs this file with both.
"""

import importlib.util
import inspect
import json
import re
import textwrap

import pytest

from softgpu.tests import python
from softgpu.words import Advice, Report

CLEAN = Report.CLEAN(kernel=r"\w+")
BARRIER = Advice.BETWEEN(barrier="tl.debug_barrier()")

pytestmark = pytest.mark.skipif(
    not (importlib.util.find_spec("triton") and importlib.util.find_spec("torch")),
    reason="Triton is not installed: make triton-tests runs this",
)

HEAD = """
import softgpu
softgpu.install()
import torch
import triton
import triton.language as tl
from softgpu import xray

def said_of(call):
    print(xray.sanitize(call))
"""


def run(program, tmp_path):
    """What a script prints: Triton reads kernels' sources from their file."""
    path = tmp_path / "script.py"
    path.write_text(HEAD + textwrap.dedent(program))
    done = python("-W", "ignore", path, TRITON_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


COPY = """
@triton.jit
def copy(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + o, mask=o < n)
    tl.store(y + o, v, mask=o < n)

n = 1000
x, y = torch.rand(n, device="cuda"), torch.zeros(n, device="cuda")
"""


def test_tensors_of_the_device_cuda_are_reached(tmp_path):
    run(COPY + """
copy[(4,)](x, y, n, B=256)
assert (x == y).all() and x.device == torch.device("cuda", 0) and x.is_cuda
assert x.cpu().device.type == "cpu" and x.cpu().cuda().device == x.device
assert torch.zeros(3).device.type == "cpu"
assert x.__dlpack_device__() == (2, 0) and torch.zeros(3).__dlpack_device__()[0] == 1
assert triton.runtime.driver.active.get_active_torch_device() == x.device
""", tmp_path)  # fmt: skip


def test_products_of_halves_are_those_of_tensor_cores_to_the_bit(tmp_path):
    run("""
@triton.jit
def product(a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    place = i[:, None] * N + i
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place)))

for dtype in (torch.float16, torch.bfloat16):
    a, b = (torch.randn(64, 64, device="cuda").to(dtype) for _ in "ab")
    a[:, 32:], b[32:] = -a[:, :32], b[:32] * 1.01  # so that sums come near 0
    c = torch.empty_like(a)
    product[(1,)](a, b, c, 64)
    exact = (a.cpu().double() @ b.cpu().double()).to(dtype)
    assert not torch.equal(exact, c.cpu())
    stack = torch.stack([b, b.mT.contiguous()])
    for same in a @ b, torch.mm(a, b), torch.nn.functional.linear(a, b.mT), (a @ stack)[0]:
        assert torch.equal(same, c) and same.is_cuda
""", tmp_path)  # fmt: skip


def test_products_of_floats_are_rounded_where_tf32_is_allowed(tmp_path):
    run("""
half_a_step = 2.0 ** -11  # of tf32 between 1 and 2
a = torch.tensor([[1 + half_a_step, 1 + 3 * half_a_step], [float("nan"), 1]], device="cuda")
a.view(torch.int32)[1, 0] = 0x7FFFFFFF  # the GPU's own
one = torch.eye(2, device="cuda")
assert torch.equal((a @ one)[0], a[0])
torch.set_float32_matmul_precision("high")
made = a @ one
assert made[0].tolist() == [1, 1 + 4 * half_a_step] and made[1].isnan().all()
""", tmp_path)  # fmt: skip


def test_tiles_lie_where_the_compiler_meant_them_in_a_sanitized_product_too(tmp_path):
    said = run("""
@triton.jit
def product(a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    place = i[:, None] * N + i
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place)))

a, b = (torch.randint(-4, 5, (64, 64), device="cuda").half() for _ in "ab")
c = torch.zeros(64, 64, device="cuda")
said_of(lambda: product[(1,)](a, b, c, 64))
assert (c == a.float() @ b.float()).all()
""", tmp_path)  # fmt: skip
    assert re.search(CLEAN, said)


def test_the_software_gpu_may_be_installed_again_once_triton_is_there(tmp_path):
    run(COPY + """
softgpu.install()
copy[(4,)](x, y, n, B=256)
assert (x == y).all()
""", tmp_path)  # fmt: skip


def test_arrays_of_pycuda_are_reached_without_pytorch(tmp_path):
    if not importlib.util.find_spec("pycuda"):
        pytest.skip("PyCUDA is not installed")
    run(COPY.partition("n = 1000")[0] + """
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
x, y = gpuarray.to_gpu(np.arange(1000, dtype="f4")), gpuarray.zeros(1000, np.float32)
copy[(4,)](x, y, 1000, B=256)
assert (x.get() == y.get()).all()
""", tmp_path)  # fmt: skip


def test_pointers_may_lie_in_a_tensor(tmp_path):
    run("""
@triton.jit
def sums(of, out, B: tl.constexpr):
    x = tl.load(of + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + tl.arange(0, B))))

given = [torch.rand(64, device="cuda") for _ in range(3)]
out = torch.empty(3, device="cuda")
sums[(3,)](torch.tensor([x.data_ptr() for x in given], device="cuda"), out, B=64)
torch.testing.assert_close(out, torch.stack([x.sum() for x in given]))
""", tmp_path)  # fmt: skip


@pytest.mark.parametrize(
    "dtype, lost", [("float16", 2**-16), ("bfloat16", 2**-16), ("float32", 2**-9)]
)
def test_products_by_descriptors_are_right(dtype, lost, tmp_path):
    """Sums lose 2**-22 a step of 16; of floats, tf32 keeps 10 bits behind the point."""
    run(f"""
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, S: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, S):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total)

a, b = (torch.randn(256, 256, device="cuda").to(torch.{dtype}) for _ in range(2))
c = torch.empty(256, 256, device="cuda")
shapes = [128, 64], [64, 64], [128, 64]
maps = [TensorDescriptor.from_tensor(x, shape) for x, shape in zip((a, b, c), shapes)]
product[(2, 4)](*maps, 256, M=128, N=64, S=64)
a, b = a.double(), b.double()
assert ((c.double() - a @ b).abs() <= {lost} * (a.abs() @ b.abs())).all()
""", tmp_path)  # fmt: skip


def test_the_autotuner_takes_what_the_clock_predicts_to_be_fastest(tmp_path):
    said = run("""
@triton.autotune([triton.Config({"B": b}, num_warps=w) for b, w in ((32, 1), (1024, 4))], ["n"])
@triton.jit
def copy(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o, mask=o < n), mask=o < n)

n = 1 << 20
x = torch.rand(n, device="cuda")
y = torch.empty_like(x)
copy[lambda meta: (triton.cdiv(n, meta["B"]),)](x, y, n)
assert (x == y).all()
print(copy.best_config, sorted(copy.configs_timings.values()))
assert triton.testing.do_bench(lambda: copy.fn[(n // 1024,)](x, y, n, B=1024), 1, 1) > 0
""", tmp_path)  # fmt: skip
    assert "B: 1024" in said


# ---- what is wrong, and the same done right ----

PLANTED = {
    "out of bounds": (
        """
def kernel(x, y, n, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o, mask=o < n), mask=o <= n)  # HERE
""",
        "o <= n",
        "o < n",
    ),
    "race": (
        """
def kernel(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(y + o, tl.load(x + o))  # HERE
    #
    tl.store(x + o, tl.load(y + (o + 1) % B))
""",
        "#\n",
        "tl.debug_barrier()\n",
    ),
    "double write": (
        """
def kernel(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(y + o // 2, tl.load(x + o))  # HERE
""",
        "o // 2",
        "o",
    ),
    "uninitialised read": (
        """
def kernel(x, y, n, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(y + o, tl.load(x + o) + tl.load(z + o))  # HERE
""".replace("n, B", "n, z, B"),
        "+ tl.load(z + o)",
        "+ z.to(tl.int64)",
    ),
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_mistake_is_found_by_its_line_and_its_correct_twin_is_clean(kind, tmp_path):
    text, wrong, right = PLANTED[kind]
    more = "torch.empty(256, device='cuda'), " if "n, z, B" in text else ""
    launch = f"""
x, y = (torch.rand(1000, device="cuda") for _ in range(2))
said_of(lambda: kernel[(n // 256 + 1,)](x, y, n, {more}B=256))
"""
    n = "n = 1000\n" if kind == "out of bounds" else "n = 255\n"
    for change, clean in ((wrong, False), (right, True)):
        said = run("@triton.jit" + text.replace(wrong, change) + n + launch, tmp_path)
        if clean:
            assert re.search(CLEAN, said)
            continue
        assert f"1. {kind}: script.py:" in said and "# HERE" in said, said
        assert kind != "race" or BARRIER in said
        assert "__syncthreads" not in said


WRONG_AND_RIGHT = (
    COPY
    + """
@triton.jit
def copy_all(x, y, B: tl.constexpr):
    o = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + o, tl.load(x + o))  # HERE

def test_wrong():
    copy_all[(4,)](x, y, B=256)

def test_right():
    copy[(4,)](x, y, n, B=256)
"""
)


def test_pytest_fails_a_test_whose_launch_is_wrong_and_not_its_correct_twin(tmp_path):
    """As the page for maintainers says."""
    (tmp_path / "test_tiles.py").write_text(HEAD + WRONG_AND_RIGHT)
    words = "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--softgpu=sanitize"
    done = python(*words, cwd=tmp_path, TRITON_CACHE_DIR=str(tmp_path))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "out of bounds: test_tiles.py:" in done.stdout and "# HERE" in done.stdout


def test_the_command_profiles_a_script(tmp_path):
    (tmp_path / "script.py").write_text(HEAD + COPY + "copy[(4,)](x, y, n, B=256)\n")
    words = "-m", "softgpu", "profile", "--json", "counts.jsonl", "script.py"
    done = python(*words, cwd=tmp_path, TRITON_CACHE_DIR=str(tmp_path))
    (counted,) = map(json.loads, (tmp_path / "counts.jsonl").read_text().splitlines())
    assert "copy: 4 blocks of 128 threads" in done.stderr and counted["predicted_us"] > 0
    loads = [line for line in counted["lines"] if "tl.load" in line["source"]]
    assert sum(line.get("ld.sectors", 0) for line in loads) == 250


def test_counters_and_the_prediction_are_by_line_of_python(tmp_path):
    said = run(COPY + "print(xray.profile(lambda: copy[(4,)](x, y, n, B=256)))\n", tmp_path)
    assert re.search(r"\d µs", said)
    line = inspect.cleandoc(HEAD + COPY).splitlines().index("    v = tl.load(x + o, mask=o < n)")
    assert re.search(rf"^\*? +{line + 2} .* 250 .*v = tl.load", said, re.MULTILINE), said
