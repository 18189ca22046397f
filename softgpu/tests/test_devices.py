"""Several devices: memory and contexts of their own, peers, what goes over their links."""

import pytest

from softgpu import settings
from softgpu.tests import python
from softgpu.tests.facts import missing, refused

pytestmark = pytest.mark.slow

BEGIN = '''
import softgpu
softgpu.install()
import numpy as np, pycuda.driver as cuda
from pycuda.compiler import SourceModule
cuda.init()
SOURCE = """__global__ void add(float *to, const float *from)
{ to[threadIdx.x] += from[threadIdx.x]; }"""
contexts, arrays, kernels = [], [], []
for number in range(cuda.Device.count()):
    contexts.append(cuda.Device(number).make_context())
    arrays.append(cuda.to_device(np.arange(64, dtype=np.float32) + number))
    kernels.append(SourceModule(SOURCE).get_function("add"))
    cuda.Context.pop()
def says(call, *arguments, **options):
    try:
        call(*arguments, **options)
        print("well")
    except cuda.Error as error:
        print(*str(error).splitlines())
def on(number):
    contexts[number].push()
def run(number, *which):
    kernels[number](*(arrays[i] for i in which), block=(64, 1, 1))
'''


def told(script, devices="4", **environment):
    """What a program with several devices prints, line by line."""
    end = "\nos = __import__('os')\n__import__('sys').stdout.flush()\nos._exit(0)"
    done = python("-c", BEGIN + script + end, SOFTGPU_DEVICES=devices, **environment)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("text", ["0", "17", "-1", "two", "1.5"])
def test_a_number_of_devices_that_cannot_be_is_refused(text, monkeypatch):
    monkeypatch.setenv("SOFTGPU_DEVICES", text)
    with refused(ValueError, f"SOFTGPU_DEVICES={text}", 1, 16):
        settings.devices()


def test_each_device_says_who_it_is():
    look = """
devices = [cuda.Device(i) for i in range(cuda.Device.count())]
print(len({d.pci_bus_id() for d in devices}))
for d in devices: print(d.name(), d.pci_bus_id())
print(sum(d.total_memory() for d in devices) <= 4 * devices[0].total_memory())
says(cuda.Device, 4)
"""
    lines = told(look)
    assert lines[0] == "4"
    names = [f"Software GPU (models NVIDIA H200) {i} of 4 0000:0{i}:00.0" for i in range(4)]
    assert lines[1:5] == names
    assert not missing(lines[-1], 4, 0, 3)
    assert told("print(cuda.Device(0).name())", "1") == ["Software GPU (models NVIDIA H200)"]


@pytest.mark.parametrize("environment", [{}, {"SOFTGPU_SANITIZE": "1"}])
def test_memory_of_another_device_is_touched_with_peer_access_only(environment):
    lines = told(
        """
on(1)
says(run, 1, 1, 0)
contexts[1].enable_peer_access(contexts[0])
says(run, 1, 1, 0)
print(cuda.from_device(arrays[1], 2, np.float32))
contexts[1].disable_peer_access(contexts[0])
says(run, 1, 1, 0)
""",
        **environment,
    )
    call = "enable_peer_access" if environment else "cuCtxEnablePeerAccess"
    assert not missing(lines[0], call, "add") and not missing(lines[3], call, "add")
    assert lines[1:3] == ["well", "[1. 3.]"]


def test_peer_access_is_of_one_context_and_one_direction():
    lines = told(
        """
on(0)
contexts[0].enable_peer_access(contexts[1])
says(contexts[0].enable_peer_access, contexts[1])
says(contexts[0].enable_peer_access, contexts[0])
says(contexts[0].disable_peer_access, contexts[2])
contexts.append(cuda.Device(0).make_context())
cuda.Context.pop()
says(contexts[0].enable_peer_access, contexts[4])
on(1)
says(run, 1, 1, 0)
print([cuda.Device(1).can_access_peer(cuda.Device(i)) for i in (1, 2)])
"""
    )
    nvidias = "already enabled", "invalid device context", "not been enabled", "not supported"
    for line, expected in zip(lines, [*nvidias, "cuCtxEnablePeerAccess"], strict=False):
        assert expected in line
    assert lines[-1] == "[False, True]"


def test_copies_between_devices_need_no_access_and_are_counted():
    lines = told(
        """
on(2)
cuda.memcpy_peer(arrays[2], arrays[3], 256, contexts[2], contexts[3])
cuda.memcpy_dtod(arrays[0], arrays[2], 128)
print(cuda.from_device(arrays[2], 2, np.float32), cuda.from_device(arrays[0], 2, np.float32))
print(softgpu.link_bytes())
contexts[2].enable_peer_access(contexts[1])
run(2, 2, 1)
run(2, 1, 2)
print(softgpu.link_bytes())
"""
    )
    assert lines[0] == "[3. 4.] [3. 4.]"
    assert lines[1] == "[[0, 0, 0, 0], [0, 0, 0, 0], [128, 0, 0, 0], [0, 0, 256, 0]]"
    assert lines[2] == "[[0, 0, 0, 0], [0, 0, 512, 0], [0, 256, 0, 0], [0, 0, 0, 0]]"


def test_what_is_of_one_device_is_refused_on_another():
    lines = told(
        """
on(0)
stream, event = cuda.Stream(), cuda.Event()
event.record()
on(1)
other = cuda.Event()
other.record()
says(run, 0, 0, 0)
kernels[0]._set_block_shape(64, 1, 1)
says(kernels[0]._launch)
says(kernels[1], arrays[1], arrays[1], block=(64, 1, 1), stream=stream)
says(event.record)
says(event.time_till, other)
says(event.synchronize)
says(cuda.Stream().wait_for_event, event)
"""
    )
    *refusals, synchronized, waited = lines
    calls = ["LaunchKernel", "Launch", "LaunchKernel", "EventRecord", "EventElapsedTime"]
    for line, call in zip(refusals, calls, strict=True):
        assert not missing(line, f"cu{call} failed: invalid resource handle", 0, 1)
    assert synchronized == waited == "well"


def test_a_kernel_in_a_graph_runs_on_the_device_that_it_was_loaded_on():
    """Which context is current when its node is added, or changed, does not matter."""
    lines = told(
        """
from ctypes import CDLL, Structure, addressof, byref, c_uint, c_uint64, c_void_p
PTX = b'''.version 9.0
.target sm_90
.address_size 64
.visible .entry seven(.param .u64 to)
{ .reg .b64 %to; ld.param.u64 %to, [to]; st.global.f32 [%to], 0f40E00000; ret; }'''
class Node(Structure):
    _fields_ = [("function", c_void_p), ("sizes", c_uint * 7), ("params", c_void_p),
                ("extra", c_void_p)]
lib = CDLL("libcuda.so.1")
def must(call, *arguments):
    assert getattr(lib, call)(*arguments) == 0, call
nodes = []
for number in range(2):
    on(number)
    module, function = c_void_p(), c_void_p()
    must("cuModuleLoadData", byref(module), PTX)
    must("cuModuleGetFunction", byref(function), module, b"seven")
    to = c_uint64(int(arrays[number]))
    params = (c_void_p * 1)(addressof(to))
    nodes.append((Node(function, (1, 1, 1, 1, 1, 1, 0), addressof(params)), to, params))
    cuda.Context.pop()
on(0)
graph, node, executable = c_void_p(), c_void_p(), c_void_p()
must("cuGraphCreate", byref(graph), 0)
must("cuGraphAddKernelNode", byref(node), graph, None, 0, byref(nodes[1][0]))
must("cuGraphInstantiate_v2", byref(executable), graph, None, None, 0)
must("cuGraphLaunch", executable, None)
for number in range(2): print(cuda.from_device(arrays[number], 1, np.float32)[0])
must("cuGraphExecKernelNodeSetParams", executable, node, byref(nodes[0][0]))
on(1)
must("cuGraphLaunch", executable, None)
for number in range(2): print(cuda.from_device(arrays[number], 1, np.float32)[0])
"""
    )
    assert lines == ["0.0", "7.0", "7.0", "7.0"]


def test_a_program_of_cuda_chooses_devices(tmp_path):
    program = "softgpu/tests/programs/peers.cu"
    done = python("-m", "softgpu", "run", program, SOFTGPU_DEVICES="2")
    assert done.stdout.splitlines() == [
        "2 devices, peers: 1",
        "again: cudaErrorPeerAccessAlreadyEnabled",
        "itself: cudaErrorInvalidDevice",
        "sum 62, variables 10 and 11, on device 1",
        "no third: cudaErrorInvalidDevice",
        "the other way: cudaErrorIllegalAddress",
    ]
    assert not missing(done.stderr, "add", "peers.cu", "cuCtxEnablePeerAccess")


def test_memory_without_a_device_is_in_reach_of_all():
    """Managed and page-locked memory; hints name devices that there are."""
    lines = told(
        """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]
on(0)
managed = cuda.managed_zeros(64, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
locked = cuda.pagelocked_zeros(64, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
on(3)
arrays += [np.uint64(managed.ctypes.data), np.uint64(locked.base.get_device_pointer())]
run(3, 4, 3)
run(3, 5, 4)
print(managed[:2], locked[:2])
place = ctypes.c_uint64(managed.ctypes.data), ctypes.c_size_t(256)
for number in 3, 4:
    print(driver.cuMemAdvise_v2(*place, 3, Location(1, number)),
          driver.cuMemPrefetchAsync_v2(*place, Location(1, number), 0, None))
"""
    )
    assert lines == ["[3. 4.] [3. 4.]", "0 0", "101 101"]


def test_a_device_ends_with_its_part_of_the_memory():
    lines = told(
        """
on(0)
free, total = cuda.mem_get_info()
says(cuda.mem_alloc, total + 1)
kept = cuda.mem_alloc(1 << 20)
print(free - cuda.mem_get_info()[0] >= 1 << 20)
on(1)
print(cuda.mem_get_info()[1] - cuda.mem_get_info()[0])
"""
    )
    assert lines[0] != "well" and lines[1] == "True" and int(lines[2]) < 1 << 20


# --- kernels of several devices that wait for each other ----------------------------------------

WAITING = '''
SOURCE = """extern "C" {
__global__ void wait(volatile unsigned *flag, unsigned *out, int at)
{
    while (!*flag);
    out[at] = 1;
}
__global__ void set(unsigned *flag) { *flag = 1; }
__global__ void count(volatile unsigned *mine, volatile unsigned *other, unsigned *sum, int times)
{
    *mine = 1;
    while (!*other);
    while (times--) atomicAdd(sum, 1);
}
}"""
import threading
count = cuda.Device.count()
flags, modules = [], []
for number in range(count):
    on(number)
    flags.append(cuda.to_device(np.zeros(1, np.uint32)))
    modules.append(SourceModule(SOURCE, no_extern_c=True))
    for other in range(count):
        if other != number:
            contexts[number].enable_peer_access(contexts[other])
    cuda.Context.pop()
'''


def test_atomics_of_two_devices_lose_nothing():
    """A launch of one worker that is alone may do without locking the bus, these may not."""
    look = """
on(0)
sums, times = cuda.to_device(np.zeros(1, np.uint32)), 3_000_000
cuda.Context.pop()
for number in range(2):
    on(number)
    modules[number].get_function("count")(
        flags[number], flags[1 - number], sums, np.int32(times), block=(1, 1, 1))
    cuda.Context.pop()
for number in range(2):
    on(number)
    contexts[number].synchronize()
print(2 * times - cuda.from_device(sums, 1, np.uint32)[0])
"""
    assert told(WAITING + look, "2") == ["0"]


def test_a_watched_launch_is_run_to_its_end():
    """It has finished when its call returns: what comes later does not help."""
    look = """
on(0)
says(modules[0].get_function("wait"), flags[1], flags[0], np.int32(0), block=(1, 1, 1))
"""
    (line,) = told(WAITING + look, "2", SOFTGPU_SANITIZE="1", SOFTGPU_TIMEOUT="2")
    assert not missing(line, "wait", "2 s", 0)


@pytest.mark.long  # cuBLAS takes a while to compile
@pytest.mark.parametrize("flags", [0, 1], ids=["blocking", "non-blocking"])
def test_a_library_waits_for_its_stream(flags):
    look = f"""
import ctypes, time
softgpu.install(libraries=["cublas"])
blas, handle = ctypes.CDLL("libcublas.so.13"), ctypes.c_void_p()
on(0)
stream, out = cuda.Stream({flags}), [cuda.to_device(np.zeros(1, np.uint32)) for _ in range(2)]
modules[0].get_function("wait")(flags[0], out[0], np.int32(0), block=(1, 1, 1), stream=stream)
def later():
    time.sleep(0.3)
    on(1)
    modules[1].get_function("set")(flags[0], block=(1, 1, 1))
    cuda.Context.pop()
threading.Thread(target=later).start()
print(blas.cublasCreate_v2(ctypes.byref(handle)),
      blas.cublasSetStream_v2(handle, ctypes.c_void_p(stream.handle)))
source, target = (ctypes.c_void_p(int(p)) for p in out)
print(blas.cublasScopy_v2(handle, 1, source, 1, target, 1))
print(cuda.from_device(out[1], 1, np.uint32)[0])
"""
    assert told(WAITING + look, "2") == ["0 0", "0", "1"]


ALONE = """
on(0)
modules[0].get_function("wait")(flags[1], flags[0], np.int32(0), block=(1, 1, 1))
"""


def test_a_program_ends_with_a_kernel_that_waits():
    program = BEGIN + WAITING + ALONE + "cuda.Context.pop()\nprint('the end')"
    done = python("-c", program, SOFTGPU_DEVICES="2")
    assert done.stdout == "the end\n" and not done.returncode, done.stderr


def test_control_c_ends_what_the_host_waits_for():
    look = """
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it
def interrupt():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    contexts[0].synchronize()
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
says(run, 0, 0, 0)
"""
    assert told(WAITING + ALONE + look, "2") == ["interrupted", "well"]
