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
OF_GROUPS = [f"convolution/{name}.cu" for name in ("depthwise", "depthwise_weight", "input")]
BY_WARPGROUPS = [
    *(f"convolution/{name}.cu" for name in ("hopper", "hopper_last", "hopper_weight")),
    *(f"gemm/{name}.cu" for name in ("hopper", "hopper_float8", "tensor_float8")),
]
LADDER = [f"gemm/{name}.cu" for name in ("boxes", "multicast", "producer")]
OF_ATTENTION = [
    f"attention/{name}.cu"
    for name in (
        "fused",
        "gradient",
        "hopper",
        "hopper_gradient",
        "merge",
        "products",
        "running",
        "scores",
        "tensor",
    )
]
OF_DECODING = [
    f"decode/{name}.cu"
    for name in ("attend", "embed", "rms_norm", "rotary", "sample", "swiglu", "thin")
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
    **dict.fromkeys(OF_GROUPS, "ops.conv2d and its gradients choose it: test_convolution.py"),
    "gemm/tensor.cu": "ops.matmul chooses it: test_gemm.py",
    "elementwise/flat.cu": "helpers.ops chooses it where arrays lie in a row: test_ops.py",
}
NOT_COUNTED = {
    **dict.fromkeys(
        OF_ATTENTION + BY_WARPGROUPS + LADDER + OF_DECODING + OF_RANKS + OF_GROUPS,
        "no GPU has counted it yet",
    ),
    **dict.fromkeys(["gemm/transposed.cu", "gemm/warps.cu"], "no GPU has counted it yet"),
    "softmax/cluster.cu": "no GPU has counted it yet",
    "bench/cub_sum.cu": "a library, which make bench-gpu measures",
    "bench/exchange.cu": "what it counts is time",
    "bench/wait.cu": "what it counts is time",
    **dict.fromkeys(OF_HALVES, "its arguments follow from the sizes in ops.conv2d's own ways"),
    "gemm/fragments.cu": "how wmma takes fragments to and from shared memory is up to ptxas",
    "gemm/fragments_shared.cu": "the same",
    "gemm/tensor.cu": "past edges ptxas leaves out loads, and copies of no bytes count more",
    "reduce/shared_plain.cu": "it has the tree of shared_modulo.cu, spelled out",
    "reduce/wrong_barrier.cu": "the hardware may do anything",
}


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
        if path.name != "test_launched.py" and path.parent.name != "clock"  # which only times
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
