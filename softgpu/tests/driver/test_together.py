"""Threads that wait for each other without __syncthreads: programs as nvcc compiles them."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from softgpu import xray
from softgpu.faults import FaultKind
from softgpu.tests import autoinit
from softgpu.tests.facts import stopped

import pycuda.driver as cuda  # isort: skip
from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule, compile  # isort: skip

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "together"

software = pytest.mark.skipif(not autoinit.is_software, reason="it ends the context of a real GPU")


def module_of(file):
    return SourceModule((FOLDER / file).read_text(), no_extern_c=True, options=["-std=c++20"])


# --- tiles of several warps ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiles():
    return module_of("tiles.cu")


def clean_and_counted(kernel, *arguments, **geometry):
    """The sanitizer finds nothing, and the profiler can follow."""
    if not autoinit.is_software:
        return
    report = xray.sanitize(kernel, *arguments, **geometry)
    assert report.clean, report
    assert xray.profile(kernel, *arguments, **geometry).nsight()


@pytest.mark.parametrize("size", [64, 128, 256, 512])
def test_tiles_of_several_warps(tiles, size):
    value = np.arange(512, dtype=np.int32) * 7 % 101
    out, into = gpuarray.zeros((512, 4), np.int32), gpuarray.to_gpu(value)
    kernel, geometry = tiles.get_function(f"tiles_of_{size}"), dict(block=(512, 1, 1), shared=2048)
    kernel(out, into, **geometry)
    of_tile = value.reshape(-1, size)
    votes = (of_tile == 5).any(1) + 2 * (of_tile < 100).all(1) + 4 * np.arange(512 // size)
    expected = [of_tile[:, 33], votes, of_tile.sum(1)]
    neighbours = value[np.arange(512) ^ size // 2]
    assert np.array_equal(out.get().T, [neighbours, *(np.repeat(e, size) for e in expected)])
    clean_and_counted(kernel, out, into, grid=(3, 1), **geometry)


@software
def test_reserved_shared_memory_is_usable_and_outside_of_the_blocks_own(tiles):
    most = 227 << 10
    kernel = tiles.get_function("reserved")
    kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, most)
    out = gpuarray.zeros(72, np.uint32)
    kernel(out, block=(64, 1, 1), shared=most)
    begin, first, second, end, cap = map(int, out.get()[:5])
    assert most <= begin <= first <= second and second + 288 <= end <= cap
    assert np.array_equal(out.get()[8:], 3 * (np.arange(64) ^ 1))
    clean_and_counted(kernel, out, grid=(2, 1), block=(64, 1, 1), shared=most)


@software
def test_reserved_shared_memory_is_closed_to_who_does_not_ask_for_it(tiles):
    with stopped(FaultKind.BEYOND_SHARED, 4, 232448):
        tiles.get_function("past_the_block")(np.int32(227 << 10), block=(1, 1, 1), shared=1024)


def test_launches_that_may_overlap_follow_each_other(tiles):
    a = gpuarray.to_gpu(np.arange(64, dtype=np.int32))
    b, c = gpuarray.zeros_like(a), gpuarray.zeros_like(a)
    kernel = tiles.get_function("after_another")
    kernel(b, a, block=(64, 1, 1))
    kernel(c, b, block=(64, 1, 1))
    assert np.array_equal(c.get(), 4 * np.arange(64))


def test_votes_in_either_order_of_their_words(tiles):
    out = gpuarray.zeros(32, np.uint32)
    kernel = tiles.get_function("peers")
    kernel(out, np.int32(11), block=(32, 1, 1))
    value = 7 * np.arange(32) % 11
    assert np.array_equal(out.get(), (value == value[:, None]) @ (1 << np.arange(32)))


# --- barriers in shared memory -------------------------------------------------------------------


@pytest.fixture(scope="module")
def barriers():
    return module_of("barriers.cu")


def run(module, name, *arguments, out=128, dtype=np.int32, block=128):
    """What a kernel leaves in its output; watched and counted, it does the same."""
    kernel, made = module.get_function(name), gpuarray.zeros(out, dtype)
    kernel(made, *arguments, block=(block, 1, 1))
    clean_and_counted(kernel, made, *arguments, grid=(2, 1), block=(block, 1, 1))
    return made.get()


INDEX = np.arange(128, dtype=np.int32)


def test_phases_of_a_barrier(barriers):
    expected = INDEX.copy()
    for k in range(7):
        expected = 3 * np.roll(expected, -33) + k
    assert np.array_equal(run(barriers, "phases", np.int32(7)), expected)


def test_a_warp_makes_what_others_use(barriers):
    used = sum((INDEX + k) % 32 + 100 * k for k in range(5))
    assert np.array_equal(run(barriers, "maker_and_users", np.int32(5)), used * (INDEX >= 32))


def test_lanes_that_wait_let_others_of_their_warp_go_on(barriers):
    assert run(barriers, "lanes_of_one_warp", block=32)[0] == sum(range(500))


def test_threads_that_drop_out(barriers):
    out = run(barriers, "some_drop_out")
    assert np.array_equal(out[::2], 2 * ((INDEX[::2] + 2) % 128 + 1))


def test_copies_that_a_barrier_waits_for(barriers):
    given = gpuarray.to_gpu(INDEX[::-1] * 5)
    assert np.array_equal(run(barriers, "copy_by_the_block", given), 5 * INDEX)
    given = gpuarray.to_gpu(np.arange(512, dtype=np.int32))
    expected = given.get().reshape(128, 4)[::-1].ravel()
    assert np.array_equal(run(barriers, "copy_by_threads", given, out=512), expected)


@pytest.mark.parametrize("count", [1, 2, 9])
def test_pipelines(barriers, count):
    given = np.arange(128 * count, dtype=np.int32) * 11 % 1009
    total = 0
    for row in given.reshape(count, 128):
        total = 3 * total + row
    arguments = gpuarray.to_gpu(given), np.int32(count)
    assert np.array_equal(run(barriers, "pipeline_of_all", *arguments), total[::-1])
    sums = run(barriers, "pipeline_with_producers", *arguments)
    assert np.array_equal(sums[32:], total[32:]) and not sums[:32].any()


@software
@pytest.mark.parametrize(
    "name, arguments, kind, facts",
    [
        ("never_completes", [np.int32(65)], "MBARRIER_ARRIVALS_MISSING", ["0-1", 1, 65]),
        ("too_many", [], "MBARRIER_ARRIVALS", [4, 3]),
        ("never_completes", [np.int32(-1)], "MBARRIER_COUNT", [1, 1048575]),
    ],
)
def test_wrong_use_of_a_barrier_is_told(barriers, name, arguments, kind, facts):
    kernel = barriers.get_function(name)
    with stopped(FaultKind[kind], *facts):
        kernel(*arguments, block=(64, 1, 1))


@pytest.fixture(scope="module")
def mbarriers():
    return module_of("mbarriers.cu")


FORMS = {
    "arrivals": [9, 8, 6, 5, 2, 0, 0, 1, 1, 1, 1, 0, 9, 0, 1, 1],
    "drops": [7, 6, 4, 0, 1, 1, 1],
    "bytes": [2, 0, 1, 1, 0, 1, 1, 1],
    "waits": [*[0, 1] * 11, 1, 77],
    "copies": [3, 104, 103, 3, 2, 107],
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_the_instructions(mbarriers, name):
    given = [gpuarray.to_gpu(INDEX + 100)] if name == "copies" else []
    out = run(mbarriers, name, *given, out=32, dtype=np.uint32, block=1)
    assert out.tolist()[: len(FORMS[name])] == FORMS[name]


@software
@pytest.mark.parametrize("told, copied", [(576, 512), (16, 1024), (2048, 16)])
def test_bytes_that_do_not_come_are_told(mbarriers, told, copied):
    x = gpuarray.zeros(1024, np.uint8)
    here = FOLDER / "mbarriers.cu"
    line = 1 + next(n for n, t in enumerate(here.read_text().splitlines()) if "AGAIN:" in t)
    facts = "(0,0,0)", f"kernel.cu:{line}", "0-1", 0, 1, copied, told
    with stopped(FaultKind.MBARRIER_BYTES_MISSING, *facts):
        mbarriers.get_function("too_few_bytes")(
            x, np.int32(told), np.int32(copied), block=(64, 1, 1)
        )


# --- registers that warps hand over ---------------------------------------------------------------


REGISTERS = """
extern "C" __global__ __launch_bounds__({bounds}) void moved(int *out)
{{
    if (threadIdx.x < 256) asm volatile("setmaxnreg.inc.sync.aligned.u32 {taken};");
    else asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    out[threadIdx.x] = threadIdx.x;
}}
"""


@pytest.mark.skipif(autoinit.device.compute_capability() != (9, 0), reason="it needs sm_90a")
@pytest.mark.parametrize("bounds, taken", [("384, 1", 232), ("384", 240)])  # 240: ptxas ignores it
def test_a_warpgroup_takes_the_registers_that_another_gives(bounds, taken):
    text = REGISTERS.format(bounds=bounds, taken=taken)
    out = gpuarray.zeros(384, np.int32)
    kernel = SourceModule(text, no_extern_c=True, arch="sm_90a").get_function("moved")
    kernel(out, block=(384, 1, 1))
    assert np.array_equal(out.get(), np.arange(384))


@software
def test_more_registers_than_a_block_has_are_told():
    """Each of eight warps wants 72 more than 168; four have given 128 each."""
    text = REGISTERS.format(bounds="384, 1", taken=240)
    kernel = SourceModule(text, no_extern_c=True, arch="sm_90a").get_function("moved")
    with stopped(FaultKind.REGISTERS_MISSING, "(0,0,0)", "kernel.cu:4", "7", 8 * 72 - 4 * 128):
        kernel(gpuarray.zeros(384, np.int32), block=(384, 1, 1))


# --- blocks that wait for each other -------------------------------------------------------------


@pytest.fixture(scope="module")
def grids():
    return module_of("grids.cu")


@pytest.fixture(scope="module")
def cooperative():
    """Launches a kernel of grids.cu as PyCUDA cannot: name, arguments, grid, block; its result."""
    library, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    source = (FOLDER / "grids.cu").read_text()
    image = compile(source, no_extern_c=True, options=["-std=c++20"])
    assert library.cuModuleLoadData(ctypes.byref(module), image) == 0

    def launch(name, *arguments, grid, block):
        function = ctypes.c_void_p()
        assert library.cuModuleGetFunction(ctypes.byref(function), module, name.encode()) == 0
        numbers = [
            np.uintp(getattr(a, "gpudata", a)) if hasattr(a, "gpudata") else a for a in arguments
        ]
        numbers = [np.atleast_1d(number) for number in numbers]
        places = (ctypes.c_void_p * len(numbers))(*(n.ctypes.data for n in numbers))
        return library.cuLaunchCooperativeKernel(function, grid, 1, 1, block, 1, 1, 0, None, places)

    return launch


def after_rounds(n, count):
    """What `rounds` leaves in the half that it writes last."""
    value = np.arange(n, dtype=np.int32)
    for k in range(count):
        value = 3 * np.roll(value, -77) + k
    return value


@pytest.mark.parametrize("grid, block", [(1, 32), (3, 64), (132, 96), (2 * 132, 32)])
def test_a_grid_meets(cooperative, grids, grid, block):
    n, count = grid * block, 4
    values = gpuarray.zeros((2, n), np.int32)
    assert cooperative("rounds", values, np.int32(count), grid=grid, block=block) == 0
    assert np.array_equal(values.get()[count % 2], after_rounds(n, count))
    geometry = dict(grid=grid, block=block, cooperative=True)
    clean_and_counted(grids.get_function("rounds"), values, np.int32(count), **geometry)


@software
def test_counts_are_those_of_all_blocks(grids):
    values, arrived, count = gpuarray.zeros((2, 640), np.int32), gpuarray.zeros(1, np.uint32), 3
    arguments = values, arrived, np.int32(count)
    report = xray.profile(grids.get_function("rounds_by_hand"), *arguments, grid=10, block=64)
    requests = report.nsight()["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
    assert requests == 10 * 2 * (count + 1)


def test_a_sum_in_one_launch(cooperative):
    given = np.arange(10_001, dtype=np.int32) % 97
    out, sums = gpuarray.zeros(1, np.int32), gpuarray.zeros(40, np.int32)
    arguments = out, sums, gpuarray.to_gpu(given), np.int32(given.size)
    assert cooperative("sum", *arguments, grid=40, block=256) == 0
    assert out.get()[0] == given.sum()


def test_only_a_cooperative_launch_can_meet(cooperative, grids):
    out = gpuarray.zeros(1, np.int32)
    assert cooperative("can_meet", out, grid=1, block=1) == 0
    assert out.get()[0] == 1
    grids.get_function("can_meet")(out, block=(1, 1, 1))
    if autoinit.is_software:  # an H200 says 1 of each launch after the first cooperative one
        assert out.get()[0] == 0


def test_a_grid_that_does_not_fit_is_told(cooperative):
    values = gpuarray.zeros(8, np.int32)
    too_large = 720  # CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    assert cooperative("rounds", values, np.int32(0), grid=132 * 2 + 1, block=1024) == too_large
    assert cooperative("rounds", values, np.int32(0), grid=132 * 32 + 1, block=1) == too_large


def test_blocks_that_fit_meet_by_hand_too(grids):
    grid, block, count = 66, 64, 3
    n = grid * block
    values, arrived = gpuarray.zeros((2, n), np.int32), gpuarray.zeros(1, np.uint32)
    kernel = grids.get_function("rounds_by_hand")
    kernel(values, arrived, np.int32(count), grid=(grid, 1), block=(block, 1, 1))
    assert np.array_equal(values.get()[count % 2], after_rounds(n, count))
    arrived.fill(0)
    clean_and_counted(kernel, values, arrived, np.int32(count), grid=grid, block=block)


@pytest.mark.parametrize("name", ["from_the_last_on", "blocks_from_the_last_on"])
def test_blocks_wait_for_later_ones(grids, name):
    flags = gpuarray.zeros(50, np.int32)
    grids.get_function(name)(flags, grid=(50, 1), block=(96, 1, 1))
    assert np.array_equal(flags.get(), np.arange(50, 0, -1))
    flags.fill(0)
    clean_and_counted(grids.get_function(name), flags, grid=50, block=96)


@pytest.fixture(scope="module")
def blocks_of_phases():
    """How many blocks of so many threads and bytes of shared memory a multiprocessor holds."""
    library, module, function = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
    image = compile((FOLDER / "barriers.cu").read_text(), no_extern_c=True, options=["-std=c++20"])
    assert library.cuModuleLoadData(ctypes.byref(module), image) == 0
    assert library.cuModuleGetFunction(ctypes.byref(function), module, b"phases") == 0

    def ask(threads, shared):
        found, ask = ctypes.c_int(), library.cuOccupancyMaxActiveBlocksPerMultiprocessor
        assert ask(ctypes.byref(found), function, threads, ctypes.c_size_t(shared)) == 0
        return found.value

    return ask


@pytest.mark.parametrize("threads, of_none, of_7000, of_20000", [
    (1, 32, 25, 10), (33, 32, 25, 10), (64, 32, 25, 10), (96, 21, 21, 10),
    (128, 16, 16, 10), (416, 4, 4, 4), (640, 3, 3, 3), (1024, 2, 2, 2),
])  # fmt: skip
def test_blocks_that_a_multiprocessor_of_an_h200_holds(
    blocks_of_phases, threads, of_none, of_7000, of_20000
):
    asked = [blocks_of_phases(threads, shared) for shared in (0, 7000, 20000)]
    assert asked == [of_none, of_7000, of_20000]
