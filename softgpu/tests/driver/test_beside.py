"""Launches of two devices that run beside each other and wait for each other."""

import ctypes
import threading
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
import pytest

from softgpu.tests.driver.harness import DriverError, only_driver
from softgpu.tests.facts import missing
from softgpu.tests.graphs.test_graphs import Graph
from softgpu.tests.graphs.test_memory_nodes import ON_DEVICE, READ_WRITE, Access, allocate

NOT_READY, ILLEGAL_ADDRESS, TIMEOUT, LAUNCH_FAILED = 600, 700, 702, 719
ROUNDS = 300
HOST_CALL = ctypes.CFUNCTYPE(None, c_void_p)


class Device:
    """A device with a context, a stream, kernels and a flag of its own."""

    def __init__(self, driver, number):
        self.driver, self.context, self.stream = driver, c_void_p(), c_void_p()
        driver.call("cuCtxCreate_v4", byref(self.context), None, 0, number)
        driver.call("cuStreamCreate", byref(self.stream), 1)
        self.module = driver.load(b"a module")
        self.flag = driver.put(np.zeros(1, np.uint32))
        driver.call("cuCtxPopCurrent_v2", byref(c_void_p()))

    @contextmanager
    def current(self):
        self.driver.call("cuCtxPushCurrent_v2", self.context)
        try:
            yield
        finally:
            self.driver.call("cuCtxPopCurrent_v2", byref(c_void_p()))

    def launch(self, kernel, *params, **geometry):
        with self.current():
            function = self.driver.function(kernel, self.module)
            self.driver.launch(function, *params, **{"stream": self.stream} | geometry)

    def call(self, name, *arguments):
        with self.current():
            self.driver.call(name, *arguments)

    def raw(self, name, *arguments):
        with self.current():
            return self.driver.raw(name, *arguments)

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)

    def get(self, address, count=1):
        with self.current():
            return self.driver.get(address, count, np.uint32)

    def put(self, *numbers):
        with self.current():
            return self.driver.put(np.array(numbers, np.uint32))

    def add_host_call(self, function):
        self.call("cuLaunchHostFunc", self.stream, function, None)

    def destroy(self):
        if self.context:
            self.driver.call("cuCtxDestroy_v2", self.context)
        self.context = None


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def pair(request):
    driver = only_driver()
    driver.options(threads=request.param)
    driver.library.sg_devices(2)
    devices = [Device(driver, number) for number in range(2)]
    for device, peer in zip(devices, reversed(devices), strict=True):
        device.call("cuCtxEnablePeerAccess", peer.context, 0)
    yield devices
    for device in devices:
        device.destroy()
    driver.options()
    driver.library.sg_devices(1)


def take_turns(device, other, leads, rounds=ROUNDS, **geometry):
    device.launch("take_turns", device.flag, other.flag, rounds, leads, **geometry)


def test_one_thread_launches_on_both(pair):
    for leads, device in enumerate(pair):
        take_turns(device, pair[1 - leads], leads)
    for device in pair:
        device.synchronize()
        assert device.get(device.flag) == ROUNDS


def test_a_thread_launches_on_each(pair):
    failures = []

    def work(leads):
        try:
            take_turns(pair[leads], pair[1 - leads], leads)
            pair[leads].synchronize()
            assert pair[leads].get(pair[leads].flag) == ROUNDS
        except Exception as problem:
            failures.append(problem)

    threads = [threading.Thread(target=work, args=(leads,)) for leads in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_a_stream_is_asked_for_comes_after(pair):
    """Host functions, callbacks, copies, sets, launches, events."""
    first, second = pair
    seen = []
    out, copies = first.put(1, 2), first.put(0, 0)
    pinned = c_void_p()
    first.call("cuMemHostAlloc", byref(pinned), c_size_t(8), 0)
    of_host = np.ctypeslib.as_array((ctypes.c_uint32 * 2).from_address(pinned.value))
    of_host[:] = 7, 8
    event = c_void_p()
    first.call("cuEventCreate", byref(event), 0)
    called = HOST_CALL(lambda _: seen.append(("host", int(of_host[0]))))
    call_back = ctypes.CFUNCTYPE(None, c_void_p, ctypes.c_int, c_void_p)(
        lambda stream, code, _: seen.append(("stream", stream, code))
    )

    take_turns(first, second, 0)
    first.add_host_call(called)
    first.call("cuMemsetD32Async", c_uint64(out), c_uint(5), c_size_t(2), first.stream)
    first.launch("increment", out, block=(2,))
    first.call("cuMemcpyDtoDAsync_v2", *map(c_uint64, (copies, out)), c_size_t(8), first.stream)
    first.call("cuMemcpyDtoHAsync_v2", pinned, c_uint64(copies), c_size_t(8), first.stream)
    first.call("cuStreamAddCallback", first.stream, call_back, None, 0)
    first.call("cuEventRecord", event, first.stream)
    first.add_host_call(called)
    assert seen == [] and of_host.tolist() == [7, 8]
    assert first.raw("cuStreamQuery", first.stream) == NOT_READY
    assert first.raw("cuEventQuery", event) == NOT_READY
    elapsed = ctypes.c_float()
    assert first.raw("cuEventElapsedTime", byref(elapsed), event, event) == NOT_READY

    take_turns(second, first, 1)
    first.call("cuEventSynchronize", event)
    assert of_host.tolist() == [6, 6]
    first.synchronize()
    assert seen == [("host", 7), ("stream", first.stream.value, 0), ("host", 6)]
    assert first.raw("cuStreamQuery", first.stream) == 0
    assert first.raw("cuEventQuery", event) == 0
    first.call("cuEventElapsedTime", byref(elapsed), event, event)
    first.call("cuMemFreeHost", pinned)


def test_memory_that_is_not_page_locked_is_copied_at_once(pair):
    """It may change as soon as the call returns, which therefore waits."""
    first, second = pair
    into = second.put(0)
    numbers = np.array([3], np.uint32)
    take_turns(first, second, 0)
    take_turns(second, first, 1)
    place = c_void_p(numbers.ctypes.data), c_size_t(4), second.stream
    second.call("cuMemcpyHtoDAsync_v2", c_uint64(into), *place)
    assert second.get(second.flag) == ROUNDS
    numbers[0] = 4
    second.synchronize()
    assert second.get(into) == 3


def test_a_stream_waits_for_the_event_of_another_device(pair):
    first, second = pair
    seen = []
    called = HOST_CALL(lambda _: seen.append(int(first.get(first.flag)[0])))
    event, other = c_void_p(), c_void_p()
    first.call("cuEventCreate", byref(event), 2)
    second.call("cuStreamCreate", byref(other), 1)
    take_turns(first, second, 0)
    first.call("cuEventRecord", event, first.stream)
    second.call("cuStreamWaitEvent", other, event, 0)
    second.call("cuLaunchHostFunc", other, called, None)
    first.call("cuEventDestroy_v2", event)  # which whoever waits for it does not mind
    assert second.raw("cuStreamQuery", other) == NOT_READY
    assert second.raw("cuStreamQuery", second.stream) == 0
    assert seen == []
    take_turns(second, first, 1)
    second.call("cuStreamSynchronize", other)
    assert seen == [ROUNDS]


@pytest.mark.parametrize("blocking", [True, False])
def test_the_default_stream_waits_for_streams_that_block(pair, blocking):
    first, second = pair
    out, stream = first.put(0), c_void_p()
    first.call("cuStreamCreate", byref(stream), 0 if blocking else 1)
    take_turns(first, second, 0, stream=stream)
    first.call("cuMemsetD32Async", c_uint64(out), c_uint(5), c_size_t(1), None)
    assert first.raw("cuStreamQuery", None) == (NOT_READY if blocking else 0)
    take_turns(second, first, 1)
    first.call("cuCtxSynchronize")
    assert first.get(out) == 5


def test_a_loop_in_which_a_block_meets_lets_its_call_return(pair):
    first, second = pair
    out = first.put(0)
    first.launch("store_twice", out, second.flag, block=(64,))
    second.call("cuMemsetD32Async", c_uint64(second.flag), c_uint(1), c_size_t(1), second.stream)
    first.synchronize()
    assert first.get(out) == 2


def test_memory_comes_and_goes_while_kernels_run(pair):
    first, second = pair
    for leads, device in enumerate(pair):
        take_turns(device, pair[1 - leads], leads, rounds=10 * ROUNDS)
    with only_driver_current():
        for size in range(1, 200):
            address = only_driver().put(np.arange(size, dtype=np.uint32))
            assert only_driver().get(address, size, np.uint32)[-1] == size - 1
            only_driver().free(address)
    for device in pair:
        device.synchronize()
        assert device.get(device.flag) == 10 * ROUNDS


@contextmanager
def only_driver_current():
    """In a context that is neither of the pair's."""
    only_driver().call("cuCtxPushCurrent_v2", only_driver().context)
    yield
    only_driver().call("cuCtxPopCurrent_v2", byref(c_void_p()))


def test_what_is_freed_meanwhile_is_not_written(pair):
    """A kernel that has written there looks again whether it may."""
    first, second = pair
    pinned = c_void_p()
    second.call("cuMemHostAlloc", byref(pinned), c_size_t(4), 0)
    first.launch("store_twice", pinned.value, second.flag)
    second.call("cuMemFreeHost", pinned)
    second.call("cuMemsetD32Async", c_uint64(second.flag), c_uint(1), c_size_t(1), second.stream)
    code, text = error(first.synchronize)
    assert code == ILLEGAL_ADDRESS and not missing(text, "store_twice", hex(pinned.value))


def error(call, *arguments):
    with pytest.raises(DriverError) as caught:
        call(*arguments)
    return caught.value.code, str(caught.value)


def test_a_fault_is_told_where_the_host_waits(pair):
    first, second = pair
    first.launch("take_turns", first.flag + 4, second.flag, 1, 0)
    first.launch("trap")
    second.call("cuMemsetD32Async", c_uint64(second.flag), c_uint(1), c_size_t(1), second.stream)
    code, text = error(first.synchronize)
    assert code == ILLEGAL_ADDRESS and not missing(text, "take_turns")
    first.synchronize()  # told once; the device goes on working
    first.launch("increment", first.flag, block=(1,))
    assert first.get(first.flag) == 1


def test_a_fault_at_once_is_told_by_the_launch(pair):
    code, text = error(pair[1].launch, "trap")
    assert code == LAUNCH_FAILED and not missing(text, "trap")


def test_a_fault_leaves_the_other_device_to_its_time_limit(pair):
    first, second = pair
    only_driver().options(timeout_s=1)
    take_turns(first, second, 0)
    code, text = error(second.launch, "trap")
    assert code == LAUNCH_FAILED
    code, text = error(first.synchronize)
    assert code == TIMEOUT and not missing(text, "take_turns", "1 s", 0)
    assert text.count("take_turns") == 1  # the other one has ended
    second.synchronize()


@pytest.mark.slow
def test_kernels_that_wait_for_ever_are_both_named(pair):
    only_driver().options(timeout_s=2)
    for number, device in enumerate(pair):
        take_turns(device, pair[1 - number], 0)
    code, text = error(pair[0].synchronize)
    assert code == TIMEOUT and text.count("take_turns") == 2
    assert not missing(text, "2 s", 0, 95, 1, 96)
    code, text = error(pair[1].synchronize)
    assert code == TIMEOUT and not missing(text, 1)


def test_a_context_ends_after_what_it_has_left_to_do(pair):
    first, second = pair
    take_turns(first, second, 0)
    take_turns(second, first, 1)
    second.destroy()
    first.synchronize()
    assert first.get(first.flag) == ROUNDS


def test_a_context_ends_although_its_launch_waits_for_ever(pair):
    only_driver().options(timeout_s=1)
    take_turns(*pair, 0)
    pair[0].launch("increment", pair[0].flag, block=(1,))
    code, text = error(pair[0].destroy)
    assert code == TIMEOUT and not missing(text, "take_turns")
    pair[0].context = None
    pair[1].launch("increment", pair[1].flag, block=(1,))
    assert pair[1].get(pair[1].flag) == 1


def test_graphs_of_one_kernel_wait_for_each_other(pair):
    graphs = []
    for leads, device in enumerate(pair):
        graph, executable = c_void_p(), c_void_p()
        device.call("cuStreamBeginCapture_v2", device.stream, 0)
        take_turns(device, pair[1 - leads], leads)
        device.call("cuStreamEndCapture", device.stream, byref(graph))
        arguments = byref(executable), graph, c_uint64(0)
        device.call("cuGraphInstantiateWithFlags", *arguments)
        graphs.append(executable)
    for device, graph in zip(pair, graphs, strict=True):
        device.call("cuGraphLaunch", graph, device.stream)
    for device in pair:
        device.synchronize()
        assert device.get(device.flag) == ROUNDS


@pytest.mark.parametrize("others", [(), (0,)])
def test_what_a_graph_allocates_is_for_the_devices_that_it_names(pair, others):
    first, second = pair
    access = (Access * 1)(*[Access((ON_DEVICE, device), READ_WRITE) for device in others])
    with second.current():
        graph = Graph(second.driver, second.module)
        _, address = allocate(graph, device=1, access=ctypes.addressof(access),
                              access_count=len(others))  # fmt: skip
        exec_ = graph.instantiate()
    second.call("cuGraphLaunch", exec_, second.stream)
    second.synchronize()
    if others:
        first.launch("number", address)
        first.synchronize()
        assert (second.get(address, 32) == range(32)).all()
    else:
        assert error(first.launch, "number", address)[0] == ILLEGAL_ADDRESS
    second.call("cuMemFree_v2", c_uint64(address))


def test_a_launch_waits_for_words_of_the_host(pair):
    """The host writes them itself, without any call."""
    device = pair[0]
    pinned = c_void_p()
    device.call("cuMemHostAlloc", byref(pinned), c_size_t(4), 0)
    word = ctypes.c_uint32.from_address(pinned.value)
    word.value = 0
    out = device.put(0)
    device.launch("store_twice", out, pinned.value)
    word.value = 1
    device.synchronize()
    assert device.get(out) == 2
    device.call("cuMemFreeHost", pinned)


def test_errors_keep_their_words(pair):
    """cuGetErrorString of the thread that synchronises has what went wrong on another thread."""
    first, second = pair
    first.launch("take_turns", first.flag + 4, second.flag, 1, 0)
    second.call("cuMemsetD32Async", c_uint64(second.flag), c_uint(1), c_size_t(1), second.stream)
    code = first.raw("cuStreamSynchronize", first.stream)
    text = c_char_p()
    only_driver().raw("cuGetErrorString", code, byref(text))
    assert not missing(text.value.decode(), "take_turns", "kernel.cu:10", "(0,0,0)", 4)
