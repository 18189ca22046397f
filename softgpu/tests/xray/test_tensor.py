"""Counts of ldmatrix, stmatrix and products of matrices are Nsight Compute's on an H200."""

import numpy as np
import pytest

from helpers import autoinit, xray
from softgpu.ptx.matrices import product_of
from softgpu.ptx.program import Instruction, SourceLine
from softgpu.sass import find_nvdisasm
from softgpu.tests.xray.nsight import matrices

from pycuda import gpuarray  # isort: skip
import pycuda.driver as cuda  # isort: skip

pytestmark = pytest.mark.skipif(not autoinit.is_software, reason="the software GPU counts")
SHARE = 3  # of the launches that were recorded, every so many
KERNELS = ("matrix_x1", "matrix_x2", "matrix_x4", "matrix_x1t", "matrix_x2t", "matrix_x4t")


@pytest.mark.parametrize("kernel", KERNELS)
def test_wavefronts(kernel):
    wrong = []
    for case, expected in [*matrices.matrices().items()][::SHARE]:
        if case.kernel == kernel:
            counted = case.profiled().nsight()
            found = {metric: counted[metric] for metric in expected}
            if found != expected:
                wrong.append((case.name, found, expected))
    assert not wrong


def test_machine_instructions():
    """Of every product: as many as the pipe executed."""
    found = {}
    for form in matrices.products():
        opcode, *modifiers = form.partition(" ")[0].split(".")
        item = Instruction(opcode, tuple(modifiers), (), SourceLine("", 0))
        found[form] = product_of(item).machine
    assert found == matrices.products()


@pytest.mark.long
@pytest.mark.parametrize("name", [*matrices.products()][7::60])
def test_what_the_recorder_launches_makes_so_many_products(name):
    case = matrices.Products(name)
    counted, (pipe, count) = case.profiled().nsight(), matrices.products()[name]
    found = {metric: counted.get(metric, 0) for metric in matrices.PIPES}
    assert found == {m: case.made * count * (of == pipe) for m, of in matrices.PIPES.items()}


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
    a = np.arange(256, dtype=np.float16).reshape(16, 16) / 16
    out = gpuarray.zeros((16, 16), np.float32)
    report = xray.profile((LOADS, "loads"), gpuarray.to_gpu(a), out, grid=1, block=32)
    shared, plain = (report[f"load_matrix_sync({part}"] for part in ("x, s", "y, a"))
    assert (shared["lds.requests"], shared["lds.wavefronts"]) == (1, 8)
    assert (plain["ld.requests"], plain["ld.sectors"]) == (4, 32)


LOOP = """
extern "C" __global__ void loop(const unsigned *x, float *out, int turns)
{
    unsigned a = x[threadIdx.x];
    float d[4] = {};
    for (int turn = 0; turn < turns; turn++)
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"
                     " {%0, %1, %2, %3}, {%4, %4, %5, %4}, {%4, %5}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a), "r"(turn));
    out[threadIdx.x] = d[0] + d[3];
}
"""


@pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm")
def test_products_of_loops_that_are_unrolled_are_as_many_as_the_machine_makes():
    """Two machine instructions each, in copies of a loop's body."""
    x, out = gpuarray.zeros(32, np.uint32), gpuarray.zeros(32, np.float32)
    report = xray.profile((LOOP, "loop"), x, out, np.int32(37), grid=1, block=32)
    assert report.machine.opcodes["HMMA.16816.F32"] == report.total["hmma"] == 2 * 37
