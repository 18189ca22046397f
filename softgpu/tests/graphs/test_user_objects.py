"""User objects: who holds references to them, and what is called after the last is gone."""

from ctypes import byref, c_size_t, c_void_p

import pytest

from softgpu.tests.graphs.test_graphs import CALL, Graph

INVALID_VALUE = 1
NO_DESTRUCTOR_SYNC = MOVE = 1


class Object:
    """A user object that notes when it is destroyed, and with what."""

    def __init__(self, driver, references=1):
        self.gone, self.handle = [], c_void_p()
        self.call = CALL(self.gone.append)
        driver.call("cuUserObjectCreate", byref(self.handle), c_void_p(42), self.call, references,
                    NO_DESTRUCTOR_SYNC)  # fmt: skip


def test_it_is_destroyed_with_its_last_reference(driver):
    thing = Object(driver, 2)
    driver.call("cuUserObjectRetain", thing.handle, 3)
    driver.call("cuUserObjectRelease", thing.handle, 4)
    assert not thing.gone
    assert driver.raw("cuUserObjectRelease", thing.handle, 2) == INVALID_VALUE
    driver.call("cuUserObjectRelease", thing.handle, 1)
    assert thing.gone == [42]
    assert driver.raw("cuUserObjectRetain", thing.handle, 1) == INVALID_VALUE


@pytest.mark.parametrize("flags, ours", [(MOVE, 0), (0, 1)])
def test_a_graph_its_clone_and_what_is_instantiated_hold_references(driver, graph, flags, ours):
    thing, clone = Object(driver), c_void_p()
    driver.call("cuGraphRetainUserObject", graph.handle, thing.handle, 1, flags)
    for _ in range(ours):
        driver.call("cuUserObjectRelease", thing.handle, 1)
    driver.call("cuGraphClone", byref(clone), graph.handle)
    exec_ = graph.instantiate()
    driver.call("cuGraphDestroy", graph.handle)
    driver.call("cuGraphDestroy", clone)
    assert not thing.gone
    driver.call("cuGraphExecDestroy", exec_)
    assert thing.gone == [42]


def test_a_graph_gives_back_what_it_has(driver, graph):
    thing = Object(driver, 2)
    driver.call("cuGraphRetainUserObject", graph.handle, thing.handle, 2, MOVE)
    assert driver.raw("cuGraphReleaseUserObject", graph.handle, thing.handle, 3) == INVALID_VALUE
    driver.call("cuGraphReleaseUserObject", graph.handle, thing.handle, 1)
    assert not thing.gone
    driver.call("cuGraphReleaseUserObject", graph.handle, thing.handle, 1)
    assert thing.gone == [42]
    driver.call("cuGraphDestroy", graph.handle)


def test_a_childs_graph_holds_its_own(driver, graph):
    thing, child = Object(driver), Graph(driver)
    driver.call("cuGraphRetainUserObject", child.handle, thing.handle, 1, MOVE)
    node = graph.add("ChildGraph", child.handle)
    driver.call("cuGraphDestroy", child.handle)
    assert not thing.gone
    driver.call("cuGraphDestroyNode", node)
    assert thing.gone == [42]
    driver.call("cuGraphDestroy", graph.handle)


def test_an_update_takes_the_new_ones_in_the_place_of_the_old(driver, graph):
    old, new, other = Object(driver), Object(driver), Graph(driver)
    driver.call("cuGraphRetainUserObject", graph.handle, old.handle, 1, MOVE)
    driver.call("cuGraphRetainUserObject", other.handle, new.handle, 1, MOVE)
    exec_ = graph.instantiate()
    driver.call("cuGraphDestroy", graph.handle)
    room = (c_size_t * 3)()
    driver.call("cuGraphExecUpdate_v2", exec_, other.handle, room)
    assert old.gone == [42]
    driver.call("cuGraphDestroy", other.handle)
    assert not new.gone
    driver.call("cuGraphExecDestroy", exec_)
    assert new.gone == [42]


def test_what_cannot_be_is_refused(driver, graph):
    thing, out = Object(driver), c_void_p()
    for references, flags, call in ((0, 1, thing.call), (1, 0, thing.call), (1, 1, None)):
        made = byref(out), None, call, references, flags
        assert driver.raw("cuUserObjectCreate", *made) == INVALID_VALUE
    for count, flags in ((0, 0), (2**31, 0), (1, 2)):
        asked = graph.handle, thing.handle, count, flags
        assert driver.raw("cuGraphRetainUserObject", *asked) == INVALID_VALUE
    assert driver.raw("cuGraphRetainUserObject", graph.handle, None, 1, 0) == INVALID_VALUE
    driver.call("cuUserObjectRelease", thing.handle, 1)
    driver.call("cuGraphDestroy", graph.handle)
