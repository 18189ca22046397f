"""Memory and events of other processes, each of which answers one expression after the other."""

import os
import signal
import subprocess
import sys

import pytest

from softgpu.tests import ROOT, python
from softgpu.tests.facts import missing

from pycuda.compiler import compile  # isort: skip

pytestmark = pytest.mark.slow

ANSWER = """
import os, sys, softgpu
softgpu.install()
import numpy as np, pycuda.driver as cuda
from softgpu import xray
cuda.init()
context = cuda.Device(int(os.environ.get("DEVICE", 0))).make_context()
def placed(count, first=0):
    return cuda.to_device(np.arange(first, first + count, dtype=np.int32))
def first(x, count=1):
    return cuda.from_device(int(x), count, np.int32).tolist()
def handle(x):
    return bytes(cuda.mem_get_ipc_handle(x)).hex()
def opened(text):
    return cuda.IPCMemoryHandle(bytearray.fromhex(text))
def put(x, *values):
    cuda.memcpy_htod(int(x), np.array(values, np.int32))
kernel = cuda.module_from_file(os.environ["ADD"]).get_function("add")
def added(x, count):
    kernel(np.uint64(int(x)), np.int32(count), block=(64, 1, 1))
def watched(x):
    found = xray.sanitize(kernel, np.uint64(int(x)), np.int32(64), grid=1, block=64)
    return [finding.kind.value for finding in found]
for line in sys.stdin:
    try:
        print(eval(line), flush=True)
    except cuda.Error as error:
        print(str(error).splitlines()[0], flush=True)
os._exit(0)
"""


ADD = """extern "C" __global__ void add(int *x, int n)
    { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] += 1; }"""


class Process:
    def __init__(self, **environment):
        own = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        self.python = subprocess.Popen(
            [sys.executable, "-c", ANSWER], env=own, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def says(self, expression):
        self.python.stdin.write(expression + "\n")
        self.python.stdin.flush()
        return self.python.stdout.readline().strip()

    def end(self):
        self.python.kill()
        self.python.communicate()


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """The file of what all processes launch, which PyCUDA's cache does not keep apart for each."""
    # PyCUDA's compiler needs the driver
    from softgpu.tests import autoinit  # noqa: F401

    file = tmp_path_factory.mktemp("ipc") / "add.ptx"
    file.write_bytes(compile(ADD, no_extern_c=True, arch="sm_90", target="ptx"))
    return file


@pytest.fixture
def start(kernel):
    """Starts a process, which ends with the test."""
    processes = []

    def start(**environment):
        processes.append(Process(ADD=str(kernel), **environment))
        return processes[-1]

    yield start
    for process in processes:
        process.end()


@pytest.fixture
def pair(start):
    return start(), start()


@pytest.mark.parametrize("count", [1, 1023, 100_001, 300_000, 3 << 20])
def test_both_see_what_either_writes(pair, count):
    ours, theirs = pair
    text = ours.says(f"handle(x := placed({count}))")
    assert theirs.says(f"first(y := opened('{text}'), {count}) == list(range({count}))") == "True"
    theirs.says(f"added(y, {count})")
    assert ours.says(f"first(x, {count}) == list(range(1, {count} + 1))") == "True"
    ours.says("put(x, 77)")
    assert theirs.says("first(y)") == "[77]"


def test_neighbours_on_a_page_stay_apart(pair):
    ours, theirs = pair
    first = ours.says("handle((three := [placed(4, 10 * i) for i in range(3)])[0])")
    theirs.says(f"put(y := opened('{first}'), 5)")
    second = ours.says("handle(three[2])")
    assert theirs.says(f"first(z := opened('{second}'), 4)") == "[20, 21, 22, 23]"
    theirs.says("put(z, 6)")
    ours.says("three[1].free()")
    assert ours.says("first(three[0]), first(three[2])") == "([5], [6])"
    assert theirs.says("first(y), first(z)") == "([5], [6])"


def test_a_handle_that_is_opened_twice_is_closed_twice(pair):
    ours, theirs = pair
    text = ours.says("handle(x := placed(4, 7))")
    assert ours.says("handle(x)") == text
    assert theirs.says(f"int(y := opened('{text}')) == int(z := opened('{text}'))") == "True"
    assert theirs.says("y.close()") == "None"
    assert theirs.says("first(z)") == "[7]"
    theirs.says("z.close()")
    assert theirs.says(f"first(opened('{text}'))") == "[7]"


def test_what_cannot_be_is_refused(pair):
    ours, theirs = pair
    text = ours.says("handle(x := placed(1 << 19))")
    inside = ours.says("cuda.mem_get_ipc_handle(int(x) + 512)")
    assert not missing(inside, "cuMemAlloc")
    assert not missing(ours.says(f"opened('{text}')"), ours.python.pid)
    assert not missing(theirs.says("opened('00' * 64)"), "cuIpcGetMemHandle")
    theirs.says(f"int(y := opened('{text}'))")
    ours.says("x.free()")
    freed = theirs.says(f"(y.close(), opened('{text}'))")
    assert not missing(freed, ours.python.pid, "cuMemFree")
    text = ours.says("handle(x := placed(4))")
    ours.end()
    ended = theirs.says(f"opened('{text}')")
    assert not missing(ended, ours.python.pid) and missing(ended, "cuMemFree")


def test_memory_outlives_who_is_killed_and_leaves_nothing(pair):
    def left():
        """What is there of anybody's but MPI's, whose tests may run meanwhile."""
        return sorted(name for name in os.listdir("/dev/shm") if not name.startswith("mpich"))

    ours, theirs = pair
    before = left()
    text = ours.says("handle(x := placed(1 << 19, 3))")
    theirs.says(f"first(y := opened('{text}'))")
    ours.python.send_signal(signal.SIGKILL)
    ours.python.wait()
    assert theirs.says("first(y)") == "[3]"
    theirs.end()
    assert left() == before


def test_memory_lies_on_its_own_device(start):
    ours, theirs = (start(SOFTGPU_DEVICES="2", DEVICE=device) for device in "10")
    text = ours.says("handle(x := placed(64))")
    theirs.says(f"added(y := opened('{text}'), 64)")
    assert theirs.says("softgpu.link_bytes()") == "[[0, 256], [256, 0]]"
    assert ours.says("first(x, 3)") == "[1, 2, 3]"
    alone = start().says(f"opened('{text}')")
    assert not missing(alone, 1, "SOFTGPU_DEVICES=2")


def test_what_another_process_wrote_counts_as_written(pair):
    ours, theirs = pair
    assert ours.says("watched(cuda.mem_alloc(256))") == "['uninitialised read']"
    text = ours.says("handle(x := cuda.mem_alloc(256))")
    theirs.says(f"put(y := opened('{text}'), *range(64))")
    assert ours.says("watched(x)") == theirs.says("watched(int(y))") == "[]"


def test_events_are_shared_that_were_made_for_it(pair):
    ours, theirs = pair
    flags = "cuda.event_flags.DISABLE_TIMING | cuda.event_flags.INTERPROCESS"
    ours.says(f"(event := cuda.Event({flags})).record()")
    text = ours.says("bytes(event.ipc_handle()).hex()")
    theirs.says(f"(event := cuda.Event.from_ipc_handle(bytearray.fromhex('{text}')))")
    assert theirs.says("event.query(), event.synchronize()").startswith("(True, ")
    assert "without CU_EVENT_INTERPROCESS" in theirs.says("event.ipc_handle()")
    assert "CU_EVENT_DISABLE_TIMING" in ours.says("cuda.Event(cuda.event_flags.INTERPROCESS)")
    assert not missing(theirs.says(f"opened('{text}')"), "cuIpcGetMemHandle")


def test_a_program_of_cuda_shares_with_its_child():
    done = python("-m", "softgpu", "run", "softgpu/tests/programs/processes.cu")
    assert done.stdout.splitlines() == [
        "open: cudaSuccess",
        "event: cudaSuccess",
        "launch: cudaSuccess",
        "free: cudaErrorInvalidValue",
        "close: cudaSuccess",
        "again: cudaErrorInvalidValue",
        "1 to 64",
        "own: cudaErrorDeviceUninitialized",
    ]
