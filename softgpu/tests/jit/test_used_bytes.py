"""Loads that nvcc makes wider than it needs, and says which bytes: `.pragma "used_bytes_mask"`; and
asynchronous copies of fewer bytes than they write."""

import numpy as np
import pytest

from softgpu import xray
from softgpu.ptx import parse
from softgpu.tests import autoinit
from softgpu.tests.facts import refused

if not autoinit.is_software:
    pytest.skip("a real GPU looks at no byte of an allocation's last page", allow_module_level=True)

import pycuda.driver as cuda  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

END_OF_ARRAY = """
__global__ void sum(float *out, const float *p)
{
    float4 v = *(const float4 *)p;
    float2 w = *(const float2 *)(p + 4);
    out[0] = v.x + v.y + v.z + v.w + w.x + w.y + p[6];
}
__global__ void shared_sum(float *out, const float *p)
{
    extern __shared__ float4 s[];
    float *f = (float *)s;
    if (threadIdx.x < 7) f[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    float2 w = *(const float2 *)(f + 4);
    out[threadIdx.x] = w.x + w.y + f[6];
}
"""

TAIL = """
#include <cuda_pipeline.h>

// s becomes x[0..count), and zeros; each thread copies 16 bytes or what is left. `over`: too much
extern "C" __global__ void tail(float *out, const float *x, int count, int over)
{
    __shared__ __align__(16) float s[512];
    int first = 4 * threadIdx.x, bytes = max(min(4 * (count - first), 16), 0);
    int zeros = bytes && bytes < 16 ? max(16 - bytes - over, 0) : 16 - bytes;
    __pipeline_memcpy_async(s + first, x + first, 16, zeros);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = first; i < first + 4; i++) out[i] = s[i];
}
"""

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"

LOADS = """
.visible .entry k(.param .u64 out, .param .u64 p)
{{
    .reg .b32 %r, %at; .reg .b64 %out, %p, %q; .reg .f32 %f<5>; .reg .pred %second;
    .shared .align 16 .b8 s[32];
    ld.param.u64 %out, [out];
    ld.param.u64 %p, [p];
    mov.u32 %r, %tid.x;
    setp.eq.u32 %second, %r, 1;
    @%second st.global.u32 [%p+{written}], %r;
    {pragma}
    ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%p+16];
    add.f32 %f1, %f1, %f2;
    mul.wide.u32 %q, %r, 4;
    add.u64 %out, %out, %q;
    st.global.f32 [%out], %f1;
    ret;
}}
"""

UNUSED = 48
"""A place that the load does not touch."""


def loads(mask: int | None, written: int = UNUSED):
    """A kernel whose load at byte 16 is for the bytes of a mask; thread 1 writes another place."""
    pragma = "" if mask is None else f'.pragma "used_bytes_mask {mask}";'
    text = HEAD + LOADS.format(pragma=pragma, written=written)
    return cuda.module_from_buffer(text.encode()).get_function("k")


def ones(count: int, room: int = 0):
    """Device memory of so many floats that are 1, and bytes that nobody has written."""
    memory = cuda.mem_alloc(4 * count + room)
    cuda.memset_d32(memory, 0x3F800000, count)
    return memory


def test_the_pragma_is_for_the_next_instruction():
    body = """.entry k() { .reg .f32 %f<3>; .reg .b64 %p;
        .pragma "used_bytes_mask 15";
        .loc 1 2 3
        ld.global.v2.f32 {%f1, %f2}, [%p];
        ld.global.v2.f32 {%f1, %f2}, [%p];
        .pragma "used_bytes_mask 0xF0";
        ld.global.v2.f32 {%f1, %f2}, [%p];
        .pragma "used_bytes_mask nonsense";
        ld.global.v2.f32 {%f1, %f2}, [%p];
        ret; }"""
    (kernel,) = parse(HEAD + body).kernels
    assert [item.used_bytes for item in kernel.instructions] == [15, None, 0xF0, None, None]


@pytest.mark.parametrize("name", ["sum", "shared_sum"])
def test_a_widened_load_at_the_end_of_an_array(name):
    kernel = SourceModule(END_OF_ARRAY).get_function(name)
    threads = 7 if name == "shared_sum" else 1
    p, out = ones(7), cuda.mem_alloc(4 * threads)
    shape = {"block": (threads, 1, 1), "grid": (1, 1), "shared": 28}
    kernel(out, p, **shape)
    result = np.empty(threads, np.float32)
    cuda.memcpy_dtoh(result, out)
    assert result[0] == (7 if name == "sum" else 3)
    assert not xray.sanitize(kernel, out, p, **shape)


@pytest.mark.parametrize("mask", [0x000F, 0x0FFF, 0x0F0F])
def test_what_no_byte_is_used_of_may_lie_outside(mask):
    kernel, memory, out = loads(mask), ones(7), cuda.mem_alloc(4)
    kernel(out, memory, block=(1, 1, 1))
    cuda.Context.synchronize()
    assert not xray.sanitize(kernel, out, memory, block=1, grid=1)


@pytest.mark.parametrize(
    ("mask", "bytes_"), [(None, 16), (0xFFFF, 16), (0x1FFF, 13), (0x8000, 1), (0xF0F0, 12)]
)
def test_used_bytes_outside_are_told(mask, bytes_):
    kernel, memory, out = loads(mask), ones(7), cuda.mem_alloc(4)
    with refused(cuda.LogicError, bytes_):
        kernel(out, memory, block=(1, 1, 1))
        cuda.Context.synchronize()
    (finding,) = xray.sanitize(kernel, out, memory, block=1, grid=1)
    assert finding.kind == "out of bounds"


def test_a_widened_load_is_aligned_as_a_whole():
    kernel, memory, out = loads(0x000F), ones(9), cuda.mem_alloc(4)
    (finding,) = xray.sanitize(kernel, out, np.intp(int(memory) + 4), block=1, grid=1)
    assert finding.kind == "misaligned"


@pytest.mark.parametrize(("mask", "found"), [(0x00FF, 0), (0x0F0F, 1), (0x8000, 1)])
def test_only_used_bytes_have_to_be_written(mask, found):
    memory, out = ones(6, room=8), cuda.mem_alloc(4)
    findings = xray.sanitize(loads(mask), out, memory, block=1, grid=1)
    assert [finding.kind for finding in findings] == ["uninitialised read"] * found


@pytest.mark.parametrize(
    ("mask", "written", "found"),
    [(0x00FF, 24, 0), (0x0FFF, 24, 1), (0xF0F0, 24, 0), (0xF0F0, 20, 1), (None, 24, 1)],
)
def test_only_used_bytes_race(mask, written, found):
    memory, out = ones(16), cuda.mem_alloc(8)
    findings = xray.sanitize(loads(mask, written), out, memory, block=2, grid=1)
    assert [finding.kind for finding in findings] == ["missing __syncwarp"] * found


@pytest.mark.parametrize("count", [77, 78, 79, 80, 1, 128])
def test_a_copy_of_fewer_bytes_than_it_writes_reads_no_others(count):
    kernel, x, out = (
        SourceModule(TAIL, no_extern_c=True).get_function("tail"),
        ones(count),
        cuda.mem_alloc(512),
    )
    arguments, shape = (out, x, np.int32(count), np.int32(0)), {"block": (32, 1, 1), "grid": (1, 1)}
    kernel(*arguments, **shape)
    result = np.empty(128, np.float32)
    cuda.memcpy_dtoh(result, out)
    assert (result == (np.arange(128) < count)).all()
    assert not xray.sanitize(kernel, *arguments, **shape)


@pytest.mark.parametrize(("over", "read"), [(1, 5), (9, 13), (12, 16)])
def test_one_that_reads_too_many_is_told(over, read):
    kernel, x, out = (
        SourceModule(TAIL, no_extern_c=True).get_function("tail"),
        ones(77),
        cuda.mem_alloc(512),
    )
    arguments, shape = (out, x, np.int32(77), np.int32(over)), {"block": (32, 1, 1), "grid": (1, 1)}
    (finding,) = xray.sanitize(kernel, *arguments, **shape)
    assert (finding.kind, finding.count) == ("out of bounds", 1)
    with refused(cuda.LogicError, "(19,0,0)", read):
        kernel(*arguments, **shape)
        cuda.Context.synchronize()


@pytest.mark.parametrize("unwritten", [76, 77])
def test_only_bytes_that_are_copied_must_have_been_written(unwritten):
    kernel, x, out = (
        SourceModule(TAIL, no_extern_c=True).get_function("tail"),
        ones(unwritten, 16),
        cuda.mem_alloc(512),
    )
    arguments = out, x, np.int32(77), np.int32(0)
    report = xray.sanitize(kernel, *arguments, block=32, grid=1)
    assert [f.kind for f in report] == ["uninitialised read"] * (77 - unwritten)
