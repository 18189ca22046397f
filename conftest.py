"""nbval compares what a cell says, not warnings on stderr or how matplotlib spells a figure."""


def pytest_collectstart(collector):
    if collector.path.suffix == ".ipynb":
        collector.skip_compare += ("stderr", "image/svg+xml")
