"""Which tests run, in what order and in which process, and how notebooks run as tests."""

import atexit
import ctypes
import gc
import hashlib
import itertools
import os
import shutil
import signal
import tempfile
from collections import defaultdict
from pathlib import Path

from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

CRASHES = Path(__file__).with_name(".cache") / "crashes.log"
if "SOFTGPU_CRASHES" not in os.environ:
    CRASHES.unlink(missing_ok=True)
    os.environ["SOFTGPU_CRASHES"] = str(CRASHES)
if "PYTEST_XDIST_WORKER" in os.environ:  # there is one of these processes a core already
    os.environ.setdefault("SOFTGPU_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
else:  # what notebooks judge as they run as tests is no learner's progress
    os.environ["HELPERS_WORK"] = tempfile.mkdtemp(prefix="course-")
    atexit.register(shutil.rmtree, os.environ["HELPERS_WORK"], ignore_errors=True)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Collecting tests and compiling make millions of objects, most of them young when they go.
gc.set_threshold(50_000, 20, 20)

# The same examples in every run, however slow the machine; nothing is kept on disk.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


_finished = itertools.count(1)


def pytest_addoption(parser):
    parser.addoption("--sample", type=float, default=1, help="which fraction of each test's cases")
    parser.addoption("--changed", default="", help="files whose tests a sample has with all cases")
    parser.addoption("--sample-tests", type=float, default=1, help="and of tests with few of them")
    parser.addoption("--rotating", type=float, default=1, help="which fraction of tests marked so")
    parser.addoption("--marked", action="store_true", help="a mark before each sentence")
    parser.addoption("--sample-seed", default="", help="a text, such as the date: another sample")


def pytest_runtest_logfinish(nodeid, location):
    """LLVM leaves a heap in pieces: now and then what it has freed goes back to the system."""
    if next(_finished) % 200 == 0:
        ctypes.CDLL(None).malloc_trim(0)


def pytest_terminal_summary(terminalreporter):
    """Where the driver crashed: what it says of that on stderr is lost with its process."""
    if CRASHES.exists():
        terminalreporter.section("crashes")
        terminalreporter.write(CRASHES.read_text())


def pytest_collectstart(collector):
    """A cell's text is compared, not warnings on stderr or how matplotlib spells a figure."""
    if collector.path.suffix == ".ipynb":
        collector.skip_compare += ("stderr", "image/svg+xml")


def pytest_collection_modifyitems(config, items):
    tests, seed = (config.getoption(f"--sample-{what}") for what in ("tests", "seed"))
    left_out = set()
    if (fraction := config.getoption("--sample")) < 1:
        left_out = beyond_sample(items, fraction, tests, seed)
        left_out -= concerned(items, config.getoption("--changed").split())
    elif (fraction := config.getoption("--rotating")) < 1:
        rotating = [item.nodeid for item in items if item.get_closest_marker("rotating")]
        waiting = set(rotating).difference(drawn(rotating, fraction, seed))
        left_out = {item for item in items if item.nodeid in waiting}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=turn, reverse="PYTEST_XDIST_WORKER" not in os.environ)


def pytest_collection_finish(session):
    """What all tests share, a garbage collector need never look at again."""
    gc.collect()
    gc.freeze()


def drawn(names, share, seed):
    """So large a share of some names, one at least, by their hash: with another seed others."""
    names = sorted(names, key=lambda name: hashlib.sha256((seed + name).encode()).digest())
    return names[: max(round(len(names) * share), 1)]


def drawn_by(item):
    """The name that decides whether an item is in a sample: its own, or one that it shares with
    those that the same launch answers."""
    mark = item.get_closest_marker("one_launch")
    return f"{item.nodeid.partition('[')[0]}[{mark.args[0]}]" if mark else item.nodeid


def concerned(items, changed):
    """All cases, but of long tests, that changes of these files concern."""
    from softgpu.tests.concerned import tests_of  # not above: softgpu reads the environment

    tests = tuple(test for file in changed for test in tests_of(file))
    near = (item for item in items if item.nodeid.startswith(tests))
    return {item for item in near if not item.get_closest_marker("long")}


def beyond_sample(items, fraction, tests, seed):
    """What a sample leaves out, by a hash of names and the seed: long tests; of each test's cases
    all but a fraction; and of a file's tests that have less than one case in it all but `tests`.
    Of slow tests two fifths of either stay, of tests that take turns a quarter (at least one does;
    over many seeds, all do)."""

    cases, part, few = defaultdict(set), {}, defaultdict(list)
    for item in items:
        if not item.get_closest_marker("long"):
            test = item.nodeid.partition("[")[0]
            cases[test].add(drawn_by(item))
            slow, turns = map(item.get_closest_marker, ("slow", "rotating"))
            part[test] = min(part.get(test, 1), 0.25 if turns else 0.4 if slow else 1)
    for test, names in cases.items():
        if len(names) * fraction * part[test] < 1:
            few[test.partition("::")[0], tests * part[test]].append(test)
    for (_, share), names in few.items():
        for test in {*names}.difference(drawn(names, share, seed)):
            del cases[test]
    kept = {n for test, names in cases.items() for n in drawn(names, fraction * part[test], seed)}
    return {item for item in items if drawn_by(item) not in kept}


def turn(item):
    """What takes longest goes first, so that in the end all processes have something to do; but
    tests of xray before they run again under sanitizers, where it takes long to compile. A process
    by itself goes the other way: what fails, fails soon."""
    if item.path.name == "test_under_sanitizers.py":
        return 2
    if item.path.suffix == ".ipynb" or item.get_closest_marker("slow"):
        return 0
    return 1 if item.path.parent.name == "xray" else 3


TOGETHER = "/test_book.py", "/test_clock.py", "/test_grading.py", "/test_together.py"


class WhatIsCompiledOnce(LoadScopeScheduling):
    """A test goes to any free worker, but together with those that need the same compiled: the
    cells of a notebook, the tests of a class, tests of a function with the same first parameter,
    and tests that share a few large modules, a class that is graded, or the book."""

    def remove_node(self, node):
        """What a worker that crashed has not done goes to others, all but the test it crashed in.
        (pytest-xdist 3.8.0 gives them that as well, and units with nothing left to do, and then
        waits for ever: https://github.com/pytest-dev/pytest-xdist/issues/1323 and pull/1371.)"""
        todo = [
            (scope, test)
            for scope, tests in self.assigned_work.pop(node).items()
            for test, done in tests.items()
            if not done
        ]
        if not todo:
            return None
        (_, crashed_in), *left = todo
        for scope, test in left:
            self.workqueue.setdefault(scope, {})[test] = False
        for other in self.nodes:
            self._reschedule(other)
        return crashed_in

    def _reschedule(self, node):
        """A worker begins a test when it knows the next one, or that there is none: issues/1327."""
        if node not in self.registered_collections:
            return  # it replaces one that crashed, and still collects
        super()._reschedule(node)
        if self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)

    def _split_scope(self, nodeid):
        path, test, *method = nodeid.split("::", 2)
        if path.endswith((".ipynb", *TOGETHER)):
            return path
        return f"{path}::{test}" if method and "[" not in test else nodeid.partition("-")[0]


def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False  # the order is that above
    return WhatIsCompiledOnce(config, log)
