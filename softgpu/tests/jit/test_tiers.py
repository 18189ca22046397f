"""Two tiers of machine code: when each is made, and that they agree."""

import functools

import numpy as np
import pytest

from softgpu import loader, settings
from softgpu.jit.emit.module_text import ModuleText
from softgpu.jit.passes import BUILDS
from softgpu.loaded import LoadedModule
from softgpu.tests import ROOT, autoinit
from softgpu.tests.facts import refused
from softgpu.tests.xray.planted import FILES, architecture, planted
from softgpu.xray.profiler import profile
from softgpu.xray.sanitizer import sanitize

if not autoinit.is_software:
    pytest.skip("about the software GPU's own code", allow_module_level=True)

import pycuda.driver as cuda
from pycuda.compiler import compile

MUCH = """
__device__ __noinline__ float picked(float x, int n)
{
    float local[8];
    for (int i = 0; i < 8; i++) local[i] = x * i;
    return local[n & 7];
}
extern "C" __global__ void much(const float *x, const float4 *v, float *y, double *d, int *counts,
                                int n)
{
    __shared__ float s[128];
    __shared__ int bins[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 8) bins[t] = 0;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    float4 q = v[(5 * i) % n];
    float w = q.x * q.y + q.z - q.w;
    for (int o = 16; o; o /= 2) w += __shfl_xor_sync(~0u, w, o);
    for (int k = 0; k < t % 7; k++) w = fmaf(w, 0.9f, expf(-fabsf(w)) / (1 + k));
    atomicAdd(&bins[t * t & 7], __popc(__ballot_sync(~0u, t & 1 || w > 0)));
    __syncthreads();
    if (t < 8) atomicAdd(&counts[t], bins[t]);
    if (i >= n) return;
    y[(7 * i) % n] = w + s[0] + picked(w, t);
    unsigned long long packed;
    asm("mov.b64 %0, {%1, 7};" : "=l"(packed) : "r"(t));
    d[i] = sqrt((double)w * w + i) / 3 + packed;
}
"""
LOOPS = """
extern "C" {
__global__ void straight(float *x) { x[threadIdx.x] = 1; }
__global__ void counted(float *x, float much, int n)
{ for (int k = 0; k < n; k++) x[threadIdx.x] += much; }
__global__ void fixed(float *x) { for (int k = 0; k < 100000; k++) x[threadIdx.x] *= x[k & 31]; }
struct Shape { int rows, columns; };
__global__ void nested(float *x, Shape shape)
{
    for (int i = 0; i < shape.rows; i++)
        for (int k = 0; k < shape.columns; k++) x[threadIdx.x] += i * k;
}
__device__ __noinline__ float deep(float *x, int n) { return n ? deep(x, n - 1) + x[n & 31] : 0; }
__global__ void recursive(float *x) { x[0] = deep(x, 5); }
__global__ void waiting(volatile float *x, int n)
{
    for (int k = 0; k < n; k++) {
        for (int tries = 0; x[k & 31] != 1 && tries < 1 << 30; tries++) continue;
        x[32 + (k & 31)] = k;
    }
}
}
"""
N = 250  # no whole warp, no whole block of `much`


@pytest.fixture
def made(monkeypatch, tmp_path):
    """The tiers that have been made since, of a fresh module of LOOPS."""
    tiers = []
    address = loader.KernelCode.address

    def noting(code, library):
        tiers.append("full" if code.is_full else "quick")
        return address(code, library)

    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path))
    monkeypatch.setattr(loader.KernelCode, "address", noting)
    monkeypatch.setitem(settings._QUICK_WORK, "both", 1 << 16)  # so that small launches are enough
    with loader.Engine.as_driver().tier("both"):
        yield tiers


@functools.cache  # once: each time could be of another folder, which lines are reported with
def compiled(source):
    return compile(source, no_extern_c=True, arch=architecture(source))


def module_of(source):
    return cuda.module_from_buffer(compiled(source))


def launch(name, *arguments, grid=1, times=1):
    kernel = module_of(LOOPS).get_function(name)
    x = cuda.to_device(np.ones(1024, np.float32))
    for _ in range(times):
        kernel(x, *arguments, grid=(grid, 1), block=(32, 1, 1))


SHAPE = np.dtype([("rows", np.int32), ("columns", np.int32)])


@pytest.mark.parametrize(
    "name, arguments, grid, tier",
    [
        ("straight", (), 65536, "quick"),
        ("straight", (), 65537, "full"),
        ("counted", (np.float32(1), np.int32(4096)), 16, "quick"),
        ("counted", (np.float32(1), np.int32(4096)), 17, "full"),
        ("counted", (np.float32(1), np.int32(-1)), 17, "quick"),
        ("fixed", (), 1, "full"),
        ("nested", (np.array((256, 1), SHAPE),), 1, "quick"),
        ("nested", (np.array((1, 257), SHAPE),), 1, "full"),
        ("recursive", (), 1, "full"),
        ("waiting", (np.int32(4096),), 16, "quick"),
        ("waiting", (np.int32(4096),), 17, "full"),
    ],
)
def test_a_launch_with_little_to_do_gets_code_that_is_made_quickly(
    made, name, arguments, grid, tier
):
    launch(name, *arguments, grid=grid)
    assert made == [tier]


@pytest.mark.parametrize("times, tiers", [(4, ["quick"]), (9, ["quick", "full"])])
def test_a_kernel_that_is_launched_often_is_made_in_full_once(made, times, tiers):
    launch("straight", grid=1 << 14, times=times)
    assert made == tiers


def test_a_name_longer_than_llvm_keeps_is_no_trouble(made):
    name = "k" * 1100
    source = f"""extern "C" __global__ void {name}(float *x)
{{
    for (int k = 0; k < threadIdx.x; k++) {{
        for (int n = 0; n < k && x[n] > 0; n++)
            if (x[n + k] > 2) break;
        if (x[k] > 3) continue;
        __syncwarp(1 << threadIdx.x);
    }}
    x[threadIdx.x] = printf("");
}}"""
    x = cuda.to_device(np.ones(1024, np.float32))
    module_of(source).get_function(name)(x, block=(32, 1, 1))
    assert made == ["quick"]


def test_code_that_is_kept_in_full_is_used(made):
    with loader.Engine.as_driver().tier("full"):
        launch("straight")
    launch("straight")
    assert made == ["full", "full"]


def test_a_tier_that_is_chosen_is_used(made, monkeypatch):
    with loader.Engine.as_driver().tier("quick"):
        launch("counted", np.float32(0), np.int32(1 << 20))
    assert made == ["quick"]
    monkeypatch.setenv("SOFTGPU_TIER", "fast")
    with refused(ValueError, "SOFTGPU_TIER=fast", "both", "quick", "full"):
        settings.quick_work()


@pytest.fixture
def in_both(monkeypatch, tmp_path):
    """A function that gives what another one returns, called once for each tier.

    Blocks run in order: which one a worker takes first shows in what is counted."""
    engine = loader.Engine.as_driver()

    def run(function):
        found = []
        engine.set_threads(1)
        for tier in ("quick", "full"):
            monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / tier))
            with engine.tier(tier):
                found.append(function())
        return found

    yield run
    engine.set_threads(settings.threads())


def much():
    """The arguments of MUCH."""
    chance = np.random.default_rng(7)
    x, v = (chance.standard_normal(size, np.float32) for size in (N, (N, 4)))
    x[::31] = np.nan
    rest = np.zeros(N, np.float32), np.zeros(N, np.float64), np.zeros(8, np.int32)
    return [x, v, *rest]


def test_both_tiers_give_the_same_answers(in_both):
    def answers():
        arrays = much()
        memory = [cuda.to_device(array) for array in arrays]
        kernel = module_of(MUCH).get_function("much")
        kernel(*memory, np.int32(N), grid=(2, 1), block=(128, 1, 1))
        return [cuda.from_device_like(m, a).tobytes() for m, a in zip(memory, arrays, strict=True)]

    quick, full = in_both(answers)
    assert quick == full != [array.tobytes() for array in much()]


def test_both_tiers_count_the_same(in_both):
    memory = [cuda.to_device(array) for array in much()]  # the L2's counts depend on where it lies

    def counts():
        kernel = module_of(MUCH).get_function("much")
        report = profile(kernel, *memory, np.int32(N), grid=(2, 1), block=(128, 1, 1), watch=1)
        arrays = report.arrays[["read", "written", "touched"]]
        samples = report.samples[["site", "warp", "mask", "bytes"]].tolist()
        seen = report.lines, report.sites, report.blocks, arrays.tolist(), samples
        return report.nsight(), report.caches, report.waves, report.events.tolist(), *seen

    quick, full = in_both(counts)
    assert quick == full


PIECES = """
template <typename T> __device__ void pieces(const int2 *steps, int count, int *out, int *far)
{
    extern __shared__ __align__(16) char memory[];
    T *s = (T *)memory, *g = (T *)far, sum = {};
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < count; k++) {
        int a = steps[k].x, b = steps[k].y;
#pragma unroll 1
        for (int r = 0; r < 2; r++) {  // of it, the addresses are known when the block begins
            s[y * a + x + r] = sum;
            sum = s[y * b + x + 16];
            g[y * b + x] = sum;
            sum = g[y * a + r];
            s[y * b + x] = sum;
            sum = s[y * a + b];
        }
    }
    out[y * blockDim.x + x] = ((const char *)&sum)[0];
}
extern "C" {
__global__ void of_1(int2 *s, int n, int *o, int *g) { pieces<char>(s, n, o, g); }
__global__ void of_2(int2 *s, int n, int *o, int *g) { pieces<short>(s, n, o, g); }
__global__ void of_4(int2 *s, int n, int *o, int *g) { pieces<float>(s, n, o, g); }
__global__ void of_8(int2 *s, int n, int *o, int *g) { pieces<float2>(s, n, o, g); }
__global__ void of_16(int2 *s, int n, int *o, int *g) { pieces<float4>(s, n, o, g); }
}
"""


@pytest.mark.parametrize("bytes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("shape", [(8, 8), (16, 4), (32, 2)], ids=str)
def test_both_tiers_count_pieces_of_rows_alike(bytes, shape, in_both):
    """Rows and places of a block of threads, some of which lie in the same banks."""
    steps = [0, 1, 2, 4, 5, 8, 12, 16, 17, 20, 24, 32, 40, 48, 64, 96, 128]
    pairs = np.array([(a, b) for a in steps for b in steps], np.int32)
    room = 16 * (shape[1] * max(steps) + 64)
    memory = cuda.to_device(pairs), cuda.mem_alloc(4096), cuda.mem_alloc(room)

    def counts():
        kernel = module_of(PIECES).get_function(f"of_{bytes}")
        kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, room)
        given = memory[0], np.int32(len(pairs)), *memory[1:]
        report = profile(kernel, *given, grid=(2, 1), block=(*shape, 1), shared=room, watch=1)
        return report.lines, report.nsight(), report.caches

    quick, full = in_both(counts)
    assert quick == full


def test_both_tiers_have_the_same_counters():
    """A report of a launch in quick code may read the notes of the code in full."""

    def numbers(quick):
        layout = LoadedModule(compiled(PIECES).decode()).layout("of_4")
        text = ModuleText(layout, BUILDS["profile"], quick)
        text.emit("of_4")
        assert bool(text.notes["proven"]) is not quick
        return {**text.notes, "proven": None}

    assert numbers(quick=True) == numbers(quick=False)


@pytest.mark.parametrize("file", FILES)
def test_both_tiers_find_the_same(file, in_both):
    case = next(case for case in planted(file) if not case.missed)
    source = (ROOT / "softgpu/tests/xray/planted" / file).read_text()

    def findings():
        arguments, options, unwritten = case.launch(True)
        kernel = module_of(f"#define BUG 1\n#line 1\n{source}").get_function(case.name)
        return str(sanitize(kernel, *arguments, **options, uninitialised=unwritten))

    quick, full = in_both(findings)
    assert quick == full
