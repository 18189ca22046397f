"""Products by warpgroups: what is counted, and what is refused in words."""

from __future__ import annotations

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
from pycuda.compiler import SourceModule  # noqa: E402


def module(source: str) -> SourceModule:
    return SourceModule(source, options=["-std=c++17"], no_extern_c=True, arch="sm_90a")


WHERE = """
#include <cuda_fp16.h>
typedef unsigned long long u64;
__device__ bool elected()
{
    unsigned is;
    asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(is));
    return is;
}

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
PLAIN = 128 >> 4 << 16 | 256 >> 4 << 32


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
