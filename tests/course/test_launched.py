"""Each kernel of cuda_src is launched by a test, and counted on a GPU, or it is said why not."""

import ast
from functools import cache

import pytest

from helpers import autoinit, sources  # noqa: F401  (the first makes PyCUDA's context)
from softgpu.tests.xray.nsight.cases import CASES
from tests import ROOT

FILES = sorted(str(path.relative_to(sources.ROOT)) for path in sources.ROOT.rglob("*.cu"))
OF_HALVES = [
    f"convolution/{name}.cu"
    for name in ("channels_last", "taps", "tensor", "tensor_weight", "widened")
]
BY_WINOGRAD = ["convolution/from_points.cu", "convolution/to_points.cu"]
CHOSEN = [
    *(f"convolution/{name}.cu" for name in ("depthwise", "depthwise_weight", "input")),
    *BY_WINOGRAD,
]
BY_WARPGROUPS = [
    *(f"convolution/{name}.cu" for name in ("hopper", "hopper_last", "hopper_weight")),
    *(f"gemm/{name}.cu" for name in ("hopper_float8", "tensor_float8")),
]
OF_RANKS = [
    f"ranks/{name}.cu" for name in ("one_shot", "packets", "push", "ring", "tree", "two_shot")
]
NOT_LAUNCHED = {
    **dict.fromkeys(OF_RANKS, "several devices launch it: test_collective.py"),
    **dict.fromkeys(
        ["attention/gradient.cu", "attention/products.cu"],
        "ops.attention and its gradients choose it: test_attention.py",
    ),
    **dict.fromkeys(BY_WARPGROUPS, "ops.matmul and ops.conv2d choose it: test_gemm.py"),
    "bench/cub_sum.cu": "a library, which make bench-gpu measures",
    "bench/exchange.cu": "several devices launch it: test_collective.py",
    **dict.fromkeys(OF_HALVES, "ops.conv2d chooses it for halves: test_convolution.py"),
    **dict.fromkeys(CHOSEN, "ops.conv2d and its gradients choose it: test_convolution.py"),
    **dict.fromkeys(
        [f"gemm/{name}.cu" for name in ("tensor", "thin", "thin_across")],
        "ops.matmul chooses it: test_gemm.py",
    ),
    "elementwise/flat.cu": "helpers.ops chooses it where arrays lie in a row: test_ops.py",
}
NOT_COUNTED = {
    "bench/cub_sum.cu": "a library, which make bench-gpu measures",
    "bench/exchange.cu": "what it counts is time",
    "bench/wait.cu": "what it counts is time",
    "reduce/wrong_barrier.cu": "the hardware may do anything",
}


NO_ANSWERS = "test_launched.py", "calls.py"  # the second only counts what operations launch


def strings(path):
    """The strings in a module, and the pieces of those that are put together."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


@cache  # not while tests are collected, which each process does
def named_in_modules():
    """The strings of each module of the tests that may launch a kernel."""
    return [
        strings(path)
        for folder in ("tests/course", "softgpu/tests/xray")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.name not in NO_ANSWERS and path.parent.name != "clock"  # which only times
    ]


def is_launched(file):
    """Whether a module of the tests names the file, or its topic's folder and its step."""
    topic, step = file.removesuffix(".cu").split("/")
    return any(
        file in named or (step in named and any(text.startswith(f"{topic}/") for text in named))
        for named in named_in_modules()
    )


@pytest.mark.parametrize("file", FILES)
def test_a_test_launches_it(file):
    assert is_launched(file) != (file in NOT_LAUNCHED), (
        f"launch {file} in tests/course/steps_TOPIC.py and test its answers (CONTRIBUTING.md)"
    )


@pytest.mark.parametrize("file", FILES)
def test_a_gpu_has_counted_it(file):
    assert (file in {case.file for case in CASES}) != (file in NOT_COUNTED), (
        f"add a launch of {file} to softgpu/tests/xray/nsight/cases.py (CONTRIBUTING.md)"
    )


def test_reasons_are_of_files_that_there_are():
    assert {*NOT_LAUNCHED, *NOT_COUNTED} <= {*FILES}
    assert not is_launched("reduce/shared_pairs.cu")
