"""Graphs through the driver's calls: nodes, edges, copies, executable graphs and their updates."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np

from softgpu.tests.facts import missing

INVALID_VALUE, NOT_SUPPORTED, UPDATE_FAILURE = 1, 801, 910
KERNEL, MEMCPY, MEMSET, HOST, GRAPH, EMPTY, WAIT, RECORD = range(8)
BATCH_MEM_OP = 12
TOPOLOGY_CHANGED, NODE_TYPE_CHANGED = 2, 3
HOST_MEMORY, DEVICE_MEMORY = 1, 2
CALL = ctypes.CFUNCTYPE(None, c_void_p)


class KernelNode(ctypes.Structure):
    _fields_ = [
        ("function", c_void_p), ("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint),
        ("params", c_void_p), ("extra", c_void_p), ("kernel", c_void_p), ("context", c_void_p),
    ]  # fmt: skip


class MemsetNode(ctypes.Structure):
    _fields_ = [
        ("to", c_uint64), ("pitch", c_size_t), ("value", c_uint), ("size", c_uint),
        ("width", c_size_t), ("height", c_size_t),
    ]  # fmt: skip


class End(ctypes.Structure):
    _fields_ = [
        ("x", c_size_t), ("y", c_size_t), ("z", c_size_t), ("lod", c_size_t), ("type", c_int),
        ("host", c_void_p), ("device", c_uint64), ("array", c_void_p), ("context", c_void_p),
        ("pitch", c_size_t), ("height", c_size_t),
    ]  # fmt: skip


class Copy(ctypes.Structure):
    _fields_ = [("source", End), ("target", End), ("extent", c_size_t * 3)]


class HostNode(ctypes.Structure):
    _fields_ = [("call", CALL), ("data", c_void_p)]


class Graph:
    """A graph, and what of the host its nodes use."""

    def __init__(self, driver, module=None):
        self.driver, self.handle, self.kept, self.module = driver, c_void_p(), [], module
        driver.call("cuGraphCreate", byref(self.handle), 0)

    def add(self, kind, *params, after=(), handle=None):
        """A node of a kind, after others."""
        node = c_void_p()
        before = (c_void_p * len(after))(*after)
        self.driver.call(
            f"cuGraphAdd{kind}Node", byref(node), handle or self.handle, before,
            c_size_t(len(after)), *params,
        )  # fmt: skip
        return node

    def kernel(self, name, *arguments, threads=32, **options):
        params = kernel_node(self.driver, name, *arguments, threads=threads, module=self.module)
        return self.add("Kernel", byref(params), **options)

    def memset(self, address, value, count, **options):
        params = MemsetNode(address, 0, value, 4, count, 1)
        return self.add("Memset", byref(params), self.driver.context, **options)

    def host(self, call, **options):
        self.kept.append(CALL(lambda _: call()))
        return self.add("Host", byref(HostNode(self.kept[-1], None)), **options)

    def any(self, params, handle=None):
        """A node of any type, by what cuGraphAddNode takes."""
        node = c_void_p()
        place = byref(node), handle or self.handle, None, c_size_t(0)
        self.driver.call("cuGraphAddNode", *place, byref(params))
        return node

    def instantiate(self, flags=0):
        exec_ = c_void_p()
        call = "cuGraphInstantiateWithFlags"
        self.driver.call(call, byref(exec_), self.handle, c_uint64(flags))
        return exec_


def kernel_node(driver, name, *arguments, threads=32, module=None):
    values = [c_uint64(value) for value in arguments]
    pointers = (c_void_p * len(values))(*map(ctypes.addressof, values))
    node = KernelNode(driver.function(name, module), (1, 1, 1), (threads, 1, 1), 0)
    node.kept, node.params = (values, pointers), ctypes.addressof(pointers)
    return node


def linear(target, target_type, source, source_type, size):
    """What copies so many bytes."""
    copy = Copy(extent=(size, 1, 1))
    for end, place, kind in (
        (copy.target, target, target_type),
        (copy.source, source, source_type),
    ):
        end.type, end.pitch, end.height = kind, size, 1
        setattr(end, "host" if kind == HOST_MEMORY else "device", place)
    return copy


def launch(driver, exec_):
    driver.call("cuGraphLaunch", exec_, None)


def nodes_of(driver, call, handle):
    count = c_size_t()
    driver.call(call, handle, None, byref(count))
    out = (c_void_p * count.value)()
    driver.call(call, handle, out, byref(count))
    return list(out)


def test_a_launch_goes_through_the_nodes_in_the_order_of_their_edges(driver, graph):
    numbers = driver.put(np.zeros(64, np.uint32))
    told, back = [], np.zeros(64, np.uint32)
    read = linear(back.ctypes.data, HOST_MEMORY, numbers, DEVICE_MEMORY, back.nbytes)
    last = graph.host(lambda: told.append("last"))
    copied = graph.add("Memcpy", byref(read), driver.context)
    filled = graph.memset(numbers, 7, 64)
    joint = graph.add("Empty", after=[filled])
    numbered = graph.kernel("number", numbers, threads=32, after=[joint])
    first = graph.host(lambda: told.append("first"))
    begins = (c_void_p * 3)(numbered, copied, first)
    ends = (c_void_p * 3)(copied, last, filled)
    driver.call("cuGraphAddDependencies", graph.handle, begins, ends, c_size_t(3))
    exec_ = graph.instantiate()
    for times in (1, 2):
        driver.call("cuMemsetD32_v2", c_uint64(numbers), 0, c_size_t(64))
        launch(driver, exec_)
        assert told == ["first", "last"] * times
        assert (back == [*range(32), *[7] * 32]).all()


def test_arguments_are_copied_when_a_node_is_added(driver, graph):
    numbers, others = driver.put(np.zeros(32, np.uint32)), driver.put(np.zeros(32, np.uint32))
    params = kernel_node(driver, "number", numbers)
    node = graph.add("Kernel", byref(params))
    params.kept[0][0].value = others
    launch(driver, graph.instantiate())
    assert (driver.get(numbers, 32, np.uint32) == range(32)).all()
    assert not driver.get(others, 32, np.uint32).any()
    told = KernelNode()
    driver.call("cuGraphKernelNodeGetParams_v2", node, byref(told))
    pointers = ctypes.cast(told.params, ctypes.POINTER(c_void_p))
    assert c_uint64.from_address(pointers[0]).value == numbers
    assert (told.function, *told.block) == (params.function, 32, 1, 1)


def test_the_graph_and_what_was_instantiated_change_apart(driver, graph):
    places = [driver.put(np.zeros(32, np.uint32)) for _ in range(3)]
    node = graph.kernel("number", places[0])
    exec_ = graph.instantiate()
    changed = kernel_node(driver, "number", places[1])
    driver.call("cuGraphKernelNodeSetParams_v2", node, byref(changed))
    driver.call("cuGraphExecKernelNodeSetParams", exec_, node,
                byref(kernel_node(driver, "number", places[2])))  # fmt: skip
    launch(driver, exec_)
    assert [driver.get(place, 32, np.uint32).any() for place in places] == [False, False, True]
    launch(driver, graph.instantiate())
    assert driver.get(places[1], 32, np.uint32).any()


def test_nodes_can_be_switched_off(driver, graph):
    numbers = driver.put(np.zeros(32, np.uint32))
    node, exec_ = graph.kernel("number", numbers), None
    exec_, on = graph.instantiate(), c_uint(7)
    driver.call("cuGraphNodeSetEnabled", exec_, node, 0)
    driver.call("cuGraphNodeGetEnabled", exec_, node, byref(on))
    launch(driver, exec_)
    assert not on.value and not driver.get(numbers, 32, np.uint32).any()


def test_children_are_copies_that_a_clone_finds_again(driver, graph):
    numbers, inner = driver.put(np.zeros(32, np.uint32)), Graph(driver)
    inner.kernel("number", numbers)
    child = graph.add("ChildGraph", inner.handle)
    inner.memset(numbers, 5, 32)  # after the copy
    own, clone, found = c_void_p(), c_void_p(), c_void_p()
    driver.call("cuGraphChildGraphNodeGetGraph", child, byref(own))
    assert len(nodes_of(driver, "cuGraphGetNodes", own)) == 1
    assert driver.raw("cuGraphDestroy", own) == INVALID_VALUE
    driver.call("cuGraphClone", byref(clone), graph.handle)
    driver.call("cuGraphNodeFindInClone", byref(found), child, clone)
    assert nodes_of(driver, "cuGraphGetNodes", clone) == [found.value] != [child.value]
    launch(driver, graph.instantiate())
    assert (driver.get(numbers, 32, np.uint32) == range(32)).all()
    driver.call("cuGraphDestroy", graph.handle)
    kind = c_int()
    assert driver.raw("cuGraphNodeGetType", child, byref(kind)) == INVALID_VALUE


def test_a_graph_tells_its_nodes_and_edges(driver, graph, tmp_path):
    a, b = graph.add("Empty"), graph.add("Empty")
    c = graph.add("Empty", after=[a, b])
    assert nodes_of(driver, "cuGraphGetNodes", graph.handle) == [a.value, b.value, c.value]
    assert nodes_of(driver, "cuGraphGetRootNodes", graph.handle) == [a.value, b.value]
    assert nodes_of(driver, "cuGraphNodeGetDependencies", c) == [a.value, b.value]
    assert nodes_of(driver, "cuGraphNodeGetDependentNodes", a) == [c.value]
    begins, ends, count = (c_void_p * 3)(), (c_void_p * 3)(), c_size_t(3)
    driver.call("cuGraphGetEdges", graph.handle, begins, ends, byref(count))
    assert list(zip(begins, ends, strict=True)) == [
        (a.value, c.value), (b.value, c.value), (None, None)
    ]  # fmt: skip
    assert count.value == 2
    driver.call("cuGraphDebugDotPrint", graph.handle, str(tmp_path / "g.dot").encode(), 0)
    assert (tmp_path / "g.dot").read_text().count("->") == 2
    driver.call("cuGraphDestroyNode", a)
    assert nodes_of(driver, "cuGraphNodeGetDependencies", c) == [b.value]


def test_a_circle_cannot_be_instantiated(driver, graph):
    a = graph.add("Empty")
    b = graph.add("Empty", after=[a])
    edge = (c_void_p * 1)(b), (c_void_p * 1)(a), c_size_t(1)
    driver.call("cuGraphAddDependencies", graph.handle, *edge)
    made = c_void_p(), graph.handle, c_uint64(0)
    assert driver.raw("cuGraphInstantiateWithFlags", byref(made[0]), *made[1:]) == INVALID_VALUE
    assert not missing(driver.error_text(INVALID_VALUE), hex(graph.handle.value))
    driver.call("cuGraphRemoveDependencies", graph.handle, *edge)
    assert driver.raw("cuGraphRemoveDependencies", graph.handle, *edge) == INVALID_VALUE
    graph.instantiate()


def test_nodes_by_the_thousand_may_be_added_in_any_order(driver, graph):
    nodes = [graph.add("Empty") for _ in range(3000)]
    count = len(nodes) - 1
    last_to_first = (c_void_p * count)(*nodes[1:]), (c_void_p * count)(*nodes[:-1])
    driver.call("cuGraphAddDependencies", graph.handle, *last_to_first, c_size_t(count))
    told = []
    graph.host(lambda: told.append("end"), after=nodes[:1])
    graph.host(lambda: told.append("begin"), after=nodes[-1:])
    launch(driver, graph.instantiate())
    assert told == ["begin", "end"]


def test_an_update_takes_what_has_the_same_form(driver, graph):
    places = [driver.put(np.zeros(32, np.uint32)) for _ in range(2)]
    first = graph.kernel("number", places[0])
    graph.add("Empty", after=[first])
    exec_, told = graph.instantiate(), (c_uint64 * 3)()
    same, longer, other = (Graph(driver) for _ in range(3))
    same.add("Empty", after=[same.kernel("number", places[1])])
    longer.kernel("number", places[1])
    wrong = other.memset(places[1], 1, 32)
    other.add("Empty", after=[wrong])
    driver.call("cuGraphExecUpdate_v2", exec_, same.handle, told)
    launch(driver, exec_)
    assert [driver.get(place, 32, np.uint32).any() for place in places] == [False, True]
    for changed, why, node in ((longer, TOPOLOGY_CHANGED, 0), (other, NODE_TYPE_CHANGED, wrong)):
        assert driver.raw("cuGraphExecUpdate_v2", exec_, changed.handle, told) == UPDATE_FAILURE
        assert (told[0] & 0xFFFFFFFF, told[1]) == (why, getattr(node, "value", node))


def test_events_are_recorded_by_a_launch(driver, graph):
    begin, end, passed = c_void_p(), c_void_p(), ctypes.c_float(-1)
    for event in (begin, end):
        driver.call("cuEventCreate", byref(event), 0)
    started = graph.add("EventRecord", begin)
    waited = graph.add("EventWait", begin, after=[started])
    graph.add("EventRecord", end, after=[waited])
    launch(driver, graph.instantiate())
    driver.call("cuEventElapsedTime_v2", byref(passed), begin, end)
    assert passed.value >= 0


def test_what_cannot_be_added_says_why(driver, graph):
    node, other = c_void_p(), Graph(driver).add("Empty")
    own = graph.add("Empty")

    def refused(code, kind, *params, after=()):
        before = (c_void_p * len(after))(*after)
        call = f"cuGraphAdd{kind}Node"
        place = byref(node), graph.handle, before, c_size_t(len(after))
        return driver.raw(call, *place, *params) == code

    assert refused(INVALID_VALUE, "Empty", after=[other])
    assert refused(INVALID_VALUE, "Empty", after=[own, own])
    assert refused(INVALID_VALUE, "ChildGraph", graph.handle)
    assert refused(INVALID_VALUE, "Host", byref(HostNode()))
    assert refused(INVALID_VALUE, "Memset", byref(MemsetNode(0, 0, 0, 3, 1, 1)), driver.context)
    too_large = kernel_node(driver, "empty", threads=2048)
    assert refused(INVALID_VALUE, "Kernel", byref(too_large))
    words = (c_uint64 * 32)(BATCH_MEM_OP)
    place = byref(node), graph.handle, None, None, c_size_t(0)
    assert driver.raw("cuGraphAddNode_v2", *place, words) == NOT_SUPPORTED
    assert nodes_of(driver, "cuGraphGetNodes", graph.handle) == [own.value]
