"""Warps that run ahead at barriers: as far as nobody can tell, and no further."""

import numpy as np
import pytest

from softgpu.faults import FaultKind
from softgpu.jit.analysis import ahead
from softgpu.jit.analysis.found import run_passes
from softgpu.jit.passes import BUILDS
from softgpu.tests import autoinit
from softgpu.tests.facts import stopped
from softgpu.tests.jit.text import kernel

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

software = pytest.mark.skipif(not autoinit.is_software, reason="the real GPU is PyCUDA's driver")

TREE = """
mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x;
LOOP: setp.ge.u32 %p0, %r0, %r1;
@%p0 bra ON;
ld.shared.u32 %r2, [%r3]; st.shared.u32 [%r4], %r2;
ON: bar.sync 0;
shr.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;
@%p1 bra LOOP;
"""


def planned(body):
    """(how many barriers a warp passes, what it waits before)"""
    none = dict.fromkeys(("watchers", "meeters"), frozenset())
    known = {"function": kernel(body), "calls_may_exit": False, **none}
    run_passes(BUILDS["plain"].passes[:-1], known, by_driver=False)
    plan = known["ahead"]
    return len(plan.barriers), {item.name for item in plan.waits}


@pytest.mark.parametrize(
    "touch, waits",
    [
        ("", set()),
        ("st.shared.u32 [%r4], %r2;", {"st.shared.u32"}),
        ("mov.u32 %r5, %clock;", {"mov.u32"}),
        ("membar.cta;", {"membar.cta"}),
        ("vote.sync.any.pred %p2, %p1, -1;", set()),
        ("bar.warp.sync -1;", set()),
    ],
)
def test_a_warp_waits_before_it_touches_memory(touch, waits):
    assert planned(f"{TREE} {touch} ret;") == (1, {"ld.shared.u32"} | waits)


@pytest.mark.parametrize(
    "more",
    [
        "bar.sync 1;",
        "bar.sync 0, 64;",
        "bar.arrive 0, 64;",
        "@%p0 bar.sync 0;",
        "bar.red.popc.u32 %r5, 0, %p0;",
        "SPIN: ld.volatile.shared.u32 %r5, [%r4]; setp.ne.u32 %p2, %r5, 0; @%p2 bra SPIN;",
    ],
)
def test_none_runs_ahead_where_warps_wait_in_other_ways(more):
    assert planned(f"{TREE} {more} ret;") == (0, set())


def test_none_runs_ahead_where_all_have_work():
    assert planned(
        "LOOP: ld.shared.u32 %r2, [%r3]; bar.sync 0; st.shared.u32 [%r4], %r2; bar.sync 0;"
        "add.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 9; @%p1 bra LOOP;"
        "st.shared.u32 [%r4], %r1; ret;"
    ) == (0, set())


def test_a_long_block_is_looked_at_a_few_times_and_not_once_per_instruction(monkeypatch):
    looks, touches = [], ahead._touches
    monkeypatch.setattr(ahead, "_touches", lambda item: looks.append(item) or touches(item))
    assert planned("bar.sync 0;" + "add.u32 %r1, %r1, 1;" * 500 + "st.shared.u32 [%r4], %r1; ret;")
    assert 0 < len(looks) < 5 * 500


STEPS = """
__device__ bool works(int warp, int step, int seed, int often)
{
    return (37 * warp + 11 * step + seed) % 13 < often;
}
extern "C" __global__ void steps(int *out, int count, int seed, int often)
{
    __shared__ unsigned s[1024];
    int t = threadIdx.x, warp = t / 32, warps = (blockDim.x + 31) / 32;
    s[t] = t;
    __syncthreads();
    for (int step = 0; step < count; step++) {
        int other = (warp + step) % warps, from = other * 32 + (t + step) % 32;
        if (works(warp, step, seed, often)) {
            unsigned value = step;
            if (other != warp && from < blockDim.x && !works(other, step, seed, often))
                value += 3 * s[from];
            s[t] = 5 * s[t] + value;
        }
        __syncthreads();
        if ((5 * warp + seed) % 17 == step) break;
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}
extern "C" __global__ void half(int *out, int count)
{
    __shared__ int s[128];
    for (int k = count; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] = k;
        __syncthreads();
    }
    if (threadIdx.x >= 32 || threadIdx.x % 2) return;
    if (threadIdx.x < 16) __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
    if (threadIdx.x >= 16) __syncthreads();
}
"""


def after(threads, count, seed, often):
    """What `steps` leaves: a warp that has left takes no further step, and writes what it has."""
    t = np.arange(threads)
    warp, warps = t // 32, -(-threads // 32)
    s, out, here = t.copy(), np.zeros(threads, int), np.full(threads, True)
    for step in range(count):
        works = (37 * warp + 11 * step + seed) % 13 < often
        other = (warp + step) % warps
        source = other * 32 + (t + step) % 32
        others_work = (37 * other + 11 * step + seed) % 13 < often
        reads = (other != warp) & (source < threads) & ~others_work
        value = step + np.where(reads, 3 * s[np.minimum(source, threads - 1)], 0)
        s = np.where(works & here, 5 * s + value, s)
        leaves = here & ((5 * warp + seed) % 17 == step)
        out[leaves] = s[leaves]
        here &= ~leaves
    out[here] = s[here]
    return out.astype(np.int64).astype(np.uint32).astype(np.int32)


@software
@pytest.mark.parametrize("threads", [1, 32, 33, 96, 255, 256, 1000, 1024])
def test_whoever_runs_ahead_results_stay(threads):
    function = SourceModule(STEPS, no_extern_c=True).get_function("steps")
    for seed in range(20):
        out = gpuarray.zeros((3, threads), np.int32)
        arguments = [np.int32(n) for n in (12, seed, seed % 14)]
        function(out, *arguments, grid=(3, 1), block=(threads, 1, 1))
        expected = after(threads, 12, seed, seed % 14)
        np.testing.assert_array_equal(out.get(), [expected] * 3)


@software
def test_half_a_warp_at_a_barrier_is_told_though_others_are_ahead():
    function = SourceModule(STEPS, no_extern_c=True).get_function("half")
    with stopped(FaultKind.DEADLOCK, 0, 8, 16):
        function(gpuarray.zeros(32, np.int32), np.int32(64), grid=(1, 1), block=(128, 1, 1))
