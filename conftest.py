"""How notebooks run as tests."""

from xdist.scheduler import LoadScopeScheduling


def pytest_collectstart(collector):
    """A cell's text is compared, not warnings on stderr or how matplotlib spells a figure."""
    if collector.path.suffix == ".ipynb":
        collector.skip_compare += ("stderr", "image/svg+xml")


class CellsTogether(LoadScopeScheduling):
    """A test goes to any free worker; the cells of a notebook share a kernel, so they share one."""

    def _split_scope(self, nodeid):
        path = nodeid.partition("::")[0]
        return path if path.endswith(".ipynb") else nodeid


def pytest_xdist_make_scheduler(config, log):
    return CellsTogether(config, log)
