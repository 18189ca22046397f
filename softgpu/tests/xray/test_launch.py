"""What xray's launches leave behind, which is nothing, and what can be read before it is undone."""

import re

import numpy as np
import pytest

from helpers import autoinit, sources, tensormap, xray
from helpers.play.trace import record
from softgpu.loader import Engine
from softgpu.tests import ROOT
from softgpu.tests.facts import refused
from softgpu.xray.launch import OwnTarget, Sparse, target_of, text_and_name, variables_kept

from pycuda import gpuarray  # isort: skip
import pycuda.driver as cuda  # isort: skip

software = pytest.mark.skipif(not autoinit.is_software, reason="the real GPU is PyCUDA's driver")
TURNS = """
__device__ int turns = 10, more[3];
__constant__ float factor = 2.0f;
static __device__ int hidden;
__global__ void count(int *out)
{
    __shared__ int before;
    if (threadIdx.x == 0) before = turns++ + hidden++ + more[2]++;
    __syncthreads();
    out[threadIdx.x] = factor / 2 * before;
}
"""
ONE = {"grid": (1, 1), "block": (32, 1, 1)}
WATCHED = {"sanitize": xray.sanitize, "profile": xray.profile}


@pytest.fixture(params=["its driver", pytest.param("beside", marks=software)])
def driver(request):
    """Which driver PyCUDA has: this machine's, or one that xray takes for a real GPU's."""
    if request.param == "beside":
        request.getfixturevalue("beside_another_driver")


@pytest.mark.parametrize("watch", WATCHED.values(), ids=WATCHED)
def test_what_a_launch_leaves_is_read_before_it_is_undone(driver, watch):
    whole = gpuarray.to_gpu(np.arange(12, dtype=np.float32).reshape(3, 4))
    found = []

    def after(read):
        found.extend([read(whole), read(whole[1]), read(whole[:0]), read(flat)])

    kernel = sources.kernel("__global__ void inc(float *x) { x[threadIdx.x] += 0.5f; }", "inc")
    flat = gpuarray.to_gpu(np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)))
    watch(kernel, whole[1], grid=1, block=4, after=after)
    expected = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (whole.get() == expected).all()
    expected[1] += 0.5
    assert [a.tolist() for a in found] == [
        expected.tolist(), expected[1].tolist(), [], [[0, 1, 2], [3, 4, 5]]
    ]  # fmt: skip
    assert [a.dtype for a in found] == [np.float32] * 3 + [np.int16]
    found[0][0] = 0  # it is the caller's own


@pytest.mark.parametrize("watch", WATCHED.values(), ids=WATCHED)
def test_an_error_of_after_is_no_finding(driver, watch):
    def after(read):
        raise ArithmeticError("after's own")

    x = gpuarray.zeros(4, np.float32)
    kernel = sources.kernel("__global__ void set(float *x) { x[threadIdx.x] = 1; }", "set")
    with pytest.raises(ArithmeticError):
        watch(kernel, x, grid=1, block=4, after=after)
    assert not x.get().any()


@pytest.mark.parametrize("watch", WATCHED.values(), ids=WATCHED)
def test_what_tensor_maps_lead_to_is_as_it_was(driver, watch):
    """A box is stored through one map of two, beside a real GPU in copies, and undone."""
    if autoinit.device.compute_capability() < (9, 0):
        pytest.skip("needs a tensor memory accelerator")
    text = (ROOT / "tests/course/boxes.cu").read_text().replace("Maps<1>", "Maps<2>")
    stored = sources.kernel(text.replace("maps.of[0]", "maps.of[1]"), "stored")
    given = np.random.default_rng(0).integers(0, 256, 1 << 14, np.uint8)
    whole, source = gpuarray.zeros((4, 32, 64), np.uint8), gpuarray.to_gpu(given)
    box = tensormap.tiled(whole[1:], (1, 16, 32), swizzle=0)
    maps, found = tensormap.packed(tensormap.tiled(whole, (1, 8, 16), swizzle=0), box), []
    places = np.int32(32), np.int32(16), np.int32(1)
    report = watch(
        stored, maps, source, *places, grid=1, block=128,
        after=lambda read: found.append(read(whole)),
    )  # fmt: skip
    expected = np.zeros((4, 32, 64), np.uint8)
    expected[2, 16:, 32:] = given[:512].reshape(16, 32)
    assert (found[0] == expected).all() and not whole.get().any()
    assert getattr(report, "clean", True), report


@software
def test_nothing_is_read_after_a_fault():
    x, calls = gpuarray.zeros(4, np.float32), []
    kernel = sources.kernel("__global__ void end(float *x) { __trap(); }", "end")
    (finding,) = xray.sanitize(kernel, x, grid=1, block=1, after=calls.append)
    assert finding.kind == "fault" and not calls


def test_a_kernel_cannot_tell_a_watched_launch_from_a_plain_one(driver):
    kernel, out, found = sources.kernel(TURNS, "count"), gpuarray.zeros(32, np.int32), []
    for _ in range(2):
        with variables_kept(kernel):
            kernel(out, **ONE)
        found.append(out.get())
        xray.sanitize(kernel, out, **ONE, after=lambda read: found.append(read(out)))
        xray.profile(kernel, out, **ONE, after=lambda read: found.append(read(out)))
    assert np.unique(found).tolist() == [10]
    with variables_kept(kernel):
        kernel(out, **ONE)
        kernel(out, **ONE)
        assert out.get()[0] == 13


@software
def test_variables_are_put_back_after_a_fault():
    source = "__device__ int turns;\n__global__ void end(void) { if (turns++) __trap(); }"
    kernel = sources.kernel(source, "end")
    for _ in range(2):
        with variables_kept(kernel):
            kernel(grid=(1, 1), block=(1, 1, 1))
            with pytest.raises(cuda.LaunchError):
                kernel(grid=(1, 1), block=(1, 1, 1))


# --- the launches that a judge asks for -----------------------------------------------------------

FILL = """
__global__ void fill(float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = i % 1000;
}
"""
ORDER = """
__device__ int next;
__global__ void order(int *out)
{
    if (threadIdx.x == 0) out[atomicAdd(&next, 1)] = blockIdx.x + gridDim.x * blockIdx.y;
}
"""


@software
@pytest.mark.parametrize("watch", [None, *WATCHED.values()], ids=["plain", *WATCHED])
def test_chosen_blocks_run_in_any_build(watch):
    engine, kernel = Engine.in_use(), sources.kernel(FILL, "fill")
    x, found = gpuarray.zeros(1000, np.float32), []
    expected = np.where(np.isin(np.arange(1000) // 32, [0, 1, 5, 31]), np.arange(1000), 0)
    with engine.only_blocks([range(31, 32), range(5, 6), range(0, 2), range(9, 9)]):
        if watch:
            watch(kernel, x, np.int64(1000), grid=32, block=32, after=lambda r: found.append(r(x)))
        else:
            kernel(x, np.int64(1000), grid=(32, 1), block=(32, 1, 1))
            found.append(x.get())
    assert (found[0] == expected).all()
    kernel(x, np.int64(1000), grid=(32, 1), block=(32, 1, 1))
    assert (x.get() == np.arange(1000)).all()


@software
@pytest.mark.parametrize("chosen", [[], [range(0)], [range(0, 9, 2)], [range(-1, 3)],
                                    [range(4), range(3, 5)]])  # fmt: skip
def test_what_are_no_blocks_is_refused(chosen):
    with refused(ValueError, [r for r in chosen if r]), Engine.in_use().only_blocks(chosen):
        pass


@software
@pytest.mark.parametrize("watch", [None, *WATCHED.values()], ids=["plain", *WATCHED])
def test_blocks_are_shuffled_in_any_build(watch):
    engine, kernel = Engine.in_use(), sources.kernel(ORDER, "order")

    def order(seed):
        out, found = gpuarray.zeros(60, np.int32), []
        with engine.block_order(seed), variables_kept(kernel):
            if watch:
                watch(kernel, out, grid=(6, 10), block=32, after=lambda r: found.append(r(out)))
                return found[0].tolist()
            kernel(out, grid=(6, 10), block=(32, 1, 1))
            return out.get().tolist()

    orders = [order(seed) for seed in (0, 1, 10**30)]
    assert all(sorted(o) == list(range(60)) and o != list(range(60)) for o in orders)
    assert len(set(map(tuple, orders))) == 3


def test_an_array_beyond_32_bits_costs_what_is_touched(driver):
    count, per_block = (1 << 31) + 77, 256
    last = (count - 1) // per_block
    kernel = sources.kernel(FILL, "fill")
    target = target_of(kernel)
    x = Sparse(target, 4 * count)
    x.part(count - 100, 100, np.float32)[:] = -1
    arguments, shape = (
        (np.uintp(x.address), np.int64(count)),
        dict(block=(per_block, 1, 1), shared=0),
    )

    def launched(kernel, *ranges):
        with target.engine.only_blocks(ranges):
            if isinstance(target, OwnTarget):
                kernel(*arguments, grid=(last + 1, 1), **shape)
            else:
                target_of(kernel).launch(arguments, grid=(last + 1, 1, 1), **shape)

    launched(kernel, range(0, 2), range(last, last + 1))
    places = np.arange(count - 100, count)
    written = places // per_block == last
    assert (x.part(count - 100, 100, "f4") == np.where(written, places % 1000, -1)).all()
    assert (x.part(0, 1000, "f4") == np.where(np.arange(1000) < 512, np.arange(1000), 0)).all()
    narrow = sources.kernel(re.sub(r"long long i(.*)\(long long\)", r"int i\1", FILL), "fill")
    with refused(cuda.LogicError, "fill"):
        launched(narrow, range(last, last + 1))


@software
def test_xray_does_not_watch_a_launch_on_sparse_memory():
    kernel = sources.kernel(FILL, "fill")
    x = Sparse(target_of(kernel), 1 << 33)
    for watch in WATCHED.values():
        with pytest.raises(ValueError):
            watch(kernel, np.uintp(x.address), np.int64(1), grid=1, block=32)


def test_every_step_is_recorded_on_either_way(driver):
    x = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    text = "__global__ void inc(float *x) {\n    float more = 0.5f;\n    x[threadIdx.x] += more;\n}"
    done = record(text, x, grid=1, block=4)
    ((step, stored),) = done.accesses("store", 0)
    assert done.lines[step.line].strip() == "x[threadIdx.x] += more;"
    assert stored.value.tolist() == [0.5, 1.5, 2.5, 3.5] and not done.findings
    assert x.get().tolist() == [0, 1, 2, 3]


def test_what_is_no_kernel_is_named():
    with refused(TypeError, "(CUDA source, name)", "str"):
        text_and_name("scale.cu")
