"""Captures of streams: what is asked for becomes a graph, and what cannot become one is refused."""

import ctypes
import threading
from contextlib import contextmanager
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
import pytest

INVALID_VALUE, ILLEGAL_STATE, NOT_SUPPORTED = 1, 401, 801
UNSUPPORTED, INVALIDATED, MERGE, UNMATCHED, UNJOINED, ISOLATION, IMPLICIT = range(900, 907)
CAPTURED_EVENT, WRONG_THREAD = 907, 908
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
NOT_CAPTURING, CAPTURING, INVALID = range(3)
BLOCKING, NON_BLOCKING = range(2)
EXTERNAL = 1
KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT, RECORD, MEM_ALLOC, MEM_FREE = *range(8), 10, 11
LEGACY = c_void_p(1)
CALL = ctypes.CFUNCTYPE(None, c_void_p)


class Streams:
    """Streams and what they are asked for; all of it is gone after the test."""

    def __init__(self, driver):
        self.driver, self.made, self.events, self.kept = driver, [], [], []

    def new(self, flags=NON_BLOCKING):
        stream = c_void_p()
        self.driver.call("cuStreamCreate", byref(stream), flags)
        self.made.append(stream)
        return stream

    def event(self):
        event = c_void_p()
        self.driver.call("cuEventCreate", byref(event), 0)
        self.events.append(event)
        return event

    def close(self):
        for stream in self.made:
            self.driver.raw("cuStreamDestroy_v2", stream)
        for event in self.events:
            self.driver.raw("cuEventDestroy_v2", event)

    def begin(self, stream, mode=GLOBAL):
        self.driver.call("cuStreamBeginCapture_v2", stream, mode)
        return stream

    def end(self, stream):
        graph = c_void_p()
        self.driver.call("cuStreamEndCapture", stream, byref(graph))
        return graph

    def status(self, stream):
        status = c_int(-1)
        self.driver.call("cuStreamIsCapturing", stream, byref(status))
        return status.value

    def next(self, stream):
        """What the stream's next node follows, and the graph that it is in."""
        status, ident, graph = c_int(), c_uint64(), c_void_p()
        after, count = ctypes.POINTER(c_void_p)(), c_size_t()
        edges = ctypes.POINTER(c_uint64)()
        self.driver.call("cuStreamGetCaptureInfo_v3", stream, byref(status), byref(ident),
                         byref(graph), byref(after), byref(edges), byref(count))  # fmt: skip
        assert edges[: count.value] == [0] * count.value  # as they are by default
        return after[: count.value], graph

    def set(self, stream, address, value, count=32):
        place = c_uint64(address), value, c_size_t(count)
        return self.driver.raw("cuMemsetD32Async", *place, stream)

    def run(self, stream, name, address):
        value = c_uint64(address)
        params = (c_void_p * 1)(ctypes.addressof(value))
        return self.driver.raw("cuLaunchKernel", self.driver.function(name), 1, 1, 1, 32, 1, 1, 0,
                               stream, params, None)  # fmt: skip

    def call(self, stream, function):
        self.kept.append(CALL(lambda _: function()))
        return self.driver.raw("cuLaunchHostFunc", stream, self.kept[-1], None)

    def record(self, stream, flags=0):
        event = self.event()
        self.driver.call("cuEventRecordWithFlags", event, stream, flags)
        return event

    def wait(self, stream, event, flags=0):
        return self.driver.raw("cuStreamWaitEvent", stream, event, flags)


@pytest.fixture
def streams(driver):
    made = Streams(driver)
    yield made
    made.close()


@pytest.fixture
def numbers(driver):
    return driver.put(np.zeros(32, np.uint32))


def launch(driver, graph):
    executable = c_void_p()
    driver.call("cuGraphInstantiateWithFlags", byref(executable), graph, c_uint64(0))
    driver.call("cuGraphLaunch", executable, None)
    return executable


def nodes(driver, graph):
    """The types of a graph's nodes."""
    count, kind, kinds = c_size_t(), c_int(), []
    driver.call("cuGraphGetNodes", graph, None, byref(count))
    found = (c_void_p * count.value)()
    driver.call("cuGraphGetNodes", graph, found, byref(count))
    for node in found:
        driver.call("cuGraphNodeGetType", c_void_p(node), byref(kind))
        kinds.append(kind.value)
    return kinds


def test_what_a_stream_is_asked_for_runs_when_the_graph_is_launched(driver, streams, numbers):
    back, told = np.zeros(32, np.uint32), []
    stream = streams.begin(streams.new())
    assert streams.set(stream, numbers, 7) == 0
    assert streams.run(stream, "number", numbers) == 0
    copy = c_void_p(back.ctypes.data), c_uint64(numbers), c_size_t(back.nbytes)
    driver.call("cuMemcpyDtoHAsync_v2", *copy, stream)
    assert streams.call(stream, lambda: told.append(back.copy())) == 0
    assert streams.status(stream) == CAPTURING
    graph = streams.end(stream)
    assert streams.status(stream) == NOT_CAPTURING
    assert not told and not driver.get(numbers, 32, np.uint32).any()
    assert nodes(driver, graph) == [MEMSET, KERNEL, MEMCPY, HOST]
    for times in (1, 2):
        launch(driver, graph)
        assert len(told) == times and (told[-1] == range(32)).all()


def test_a_rectangle_is_captured(driver, streams):
    image = driver.put(np.zeros((4, 8), np.uint8))
    stream = streams.begin(streams.new())
    box = c_uint64(image + 9), c_size_t(8), ctypes.c_ubyte(5), c_size_t(3), c_size_t(2)
    driver.call("cuMemsetD2D8Async", *box, stream)
    graph = streams.end(stream)
    launch(driver, graph)
    wanted = np.zeros((4, 8), np.uint8)
    wanted[1:3, 1:4] = 5
    assert (driver.get(image, 32, np.uint8).reshape(4, 8) == wanted).all()


def test_a_captured_kernel_keeps_its_clusters(driver, streams, numbers):
    class Attribute(ctypes.Structure):
        _fields_ = [("id", c_int), ("pad", c_int), ("dimension", c_uint * 16)]

    class Config(ctypes.Structure):
        _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint),
                    ("stream", c_void_p), ("attributes", c_void_p), ("count", c_uint)]  # fmt: skip

    cluster = 4
    stream, told = streams.begin(streams.new()), (c_uint * 16)()
    attribute = Attribute(cluster, 0, (2, 1, 1))
    config = Config((4, 1, 1), (32, 1, 1), 0, stream, ctypes.addressof(attribute), 1)
    driver.call("cuLaunchKernelEx", byref(config), driver.function("empty"), None, None)
    (node,), _ = streams.next(stream)
    driver.call("cuGraphKernelNodeGetAttribute", c_void_p(node), cluster, told)
    assert told[:3] == [2, 1, 1]
    launch(driver, streams.end(stream))


def test_work_that_the_origin_does_not_wait_for_is_told(driver, streams, numbers):
    origin, other = streams.begin(streams.new()), streams.new()
    streams.wait(other, streams.record(origin))
    streams.set(other, numbers, 1)
    graph = c_void_p(1)
    assert driver.raw("cuStreamEndCapture", origin, byref(graph)) == UNJOINED
    assert not graph and streams.status(origin) == streams.status(other) == NOT_CAPTURING


def test_events_that_a_graph_records_and_waits_for_are_nodes(driver, streams):
    stream = streams.begin(streams.new())
    event = streams.record(stream, EXTERNAL)
    assert streams.wait(stream, event, EXTERNAL) == 0
    graph = streams.end(stream)
    assert nodes(driver, graph) == [RECORD, WAIT]
    launch(driver, graph)
    passed = ctypes.c_float(-1)
    driver.call("cuEventElapsedTime_v2", byref(passed), event, streams.record(None))
    assert passed.value >= 0


def test_a_graph_launched_in_a_capture_becomes_a_child(driver, streams, numbers):
    stream = streams.begin(streams.new())
    streams.run(stream, "number", numbers)
    inner = streams.end(stream)
    executable = launch(driver, inner)
    driver.call("cuMemsetD32_v2", c_uint64(numbers), 0, c_size_t(32))
    driver.call("cuGraphLaunch", executable, streams.begin(stream))
    graph = streams.end(stream)
    assert nodes(driver, graph) == [GRAPH] and not driver.get(numbers, 32, np.uint32).any()
    launch(driver, graph)
    assert (driver.get(numbers, 32, np.uint32) == range(32)).all()


def test_a_capture_goes_on_with_a_graph(driver, streams, numbers):
    graph, root, stream = c_void_p(), c_void_p(), streams.new()
    driver.call("cuGraphCreate", byref(graph), 0)
    driver.call("cuGraphAddEmptyNode", byref(root), graph, None, c_size_t(0))
    after = (c_void_p * 1)(root)
    driver.call("cuStreamBeginCaptureToGraph", stream, graph, after, None, c_size_t(1), GLOBAL)
    assert streams.next(stream)[0] == [root.value]
    streams.set(stream, numbers, 4)
    assert streams.end(stream).value == graph.value
    assert nodes(driver, graph) == [EMPTY, MEMSET]


def test_what_comes_next_can_be_said(driver, streams, numbers):
    stream = streams.begin(streams.new())
    streams.set(stream, numbers, 4)
    (first,), graph = streams.next(stream)
    own, place = c_void_p(), (c_void_p * 1)(first)
    driver.call("cuGraphAddEmptyNode", byref(own), graph, place, c_size_t(1))
    own_place = (c_void_p * 1)(own)
    update = "cuStreamUpdateCaptureDependencies_v2"
    driver.call(update, stream, own_place, None, c_size_t(1), 0)
    assert streams.next(stream)[0] == [first, own.value]
    driver.call(update, stream, own_place, None, c_size_t(1), 1)
    assert streams.next(stream)[0] == [own.value]
    assert streams.end(stream).value == graph.value
    assert driver.raw(update, stream, own_place, None, c_size_t(1), 0) == ILLEGAL_STATE


@contextmanager
def invalidated(driver, streams, stream):
    """What happens within leaves the capture to be ended, without a graph."""
    streams.begin(stream)
    yield
    assert streams.status(stream) == INVALID
    assert streams.call(stream, print) == INVALIDATED
    graph = c_void_p(1)
    assert driver.raw("cuStreamEndCapture", stream, byref(graph)) == INVALIDATED
    assert not graph and streams.status(stream) == NOT_CAPTURING


@pytest.mark.parametrize("call, code", [
    ("cuStreamSynchronize", UNSUPPORTED), ("cuStreamQuery", UNSUPPORTED),
])  # fmt: skip
def test_nobody_waits_for_what_is_captured(driver, streams, call, code):
    stream = streams.new()
    with invalidated(driver, streams, stream):
        assert driver.raw(call, stream) == code
    driver.call(call, stream)


def test_nobody_waits_for_a_context_or_an_event_of_a_capture(driver, streams):
    stream, event = streams.new(), None
    with invalidated(driver, streams, stream):
        assert driver.raw("cuCtxSynchronize") == UNSUPPORTED
    for call in ("cuEventSynchronize", "cuEventQuery"):
        with invalidated(driver, streams, stream):
            event = streams.record(stream)
            assert driver.raw(call, event) == CAPTURED_EVENT
        driver.call("cuEventRecord", event, stream)
        driver.call(call, event)


def test_the_default_stream_waits_for_no_capture_of_a_blocking_stream(driver, streams, numbers):
    back = np.zeros(32, np.uint32)
    copy = c_void_p(back.ctypes.data), c_uint64(numbers), c_size_t(back.nbytes)
    blocking = streams.new(BLOCKING)
    for ask in (
        lambda: driver.raw("cuMemcpyDtoH_v2", *copy),
        lambda: streams.set(None, numbers, 1),
        lambda: streams.run(LEGACY, "number", numbers),
        lambda: driver.raw("cuStreamSynchronize", None),
        lambda: driver.raw("cuEventRecord", streams.event(), None),
    ):
        with invalidated(driver, streams, blocking):
            assert ask() == IMPLICIT
    other = streams.begin(streams.new(NON_BLOCKING))
    assert streams.set(None, numbers, 9) == 0
    assert not nodes(driver, streams.end(other))
    assert (driver.get(numbers, 32, np.uint32) == 9).all()
    for stream in (None, LEGACY):
        assert driver.raw("cuStreamBeginCapture_v2", stream, GLOBAL) == UNSUPPORTED


def test_captures_are_apart(driver, streams):
    first, second = streams.new(), streams.new()
    with invalidated(driver, streams, first), invalidated(driver, streams, second):
        assert streams.wait(second, streams.record(first)) == MERGE
    before = streams.record(second)
    with invalidated(driver, streams, first):
        assert streams.wait(first, before) == ISOLATION


def test_a_capture_ends_where_it_began(driver, streams):
    stream, other, graph = streams.new(), streams.new(), c_void_p()
    end = "cuStreamEndCapture"
    assert driver.raw(end, stream, byref(graph)) == ILLEGAL_STATE
    with invalidated(driver, streams, stream):
        streams.wait(other, streams.record(stream))
        assert driver.raw(end, other, byref(graph)) == UNMATCHED
    streams.begin(stream)
    assert driver.raw("cuStreamBeginCapture_v2", stream, GLOBAL) == ILLEGAL_STATE
    assert driver.raw("cuStreamBeginCapture_v2", other, 3) == INVALID_VALUE
    streams.end(stream)


def elsewhere(function):
    """What a function returns on another thread."""
    out = []
    thread = threading.Thread(target=lambda: out.append(function()))
    thread.start()
    thread.join()
    return out[0]


def test_another_thread_ends_only_a_relaxed_capture(driver, streams):
    stream, graph = streams.new(), c_void_p()

    def end():
        driver.call("cuCtxSetCurrent", driver.context)
        return driver.raw("cuStreamEndCapture", stream, byref(graph))

    streams.begin(stream, THREAD_LOCAL)
    assert elsewhere(end) == WRONG_THREAD
    streams.end(stream)
    streams.begin(stream, RELAXED)
    assert elsewhere(end) == 0 and graph


@pytest.mark.parametrize("mode, here, there", [
    (GLOBAL, UNSUPPORTED, UNSUPPORTED), (THREAD_LOCAL, UNSUPPORTED, 0), (RELAXED, 0, 0),
])  # fmt: skip
def test_calls_that_may_wait_are_refused_by_mode(driver, streams, mode, here, there):
    def allocate():
        driver.call("cuCtxSetCurrent", driver.context)
        address = c_uint64()
        return driver.raw("cuMemAlloc_v2", byref(address), c_size_t(64))

    for code, ask in ((here, allocate), (there, lambda: elsewhere(allocate))):
        stream = streams.begin(streams.new(), mode)
        assert ask() == code
        assert streams.status(stream) == (INVALID if code else CAPTURING)
        driver.raw("cuStreamEndCapture", stream, byref(c_void_p()))


def test_a_thread_may_take_the_risk(driver, streams):
    mode = c_int(RELAXED)
    driver.call("cuThreadExchangeStreamCaptureMode", byref(mode))
    stream = streams.begin(streams.new())
    assert driver.allocate(64) and mode.value == GLOBAL
    driver.call("cuThreadExchangeStreamCaptureMode", byref(mode))
    assert mode.value == RELAXED
    streams.end(stream)


def test_memory_that_is_allocated_meanwhile_is_the_graphs(driver, streams, numbers):
    stream, address = streams.begin(streams.new()), c_uint64()
    driver.call("cuMemAllocAsync", byref(address), c_size_t(64), stream)
    assert streams.set(stream, address.value, 5, 16) == 0
    driver.call("cuMemcpyDtoDAsync_v2", c_uint64(numbers), address, c_size_t(64), stream)
    assert driver.raw("cuMemFreeAsync", c_uint64(numbers), stream) == INVALID_VALUE
    driver.call("cuMemFreeAsync", address, stream)
    assert driver.raw("cuMemFreeAsync", address, stream) == INVALID_VALUE
    graph, exec_ = streams.end(stream), c_void_p()
    assert nodes(driver, graph) == [MEM_ALLOC, MEMSET, MEMCPY, MEM_FREE]
    driver.call("cuGraphInstantiateWithFlags", byref(exec_), graph, c_uint64(0))
    for _ in range(2):
        driver.call("cuMemsetD32_v2", c_uint64(numbers), 0, c_size_t(16))
        driver.call("cuGraphLaunch", exec_, stream)
        assert driver.get(numbers, 1, np.uint32) == [5]


def test_the_end_of_a_capture_gives_the_graph_unless_the_caller_has_it(driver, streams):
    stream = streams.begin(streams.new())
    assert driver.raw("cuStreamEndCapture", stream, None) == INVALID_VALUE
    graph = streams.end(stream)
    driver.call("cuStreamBeginCaptureToGraph", stream, graph, None, None, c_size_t(0), GLOBAL)
    driver.call("cuStreamEndCapture", stream, None)
    assert streams.status(stream) == NOT_CAPTURING


def test_a_stream_that_goes_ends_its_capture(driver, streams, numbers):
    stream, other = streams.begin(streams.new()), streams.new()
    streams.wait(other, streams.record(stream))
    driver.call("cuStreamDestroy_v2", stream)
    assert streams.status(other) == NOT_CAPTURING


@pytest.mark.parametrize("joined", [True, False])
def test_a_stream_may_go_whose_work_is_joined(driver, streams, numbers, joined):
    stream, other = streams.begin(streams.new()), streams.new()
    streams.wait(other, streams.record(stream))
    assert streams.set(other, numbers, 1) == 0
    if joined:
        streams.wait(stream, streams.record(other))
    driver.call("cuStreamDestroy_v2", other)
    assert streams.set(stream, numbers, 2) == 0
    graph = c_void_p()
    asked = stream, byref(graph)
    assert driver.raw("cuStreamEndCapture", *asked) == (0 if joined else UNJOINED)
    if joined:
        count = c_size_t()
        driver.call("cuGraphGetNodes", graph, None, byref(count))
        assert count.value == 2
        driver.call("cuGraphDestroy", graph)
