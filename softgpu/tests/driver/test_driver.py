"""The driver in C: memory, launches, faults, and the arithmetic that kernels leave to it."""

import ctypes
import os
import re
import shutil
import signal
import threading
import time
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
import pytest

from softgpu import build
from softgpu.contract import ffi
from softgpu.faults import FaultKind
from softgpu.tests import python
from softgpu.tests.driver.harness import LOCAL_BYTES, DriverError, only_driver
from softgpu.tests.facts import missing, refused

INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONTEXT, INVALID_HANDLE = 1, 2, 201, 400
NOT_FOUND, ILLEGAL_ADDRESS, TIMEOUT, ASSERT = 500, 700, 702, 710
MISALIGNED, LAUNCH_FAILED, NOT_SUPPORTED = 716, 719, 801


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def driver(request):
    driver = only_driver()
    driver.options(threads=request.param)
    yield driver
    driver.free_all()


@pytest.fixture
def calm():
    """The driver with one thread, blocks in order."""
    driver = only_driver()
    driver.options(deterministic=1)
    yield driver
    driver.free_all()


def error(function, *arguments, **options):
    """The error that a call raises: its code and its words."""
    with pytest.raises(DriverError) as caught:
        function(*arguments, **options)
    return caught.value.code, str(caught.value)


# --- launches ------------------------------------------------------------------------------------

SHAPES = [(1, 1, 1), (31, 1, 1), (32, 1, 1), (33, 1, 1), (255, 1, 1), (1024, 1, 1), (7, 5, 3),
          (16, 16, 1), (1, 1, 64)]  # fmt: skip
GRIDS = [(1, 1, 1), (2, 1, 1), (1000, 1, 1), (7, 11, 3)]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("block", SHAPES)
def test_every_thread_runs_once(driver, grid, block):
    count = int(np.prod(grid) * np.prod(block))
    out = driver.put(np.full(count, 0xFFFFFFFF, np.uint32))
    driver.launch("number", out, grid=grid, block=block)
    assert (driver.get(out, count, np.uint32) == np.arange(count)).all()


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 100, 256, 1023, 1024])
def test_barriers_order_shared_memory(driver, threads):
    grid = 300
    out = driver.put(np.zeros(grid, np.uint32))
    driver.launch("block_sum", out, grid=(grid,), block=(threads,))
    numbers = np.arange(grid * threads, dtype=np.uint32).reshape(grid, threads)
    assert (driver.get(out, grid, np.uint32) == numbers.sum(axis=1, dtype=np.uint32)).all()


def test_threads_that_left_are_not_waited_for(driver):
    out = driver.put(np.zeros(3, np.uint32))
    driver.launch("some_leave", out, block=(130,))
    assert driver.get(out, 3, np.uint32).tolist() == [45, 0, 1]


@pytest.mark.parametrize("kernel, value", [("producer", 42), ("spin_for_warp", 7)])
def test_warps_wait_for_each_other(driver, kernel, value):
    out = driver.put(np.zeros(1, np.uint32))
    driver.launch(kernel, out, block=(64,))
    assert driver.get(out, 1, np.uint32)[0] == value


def test_atomics_from_many_blocks(driver):
    threads, grid = 224, 500
    memory = driver.put(np.zeros(2, np.uint32))
    seen = driver.put(np.zeros(threads * grid, np.uint32))
    driver.launch("count", memory, memory + 4, seen, grid=(grid,), block=(threads,))
    assert driver.get(memory, 1, np.uint32)[0] == threads * grid
    assert driver.get(memory + 4, 1, np.float32)[0] == threads * grid
    assert (driver.get(seen, threads * grid, np.uint32) == 1).all()


def test_vector_accesses(driver):
    out = driver.put(np.zeros(400, np.uint32))
    driver.launch("vectors", out, block=(100,))
    expected = np.arange(400, dtype=np.uint32).reshape(100, 4)
    expected[:, 1] = expected[:, 0] + expected[:, 3]
    assert (driver.get(out, 400, np.uint32) == expected.ravel()).all()


def test_malloc_in_kernels(driver):
    out = driver.put(np.zeros(256, np.uint64))
    driver.launch("allocate", out, 24, block=(256,))
    blocks = driver.get(out, 256, np.uint64)
    assert (blocks % 16 == 0).all()
    kept = np.sort(blocks[::2])
    assert (np.diff(kept) >= 24).all()
    driver.launch("read_at", kept[3], 0)
    code, text = error(driver.launch, "read_at", kept[3] + 24, 0)
    assert code == ILLEGAL_ADDRESS and not missing(text, hex(kept[3] + 24))
    assert driver.fault() == FaultKind.NOT_IN_HEAP_BLOCK
    assert "NULL" in error(driver.launch, "allocate", out, 1 << 30)[1]  # more than the heap has


def test_counters_are_summed(driver):
    driver.library.sg_profile_end.restype = ctypes.c_void_p
    driver.library.sg_profile_begin(c_uint64(0))
    driver.launch("counted", grid=(100,), block=(96,))
    profile = ffi.cast("Profile *", driver.library.sg_profile_end())
    assert list(profile.counters[0 : profile.counter_count]) == [300, 600]


# --- which blocks, and in what order -------------------------------------------------------------


@contextmanager
def only_blocks(driver, *ranges):
    told = (c_uint64 * (2 * len(ranges)))(*(end for r in ranges for end in (r.start, r.stop)))
    driver.library.sg_only_blocks(told, len(ranges))
    yield
    driver.library.sg_only_blocks(None, 0)


@contextmanager
def block_order(driver, seed):
    driver.library.sg_block_order(c_uint64(seed))
    yield
    driver.library.sg_block_order(c_uint64(0))


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("chosen", [(range(1),), (range(3, 5), range(5, 60), range(76, 77))])
def test_only_these_blocks_run(driver, chosen, seed):
    untouched = 0xFFFFFFFF
    out = driver.put(np.full((77, 40), untouched, np.uint32))
    with only_blocks(driver, *chosen), block_order(driver, seed):
        driver.launch("number", out, grid=(7, 11), block=(40,))
    found = driver.get(out, (77, 40), np.uint32)
    expected = np.arange(77 * 40, dtype=np.uint32).reshape(77, 40)
    run = np.isin(np.arange(77), [number for r in chosen for number in r])
    assert (found[run] == expected[run]).all() and (found[~run] == untouched).all()
    driver.launch("number", out, grid=(7, 11), block=(40,))
    assert (driver.get(out, (77, 40), np.uint32) == expected).all()


def test_a_block_that_the_grid_lacks_does_not_run(driver):
    with only_blocks(driver, range(2), range(4, 6)):
        code, text = error(driver.launch, "empty", grid=(5,))
    assert code == INVALID_VALUE and text.count("5") == 2  # the block, and the grid's size


def test_few_blocks_of_a_vast_grid_are_soon_done(driver):
    last = (1 << 31) - 2
    out = driver.put(np.zeros(1, np.uint32))
    with only_blocks(driver, range(last, last + 1)), block_order(driver, 3):
        driver.launch("number", out - 4 * last, grid=(last + 1,), block=(1,))
    assert driver.get(out, 1, np.uint32)[0] == last


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 1000])
def test_shuffled_blocks_all_run_once(driver, count):
    totals = np.zeros((count, 32), np.uint32)
    out = driver.put(totals)
    for seed in range(1, 5):
        with block_order(driver, seed):
            driver.launch("increment", out, grid=(count,))
        assert (driver.get(out, totals.shape, np.uint32) == seed).all()


def test_each_seed_has_an_order_of_its_own(calm):
    out, orders = calm.allocate(4 * 300), []
    for seed in (0, 1, 2, 2):
        with block_order(calm, seed):
            calm.launch("ticket", out, grid=(300,))
        orders.append(calm.get(out, 300, np.uint32).tolist())
    in_order = list(range(300))
    assert orders[0] == in_order and orders[2] == orders[3]
    assert len(set(map(tuple, orders))) == 3 and all(sorted(o) == in_order for o in orders)
    assert abs(np.corrcoef(in_order, orders[1])[0, 1]) < 0.3


# --- sparse memory -------------------------------------------------------------------------------


def test_sparse_memory_costs_the_pages_that_are_touched(driver):
    size, before = 1 << 40, resident_bytes()
    driver.library.sg_sparse(1)
    array, small = driver.allocate(size), driver.allocate(100)
    driver.library.sg_sparse(0)
    assert driver.library.sg_is_sparse(c_uint64(array + size - 1))
    assert not driver.library.sg_is_sparse(c_uint64(small))
    number = np.arange(3, dtype=np.uint32)
    last = array + size - number.nbytes
    driver.call("cuMemcpyHtoD_v2", c_uint64(last), c_void_p(number.ctypes.data), c_size_t(12))
    driver.launch("number", array + size // 2, grid=(5,), block=(100,))
    assert driver.get(last, 3, np.uint32).tolist() == [0, 1, 2]
    assert (driver.get(array + size // 2, 500, np.uint32) == np.arange(500)).all()
    assert not driver.get(array, 1000, np.uint32).any()
    assert resident_bytes() - before < 16 << 20
    assert error(driver.launch, "number", last, block=(4,))[0] == ILLEGAL_ADDRESS
    driver.free(array)
    assert error(driver.get, array, 1, np.uint32)[0] == INVALID_VALUE


def test_no_limit_on_data_counts_sparse_memory(driver):
    def data():
        with open("/proc/self/status") as file:
            return int(re.search(r"VmData:\s+(\d+) kB", file.read())[1]) << 10

    before = data()
    driver.library.sg_sparse(1)
    array = driver.allocate(8 << 30)
    driver.library.sg_sparse(0)
    driver.launch("number", array)
    assert data() - before < 64 << 20


def test_launch_limits(calm):
    out = calm.put(np.zeros(1024, np.uint32))
    invalid = [
        ((1,), (1025,), "1025"), ((1,), (32, 33), "1056"), ((1,), (1, 1, 65), "65"),
        ((1,), (0,), "0"), ((0,), (1,), "0"), ((1, 65536), (1,), "65536"),
        ((1, 1, 65536), (1,), "65536"), ((1 << 31,), (1,), "2147483648"),
    ]  # fmt: skip
    for grid, block, number in invalid:
        code, text = error(calm.launch, "number", out, grid=grid, block=block)
        assert code == INVALID_VALUE and not missing(text, "number", number)
    code, text = error(calm.launch, "deep", block=(65,))
    assert code == INVALID_VALUE and not missing(text, "deep", 64)
    assert not missing(error(calm.launch, "number")[1], "number", 8, 0)
    assert error(calm.launch, "number", out, 1)[0] == 701


def test_shared_memory_needs_permission(calm):
    function = calm.function("empty")  # has 4096 static bytes
    code, text = error(calm.launch, function, shared=49152 - 4096 + 1)
    assert code == INVALID_VALUE and not missing(text, "empty", 45057)
    calm.launch(function, shared=49152 - 4096)
    most = 232448 - 4096
    assert calm.raw("cuFuncSetAttribute", function, 8, most + 1) == INVALID_VALUE
    calm.call("cuFuncSetAttribute", function, 8, most)
    calm.launch(function, shared=most)
    assert error(calm.launch, function, shared=most + 1)[0] == INVALID_VALUE
    calm.call("cuFuncSetAttribute", function, 8, 49152 - 4096)


def test_function_attributes(calm):
    value = c_int()
    found = []
    for attribute in range(10):
        calm.call("cuFuncGetAttribute", byref(value), attribute, calm.function("number"))
        found.append(value.value)
    assert found == [1024, 4096, 8, 24, 17, 90, 90, 0, 45056, -1]


# --- faults --------------------------------------------------------------------------------------


def test_the_first_byte_past_the_end(driver):
    out = driver.allocate(1024)
    code, text = error(driver.launch, "number", out, grid=(5,), block=(64,))
    assert code == ILLEGAL_ADDRESS
    assert driver.fault() == FaultKind.OUTSIDE
    place, begin = hex(out + 1024), hex(out)
    assert not missing(
        text, "number", "kernel.cu:10", "(0,0,0)", "(4,0,0)", 4, place, 0, "1024-byte", begin
    )
    driver.launch("number", out, grid=(4,), block=(64,))  # errors do not stick


def test_a_faulting_store_writes_nothing(calm):
    out = calm.put(np.zeros(20, np.uint32))
    assert error(calm.launch, "number", out)[0] == ILLEGAL_ADDRESS
    assert (calm.get(out, 20, np.uint32) == 0).all()


def test_bad_addresses_are_told_apart(calm):
    a, b = calm.allocate(1000), calm.allocate(4096)
    host = np.zeros(100, np.uint32)
    variable, size = c_uint64(), c_size_t()
    calm.call("cuModuleGetGlobal_v2", byref(variable), byref(size), calm.module, b"variable")
    calm.launch("read_at", variable.value, 0)
    calm.free(b)
    far = 1 << 60
    for address, stride, code, kind, *facts in [
        (0, 4, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, "NULL"),
        (a + 2, 4, MISALIGNED, FaultKind.MISALIGNED, hex(a + 2), 4),
        (a, 40, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, "(25,0,0)", "(0,0,0)", 4, hex(a)),
        (a - 8, 0, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, 8, "1000-byte", hex(a)),
        (b + 8, 0, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, 8, "4096-byte", hex(b + 8)),
        (host.ctypes.data, 4, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, "GPU"),
        (far, 4, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, hex(far)),
        (variable.value + 16, 0, ILLEGAL_ADDRESS, FaultKind.OUTSIDE, "16-byte"),
    ]:
        found, text = error(calm.launch, "read_at", address, stride)
        assert (found, calm.fault()) == (code, kind)
        assert not missing(text, "read_at", "kernel.cu:10", *facts)
        assert address in (0, host.ctypes.data) or missing(text, "GPU")


def test_constant_memory_is_not_written(calm):
    table, size = c_uint64(), c_size_t()
    calm.call("cuModuleGetGlobal_v2", byref(table), byref(size), calm.module, b"table")
    calm.launch("read_at", table.value, 0)
    code, text = error(calm.launch, "number", table.value, block=(1,))
    assert code == ILLEGAL_ADDRESS and calm.fault() == FaultKind.CONSTANT
    variable = c_uint64()
    calm.call("cuModuleGetGlobal_v2", byref(variable), None, calm.module, b"variable")
    assert calm.get(variable.value, 2, np.uint64).tolist() == [0x100000001, table.value]


def test_page_locked_and_registered_memory_is_reachable(calm):
    host = np.zeros(64, np.uint32)
    address = c_void_p(host.ctypes.data)
    calm.call("cuMemHostRegister_v2", address, c_size_t(128), 0)
    calm.launch("number", address.value)
    assert (host[:32] == np.arange(32)).all()
    code, text = error(calm.launch, "number", address.value, block=(64,))
    assert code == ILLEGAL_ADDRESS and not missing(text, "128-byte", hex(address.value))
    assert calm.raw("cuMemHostRegister_v2", address, c_size_t(8), 0) == 712
    calm.call("cuMemHostUnregister", address)
    assert calm.raw("cuMemHostUnregister", address) == 713
    assert error(calm.launch, "number", address.value)[0] == ILLEGAL_ADDRESS


@pytest.mark.parametrize(
    "kernel, size, kind, line",
    [
        ("read_shared", 4096 + 512, FaultKind.BEYOND_SHARED, 70),
        ("write_local", LOCAL_BYTES, FaultKind.BEYOND_LOCAL, 80),
    ],
)
def test_shared_and_local_memory_end_somewhere(driver, kernel, size, kind, line):
    driver.launch(kernel, size - 4, shared=512)
    code, text = error(driver.launch, kernel, size, shared=512)
    assert (code, driver.fault()) == (ILLEGAL_ADDRESS, kind)
    assert not missing(text, f"kernel.cu:{line}", "(0,0,0)", 4) and text.count(str(size)) == 2
    assert error(driver.launch, kernel, size - 2, shared=512)[0] == MISALIGNED


def test_a_barrier_that_can_never_complete(driver):
    code, text = error(driver.launch, "deadlock", block=(128,))
    assert code == LAUNCH_FAILED
    assert driver.fault() == FaultKind.DEADLOCK and not missing(text, "deadlock", "(0,0,0)")
    where, first, second = text.split("kernel.cu:")[1:]
    assert where.startswith("20:")
    assert [int(number) for number in re.findall(r"\d+", first)] == [20, 0, 0, 32, 128]
    assert [int(number) for number in re.findall(r"\d+", second)] == [21, 1, 3, 1, 96, 128]


def test_half_a_warp_at_a_barrier(driver):
    code, text = error(driver.launch, "half_barrier", block=(64,))
    assert code == LAUNCH_FAILED
    assert not missing(text, "0-1", "0-15", 0, 32, 64)


def test_trap_assert_and_deep_recursion(driver, capfd):
    code, text = error(driver.launch, "trap")
    assert (code, driver.fault()) == (LAUNCH_FAILED, FaultKind.TRAP)
    assert not missing(text, "kernel.cu:60", "(1,0,0)", "(0,0,0)")
    message = driver.put(np.frombuffer(b"x > 0\0", np.uint8))
    code, text = error(driver.launch, "fail_assert", message)
    assert code == ASSERT and not missing(text, "(3,0,0)", "(0,0,0)", "`x > 0`")
    said = capfd.readouterr().err.splitlines()
    lines = [line for line in said if "Assertion" in line]  # the address sanitizer may say more
    assert len(lines) == 2
    assert lines[1].endswith("block: [0,0,0], thread: [4,0,0] Assertion `x > 0` failed.")
    assert error(driver.launch, "deep") and driver.fault() == FaultKind.STACK_OVERFLOW


def test_a_launch_that_never_ends_is_stopped(driver):
    driver.options(timeout_s=0.2)
    code, text = error(driver.launch, "endless", grid=(3,))
    assert code == TIMEOUT and not missing(text, "endless", "0.2 s", "SOFTGPU_TIMEOUT")
    driver.options()
    driver.launch("empty", grid=(100,))


INTERRUPTED = """
import sys, threading, time, os, signal
from softgpu.tests.driver.harness import only_driver
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it
driver = only_driver()
driver.options(threads=2)
def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
    print("not interrupted")
except KeyboardInterrupt:
    driver.launch("empty")
    print("interrupted")
"""
FROM_ANOTHER_THREAD = """
    other = threading.Thread(target=lambda: driver.launch("endless"))
    other.start()
    other.join()
    time.sleep(1)"""


WHILE_A_CONDITION_IS_1 = """
    from softgpu.tests.graphs.test_conditions import WHILE, Graph, ask, condition
    graph = Graph(driver)
    ask(graph, condition(graph, 1), WHILE)
    driver.call("cuGraphLaunch", graph.instantiate(), None)"""


@pytest.mark.parametrize(
    "call", ["driver.launch('endless', grid=(4,))", FROM_ANOTHER_THREAD, WHILE_A_CONDITION_IS_1]
)
def test_control_c(call):
    result = python("-c", INTERRUPTED.format(call=call), timeout=20)
    assert result.stdout == "interrupted\n", result.stderr


def test_after_fork_the_child_has_threads_of_its_own(driver):
    out = driver.put(np.zeros(3200, np.uint32))
    driver.launch("number", out, grid=(100,))
    child = os.fork()
    if not child:
        try:
            signal.alarm(10)
            driver.launch("number", out, grid=(100,))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    driver.launch("number", out, grid=(100,))


def test_launches_from_several_python_threads(driver):
    failures = []

    def work():
        try:
            context = c_void_p()
            driver.call("cuCtxPushCurrent_v2", driver.context)
            for _ in range(50):
                out = driver.put(np.zeros(320, np.uint32))
                driver.launch("number", out, grid=(10,))
                assert (driver.get(out, 320, np.uint32) == np.arange(320)).all()
                driver.free(out)
            driver.call("cuCtxPopCurrent_v2", byref(context))
        except Exception as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- memory --------------------------------------------------------------------------------------


def test_allocations_are_aligned_and_apart(calm):
    made = sorted((calm.allocate(size), size) for size in (1, 4, 511, 512, 513, 1 << 20, 3 << 20))
    for address, _ in made:
        assert address % 512 == 0
    for (address, size), (following, _) in zip(made, made[1:]):
        assert following - (address + size) >= 512
    for address, _ in made:
        calm.free(address)


def test_freed_addresses_rest_before_they_are_used_again(calm):
    seen = set()
    for _ in range(1000):
        address = calm.allocate(100)
        assert address not in seen
        seen.add(address)
        calm.free(address)


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_freed_memory_goes_back(calm):
    before = resident_bytes()
    data = np.ones(1 << 20, np.uint8)
    for _ in range(300):
        calm.free(calm.put(data))
    for _ in range(20000):
        address = calm.allocate(1000)
        calm.call("cuMemsetD8_v2", c_uint64(address), 1, c_size_t(1000))
        calm.free(address)
    assert resident_bytes() - before < 30 << 20


def test_zeros_where_nothing_was_touched_take_no_memory(calm):
    size, shift = 256 << 20, 1000
    out, before = calm.allocate(size), resident_bytes()
    calm.call("cuMemsetD8_v2", c_uint64(out), 0, c_size_t(size))
    assert resident_bytes() - before < 1 << 20
    places = [0, shift - 1, shift, size // 2, size - shift - 1, size - shift, size - 1]
    for place in places:
        calm.call("cuMemsetD8_v2", c_uint64(out + place), 7, c_size_t(1))
    calm.call("cuMemsetD8_v2", c_uint64(out + shift), 0, c_size_t(size - 2 * shift))
    left = [calm.get(out + place, 1, np.uint8)[0] for place in places]
    assert left == [7, 7, 0, 0, 0, 7, 7]


def test_memory_costs_nothing_until_touched(calm):
    free, total = c_size_t(), c_size_t()
    calm.call("cuMemGetInfo_v2", byref(free), byref(total))
    before, first_free = resident_bytes(), free.value
    half = calm.allocate(free.value // 2)
    calm.call("cuMemGetInfo_v2", byref(free), byref(total))
    assert resident_bytes() - before < 1 << 20
    assert abs(free.value - first_free / 2) < 0.2 * first_free and free.value < total.value
    code, text = error(calm.allocate, total.value)
    assert code == OUT_OF_MEMORY and not missing(text, f"{total.value / 1e9:.1f} GB")
    calm.free(half)
    with pytest.raises(DriverError):
        calm.allocate(1 << 60)


GB = 10**9


@pytest.fixture
def machine(calm, tmp_path):
    """Writes the files in which a machine says what memory it has."""

    def write(**files):
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content}\n")

    def say(total, available, files=()):
        kilo = f"MemTotal: {total // 1024} kB\nMemFree: 0 kB\nMemAvailable: {available // 1024} kB"
        write(**{"proc/meminfo": kilo, "proc/self/status": "RssAnon: 99999999 kB", **dict(files)})

    say(8 * GB, 8 * GB)
    calm.library.sg_machine_root(str(tmp_path).encode())
    yield say
    calm.library.sg_machine_root(b"")


def free_and_total(driver):
    free, total = c_size_t(), c_size_t()
    driver.call("cuMemGetInfo_v2", byref(free), byref(total))
    return free.value, total.value


def test_what_the_machine_lacks_is_refused(calm, machine):
    free, total = free_and_total(calm)
    assert 7 * GB < free < total and abs(total - 8 * GB) < 1024
    code, text = error(calm.allocate, 16 * GB)
    assert code == OUT_OF_MEMORY and not missing(text, "16.0 GB", "8.0 GB")
    host = c_void_p()
    assert calm.raw("cuMemHostAlloc", byref(host), c_size_t(16 * GB), 0) == OUT_OF_MEMORY
    assert calm.raw("cuMemAllocManaged", byref(host), c_size_t(16 * GB), 1) == OUT_OF_MEMORY
    assert calm.raw("cuCtxSetLimit", 2, c_size_t(16 * GB)) == OUT_OF_MEMORY
    assert calm.library.sg_module_create(calm.module, c_size_t(16 * GB)) != 0
    calm.free(calm.allocate(free - GB))


def test_untouched_memory_is_spoken_for(calm, machine):
    first = calm.allocate(5 * GB)
    assert error(calm.allocate, 5 * GB)[0] == OUT_OF_MEMORY
    before = free_and_total(calm)[0]
    assert before < 3 * GB
    machine(8 * GB, 4 * GB)  # others have taken the rest, and what is promised is not there
    assert free_and_total(calm)[0] == 0
    calm.free(first)
    assert 3 * GB < free_and_total(calm)[0] < 4 * GB


def test_touched_memory_is_not_counted_twice(calm, machine):
    size = 256 << 20
    array = calm.allocate(size)
    free = free_and_total(calm)[0]
    calm.call("cuMemsetD8_v2", c_uint64(array), 1, c_size_t(size))
    machine(8 * GB, 8 * GB - size)
    assert abs(free_and_total(calm)[0] - free) < 16 << 20


def test_many_small_arrays_are_as_much_as_a_large_one(calm, machine):
    machine(8 * GB, GB)
    arrays = []
    with refused(DriverError, "20.0 MB"):
        while len(arrays) < 100:
            arrays.append(calm.allocate(20 * 10**6))
    assert 10 < len(arrays) < 50


GROUPS = {
    "of a container": {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": 3 * GB,
                       "sys/fs/cgroup/memory.current": 2 * GB,
                       "sys/fs/cgroup/memory.stat": f"anon 5\ninactive_file {GB}"},
    "around its own": {"proc/self/cgroup": "0::/user.slice/ann.scope",
                       "sys/fs/cgroup/user.slice/memory.max": 3 * GB,
                       "sys/fs/cgroup/user.slice/memory.current": GB,
                       "sys/fs/cgroup/user.slice/ann.scope/memory.max": "max",
                       "sys/fs/cgroup/user.slice/ann.scope/memory.current": GB},
    "path unseen": {"proc/self/cgroup": "0::/docker/0123", "sys/fs/cgroup/memory.max": 3 * GB,
                    "sys/fs/cgroup/memory.current": GB},
    "version 1": {"proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/jobs/7\n0::/",
                  "sys/fs/cgroup/memory/memory.limit_in_bytes": 2**63 - 4096,
                  "sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes": 3 * GB,
                  "sys/fs/cgroup/memory/jobs/7/memory.usage_in_bytes": 3 * GB,
                  "sys/fs/cgroup/memory/jobs/7/memory.stat": f"total_inactive_file {2 * GB}"},
    "no path": {"sys/fs/cgroup/memory.max": 3 * GB, "sys/fs/cgroup/memory.current": GB},
}  # fmt: skip


@pytest.mark.parametrize("files", GROUPS.values(), ids=GROUPS)
def test_limits_of_control_groups_count(calm, machine, files):
    machine(64 * GB, 60 * GB, files)
    free, total = free_and_total(calm)
    assert total == 3 * GB and GB < free < 2 * GB
    assert not missing(error(calm.allocate, 16 * GB)[1], "3.0 GB")


def flags_of_mapping(address):
    """What the kernel notes of the memory around an address, as in VmFlags of proc(5)."""
    inside = False
    with open("/proc/self/smaps") as file:
        for line in file:
            if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
                inside = int(match[1], 16) <= address < int(match[2], 16)
            elif inside and line.startswith("VmFlags:"):
                return line.split()[1:]
    raise AssertionError(f"{address:#x} is not mapped")


@pytest.mark.skipif(
    not os.path.exists("/sys/kernel/mm/transparent_hugepage"), reason="Linux has no huge pages"
)
def test_large_allocations_ask_for_huge_pages(calm):
    small, large = calm.allocate(3 << 20), calm.allocate(5 << 20)
    assert large % (2 << 20) == 0
    assert "hg" in flags_of_mapping(large) and "hg" not in flags_of_mapping(small)
    calm.free(large)
    assert "hg" not in flags_of_mapping(large)


def test_what_cannot_be_freed(calm):
    address = calm.allocate(100)
    host = c_void_p()
    calm.call("cuMemHostAlloc", byref(host), c_size_t(100), 0)
    for wrong in (address + 4, 12345678, 1 << 63, host.value):
        assert calm.raw("cuMemFree_v2", c_uint64(wrong)) == INVALID_VALUE
    for wrong in (address, 12345678):
        assert calm.raw("cuMemFreeHost", c_void_p(wrong)) == INVALID_VALUE
    calm.free(address)
    assert calm.raw("cuMemFree_v2", c_uint64(address)) == INVALID_VALUE
    calm.free(0)
    assert calm.raw("cuMemAlloc_v2", byref(c_uint64()), c_size_t(0)) == INVALID_VALUE
    flags, device = c_uint(), c_uint64()
    calm.call("cuMemHostGetFlags", byref(flags), host)
    calm.call("cuMemHostGetDevicePointer_v2", byref(device), host, 0)
    assert (flags.value, device.value) == (2, host.value)
    calm.call("cuMemFreeHost", host)
    assert calm.raw("cuMemFreeHost", host) == INVALID_VALUE
    assert calm.raw("cuMemHostGetFlags", byref(flags), host) == INVALID_VALUE


def test_copies_stay_inside_allocations(calm):
    host = np.zeros(4096, np.uint8)
    pointer = c_void_p(host.ctypes.data)
    a, b = calm.allocate(1000), calm.allocate(1000)
    for address, size in [
        (a, 1001), (a + 900, 101), (a, 1 << 40), (a - 1, 2), (0, 4), (b + 1000, 1), (1 << 63, 8)
    ]:  # fmt: skip
        address, size = c_uint64(address), c_size_t(size)
        for code in (
            calm.raw("cuMemcpyHtoD_v2", address, pointer, size),
            calm.raw("cuMemcpyDtoH_v2", pointer, address, size),
            calm.raw("cuMemcpyDtoD_v2", c_uint64(b), address, size),
            calm.raw("cuMemcpyDtoD_v2", address, c_uint64(b), size),
            calm.raw("cuMemsetD8_v2", address, 1, size),
        ):
            assert code == INVALID_VALUE
    assert not missing(calm.error_text(INVALID_VALUE), 8)
    calm.call("cuMemcpyHtoD_v2", c_uint64(a), pointer, c_size_t(0))
    assert calm.raw("cuMemcpyDtoH_v2", None, c_uint64(a), c_size_t(4)) == INVALID_VALUE
    calm.free(a)
    assert calm.raw("cuMemcpyHtoD_v2", c_uint64(a), pointer, c_size_t(4)) == INVALID_VALUE


def test_memset(calm):
    out = calm.put(np.zeros(64, np.uint8))
    calm.call("cuMemsetD8_v2", c_uint64(out), 0xAB, c_size_t(3))
    calm.call("cuMemsetD16_v2", c_uint64(out + 4), 0x1234, c_size_t(2))
    calm.call("cuMemsetD32Async", c_uint64(out + 8), 0x01020304, c_size_t(1), None)
    calm.call("cuMemsetD2D8_v2", c_uint64(out + 16), c_size_t(8), 9, c_size_t(3), c_size_t(4))
    expected = np.zeros(64, np.uint8)
    expected[:3], expected[4:8], expected[8:12] = 0xAB, [0x34, 0x12] * 2, [4, 3, 2, 1]
    expected[16:48].reshape(4, 8)[:, :3] = 9
    assert (calm.get(out, 64, np.uint8) == expected).all()
    assert calm.raw("cuMemsetD32_v2", c_uint64(out + 2), 0, c_size_t(1)) == INVALID_VALUE
    wide = (c_uint64(out), c_size_t(8), 0, c_size_t(9), c_size_t(2))
    assert calm.raw("cuMemsetD2D8_v2", *wide) == INVALID_VALUE


def test_pitch(calm):
    address, pitch = c_uint64(), c_size_t()
    for width, expected in ((1, 512), (512, 512), (513, 1024)):
        size = (c_size_t(width), c_size_t(3), 4)
        calm.call("cuMemAllocPitch_v2", byref(address), byref(pitch), *size)
        assert pitch.value == expected
        calm.free(address.value)
    size = (c_size_t(100), c_size_t(3), 3)
    assert calm.raw("cuMemAllocPitch_v2", byref(address), byref(pitch), *size) == INVALID_VALUE


class Copy3D(ctypes.Structure):
    """CUDA_MEMCPY3D; the two-dimensional one is a special case that PyCUDA's tests cover."""

    _fields_ = [
        (f"{end}_{name}", kind)
        for end in ("src", "dst")
        for name, kind in [
            ("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("lod", c_size_t),
            ("type", c_int), ("host", c_void_p), ("device", c_uint64), ("array", c_void_p),
            ("context", c_void_p), ("pitch", c_size_t), ("height", c_size_t),
        ]
    ] + [("width", c_size_t), ("rows", c_size_t), ("depth", c_size_t)]  # fmt: skip


@pytest.mark.parametrize("way", ["device", "array"])
def test_boxes_are_copied(calm, way):
    source = np.random.default_rng(1).integers(0, 255, (5, 6, 40), np.uint8)
    target = np.zeros((7, 8, 64), np.uint8)
    device, array = calm.put(np.zeros(7 * 8 * 64, np.uint8)), c_void_p()
    shape = (c_uint64 * 4)(64, 8, 7, 1 << 32 | 1)
    calm.call("cuArray3DCreate_v2", byref(array), byref(shape, 0))
    there = {"device": {"type": 2, "device": device, "pitch": 64, "height": 8},
             "array": {"type": 3, "array": array}}[way]  # fmt: skip

    def copy(src, dst, width=20, rows=3, depth=4):
        fields = {f"src_{k}": v for k, v in src.items()} | {f"dst_{k}": v for k, v in dst.items()}
        copied = Copy3D(width=width, rows=rows, depth=depth, **fields)
        return calm.raw("cuMemcpy3D_v2", byref(copied))

    here = {"type": 1, "host": source.ctypes.data, "pitch": 40, "height": 6, "x": 7, "y": 2, "z": 1}
    back = {"type": 1, "host": target.ctypes.data, "pitch": 64, "height": 8, "x": 1, "y": 1, "z": 2}
    assert copy(here, {**there, "x": 9, "y": 4, "z": 3}) == 0
    assert copy({**there, "x": 9, "y": 4, "z": 3}, back) == 0
    expected = np.zeros_like(target)
    expected[2:6, 1:4, 1:21] = source[1:5, 2:5, 7:27]
    assert (target == expected).all()
    assert copy(here, {**there, "x": 50, "z": 3, "y": 7}) == INVALID_VALUE
    assert copy(here, {**there, "z": 4}) == INVALID_VALUE
    assert copy({**here, "pitch": 8}, there) == INVALID_VALUE
    calm.call("cuArrayDestroy", array)
    assert calm.raw("cuArrayDestroy", array) == INVALID_HANDLE


def test_managed_memory(calm):
    address = c_uint64()
    calm.call("cuMemAllocManaged", byref(address), c_size_t(128), 1)
    calm.launch("number", address.value)
    seen = np.ctypeslib.as_array((ctypes.c_uint32 * 32).from_address(address.value))
    assert (seen == np.arange(32)).all()
    for size in 0, 128:
        calm.call("cuStreamAttachMemAsync", None, address, c_size_t(size), 1)
    assert calm.raw("cuStreamAttachMemAsync", None, address, c_size_t(64), 1) == INVALID_VALUE
    calm.free(address.value)
    assert calm.raw("cuMemAllocManaged", byref(address), c_size_t(4), 3) == INVALID_VALUE


# --- contexts, handles, errors -------------------------------------------------------------------


def test_a_context_takes_its_things_along(calm):
    other, popped, stream, event = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    calm.call("cuCtxCreate_v4", byref(other), None, 0, 0)
    address, module = calm.allocate(100), calm.load(b"another")
    function = calm.function("empty", module)
    calm.call("cuStreamCreate", byref(stream), 0)
    calm.call("cuEventCreate", byref(event), 0)
    calm.launch(function)
    assert calm.raw("cuCtxDetach", calm.context) == INVALID_CONTEXT
    calm.call("cuCtxDetach", other)
    assert calm.unloaded[-1] == module.value
    assert calm.raw("cuMemFree_v2", c_uint64(address)) == INVALID_VALUE
    assert error(calm.launch, function)[0] == INVALID_HANDLE
    assert calm.raw("cuModuleUnload", module) == INVALID_HANDLE
    assert calm.raw("cuStreamSynchronize", stream) == INVALID_HANDLE
    assert calm.raw("cuEventSynchronize", event) == INVALID_HANDLE
    assert calm.raw("cuCtxPushCurrent_v2", other) == INVALID_CONTEXT
    calm.call("cuCtxPopCurrent_v2", byref(popped))
    assert popped.value == calm.context.value
    assert calm.raw("cuCtxPopCurrent_v2", byref(popped)) == INVALID_CONTEXT
    assert calm.raw("cuMemAlloc_v2", byref(c_uint64()), c_size_t(4)) == INVALID_CONTEXT
    calm.call("cuCtxPushCurrent_v2", calm.context)


def test_the_primary_context(calm):
    first, second, device = c_void_p(), c_void_p(), c_int(-1)
    calm.call("cuDevicePrimaryCtxRetain", byref(first), 0)
    calm.call("cuDevicePrimaryCtxRetain", byref(second), 0)
    assert first.value == second.value
    calm.call("cuCtxPushCurrent_v2", first)
    calm.call("cuCtxGetDevice", byref(device))
    calm.call("cuDevicePrimaryCtxRelease_v2", 0)
    calm.call("cuDevicePrimaryCtxRelease_v2", 0)
    assert calm.raw("cuCtxGetDevice", byref(device)) == 709
    assert calm.raw("cuDevicePrimaryCtxRelease_v2", 0) == INVALID_CONTEXT
    calm.call("cuCtxPopCurrent_v2", None)


@pytest.mark.parametrize("handle", [None, 1 << 12, 0xDEADBEEF, (1 << 64) - 1])
def test_handles_that_never_were(calm, handle):
    handle = c_void_p(handle)
    value, size = c_int(), c_size_t()
    codes = {
        calm.raw("cuModuleUnload", handle),
        calm.raw("cuModuleGetFunction", byref(c_void_p()), handle, b"empty"),
        calm.raw("cuModuleGetGlobal_v2", byref(c_uint64()), byref(size), handle, b"x"),
        calm.raw("cuFuncGetAttribute", byref(value), 0, handle),
        calm.raw("cuFuncSetBlockShape", handle, 1, 1, 1),
        calm.raw("cuEventRecord", handle, None),
        calm.raw("cuEventRecord", calm.context, None),
        calm.raw("cuEventDestroy_v2", handle),
        calm.raw("cuArrayDestroy", handle),
        calm.raw("cuStreamDestroy_v2", handle),
    }
    assert codes == {INVALID_HANDLE}
    if handle:
        assert calm.raw("cuStreamQuery", handle) == INVALID_HANDLE


def test_events_tell_real_time(calm):
    first, last, untimed = c_void_p(), c_void_p(), c_void_p()
    for event, flags in ((first, 0), (last, 0), (untimed, 2)):
        calm.call("cuEventCreate", byref(event), flags)
    elapsed = c_float()
    assert calm.raw("cuEventElapsedTime_v2", byref(elapsed), first, last) == INVALID_HANDLE
    calm.call("cuEventRecord", first, None)
    time.sleep(0.02)
    calm.call("cuEventRecord", last, None)
    calm.call("cuEventElapsedTime_v2", byref(elapsed), first, last)
    assert 19 < elapsed.value < 20_000  # ms; the machine may be busy
    calm.call("cuEventRecord", untimed, None)
    assert calm.raw("cuEventElapsedTime_v2", byref(elapsed), first, untimed) == INVALID_HANDLE
    for event in (first, last, untimed):
        calm.call("cuEventDestroy_v2", event)


def test_modules_that_cannot_be_loaded(calm, tmp_path):
    module = c_void_p()
    assert calm.raw("cuModuleLoadData", byref(module), b"bad") == 218
    assert calm.error_text(218) == "a PTX JIT compilation failed: line 1: no such instruction"
    log = ctypes.create_string_buffer(100)
    values = (c_void_p * 4)(0, 100, ctypes.addressof(log), 100)
    options = (c_int * 4)(3, 4, 5, 6)
    assert calm.raw("cuModuleLoadDataEx", byref(module), b"bad", 4, options, values) == 218
    assert log.value == b"line 1: no such instruction" and values[3] == len(log.value)
    assert calm.error_text(218) == "a PTX JIT compilation failed"
    assert calm.raw("cuModuleLoad", byref(module), str(tmp_path / "x").encode()) == 301
    (tmp_path / "kernels.ptx").write_bytes(b"text")
    calm.call("cuModuleLoad", byref(module), str(tmp_path / "kernels.ptx").encode())
    calm.call("cuModuleUnload", module)
    code, text = error(calm.function, "nothing")
    assert code == NOT_FOUND and not missing(text, "'nothing'", "number")


def test_what_is_not_there_says_so(calm):
    assert calm.raw("cuMemPoolExportPointer") == NOT_SUPPORTED
    assert not missing(calm.error_text(NOT_SUPPORTED), "cuMemPoolExportPointer")
    assert calm.raw("cuTexRefCreate") == NOT_SUPPORTED
    assert not missing(calm.error_text(NOT_SUPPORTED), "cuTexRefCreate")
    assert missing(calm.error_text(700), "cuTexRefCreate")


def test_the_linker_puts_texts_one_after_the_other_and_refuses_machine_code(calm):
    CUBIN, PTX, OBJECT, LIBRARY = 0, 1, 3, 4
    linker, image, size = c_void_p(), c_void_p(), ctypes.c_size_t()
    calm.call("cuLinkCreate_v2", 0, None, None, byref(linker))

    def add(kind, data, name, call=calm.call):
        data_bytes = ctypes.c_size_t(len(data))
        return call("cuLinkAddData_v2", linker, kind, data, data_bytes, name, 0, None, None)

    add(LIBRARY, b"!", b"library")
    add(PTX, b"some PTX\n//@@\nnot of it", b"one")
    add(CUBIN, b"more of it\0", b"two")
    assert add(OBJECT, b"\x7fELF\0\0\0", b"three", calm.raw) == NOT_SUPPORTED
    assert not missing(calm.error_text(NOT_SUPPORTED), "three")
    calm.call("cuLinkComplete", linker, byref(image), byref(size))
    assert ctypes.string_at(image, size.value) == b"some PTX\nmore of it\n"
    calm.call("cuLinkDestroy", linker)


def test_the_device_says_what_it_is(calm):
    name, value = ctypes.create_string_buffer(100), c_int()
    calm.call("cuDeviceGetName", name, 100, 0)
    assert name.value == b"Software GPU (models NVIDIA H200)"
    known = {1: 1024, 10: 32, 16: 132, 75: 9, 97: 232448, 37: 6016, 127: 1, 144: 1}
    for attribute, expected in known.items():
        calm.call("cuDeviceGetAttribute", byref(value), attribute, 0)
        assert value.value == expected
    assert calm.raw("cuDeviceGetAttribute", byref(value), 1, 1) == 101
    assert calm.raw("cuDeviceGet", byref(value), 1) == 101


# --- printf --------------------------------------------------------------------------------------


def printed(driver, capfd, text, arguments, threads=1, stride=0):
    """What a format prints, and what printf returned."""
    format_address = driver.put(np.frombuffer(text + b"\0", np.uint8))
    buffer = driver.put(np.frombuffer(arguments + b"\0" * 8, np.uint8))
    out = driver.put(np.zeros(threads, np.int32))
    blocks = -(-threads // 32)
    driver.launch("print", format_address, buffer, stride, out, grid=(blocks,),
                  block=(min(threads, 32),))  # fmt: skip
    counts = driver.get(out, threads, np.int32)
    for address in (format_address, buffer, out):
        driver.free(address)
    return capfd.readouterr().out, counts


def test_printf_formats(calm, capfd):
    string = calm.put(np.frombuffer(b"text\0", np.uint8))
    arguments = b"".join([
        np.int32(-5).tobytes(), np.uint32(4000000000).tobytes(), np.int64(-(1 << 40)).tobytes(),
        np.float64(2.5).tobytes(), np.float64(1e100).tobytes(), np.int32(ord("x")).tobytes(),
        b"\0" * 4, np.uint64(string).tobytes(), np.uint64(0xABC).tobytes(), np.int32(6).tobytes(),
        np.int32(255).tobytes(), np.uint64(string).tobytes(),
    ])  # fmt: skip
    text, counts = printed(
        calm, capfd, b"%d %u %lld|%.3f %g %c %s %p %*x 100%% %6s %y\n", arguments
    )
    assert text == "-5 4000000000 -1099511627776|2.500 1e+100 x text 0xabc     ff 100%   text %y\n"
    assert counts.tolist() == [11]


def test_printf_keeps_threads_apart(driver, capfd):
    arguments = np.arange(640, dtype=np.int64).tobytes()
    text, counts = printed(driver, capfd, b"a %lld b\n", arguments, 640, 8)
    lines = text.splitlines()
    assert sorted(lines) == sorted(f"a {n} b" for n in range(640))
    for start in range(0, 640, 32):  # a warp's lines stay together, in order
        first = int(lines[start].split()[1])
        assert lines[start : start + 32] == [f"a {n} b" for n in range(first, first + 32)]
    assert (counts == 1).all()


def test_printf_of_nonsense_is_a_fault(calm, capfd):
    nowhere = calm.put(np.frombuffer(b"%s\0", np.uint8))
    buffer = calm.put(np.array([0x1234], np.uint64))
    out = calm.put(np.zeros(1, np.int32))
    code, text = error(calm.launch, "print", nowhere, buffer, 0, out, block=(1,))
    assert (code, calm.fault()) == (ILLEGAL_ADDRESS, FaultKind.PRINTF_STRING)
    assert not missing(text, "0x1234")
    assert error(calm.launch, "print", 8, buffer, 0, out, block=(1,))
    assert calm.fault() == FaultKind.PRINTF_FORMAT
    assert error(calm.launch, "print", nowhere, 8, 0, out, block=(1,))
    assert calm.fault() == FaultKind.PRINTF_ARGUMENTS


def test_error_text_is_of_the_last_error(calm):
    assert error(calm.launch, "trap")[0] == LAUNCH_FAILED
    assert calm.raw("cuModuleLoad", byref(c_void_p()), b"/nowhere/x.ptx") == 301
    assert missing(calm.error_text(LAUNCH_FAILED), "trap")  # another error came after it
    assert not missing(calm.error_text(301), "/nowhere/x.ptx")
    text = c_char_p()
    assert calm.raw("cuGetErrorString", 12345, byref(text)) == INVALID_VALUE


# --- building ------------------------------------------------------------------------------------


def test_building_again_is_only_a_look(monkeypatch):
    monkeypatch.setattr(build, "run_compiler", None)
    assert build.build() == build.LIBRARY


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A small driver, in a folder with spaces."""
    there = tmp_path / "a folder"
    for path in build.DRIVER / "base/handles.c", *build.DRIVER.glob("*.h"):
        copy = there / path.relative_to(build.DRIVER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    monkeypatch.setattr(build, "DRIVER", there)
    monkeypatch.setattr(build, "LIBRARY", there / "libcuda.so.1")
    return there


def test_a_folder_with_spaces(there):
    assert ctypes.CDLL(str(build.build()))
    assert sorted(path.name for path in there.glob("lib*")) == ["libcuda.so", "libcuda.so.1"]
    (there / "base/handles.c").write_text("this is no C")
    with refused(build.BuildError, "handles.c"):
        build.build()
    assert ctypes.CDLL(str(there / "libcuda.so.1"))  # the old one is still there


@pytest.mark.skipif(build.KIND != "", reason="only the usual driver lies in the package")
def test_a_package_that_cannot_be_written_to(there, tmp_path, monkeypatch):
    sources = sorted(there.iterdir())
    access = os.access
    monkeypatch.setattr(build.os, "access", lambda path, mode: path != there and access(path, mode))
    for place in "a cache", "no folder":
        (tmp_path / "no folder").touch()
        monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / place))
        library = build.build()
        assert ctypes.CDLL(str(library)) and library.name.endswith("libcuda.so.1")
        assert (library.parent == tmp_path / place) == (place == "a cache")
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path / "a cache"))
    monkeypatch.setattr(build, "run_compiler", None)
    assert build.build().parent == tmp_path / "a cache"  # made once
    assert sorted(there.iterdir()) == sources


def test_no_compiler_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with refused(build.BuildError, "sudo apt install gcc"):
        build.build(force=True)
