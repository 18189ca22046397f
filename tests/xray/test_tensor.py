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


LOADS = """
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void loads(const __half *a, float *out)
{
    __shared__ __align__(32) __half s[16 * 16];
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, row_major> y;
    fragment<accumulator, 16, 16, 16, float> z;
    for (int i = threadIdx.x; i < 256; i += 32) s[i] = a[i];
    __syncwarp();
    fill_fragment(z, 0.0f);
    load_matrix_sync(x, s, 16);
    load_matrix_sync(y, a, 16);
    mma_sync(z, x, y, z);
    store_matrix_sync(out, z, 16, mem_row_major);
}
"""


def test_wmma_loads_as_the_machine_does():
    """By one ldmatrix from shared memory, by four loads of words from global memory."""
    from pycuda import gpuarray

    a = np.arange(256, dtype=np.float16).reshape(16, 16) / 16
    out = gpuarray.zeros((16, 16), np.float32)
    report = xray.profile((LOADS, "loads"), gpuarray.to_gpu(a), out, grid=1, block=32)
    shared, plain = (report[f"load_matrix_sync({part}"] for part in ("x, s", "y, a"))
    assert (shared["lds.requests"], shared["lds.wavefronts"]) == (1, 8)
    assert (plain["ld.requests"], plain["ld.sectors"]) == (4, 32)
