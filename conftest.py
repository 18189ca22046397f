"""How tests are shared out over processes, and how notebooks run as tests."""

import os

from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

if "PYTEST_XDIST_WORKER" in os.environ:  # there is one of these processes a core already
    os.environ.setdefault("SOFTGPU_THREADS", "1")

# The same examples in every run, however slow the machine; nothing is kept on disk.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


def pytest_collectstart(collector):
    """A cell's text is compared, not warnings on stderr or how matplotlib spells a figure."""
    if collector.path.suffix == ".ipynb":
        collector.skip_compare += ("stderr", "image/svg+xml")


def pytest_collection_modifyitems(items):
    """What takes longest goes first, so that in the end all processes have something to do; but
    tests of xray before they run again under sanitizers, where it takes long to compile."""

    def turn(item):
        if item.path.name == "test_under_sanitizers.py":
            return 2
        if item.path.suffix == ".ipynb" or item.get_closest_marker("slow"):
            return 0
        return 1 if item.path.parent.name == "xray" else 3

    items.sort(key=turn)


class WhatIsCompiledOnce(LoadScopeScheduling):
    """A test goes to any free worker, but together with those that need the same compiled: the
    cells of a notebook, the tests of a class, those of a function with the same first parameter,
    and those that share a few large modules, or a class that is graded."""

    def _split_scope(self, nodeid):
        path, test, *method = nodeid.split("::", 2)
        if path.endswith((".ipynb", "/test_together.py", "/test_clock.py", "/test_grading.py")):
            return path
        return f"{path}::{test}" if method and "[" not in test else nodeid.partition("-")[0]


def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False  # the order is that above
    return WhatIsCompiledOnce(config, log)
