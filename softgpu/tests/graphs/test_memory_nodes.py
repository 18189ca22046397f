"""Graphs that allocate and free memory: when it is there, who may free it, what they cannot."""

import ctypes
import itertools
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p
from types import SimpleNamespace

import numpy as np
import pytest

from softgpu.faults import FaultKind
from softgpu.tests import facts
from softgpu.tests.driver.harness import DriverError
from softgpu.tests.graphs.test_graphs import GRAPH, Graph, kernel_node, launch

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, NOT_SUPPORTED = 1, 2, 101, 801
ILLEGAL_ADDRESS, UPDATE_FAILURE, PARAMETERS_CHANGED = 700, 910, 5
MEM_ALLOC, MEM_FREE = 10, 11
PINNED, MANAGED, ON_DEVICE, READ_WRITE = 1, 2, 1, 3
AUTO_FREE = 1
MOVED = 1
USED, USED_HIGH, RESERVED, RESERVED_HIGH = range(4)
PIECE = 32 << 20  # what a pool reserves at once


class Access(ctypes.Structure):
    _fields_ = [("location", c_int * 2), ("access", c_int)]


class Alloc(ctypes.Structure):
    _fields_ = [
        ("type", c_int), ("handles", c_int), ("location", c_int * 2), ("rest", c_uint64 * 9),
        ("access", c_void_p), ("access_count", c_size_t), ("bytes", c_size_t),
        ("address", c_uint64),
    ]  # fmt: skip


class AnyNode(ctypes.Structure):
    class Params(ctypes.Union):
        _fields_ = [
            ("all", c_uint64 * 29), ("alloc", Alloc), ("freed", c_uint64),
            ("child", c_uint64 * 2),
        ]  # fmt: skip

    _anonymous_ = ["params"]
    _fields_ = [("type", c_uint64 * 2), ("params", Params), ("reserved", c_uint64)]


def alloc_node(size, kind=PINNED, device=0, **others):
    return Alloc(kind, location=(ON_DEVICE, device), bytes=size, **others)


def allocate(graph, size=128, after=(), **others):
    params = alloc_node(size, **others)
    node = graph.add("MemAlloc", byref(params), after=after)
    return node, params.address


def free(graph, address, after=()):
    return graph.add("MemFree", c_uint64(address), after=after)


def refused(graph, code, kind, *params):
    with pytest.raises(DriverError) as error:
        graph.add(kind, *params)
    return error.value.code == code


def raw_launch(driver, exec_):
    return driver.raw("cuGraphLaunch", exec_, None)


def numbered(driver, graph, **options):
    """A graph that allocates 32 numbers, and writes them."""
    node, address = allocate(graph, **options)
    last = graph.kernel("number", address, after=[node])
    return SimpleNamespace(address=address, last=last)


def written(driver, address):
    return (driver.get(address, 32, np.uint32) == range(32)).all()


def is_there(driver, address):
    return driver.raw("cuMemGetAddressRange_v2", None, None, c_uint64(address)) == 0


def attribute(driver, number):
    value = c_uint64(7)
    driver.call("cuDeviceGetGraphMemAttribute", 0, number, byref(value))
    return value.value


@pytest.mark.parametrize("size", [128, 8 << 20])  # among small ones, and with pages of its own
def test_memory_is_there_from_its_node_until_it_is_freed(driver, graph, size):
    made = numbered(driver, graph, size=size)
    seen = []
    told = graph.host(lambda: seen.append(is_there(driver, made.address)), after=[made.last])
    free(graph, made.address, after=[told])
    exec_ = graph.instantiate()
    for times in (1, 2):
        assert not is_there(driver, made.address)
        launch(driver, exec_)
        assert seen == [True] * times and not is_there(driver, made.address)


@pytest.mark.parametrize("kind", [PINNED, MANAGED])
def test_memory_that_stays_is_freed_before_the_next_launch(driver, graph, kind):
    made = numbered(driver, graph, kind=kind)
    exec_ = graph.instantiate()
    for call in ("cuMemFree_v2", "cuMemFreeAsync"):
        launch(driver, exec_)
        assert written(driver, made.address)
        assert raw_launch(driver, exec_) == INVALID_VALUE
        assert not facts.missing(driver.error_text(INVALID_VALUE), hex(made.address))
        stream = [None] if call == "cuMemFreeAsync" else []
        driver.call(call, c_uint64(made.address), *stream)
        assert driver.raw(call, c_uint64(made.address), *stream) == INVALID_VALUE


def test_another_graph_may_free_it(driver, graph):
    made, other = numbered(driver, graph), Graph(driver)
    free(other, made.address)
    exec_, freeing = graph.instantiate(), other.instantiate()
    for _ in range(2):
        launch(driver, exec_)
        launch(driver, freeing)
        assert not is_there(driver, made.address)
    assert raw_launch(driver, freeing) == INVALID_VALUE


def test_it_is_freed_once(driver, graph):
    inside, outside = allocate(graph)[1], allocate(graph)[1]
    other = Graph(driver)
    free(graph, inside)
    free(other, outside)
    assert refused(graph, INVALID_VALUE, "MemFree", c_uint64(inside))
    assert not facts.missing(driver.error_text(INVALID_VALUE), hex(graph.handle.value))
    assert refused(other, INVALID_VALUE, "MemFree", c_uint64(inside))
    assert refused(other, INVALID_VALUE, "MemFree", c_uint64(outside))
    assert refused(graph, INVALID_VALUE, "MemFree", c_uint64(outside))
    assert not facts.missing(driver.error_text(INVALID_VALUE), hex(other.handle.value))


def test_only_what_a_graph_allocates_is_freed_by_one(driver, graph):
    for address in (0, driver.allocate(64), allocate(graph)[1] + 1):
        assert refused(graph, INVALID_VALUE, "MemFree", c_uint64(address))


def test_what_outlives_its_graphs_is_ordinary_memory(driver, graph):
    made = numbered(driver, graph)
    exec_ = graph.instantiate()
    driver.call("cuGraphDestroy", graph.handle)
    launch(driver, exec_)
    driver.call("cuGraphExecDestroy", exec_)
    assert written(driver, made.address)
    driver.free(made.address)
    other = Graph(driver)
    assert refused(other, INVALID_VALUE, "MemFree", c_uint64(made.address))


def test_addresses_of_graphs_are_not_given_out(driver, graph):
    pages = 8 << 20
    ranges = []
    for size in (512, pages):
        for _ in range(20):
            ranges += [(at, at + size) for at in (allocate(graph, size)[1], driver.allocate(size))]
    ranges.sort()
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ranges))


def test_memory_stays_sparse_from_launch_to_launch(driver, graph):
    driver.library.sg_sparse(1)
    made = numbered(driver, graph, size=8 << 20)
    driver.library.sg_sparse(0)
    exec_, sparse = graph.instantiate(AUTO_FREE), driver.library.sg_is_sparse
    for _ in range(2):
        launch(driver, exec_)
        assert written(driver, made.address) and sparse(c_uint64(made.address))
    driver.free(made.address)
    assert not sparse(c_uint64(made.address))


def test_a_kernel_that_comes_too_early_is_told_so(driver, graph):
    node, address = allocate(graph)
    graph.kernel("number", address)
    graph.add("Empty", after=[node])
    early, exec_ = Graph(driver), None
    early.kernel("number", address)
    exec_ = early.instantiate()
    assert raw_launch(driver, exec_) == ILLEGAL_ADDRESS
    assert driver.fault() == FaultKind.OUTSIDE
    assert not facts.missing(driver.error_text(ILLEGAL_ADDRESS), "number", 0, 128)


def test_nodes_tell_what_they_do(driver, graph):
    access = (Access * 1)(Access((ON_DEVICE, 0), READ_WRITE))
    params = alloc_node(100, access=ctypes.addressof(access), access_count=1)
    node = graph.add("MemAlloc", byref(params))
    access[0].access = 7  # a copy is kept
    told, address = Alloc(), c_uint64()
    driver.call("cuGraphMemAllocNodeGetParams", node, byref(told))
    assert (told.bytes, told.address, told.type) == (100, params.address, PINNED)
    kept = Access.from_address(told.access)
    assert (told.access_count, *kept.location, kept.access) == (1, ON_DEVICE, 0, READ_WRITE)
    freeing = free(graph, params.address)
    driver.call("cuGraphMemFreeNodeGetParams", freeing, byref(address))
    assert address.value == params.address
    wrong = driver.raw("cuGraphMemFreeNodeGetParams", node, byref(address))
    assert wrong == driver.raw("cuGraphMemAllocNodeGetParams", freeing, byref(told))
    assert wrong == INVALID_VALUE


def test_one_call_adds_nodes_of_any_type(driver, graph):
    params = AnyNode((MEM_ALLOC,), alloc=alloc_node(64))
    graph.any(params)
    graph.any(AnyNode((MEM_FREE,), freed=params.alloc.address))
    assert refused(graph, INVALID_VALUE, "MemFree", c_uint64(params.alloc.address))


@pytest.mark.parametrize(
    "code, wrong",
    [
        (INVALID_VALUE, alloc_node(0)),
        (INVALID_VALUE, alloc_node(64, kind=7)),
        (INVALID_VALUE, alloc_node(64, handles=1)),
        (INVALID_VALUE, alloc_node(64, access_count=1)),
        (INVALID_DEVICE, alloc_node(64, device=99)),
        (OUT_OF_MEMORY, alloc_node(1 << 50)),
    ],
)
def test_what_cannot_be_allocated_says_why(driver, graph, code, wrong):
    assert refused(graph, code, "MemAlloc", byref(wrong))
    assert driver.raw("cuGraphAddMemAllocNode", None, graph.handle, None, c_size_t(0), None) == 1


def test_such_a_graph_is_one_of_a_kind(driver, graph):
    first, address = allocate(graph)
    second, edge = graph.add("Empty", after=[first]), c_void_p()
    parent, clone, exec_ = Graph(driver), c_void_p(), graph.instantiate()
    assert driver.raw("cuGraphClone", byref(clone), graph.handle) == NOT_SUPPORTED
    assert refused(parent, NOT_SUPPORTED, "ChildGraph", graph.handle)
    assert driver.raw("cuGraphDestroyNode", second) == NOT_SUPPORTED
    edge = (c_void_p * 1)(first), (c_void_p * 1)(second), c_size_t(1)
    assert driver.raw("cuGraphRemoveDependencies", graph.handle, *edge) == NOT_SUPPORTED
    params = AnyNode((MEM_ALLOC,), alloc=alloc_node(64))
    assert driver.raw("cuGraphNodeSetParams", first, byref(params)) == NOT_SUPPORTED
    assert driver.raw("cuGraphExecNodeSetParams", exec_, first, byref(params)) == NOT_SUPPORTED
    with facts.refused(DriverError, "cuGraphExecDestroy"):
        graph.instantiate()
    driver.call("cuGraphExecDestroy", exec_)
    graph.instantiate()


def test_it_can_be_moved_into_another(driver, graph):
    made, parent = numbered(driver, graph), Graph(driver)
    params = AnyNode((GRAPH,), child=(graph.handle.value, MOVED))
    parent.any(params)
    assert params.child[0] == graph.handle.value
    for code, kind, wanted in (
        (NOT_SUPPORTED, "MemAlloc", byref(alloc_node(64))),
        (NOT_SUPPORTED, "MemFree", c_uint64(made.address)),
        (INVALID_VALUE, "ChildGraph", parent.handle),
    ):
        assert refused(graph, code, kind, wanted)
    with facts.refused(DriverError, hex(parent.handle.value)):
        graph.instantiate()
    assert refused(Graph(driver), NOT_SUPPORTED, "ChildGraph", parent.handle)
    again = AnyNode((GRAPH,), child=(graph.handle.value, MOVED))
    with facts.refused(DriverError, hex(parent.handle.value)):
        Graph(driver).any(again)
    exec_ = parent.instantiate()
    told = (c_uint64 * 3)()
    assert driver.raw("cuGraphExecUpdate_v2", exec_, graph.handle, told) == INVALID_VALUE
    launch(driver, exec_)
    assert written(driver, made.address)
    assert raw_launch(driver, exec_) == INVALID_VALUE
    assert driver.raw("cuGraphDestroy", graph.handle) == INVALID_VALUE


def test_an_update_keeps_the_memory(driver, graph):
    made, other, told = numbered(driver, graph), driver.allocate(128), (c_uint64 * 3)()
    exec_ = graph.instantiate()
    driver.call("cuGraphKernelNodeSetParams_v2", made.last,
                byref(kernel_node(driver, "number", other)))  # fmt: skip
    driver.call("cuGraphExecUpdate_v2", exec_, graph.handle, told)
    launch(driver, exec_)
    assert written(driver, other) and is_there(driver, made.address)
    numbered(driver, another := Graph(driver))
    assert driver.raw("cuGraphExecUpdate_v2", exec_, another.handle, told) == UPDATE_FAILURE
    assert told[0] & 0xFFFFFFFF == PARAMETERS_CHANGED


def test_a_devices_graphs_keep_what_they_had_until_it_is_trimmed(driver, graph):
    driver.call("cuDeviceGraphMemTrim", 0)
    for number in (USED_HIGH, RESERVED_HIGH):
        driver.call("cuDeviceSetGraphMemAttribute", 0, number, byref(c_uint64()))
    before = attribute(driver, RESERVED)
    _, address = allocate(graph, 2 * PIECE)
    exec_ = graph.instantiate()
    assert attribute(driver, USED) == before
    launch(driver, exec_)
    assert attribute(driver, USED) == attribute(driver, RESERVED) == before + 2 * PIECE
    driver.call("cuDeviceGraphMemTrim", 0)
    assert attribute(driver, RESERVED) == before + 2 * PIECE
    driver.free(address)
    assert attribute(driver, RESERVED) == before + 2 * PIECE
    driver.call("cuDeviceGraphMemTrim", 0)
    assert (attribute(driver, RESERVED), attribute(driver, RESERVED_HIGH)) == (
        before, before + 2 * PIECE
    )  # fmt: skip
    driver.call("cuDeviceSetGraphMemAttribute", 0, USED_HIGH, byref(c_uint64()))
    assert attribute(driver, USED_HIGH) == before
    assert attribute(driver, RESERVED_HIGH) == before + 2 * PIECE


def test_attributes_that_cannot_be_asked_or_set(driver):
    value = c_uint64()
    asked = byref(value)
    assert driver.raw("cuDeviceGetGraphMemAttribute", 0, 4, asked) == INVALID_VALUE
    assert driver.raw("cuDeviceGetGraphMemAttribute", 99, USED, asked) == INVALID_DEVICE
    assert driver.raw("cuDeviceSetGraphMemAttribute", 0, USED, asked) == INVALID_VALUE
    assert driver.raw("cuDeviceSetGraphMemAttribute", 0, USED_HIGH, byref(c_uint64(1))) == 1
    assert driver.raw("cuDeviceSetGraphMemAttribute", 99, USED_HIGH, asked) == INVALID_DEVICE
    assert driver.raw("cuDeviceGraphMemTrim", 99) == INVALID_DEVICE


def test_a_picture_shows_them(driver, graph, tmp_path):
    node, address = allocate(graph)
    free(graph, address, after=[node])
    picture = tmp_path / "graph.dot"
    driver.call("cuGraphDebugDotPrint", graph.handle, str(picture).encode(), c_uint())
    text = picture.read_text()
    assert "MEM_ALLOC\\n128 " in text and not facts.missing(text, hex(address))
    assert f"MEM_FREE\\n0x{address:x}" in text
