"""Nodes that ask a condition before they run the graphs inside of them."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
import pytest

from softgpu.faults import FaultKind
from softgpu.tests.driver.harness import DriverError
from softgpu.tests.facts import missing, refused
from softgpu.tests.graphs.test_graphs import Graph, kernel_node, launch, nodes_of

INVALID_VALUE, INVALID_CONTEXT, LAUNCH_FAILED, NOT_SUPPORTED = 1, 201, 719, 801
UPDATE_FAILURE, TOPOLOGY_CHANGED, PARAMETERS_CHANGED = 910, 2, 5
CONDITIONAL = 13
IF, WHILE, SWITCH = range(3)
ASSIGN_DEFAULT = 1
INVALID_STRUCTURE, CONDITION_UNUSED = 2, 5
RELAXED = 2


class Conditional(ctypes.Structure):
    _fields_ = [
        ("type", c_uint64 * 2), ("handle", c_uint64), ("kind", c_int), ("size", c_uint),
        ("bodies", ctypes.POINTER(c_void_p)), ("context", c_void_p), ("reserved", c_uint64 * 26),
    ]  # fmt: skip


class Body:
    """A graph inside of a node, to add nodes to."""

    def __init__(self, graph, handle):
        self.graph, self.handle = graph, c_void_p(handle)

    def __getattr__(self, name):
        def add(*words, **options):
            return getattr(self.graph, name)(*words, handle=self.handle, **options)

        return add


@pytest.fixture
def counts(driver):
    return driver.put(np.zeros(64, np.uint32))


def condition(graph, value=0, flags=ASSIGN_DEFAULT, handle=None, context=None):
    made = c_uint64()
    where = handle or graph.handle, context or graph.driver.context
    graph.driver.call("cuGraphConditionalHandleCreate", byref(made), *where, value, flags)
    return made.value


def ask(graph, asked, kind, size=1, handle=None, **others):
    """A conditional node and its bodies."""
    params = Conditional((CONDITIONAL,), asked, kind, size, **others)
    node = graph.any(params, handle=handle)
    return node, [Body(graph, params.bodies[i]) for i in range(size)]


def refuses(graph, *words, **others):
    with pytest.raises(DriverError) as error:
        ask(graph, *words, **others)
    return error.value.code == INVALID_VALUE


def count(driver, counts, at=0):
    return driver.get(counts + 128 * at, 1, np.uint32)[0]


@pytest.mark.parametrize("value", [0, 1, 2, 3])
@pytest.mark.parametrize("kind, size", [(IF, 1), (IF, 2), (SWITCH, 1), (SWITCH, 2)])
def test_the_value_chooses_a_body(driver, graph, kind, size, value):
    asked = condition(graph, value)
    told = driver.put(np.zeros(64, np.uint32))
    _, bodies = ask(graph, asked, kind, size)
    for i, body in enumerate(bodies):
        body.kernel("increment", told + 128 * i, threads=1)
    exec_ = graph.instantiate()
    for _ in range(2):
        launch(driver, exec_)
    chosen = (0 if value else 1) if kind == IF else value
    assert [count(driver, told, i) for i in range(2)] == [
        2 * (i == chosen and i < size) for i in range(2)
    ]


@pytest.mark.parametrize("times", [0, 1, 10])
def test_a_body_is_repeated_while_kernels_say_so(driver, graph, counts, times):
    asked = condition(graph, times)
    left = driver.put(np.full(1, times, np.uint32))
    node, (body,) = ask(graph, asked, WHILE)
    counted = body.kernel("increment", counts, threads=1)
    body.kernel("count_down", asked, left, threads=1, after=[counted])
    graph.kernel("increment", counts + 128, threads=1, after=[node])
    launch(driver, graph.instantiate())
    assert (count(driver, counts), count(driver, counts, 1)) == (times, 1)


def test_each_launch_begins_with_the_default_or_with_what_was_last(driver, graph, counts):
    usual, kept = condition(graph, 1), condition(graph, 1, flags=0)
    left = driver.put(np.ones(2, np.uint32))
    for at, asked in enumerate((usual, kept)):
        node, (body,) = ask(graph, asked, IF)
        body.kernel("increment", counts + 128 * at, threads=1)
        graph.kernel("count_down", asked, left + 4 * at, threads=1, after=[node])
    exec_ = graph.instantiate()
    launch(driver, exec_)  # sets both to 0
    launch(driver, exec_)
    assert (count(driver, counts), count(driver, counts, 1)) == (2, 1)


def test_conditions_are_asked_inside_of_bodies(driver, graph, counts):
    outer, inner = condition(graph, 3), condition(graph, 1)
    left = driver.put(np.array([3], np.uint32))
    _, (body,) = ask(graph, outer, WHILE)
    node, (deepest,) = ask(graph, inner, IF, handle=body.handle)
    deepest.kernel("increment", counts, threads=1)
    body.kernel("count_down", outer, left, threads=1, after=[node])
    own = condition(graph, 1, handle=body.handle)  # of the body: no other graph may ask it
    assert refuses(graph, own, IF)
    ask(graph, own, IF, handle=body.handle)
    launch(driver, graph.instantiate())
    assert count(driver, counts) == 3


def test_a_kernel_that_names_no_condition_is_told_so(driver, graph):
    asked, other = condition(graph), Graph(driver)
    ask(graph, asked, IF)
    left = driver.put(np.ones(1, np.uint32))
    other.kernel("count_down", asked, left, threads=1)
    exec_ = other.instantiate()
    launch(driver, exec_)
    driver.call("cuGraphDestroy", graph.handle)
    assert driver.raw("cuGraphLaunch", exec_, None) == LAUNCH_FAILED
    assert driver.fault() == FaultKind.CONDITION
    assert not missing(driver.error_text(LAUNCH_FAILED), hex(asked))


def test_the_executable_graph_outlives_the_other(driver, graph, counts):
    asked = condition(graph, 1)
    _, (body,) = ask(graph, asked, IF)
    body.kernel("count_down", asked, counts, threads=1)
    exec_ = graph.instantiate()
    driver.call("cuGraphDestroy", graph.handle)
    launch(driver, exec_)
    assert count(driver, counts) == 0xFFFFFFFF
    driver.call("cuGraphExecDestroy", exec_)
    with refused(DriverError, "count_down", hex(asked)):
        driver.launch("count_down", asked, counts, block=(1,))
    assert driver.fault() == FaultKind.CONDITION


def test_what_a_node_cannot_ask(driver, graph):
    asked, used, other = condition(graph), condition(graph), Graph(driver)
    ask(graph, used, IF)
    assert refuses(graph, used, IF)
    assert refuses(graph, 0, IF)
    assert refuses(other, asked, IF)
    assert refuses(graph, asked, 3)
    assert refuses(graph, asked, IF, context=1)
    for kind, size in ((IF, 0), (IF, 3), (WHILE, 2), (WHILE, 0), (SWITCH, 0)):
        assert refuses(graph, asked, kind, size=size)
    ask(graph, asked, SWITCH, size=5, context=driver.context)
    assert len(nodes_of(driver, "cuGraphGetNodes", graph.handle)) == 2


def test_what_a_condition_cannot_be_made_of(driver, graph):
    made, call = c_uint64(), "cuGraphConditionalHandleCreate"
    where = graph.handle, driver.context
    assert driver.raw(call, byref(made), None, driver.context, 0, 0) == INVALID_VALUE
    assert driver.raw(call, byref(made), graph.handle, c_void_p(1), 0, 0) == INVALID_CONTEXT
    assert driver.raw(call, byref(made), *where, 0, 2) == INVALID_VALUE
    assert driver.raw(call, None, *where, 0, 0) == INVALID_VALUE
    assert driver.raw(call, byref(made), graph.handle, None, 0, 0) == 0


def instantiated(driver, graph):
    """The call's code, and the result and the node that go with it."""
    params, made = (c_uint64 * 4)(), c_void_p()
    code = driver.raw("cuGraphInstantiateWithParams", byref(made), graph.handle, params)
    return code, params[3], params[2]


def test_a_condition_that_nobody_asks_is_an_error(driver, graph):
    asked = condition(graph)
    assert instantiated(driver, graph) == (INVALID_VALUE, CONDITION_UNUSED, 0)
    node, _ = ask(graph, asked, IF)
    driver.call("cuGraphExecDestroy", graph.instantiate())
    driver.call("cuGraphDestroyNode", node)
    assert instantiated(driver, graph) == (INVALID_VALUE, CONDITION_UNUSED, 0)
    ask(graph, asked, IF)
    graph.instantiate()


def test_bodies_have_only_what_they_may(driver, graph):
    _, (body,) = ask(graph, condition(graph), IF)
    with pytest.raises(DriverError) as error:
        body.add("MemFree", c_uint64(driver.allocate(64)))
    assert error.value.code == NOT_SUPPORTED
    inner = Graph(driver)
    node = inner.host(list)
    body.add("ChildGraph", inner.handle)
    code, result, wrong = instantiated(driver, graph)
    assert (code, result) == (NOT_SUPPORTED, INVALID_STRUCTURE)
    assert wrong and wrong != node.value  # the copy of it in the child


def test_such_a_graph_is_one_of_a_kind(driver, graph):
    node, (body,) = ask(graph, condition(graph), IF)
    clone, exec_, params = c_void_p(), graph.instantiate(), Conditional((CONDITIONAL,))
    assert driver.raw("cuGraphClone", byref(clone), graph.handle) == NOT_SUPPORTED
    with pytest.raises(DriverError) as error:
        Graph(driver).add("ChildGraph", graph.handle)
    assert error.value.code == NOT_SUPPORTED
    with refused(DriverError, "cuGraphExecDestroy"):
        graph.instantiate()
    assert driver.raw("cuGraphDestroy", body.handle) == INVALID_VALUE
    made = c_void_p(), body.handle, c_uint64(0)
    assert driver.raw("cuGraphInstantiateWithFlags", byref(made[0]), *made[1:]) == INVALID_VALUE
    assert driver.raw("cuGraphNodeSetParams", node, byref(params)) == NOT_SUPPORTED
    assert driver.raw("cuGraphExecNodeSetParams", exec_, node, byref(params)) == NOT_SUPPORTED
    driver.call("cuGraphDestroy", graph.handle)
    kind = c_int()
    assert driver.raw("cuGraphNodeGetType", node, byref(kind)) == INVALID_VALUE


def switch(driver, value, places, size=2, kernel="increment"):
    graph = Graph(driver)
    _, bodies = ask(graph, condition(graph, value), SWITCH, size)
    for body, place in zip(bodies, places, strict=False):
        body.kernel(kernel, place, threads=1)
    return graph


def test_an_update_takes_bodies_and_defaults(driver, counts):
    places, others = [counts, counts + 128], [counts + 128, counts]
    exec_, told = switch(driver, 0, places).instantiate(), (c_uint64 * 3)()
    launch(driver, exec_)
    changed = switch(driver, 1, others)
    driver.call("cuGraphExecUpdate_v2", exec_, changed.handle, told)
    driver.call("cuGraphDestroy", changed.handle)
    launch(driver, exec_)
    assert (count(driver, counts), count(driver, counts, 1)) == (2, 0)
    for wrong, why in (
        (switch(driver, 0, places, size=3), PARAMETERS_CHANGED),
        (switch(driver, 0, places[:1]), TOPOLOGY_CHANGED),
    ):
        assert driver.raw("cuGraphExecUpdate_v2", exec_, wrong.handle, told) == UPDATE_FAILURE
        assert told[0] & 0xFFFFFFFF == why


def test_kernels_of_a_body_change_in_the_executable_graph(driver, graph, counts):
    _, (body,) = ask(graph, condition(graph, 1), IF)
    node = body.kernel("increment", counts, threads=1)
    exec_ = graph.instantiate()
    changed = kernel_node(driver, "increment", counts + 128, threads=1)
    driver.call("cuGraphExecKernelNodeSetParams_v2", exec_, node, byref(changed))
    launch(driver, exec_)
    assert (count(driver, counts), count(driver, counts, 1)) == (0, 1)


def test_a_stream_is_captured_into_a_body(driver, graph, counts):
    stream = c_void_p()
    driver.call("cuStreamCreate", byref(stream), 1)
    _, (body,) = ask(graph, condition(graph, 1), IF)
    place = stream, body.handle, None, None, c_size_t(0), RELAXED
    driver.call("cuStreamBeginCaptureToGraph", *place)
    driver.call("cuMemsetD32Async", c_uint64(counts), 9, c_size_t(1), stream)
    address = c_uint64()
    asked = byref(address), c_size_t(64), stream
    assert driver.raw("cuMemAllocAsync", *asked) == NOT_SUPPORTED
    driver.call("cuStreamEndCapture", stream, None)
    launch(driver, graph.instantiate())
    assert count(driver, counts) == 9
    driver.call("cuStreamDestroy_v2", stream)


def test_a_picture_shows_the_bodies(driver, graph, tmp_path):
    _, bodies = ask(graph, condition(graph), IF, 2)
    bodies[1].kernel("empty")
    picture = tmp_path / "graph.dot"
    driver.call("cuGraphDebugDotPrint", graph.handle, str(picture).encode(), c_uint())
    text = picture.read_text()
    assert "CONDITIONAL\\nIF, 2 " in text and text.count("subgraph") == 3
    assert "KERNEL\\nempty" in text
