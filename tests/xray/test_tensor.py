"""Counts of ldmatrix, stmatrix and products of matrices are those of Nsight Compute on an H200."""

import numpy as np
import pytest

from helpers import autoinit, xray
from softgpu.ptx.matrices import product_of
from softgpu.ptx.program import Instruction, SourceLine
from tests.xray.nsight import matrices
from tests.xray.nsight.cases import source

pytestmark = pytest.mark.skipif(not autoinit.is_software, reason="the software GPU counts")
SHARE = 3  # of the launches that were recorded, every so many
KERNELS = ("matrix_x1", "matrix_x2", "matrix_x4", "matrix_x1t", "matrix_x2t", "matrix_x4t")


@pytest.fixture(scope="module")
def probes():
    from pycuda.compiler import SourceModule

    return SourceModule(source("probes.cu"), no_extern_c=True, arch="sm_90")


@pytest.mark.parametrize("kernel", KERNELS)
def test_wavefronts(kernel, probes):
    import pycuda.driver as cuda

    function = probes.get_function(kernel)
    out = cuda.mem_alloc(4 * 32)
    wrong = []
    for name, loads, stores, expected in [*matrices.matrices()][::SHARE]:
        if name == kernel:
            tables = (np.array(matrices.offsets(at), np.int32) for at in (loads, stores))
            given = map(cuda.to_device, tables)
            report = xray.profile(function, *given, out, grid=1, block=32, shared=49152)
            counted = report.nsight()
            found = {metric: counted[metric] for metric in expected}
            if found != expected:
                wrong.append((loads, stores, found, expected))
    assert not wrong


def test_machine_instructions():
    """Of every product: as many as the pipe executed."""
    found = {}
    for form in matrices.products():
        opcode, *modifiers = form.partition(" ")[0].split(".")
        item = Instruction(opcode, tuple(modifiers), (), SourceLine("", 0))
        found[form] = product_of(item).machine
    assert found == matrices.products()


MULTIPLY = """
extern "C" __global__ void multiply(unsigned *out)
{
    unsigned d[2] = {threadIdx.x, 0};
    for (int n = 0; n < 3; n++)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16"
                     " {%0, %1}, {%0, %1, %0, %1}, {%0, %1}, {%0, %1};" : "+r"(d[0]), "+r"(d[1]));
    out[threadIdx.x] = d[0];
}
"""


def test_pipes_are_counted():
    import pycuda.driver as cuda

    out = cuda.mem_alloc(4 * 64)
    report = xray.profile((MULTIPLY, "multiply"), out, grid=5, block=64)
    counted = report.nsight()
    assert counted["sm__inst_executed_pipe_tensor_op_hmma.sum"] == 5 * 2 * 3 * 2
    assert "sm__inst_executed_pipe_tensor_op_imma.sum" not in counted
    assert "tensor cores" in str(report)
