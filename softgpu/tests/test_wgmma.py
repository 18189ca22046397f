"""Products by warpgroups: whole tiles in every layout, and what is refused in words."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from softgpu import xray
from softgpu.faults import FaultKind
from softgpu.tests import autoinit
from softgpu.tests.conformance.groups import Group
from softgpu.tests.facts import refused, stopped

pytestmark = pytest.mark.skipif(
    autoinit.device.compute_capability() != (9, 0), reason="the kernels use sm_90a"
)
software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU's words")

import pycuda.driver as cuda  # noqa: E402
from pycuda import gpuarray  # noqa: E402
from pycuda.compiler import SourceModule  # noqa: E402

DEEP = 64  # halves along k, 128 bytes
HEAD = """
#include <cuda_fp16.h>
typedef unsigned long long u64;
__device__ u64 described(unsigned at, u64 leading, u64 stride, u64 mode)
{ return at >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62; }
__device__ unsigned address_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ bool elected()
{
    unsigned is;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(is));
    return is;
}
"""
TILE = """
// An operand of SIZE rows (columns) by 64, in panels of SPAN bytes of each line.
template <int SIZE, bool ACROSS>
struct Operand {
    static const int LINES = ACROSS ? 64 : SIZE, ALONG = ACROSS ? SIZE : 64, PANEL = LINES * SPAN;
    static const int WIDE = SPAN / 16;
    static __device__ unsigned at(int line, int chunk)
    {
        unsigned at = chunk / WIDE * PANEL + line * SPAN + chunk % WIDE * 16;
        return at ^ (at >> 7 & (WIDE - 1)) << 4;
    }
    static __device__ void fill(char *tile, const half *from)
    {
        for (int i = threadIdx.x; i < LINES * ALONG; i += blockDim.x) {
            int line = i / ALONG, along = i % ALONG;
            half x = ACROSS ? from[along * 64 + line] : from[line * 64 + along];
            *(half *)(tile + at(line, along / 8) + along % 8 * 2) = x;
        }
    }
    // of the step-th 16 along k, from line (or, across, chunk) `first` on
    static __device__ u64 described(const char *tile, int first, int step)
    {
        int down = ACROSS ? step * 16 * SPAN : step * 2 / WIDE * PANEL + step * 2 % WIDE * 16;
        int over = ACROSS ? first / (SPAN / 2) * PANEL + first % (SPAN / 2) * 2 : first * SPAN;
        const u64 mode = SPAN == 16 ? 0 : SPAN == 128 ? 1 : SPAN == 64 ? 2 : 3;
        const bool turned = ACROSS && SPAN == 16;
        return ::described(address_of(tile) + down + over, turned ? 8 * SPAN : PANEL,
                           turned ? PANEL : 8 * SPAN, mode);
    }
};

extern "C" __global__ void tile(const half *a, const half *b, float *c)
{
    typedef Operand<ROWS, A_ACROSS> A;
    typedef Operand<COLUMNS, B_ACROSS> B;
    extern __shared__ __align__(1024) char tiles[];
    char *of_b = tiles + ROWS * 128;
    float d[COLUMNS / 2] = {};
    int group = threadIdx.x / 128;
    A::fill(tiles, a);
    B::fill(of_b, b);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int step = 0; step < 4; step++) {
        u64 where_a = A::described(tiles, group * 64, step), where_b = B::described(of_b, 0, step);
        MULTIPLY
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    c += (threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4) * COLUMNS + threadIdx.x % 4 * 2;
    for (int i = 0; i < COLUMNS / 2; i++) c[i / 2 % 2 * 8 * COLUMNS + i / 4 * 8 + i % 2] = d[i];
}
"""


def module(source: str, **macros: int) -> SourceModule:
    options = ["-std=c++17", *(f"-D{name}={value}" for name, value in macros.items())]
    return SourceModule(source, options=options, no_extern_c=True, arch="sm_90a")


LAYOUTS = [*itertools.product((16, 32, 64, 128), (0, 1), (0, 1))]


@pytest.mark.parametrize("rows, columns", [(64, 64), (128, 128), (128, 256)])
@pytest.mark.parametrize("span, a_across, b_across", LAYOUTS)
def test_tiles(span, a_across, b_across, rows, columns) -> None:
    """Small whole numbers have one sum, whatever the order."""
    form = Group(("f32", "f16", "f16"), columns, True, across=(a_across, b_across))
    source = HEAD + TILE.replace("MULTIPLY", form.assembly("where_a", "where_b"))
    macros = {"ROWS": rows, "COLUMNS": columns, "SPAN": span}
    kernel = module(source, A_ACROSS=a_across, B_ACROSS=b_across, **macros).get_function("tile")
    random = np.random.default_rng(span)
    a, b = (random.integers(-4, 5, (n, DEEP)).astype(np.float16) for n in (rows, columns))
    c = np.zeros((rows, columns), np.float32)
    shared = (rows + columns) * DEEP * 2
    kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
    kernel(cuda.In(a), cuda.In(b), cuda.Out(c), block=(2 * rows, 1, 1), shared=shared)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))


WHERE = (
    HEAD
    + """
extern "C" __global__ void where(u64 a, u64 b, float *c)
{
    __shared__ alignas(1024) char tiles[4096];
    float d[4] = {};
    u64 where_a = a, where_b = b;
    for (int i = threadIdx.x; i < 4096; i += 128) tiles[i] = 0;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    MULTIPLY
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    c[threadIdx.x] = d[0] + tiles[threadIdx.x] + elected();
}
"""
)
PLAIN = 128 >> 4 << 16 | 256 >> 4 << 32


@software
def test_products_may_be_waited_for_before_the_first_one() -> None:
    source = """
__global__ void waits(float *x)
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    x[threadIdx.x] = 1.f;
}
"""
    kernel = SourceModule(source, arch="sm_90a").get_function("waits")
    x = gpuarray.zeros(128, np.float32)
    assert not xray.sanitize(kernel, x, grid=(1, 1), block=(128, 1, 1))


@software
@pytest.mark.parametrize(
    "a, b, kind, facts",
    [
        (PLAIN | 4096 >> 4, PLAIN, FaultKind.PRODUCT_BEYOND_SHARED, ["a", 4096]),
        (PLAIN, PLAIN | 3984 >> 4, FaultKind.PRODUCT_BEYOND_SHARED, ["b", 4096, 3984]),
        (PLAIN | 1 << 14, PLAIN, FaultKind.DESCRIPTOR, ["a", hex(PLAIN | 1 << 14), 14]),
        (PLAIN, PLAIN | 1 << 55, FaultKind.DESCRIPTOR, ["b", hex(PLAIN | 1 << 55), 55]),
    ],
)
def test_a_wrong_descriptor_is_told(a, b, kind, facts) -> None:
    form = Group(("f32", "f16", "f16"), 8, True)
    source = WHERE.replace("MULTIPLY", form.assembly("where_a", "where_b").replace("\n", " "))
    line = source[: source.index("wgmma.mma_async")].count("\n") + 1
    kernel = module(source).get_function("where")
    c = np.zeros(128, np.float32)
    kernel(np.uint64(PLAIN), np.uint64(PLAIN), cuda.Out(c), block=(128, 1, 1))
    assert c.sum() == 4  # a lane of each warp is elected
    with stopped(kind, f"kernel.cu:{line}", *facts):
        kernel(np.uint64(a), np.uint64(b), cuda.Out(c), block=(128, 1, 1))


@software
@pytest.mark.parametrize(
    "kinds, pipe", [(("f32", "e4m3", "e5m2"), "hmma"), (("s32", "s8", "u8"), "imma")]
)
def test_each_warp_counts_one_instruction(kinds, pipe) -> None:
    form = Group(kinds, 8, True)
    source = WHERE.replace("MULTIPLY", form.assembly("where_a", "where_b"))
    source = source if pipe == "hmma" else source.replace("float d[4]", "unsigned d[4]")
    kernel = module(source).get_function("where")
    out = cuda.mem_alloc(512)
    given = np.uint64(PLAIN), np.uint64(PLAIN), out
    counted = xray.profile(kernel, *given, grid=3, block=128).nsight()
    assert counted[f"sm__inst_executed_pipe_tensor_op_{pipe}.sum"] == 3 * 4


REFUSED = {
    "m64n12k16.f32.f16.f16": ["f16", "m64n12k16"],
    "m64n40k32.s32.s8.s8": ["s8", "m64n40k32"],
    "m64n8k8.f32.f16.f16": ["f16", "m64n8k8"],
    "m64n8k16.f16.bf16.bf16": ["bf16", "f16"],
    "m64n8k16.f32.f16.bf16": ["f16", "bf16"],
}


@software
@pytest.mark.parametrize("form", REFUSED)
def test_no_such_product(form) -> None:
    text = f"""
.version 8.6\n.target sm_90a\n.address_size 64
.visible .entry k()\n{{
.reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
wgmma.mma_async.sync.aligned.{form} {{%f1, %f2, %f3, %f4}}, %rd1, %rd2, 1, 1, 1, 0, 0;
ret;\n}}
"""
    with refused(cuda.Error, f"wgmma.mma_async.sync.aligned.{form}") as caught:
        cuda.module_from_buffer(text.encode()).get_function("k")
    reason = str(caught.value).rpartition(": ")[2]
    assert re.findall(r"\b[a-z]+\d\w*", reason) == REFUSED[form]
