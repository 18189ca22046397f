"""Plain, counted and watched, a launch leaves the same in memory, to the bit, or a finding says why
not: of blocks that run one after the other, as the order in which several of them add up floats is
open."""

from dataclasses import replace

import numpy as np
import pytest

from softgpu.tests import autoinit
from softgpu.tests.conformance import runner
from softgpu.tests.conformance.suite import CASES as KERNELS

from . import ways
from .nsight.cases import CASES, OWN, Case
from .planted import FILES, module, planted

from pycuda.compiler import SourceModule  # isort: skip

if not autoinit.is_software:
    pytest.skip("about the software GPU's own builds", allow_module_level=True)

CONFORMANCE = {  # first the module, which one process compiles for all kernels of it
    f"{source.name}-{kernel.entry}": (source, kernel) for source, kernel, _ in KERNELS.values()
}


@pytest.fixture(autouse=True)
def in_order():
    with ways.in_order():
        yield


OF_KERNELS = [case for case in CASES if isinstance(case, Case)]


@pytest.mark.parametrize("case", OF_KERNELS, ids=lambda case: case.name)
def test_launches_that_are_counted(case):
    shape, found = {"grid": case.grid, "block": case.block, "shared": case.shared}, []
    assert not ways.differing(case.function(), *case.passed(), **shape, found=found)
    of_the_course = case.file not in OWN and "wrong_" not in case.file
    assert not (found and of_the_course), found


@pytest.mark.parametrize("file", FILES)
def test_what_is_planted(file):
    for case in planted(file):
        for bug in (False, True):
            arguments, options, unwritten = case.launch(bug)
            kernel = module(file, bug).get_function(case.name)
            said = ways.differing(kernel, *arguments, **options, uninitialised=unwritten)
            assert not said, (case.name, bug)


def with_clear_nans(inputs, nans):
    """These inputs, whose NaNs say which comes out: of two among doubles, that depends on the order
    in which the compiler put the operands, on a GPU, too. nans: as of conformance.rules.Rule."""
    if nans == {"any"}:
        return inputs
    inputs = [value.copy() for value in inputs]
    doubles = [value.view(np.uint64) for value in inputs if value.ndim and value.itemsize == 8]
    for thread in range(max((len(words) for words in doubles), default=0)):
        parts = [words[thread : thread + 1] for words in doubles]
        found = [part for part in parts if np.isnan(part.view(np.float64)).any()]
        for part in found:
            part[:] = 0 if "none" in nans else found[0]
    return tuple(inputs)


@pytest.mark.parametrize("name", CONFORMANCE)
def test_conformance(name):
    """The sanitizer finds nothing in random programs."""
    source, kernel = CONFORMANCE[name]
    inputs = with_clear_nans(kernel.inputs, {case.rule.nans for case in kernel.cases})
    kernel = replace(kernel, inputs=inputs)
    function, arguments, _ = runner.prepared(source, kernel)
    shape, found = {"grid": kernel.grid, "block": kernel.block, "shared": kernel.shared}, []
    assert not ways.differing(function, *arguments, **shape, found=found)
    assert not (found and source.name == "programs"), found


KERNEL = """
__device__ unsigned kept[32];
extern "C" __global__ void told(unsigned *out) { %s[threadIdx.x] = %s; }
"""


@pytest.mark.parametrize(
    "where, what", [("out", "allocation 0"), ("kept", "the module's variables")]
)
@pytest.mark.parametrize("value, differs", [("clock()", True), ("threadIdx.x", False)])
def test_a_difference_is_told(value, differs, where, what):
    from pycuda.gpuarray import to_gpu

    kernel = SourceModule(KERNEL % (where, value), no_extern_c=True).get_function("told")
    said = ways.differing(kernel, to_gpu(np.zeros(32, np.uint32)), grid=1, block=32)
    assert (f"{what}: " in said) == differs
