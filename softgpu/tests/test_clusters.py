"""Clusters of blocks: their barrier, each other's shared memory, copies to several of them."""

import numpy as np
import pytest

from softgpu import xray
from softgpu.faults import FaultKind
from softgpu.tests import autoinit, tensor_maps
from softgpu.tests.facts import missing, stopped
from softgpu.words import Place

from pycuda import gpuarray  # isort: skip
import pycuda.driver as cuda  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(autoinit.device.compute_capability() < (9, 0), reason="needs clusters"),
]
software = pytest.mark.skipif(not autoinit.is_software, reason="a GPU says less, or hangs")

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define PTX(...) asm volatile(__VA_ARGS__)
#define TOLD ".mbarrier::complete_tx::bytes"
#define CLUSTER(...) extern "C" __global__ void __cluster_dims__(__VA_ARGS__)
struct alignas(64) Map { unsigned long long words[16]; };

__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned there(const void *p, unsigned rank)
{
    unsigned result;
    PTX("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(at(p)), "r"(rank));
    return result;
}
__device__ void meet() { cg::this_cluster().sync(); }
__device__ unsigned rank() { return cg::this_cluster().block_rank(); }
__device__ void init(unsigned long long *bar, int arrivals)
{
    if (threadIdx.x == 0) {
        PTX("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(bar)), "r"(arrivals) : "memory");
        PTX("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    meet();
}
__device__ void wait(unsigned long long *bar, unsigned parity)
{
    PTX("{ .reg .pred p;\n"
        "W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra W; }" ::"r"(at(bar)), "r"(parity) : "memory");
}

// Each block reads what the next one of its cluster has, by generic addresses.
CLUSTER(2, 3, 1) pass(int *out)
{
    __shared__ int own[64];
    cg::cluster_group cluster = cg::this_cluster();
    int block = blockIdx.x + gridDim.x * blockIdx.y;
    own[threadIdx.x] = block * 64 + threadIdx.x;
    cluster.sync();
    const int *next = cluster.map_shared_rank(own, (rank() + 1) % cluster.num_blocks());
    out[block * 64 + threadIdx.x] = next[threadIdx.x] + (cluster.query_shared_rank(next) << 16);
    cluster.sync();
}

// Each thread counts in the next block, by generic addresses.
CLUSTER(2, 1, 1) poke(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    meet();
    atomicAdd(cg::this_cluster().map_shared_rank(&count, rank() ^ 1), blockIdx.x + 1);
    meet();
    if (threadIdx.x == 0) out[blockIdx.x] = count;
}

// Values go around the cluster; who has stored says so at the next block's mbarrier.
CLUSTER(4, 1, 1) around(int *out, int turns)
{
    __shared__ unsigned long long full;
    __shared__ int box[2][32];
    init(&full, 1);
    int value = blockIdx.x * 100 + threadIdx.x;
    unsigned next = (rank() + 1) % 4;
    for (int turn = 0; turn < turns; ++turn) {
        unsigned to = there(&box[turn & 1][threadIdx.x], next);
        PTX("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
        __syncwarp();
        if (threadIdx.x == 0)
            PTX("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                there(&full, next)) : "memory");
        wait(&full, turn & 1);
        value = box[turn & 1][threadIdx.x] + 1;
        meet();
    }
    out[blockIdx.x * 32 + threadIdx.x] = value;
}

// Loads, vectors, atomics and reductions by addresses of 32 bits.
CLUSTER(2, 1, 1) words(int *out, float *sums)
{
    __shared__ int4 own[32];
    __shared__ float sum;
    __shared__ int most;
    if (threadIdx.x == 0) sum = 0, most = -1;
    own[threadIdx.x] = make_int4(rank(), threadIdx.x, blockIdx.x, -1);
    meet();
    unsigned other = rank() ^ 1, from = there(&own[31 - threadIdx.x], other);
    int4 v;
    int before;
    PTX("ld.shared::cluster.v4.s32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(from) : "memory");
    PTX("red.shared::cluster.add.f32 [%0], %1;" ::"r"(there(&sum, other)), "f"(0.5f) : "memory");
    PTX("atom.shared::cluster.max.s32 %0, [%1], %2;"
        : "=r"(before) : "r"(there(&most, 0)), "r"(int(threadIdx.x + 100 * rank())) : "memory");
    meet();
    out[blockIdx.x * 32 + threadIdx.x] = v.x + 10 * v.y + 10000 * v.z;
    if (threadIdx.x == 0) sums[2 * blockIdx.x] = sum, sums[2 * blockIdx.x + 1] = most;
}

// Each block of four fetches a part of a tile for all four.
CLUSTER(4, 1, 1) share(const Map *map, const char *in, int *out)
{
    __shared__ alignas(128) int tile[4][8][16];
    __shared__ alignas(128) int bytes[4][32];
    __shared__ unsigned long long full;
    init(&full, 1);
    if (threadIdx.x == 0) {
        PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&full)),
            "r"(int(sizeof tile + sizeof bytes)) : "memory");
        PTX("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(at(tile[rank()])), "l"(map),
            "r"(0), "r"(int(rank() * 8)), "r"(at(&full)), "h"(short(15)) : "memory");
        PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
            " [%0], [%1], 128, [%2], %3;" ::"r"(at(bytes[rank()])), "l"(in + 128 * rank()),
            "r"(at(&full)), "h"(short(15)) : "memory");
    }
    wait(&full, 0);
    for (int i = threadIdx.x; i < 512; i += 32) out[blockIdx.x * 640 + i] = (&tile[0][0][0])[i];
    for (int i = threadIdx.x; i < 128; i += 32) out[blockIdx.x * 640 + 512 + i] = (&bytes[0][0])[i];
    meet();
}

// A bulk copy into the next block, which tells the mbarrier there.
CLUSTER(2, 1, 1) hand(int *out)
{
    __shared__ alignas(16) int own[32], got[32];
    __shared__ unsigned long long full;
    init(&full, 1);
    own[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    PTX("fence.proxy.async;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
        PTX("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
            " [%0], [%1], 128, [%2];" ::"r"(there(got, rank() ^ 1)), "r"(at(own)),
            "r"(there(&full, rank() ^ 1)) : "memory");
    }
    wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = got[threadIdx.x];
    meet();
}

// Each thread stores into the next block and adds up there; the mbarrier learns of each byte.
CLUSTER(4, 1, 1) send(int *out, long long *sums)
{
    __shared__ int4 packs[32];
    __shared__ alignas(16) double pairs[32][2];
    __shared__ int words[32];
    __shared__ int counts[6];
    __shared__ long long sum;
    __shared__ unsigned long long full;
    const int t = threadIdx.x, first[6] = {1, 100, 50, -1, 0, 0x55};
    if (t < 6) counts[t] = first[t];
    if (t == 0) sum = -5;
    init(&full, 1);
    unsigned next = (rank() + 1) % 4, bar = there(&full, next);
    int value = blockIdx.x * 1000 + t;
    if (t == 0)
        PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&full)),
            "r"(32 * (16 + 16 + 4 + 6 * 4) + 8 * 8) : "memory");
    PTX("st.async.weak.shared::cluster" TOLD ".b32 [%0], %1, [%2];" ::"r"(there(&words[t], next)),
        "r"(value), "r"(bar) : "memory");
    PTX("st.async.shared::cluster" TOLD ".v4.s32 [%0], {%1, %2, 7, %1}, [%3];" ::"r"(
        there(&packs[31 - t], next)), "r"(value), "r"(-t), "r"(bar) : "memory");
    PTX("{ .reg .b64 a, m; cvta.shared::cluster.u64 a, %0; cvta.shared::cluster.u64 m, %3;\n"
        "st.async" TOLD ".v2.f64 [a], {%1, %2}, [m]; }" ::"l"((long long)there(pairs[t], next)),
        "d"(0.5 + t), "d"(-1.0), "l"((long long)bar) : "memory");
#define COUNT(n, what, with)                                                                       \
    PTX("red.async.relaxed.cluster.shared::cluster" TOLD "." what " [%0], %1, [%2];" ::"r"(        \
        there(&counts[n], next)), "r"(with), "r"(bar) : "memory")
    COUNT(0, "add.s32", value);
    COUNT(1, "min.s32", 90 - value);
    COUNT(2, "max.u32", t * 3);
    COUNT(3, "and.b32", ~(1 << t % 8));
    COUNT(4, "inc.u32", 20);
    COUNT(5, "xor.b32", 1 << t);
    if (t % 4 == 1)
        PTX("red.async.relaxed.cluster.shared::cluster" TOLD ".add.u64 [%0], %1, [%2];" ::"r"(
            there(&sum, next)), "l"(1LL << t), "r"(bar) : "memory");
    wait(&full, 0);
    int *mine = out + blockIdx.x * 8 * 32;
    const int4 p = packs[t];
    const int got[7] = {words[t], p.x, p.y, p.z, p.w, int(2 * pairs[t][0]), int(pairs[t][1])};
    for (int i = 0; i < 7; ++i) mine[i * 32 + t] = got[i];
    if (t < 6) mine[7 * 32 + t] = counts[t];
    if (t == 0) sums[blockIdx.x] = sum;
    meet();
}

// The same of one word; whether it is looked at in time or too early.
CLUSTER(2, 1, 1) post(int *out, int early)
{
    __shared__ int word[32];
    __shared__ unsigned long long full;
    word[threadIdx.x] = 0;
    init(&full, 1);
    if (threadIdx.x == 0)
        PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
    PTX("st.async.shared::cluster" TOLD ".u32 [%0], %1, [%2];" ::"r"(
        there(&word[threadIdx.x], rank() ^ 1)), "r"(threadIdx.x), "r"(there(&full, rank() ^ 1))
        : "memory");
    if (!early) wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = word[threadIdx.x];
    if (early) wait(&full, 0);
    meet();
}

// Threads that have returned are not waited for.
CLUSTER(2, 1, 1) leave(int *out, int stay)
{
    __shared__ int own;
    if (threadIdx.x == 0) own = blockIdx.x;
    meet();
    int other = *cg::this_cluster().map_shared_rank(&own, rank() ^ 1);
    meet();
    PTX("barrier.cluster.arrive.aligned;" ::: "memory");
    if (threadIdx.x >= stay && rank() == 1) return;
    PTX("barrier.cluster.wait.aligned;" ::: "memory");
    meet();
    out[blockIdx.x * blockDim.x + threadIdx.x] = other + 1;
}
"""


@pytest.fixture(scope="module")
def module():
    return SourceModule(SOURCE, no_extern_c=True, options=["-std=c++17"])


def test_blocks_read_each_others_shared_memory(module):
    grid = 4, 6, 2
    out = gpuarray.zeros((48, 64), np.int32)
    module.get_function("pass")(out[:24], block=(64, 1, 1), grid=grid[:2])
    x, y = np.meshgrid(np.arange(4), np.arange(6))
    rank = x % 2 + 2 * (y % 3)
    after = (rank + 1) % 6
    block = x // 2 * 2 + after % 2 + 4 * (y // 3 * 3 + after // 2)
    want = block.reshape(-1, 1) * 64 + np.arange(64) + (after.reshape(-1, 1) << 16)
    np.testing.assert_array_equal(out.get()[:24], want)


@software
def test_other_blocks_shared_memory_counts_as_no_global_memory(module):
    out = gpuarray.zeros(6 * 64, np.int32)
    report = xray.profile(module.get_function("pass"), out, block=(64, 1, 1), grid=(2, 3))
    assert (report.total["ld.sectors"], report.total["st.sectors"]) == (0, 6 * 64 * 4 // 32)
    assert report.touched_bytes == (0, out.nbytes)
    report = xray.profile(module.get_function("poke"), out, block=(64, 1, 1), grid=(2, 1))
    assert out.get()[:2].tolist() == [0, 0] and report.total["st.sectors"] == 2
    assert report.total["red.sectors"] == report.total["atom.sectors"] == 0


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_a_blocks_mbarrier_hears_of_others(module, turns):
    out = gpuarray.zeros((8, 32), np.int32)
    module.get_function("around")(out, np.int32(turns), block=(32, 1, 1), grid=(8, 1))
    block = np.arange(8)[:, None]
    came = block // 4 * 4 + (block - turns) % 4
    np.testing.assert_array_equal(out.get(), came * 100 + np.arange(32) + turns)


def test_accesses_of_32_bits_reach_other_blocks(module):
    out, sums = gpuarray.zeros((6, 32), np.int32), gpuarray.zeros((6, 2), np.float32)
    module.get_function("words")(out, sums, block=(32, 1, 1), grid=(6, 1))
    block = np.arange(6)[:, None]
    want = (block + 1) % 2 + 10 * (31 - np.arange(32)) + 10000 * (block ^ 1)
    np.testing.assert_array_equal(out.get(), want)
    np.testing.assert_array_equal(sums.get(), [[16, 131], [16, -1]] * 3)


def shared_tile():
    given = np.arange(32 * 16, dtype=np.int32).reshape(32, 16)
    more = np.arange(128, dtype=np.int32)
    x, y = gpuarray.to_gpu(given), gpuarray.to_gpu(more)
    map_ = gpuarray.to_gpu(np.frombuffer(tensor_maps.tiled(x, (8, 16), 0), np.uint8))
    out = gpuarray.zeros((8, 640), np.int32)
    return (map_, y, out), x, [[*given.reshape(-1), *more]] * 8


def test_a_copy_goes_to_all_blocks_of_a_cluster(module):
    arguments, _tile, want = shared_tile()
    module.get_function("share")(*arguments, block=(32, 1, 1), grid=(8, 1))
    np.testing.assert_array_equal(arguments[-1].get(), want)


def test_a_block_copies_into_the_next(module):
    out = gpuarray.zeros((4, 32), np.int32)
    module.get_function("hand")(out, block=(32, 1, 1), grid=(4, 1))
    np.testing.assert_array_equal(out.get(), (np.arange(4) ^ 1)[:, None] * 1000 + np.arange(32))


def test_stores_and_reductions_tell_the_mbarrier_of_their_block(module):
    out, sums = gpuarray.zeros((8, 8, 32), np.int32), gpuarray.zeros(8, np.int64)
    module.get_function("send")(out, sums, block=(32, 1, 1), grid=(8, 1))
    t = np.arange(32)
    for block, got in enumerate(out.get()):
        values = (block // 4 * 4 + (block - 1) % 4) * 1000 + t
        packs = [values[::-1], -t[::-1], np.full(32, 7), values[::-1]]
        np.testing.assert_array_equal(got[:5], [values, *packs])
        np.testing.assert_array_equal(got[5:7], [1 + 2 * t, np.full(32, -1)])
        counted = 1 + values.sum(), min(100, 90 - values[-1]), 93, -256, 32 % 21, 0x55 ^ -1
        np.testing.assert_array_equal(got[7, :6], counted)
    np.testing.assert_array_equal(sums.get(), np.full(8, (1 << t[1::4]).sum() - 5))


@pytest.mark.parametrize("stay", [0, 32, 40, 96])
def test_threads_that_have_returned_are_not_waited_for(module, stay):
    out = gpuarray.zeros((4, 96), np.int32)
    module.get_function("leave")(out, np.int32(stay), block=(96, 1, 1), grid=(4, 1))
    want = np.tile((np.arange(4) ^ 1)[:, None] + 1, 96)
    want[1::2, stay:] = 0
    np.testing.assert_array_equal(out.get(), want)


def test_a_grid_that_a_cluster_does_not_divide_is_refused(module):
    out = gpuarray.zeros(64, np.int32)
    with pytest.raises(cuda.Error) as told:
        module.get_function("hand")(out, block=(32, 1, 1), grid=(3, 1))
    if autoinit.is_software:
        assert not missing(told.value, 3, "x", 2)


# --- what goes wrong ------------------------------------------------------------------------------

KERNEL = """
extern "C" __global__ void __cluster_dims__(2, 1, 1) {name}(int *out)
{{
    __shared__ alignas(8) int own[32];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    int *next = cluster.map_shared_rank(own, rank ^ 1);
{body}
}}
"""
STEPS = {
    "right": """
    own[threadIdx.x] = threadIdx.x;
    cluster.sync();
    int value = next[31 - threadIdx.x];
    cluster.sync();
    own[threadIdx.x] = value;
    out[blockIdx.x * 32 + threadIdx.x] = own[threadIdx.x];""",
    "through global memory": """
    own[threadIdx.x] = 0;
    out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[(gridDim.x + (blockIdx.x ^ 1)) * 32 + threadIdx.x] =
        out[(blockIdx.x ^ 1) * 32 + 31 - threadIdx.x] + own[0] + (next - own > 0);""",
    "arrive and wait": """
    own[threadIdx.x] = threadIdx.x;
    cluster.barrier_arrive();
    int value = threadIdx.x;
    cluster.barrier_wait();
    value += next[31 - threadIdx.x];
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = value;""",
}
WRONG = {
    "no barrier before the read": (
        "own[threadIdx.x] = threadIdx.x;\n    cluster.sync();",
        "cluster.sync();\n    own[threadIdx.x] = threadIdx.x;",
    ),
    "no barrier after the read": ("cluster.sync();\n    own", "own"),
    "a barrier of the block": ("cluster.sync();\n    own", "__syncthreads();\n    own"),
    "own memory written late": ("int value = next", "own[5] = 7;\n    int value = next"),
}  # fmt: skip


FAULTS = {
    (
        "BEYOND_ITS_SHARED",
        "(1,0,0)",
        "cluster.sync()",
    ): "own[0] = 1; cluster.sync(); if (rank == 0) return;"
    " __nanosleep(100); __syncthreads(); for (int i = 0; i < 100; ++i) __syncthreads();"
    " while (atomicAdd(out, 0) < 3) { atomicAdd(out, 1); __syncthreads(); } out[5] = next[0];",
    ("NO_SUCH_BLOCK", 7, 2): "own[0] = 1; unsigned far; cluster.sync();"
    ' asm("mapa.shared::cluster.u32 %0, %1, 7;" : "=r"(far) : "r"((unsigned)'
    '__cvta_generic_to_shared(own))); asm volatile("st.shared::cluster.u32 [%0], 1;" :: "r"(far));',
    ("BEYOND_ITS_SHARED", "(1,0,0)", 160): "own[0] = 1; cluster.sync();"
    " if (rank == 0) next[40] = 1; cluster.sync();",
    ("DEADLOCK", 32, 64): "if (threadIdx.x == 0 || rank) cluster.sync();"
    " else __syncthreads(); out[0] = own[0] + next[0];",
    ("ARRIVED_TWICE",): "cluster.barrier_arrive(); cluster.barrier_arrive();"
    " out[0] = own[0] + next[0];",
    ("MBARRIER_NOT_SHARED", "__shared__"): "own[0] = 1; asm volatile("
    '"mbarrier.arrive.b64 _, [%0];" :: "l"(out) : "memory"); out[1] = own[0] + next[0];',
    ("MBARRIER_NOT_BEGUN", 0): "own[0] = own[1] = 0; MBARRIER(arrive, _, [%0];)"
    " out[0] = own[0] + next[0];",
    ("MBARRIER_NOT_BEGUN", "mbarrier.inval"): "MBARRIER(init, [%0], 1;)"
    " MBARRIER(inval, [%0];) MBARRIER(arrive, _, [%0];) out[0] = own[0] + next[0];",
    ("NOT_ARRIVED",): "cluster.barrier_wait(); out[0] = own[0] + next[0];",
}
BODIES = {name: STEPS["right"].replace(*change) for name, change in WRONG.items()}
BODIES |= STEPS | FAULTS
NAMES = {what: f"planted_{number}" for number, what in enumerate(BODIES)}


@pytest.fixture(scope="module")
def planted():
    """Kernels by what is right or wrong with them, compiled all at once."""
    texts = [KERNEL.format(name=NAMES[what], body=body) for what, body in BODIES.items()]
    head = (
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        '#define MBARRIER(does, ...) asm volatile("mbarrier." #does ".shared.b64 " #__VA_ARGS__ '
        ':: "r"((unsigned)__cvta_generic_to_shared(own)) : "memory");\n'
    )
    found = SourceModule("".join([head, *texts]), no_extern_c=True, options=["-std=c++17"])
    return {what: found.get_function(name) for what, name in NAMES.items()}


def findings(kernel):
    out = gpuarray.zeros(256, np.int32)
    return xray.sanitize(kernel, out, block=(32, 1, 1), grid=(4, 1))


@software
@pytest.mark.parametrize("name", STEPS)
def test_what_is_right_has_no_finding(planted, name):
    assert not findings(planted[name])


@software
@pytest.mark.parametrize("name", ["around", "words", "share", "hand", "send", "post"])
def test_what_goes_between_blocks_has_no_finding(module, name):
    kernel = module.get_function(name)
    out, shape = gpuarray.zeros(512, np.int32), {"block": (32, 1, 1), "grid": (4, 1)}
    of_share, _tile, _ = shared_tile()
    arguments = {
        "around": (out, np.int32(3)),
        "words": (out, gpuarray.zeros(8, np.float32)),
        "share": of_share,
        "hand": (out,),
        "send": (gpuarray.zeros(1024, np.int32), gpuarray.zeros(4, np.int64)),
        "post": (out, np.int32(0)),
    }
    assert not xray.sanitize(kernel, *arguments[name], **shape)


@software
def test_what_is_stored_later_may_not_be_looked_at_before(module):
    out, shape = gpuarray.zeros(128, np.int32), {"block": (32, 1, 1), "grid": (4, 1)}
    found = xray.sanitize(module.get_function("post"), out, np.int32(1), **shape)
    said = next(finding for finding in found if finding.kind == "race")
    assert {*said.message.codes} & {Place.SHARED, Place.OTHER_SHARED}


@software
@pytest.mark.parametrize("name", WRONG)
def test_races_between_blocks_of_a_cluster_are_found(planted, name):
    assert WRONG[name][0] in STEPS["right"]
    found = findings(planted[name])
    said = next(finding for finding in found if finding.kind in ("race", "fault"))
    shared = {Place.SHARED, Place.OTHER_SHARED, FaultKind.BEYOND_ITS_SHARED}
    assert {*said.message.codes} & shared and "cluster.sync()" in str(said)


@software
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[0])
def test_faults_are_told(planted, fault):
    out = gpuarray.zeros(256, np.int32)
    kind, *facts = fault
    with stopped(FaultKind[kind], *facts):
        planted[fault](out, block=(32, 1, 1), grid=(4, 1))
