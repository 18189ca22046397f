"""Loops without a test for each access: whatever the block's shape, results and faults stay."""

import numpy as np
import pytest

from softgpu.faults import FaultKind
from softgpu.jit.analysis import proof
from softgpu.jit.analysis.strides import strides_along_x
from softgpu.jit.emit.module_text import ModuleText
from softgpu.jit.facts.layout import Image, Layout
from softgpu.jit.passes import BUILDS
from softgpu.ptx import parse
from softgpu.tests import autoinit
from softgpu.tests.facts import stopped

from .text import HEAD

if not autoinit.is_software:
    pytest.skip("about the software GPU's own code", allow_module_level=True)

import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("in_full")
KERNELS = """
template <typename T> __device__ void tiles(const T *a, const T *b, T *c, int n)
{
    __shared__ T of_a[16][16], of_b[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    T sum = 0;
    for (int k = 0; k < n; k += 16) {
        of_a[y][x] = a[row * n + k + x];
        of_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += of_a[y][i] * of_b[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" {
__global__ void naive(const float *a, const float *b, float *c, int n, int most)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= most || column >= most) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
__global__ void float_tiles(const float *a, const float *b, float *c, int n) { tiles(a, b, c, n); }
__global__ void double_tiles(const double *a, const double *b, double *c, int n)
{ tiles(a, b, c, n); }
__global__ void rows4(const float4 *x, float4 *y, int rows)
{
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    for (int r = 0; r < rows; r++) {
        float4 v = x[i], first = x[threadIdx.y * blockDim.x];
        y[i] = make_float4(v.x + first.w, v.y, v.z, v.w);
        i += blockDim.x * blockDim.y;
    }
}
__global__ void last_stays4(int *out, int n)
{
    for (int i = 0; i < n; i++) out[i * blockDim.x + threadIdx.x] = threadIdx.y * n + i;
}
__global__ void last_stays8(long long *out, int n)
{
    for (int i = 0; i < n; i++) out[i * blockDim.x + threadIdx.x] = threadIdx.y * n + i;
}
__global__ void backwards(const int *x, int *y, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[n - 1 - i] = x[i];
}
__global__ void shifted(const float *x, float *y, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i + by] = x[i];
    y[i + by + 1] = x[i + 1];
}
__global__ void shifted4(const float4 *x, float4 *y, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i + by] = x[i];
}
__global__ void scattered(int *y, const int *at, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = 5 * threadIdx.x;
    __syncthreads();
    if (threadIdx.x < n) y[threadIdx.x] = s[at[threadIdx.x]];
}
}
"""


@pytest.fixture(scope="module")
def module():
    return SourceModule(KERNELS, no_extern_c=True)


def floats(*shape, dtype=np.float32):
    return np.random.default_rng(0).integers(-8, 8, shape).astype(dtype)


@pytest.mark.parametrize("block", [(16, 16), (8, 8), (32, 4), (4, 32), (5, 13), (24, 8), (64, 2)])
@pytest.mark.parametrize("n", [1, 37, 64])
def test_blocks_of_any_shape_multiply(module, block, n):
    a, b = floats(n, n), floats(n, n)[::-1].copy()
    c = gpuarray.zeros((n, n), np.float32)
    grid = tuple(-(-n // side) for side in block)
    a_, b_ = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    module.get_function("naive")(a_, b_, c, np.int32(n), np.int32(n), block=(*block, 1), grid=grid)
    np.testing.assert_array_equal(c.get(), a @ b)  # sums of small integers are exact


@pytest.mark.parametrize(("name", "kind"), [("float", np.float32), ("double", np.float64)])
def test_tiles_multiply(module, name, kind):
    a, b = floats(48, 48, dtype=kind), floats(48, 48, dtype=kind)[:, ::-1].copy()
    c = gpuarray.zeros((48, 48), kind)
    kernel = module.get_function(f"{name}_tiles")
    arrays = gpuarray.to_gpu(a), gpuarray.to_gpu(b), c
    kernel(*arrays, np.int32(48), block=(16, 16, 1), grid=(3, 3))
    np.testing.assert_array_equal(c.get(), a @ b)


def test_a_loop_that_runs_past_its_array_faults_at_the_first_thread_that_does(module):
    n = 64
    a, b = gpuarray.to_gpu(floats(n, n)), gpuarray.to_gpu(floats(n * n - 20))
    c = gpuarray.zeros((n, n), np.float32)
    with stopped(FaultKind.OUTSIDE, "(12,0,0)", "(2,0,0)", 4):
        launch = {"block": (16, 16, 1), "grid": (3, 1)}
        module.get_function("naive")(a, b, c, np.int32(n), np.int32(n), **launch)
        cuda.Context.synchronize()


@pytest.mark.parametrize("block", [(8, 4), (16, 2), (32, 1), (4, 8)])
def test_vectors_in_loops(module, block):
    rows, width = 5, block[0]
    x = floats(rows * 32, 4)
    y = gpuarray.zeros((rows * 32, 4), np.float32)
    kernel = module.get_function("rows4")
    kernel(gpuarray.to_gpu(x), y, np.int32(rows), block=(*block, 1))
    expected = x.copy()
    of_first = np.tile(np.arange(32) // width * width, rows)
    expected[:, 0] += x[of_first, 3]
    np.testing.assert_array_equal(y.get(), expected)


@pytest.mark.parametrize("block", [(8, 4), (16, 2), (16, 16)])
@pytest.mark.parametrize("size", [4, 8])
def test_the_same_lane_s_store_stays_in_a_loop_too(module, block, size):
    out = gpuarray.zeros((6, block[0]), f"i{size}")
    module.get_function(f"last_stays{size}")(out, np.int32(6), block=(*block, 1))
    lanes_of_last_group = 128 // size
    row = block[1] - lanes_of_last_group // block[0]
    expected = np.repeat(row * 6 + np.arange(6), block[0]).reshape(6, -1)
    np.testing.assert_array_equal(out.get(), expected)


def test_a_row_that_runs_backwards(module):
    x = np.arange(1000, dtype=np.int32)
    y = gpuarray.zeros(1000, np.int32)
    kernel = module.get_function("backwards")
    kernel(gpuarray.to_gpu(x), y, np.int32(1000), block=(64, 1, 1))
    np.testing.assert_array_equal(y.get(), x[::-1])


@pytest.mark.parametrize(
    ("name", "width", "by"), [("shifted", 1, 0), ("shifted", 1, 5), ("shifted4", 4, 3)]
)
def test_large_arrays_wherever_their_lines_begin(module, name, width, by):
    n = (8 << 20) // 4 // width
    x = floats(n + 1, width)
    y = gpuarray.zeros((n + 8, width), np.float32)
    kernel = module.get_function(name)
    kernel(gpuarray.to_gpu(x), y, np.int32(by), block=(256, 1, 1), grid=(n // 256, 1))
    whole = y.get()
    np.testing.assert_array_equal(whole[by : n + by], x[:n])
    assert not whole[:by].any() and not whole[n + by + 1 :].any()


def emitted(*lines):
    """LLVM of a kernel that has a row of floats at %rd2 and at %rd3."""
    body = "\n".join(lines)
    module = parse(
        f"""{HEAD}.visible .entry k(.param .u64 x, .param .u64 y)
        {{ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;
        ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; mov.u32 %r0, %tid.x;
        mul.wide.u32 %rd4, %r0, 4; add.s64 %rd2, %rd0, %rd4; add.s64 %rd3, %rd1, %rd4;
        {body} ret; }}"""
    )
    return ModuleText(Layout(module, Image(module), "k"), BUILDS["plain"]).emit("k")


def test_only_what_is_not_read_as_well_is_stored_past_the_caches():
    load = "ld.global.f32 %f1, [%rd2];"
    assert "!nontemporal" in emitted(load, "st.global.f32 [%rd3], %f1;")
    assert "!nontemporal" not in emitted(load, "st.global.f32 [%rd2], %f1;")


def test_a_store_that_releases_comes_after_those_past_the_caches():
    lines = emitted("st.global.f32 [%rd3], %f1;", "st.release.gpu.global.u32 [%rd0], %r0;").split(
        "\n"
    )
    past_caches = [n for n, line in enumerate(lines) if "!nontemporal" in line]
    fences = [n for n, line in enumerate(lines) if "fence seq_cst" in line]
    assert past_caches and fences[-1] > past_caches[-1]


@pytest.mark.parametrize("n", [1, 17, 64])
def test_shared_memory_is_read_from_anywhere_inside_it(module, n):
    at = np.random.default_rng(0).integers(0, 64, 64).astype(np.int32)
    at[n:] = 1 << 29  # what inactive lanes would read does not matter
    y = gpuarray.zeros(64, np.int32)
    module.get_function("scattered")(y, gpuarray.to_gpu(at), np.int32(n), block=(64, 1, 1))
    np.testing.assert_array_equal(y.get()[:n], 5 * at[:n])
    at[n - 1] = 64
    with stopped(FaultKind.BEYOND_SHARED, f"({n - 1},0,0)", 256):
        module.get_function("scattered")(y, gpuarray.to_gpu(at), np.int32(n), block=(64, 1, 1))
        cuda.Context.synchronize()


def test_strides_along_x():
    body = """
    ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
    mad.lo.s32 %r3, %r2, %r0, %r1; shl.b32 %r4, %r3, 2; mul.lo.s32 %r5, %r1, 132;
    mul.lo.s32 %r6, %r1, %r0; and.b32 %r7, %r1, 15; shr.u32 %r8, %r1, 4; shr.u32 %r9, %r1, 1;
    xor.b32 %r10, %r1, 3; mul.lo.s32 %r11, %r2, %r0; sub.s32 %r12, %r0, %r1;
    L: add.s32 %r4, %r4, 16; add.s32 %r13, %r13, %r1; bra L;
    """
    text = (
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        f".entry k(.param .u32 n) {{ .reg .b32 %r<20>; {body} }}"
    )
    strides = strides_along_x(parse(text).functions["k"])
    names = [f"%r{number}" for number in range(13)]
    assert [strides[name] for name in names] == [0, 1, 0, 1, 4, 132, None, 1, 0, None, None, 0, -1]
    assert strides["%r13"] is None  # grows with each round


def test_what_may_have_changed_meanwhile_is_not_computed_ahead():
    body = "mov.u32 %r1, %tid.x; mov.u32 %r2, %clock; mov.b64 {%r1, %r2}, %rd0; ret;"
    text = f"{HEAD}.entry k() {{ .reg .b32 %r<3>; .reg .b64 %rd<1>; {body} }}"
    items = parse(text).functions["k"].instructions
    assert [proof._is_address_arithmetic(item) for item in items[:3]] == [True, False, False]
