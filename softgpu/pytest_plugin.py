"""pytest --softgpu: the tests of a session run their CUDA on the software GPU.

pytest --softgpu=sanitize also watches every launch: one that does something wrong fails its test.
"""

from __future__ import annotations

import pytest

__all__: list[str] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--softgpu", nargs="?", const="plain", choices=("plain", "sanitize"),
        help="run CUDA on the software GPU; sanitize: launches that do something wrong fail",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "softgpu: needs the software GPU, runs with --softgpu only")
    way = config.getoption("softgpu")
    if way is None:
        return
    from . import install
    from .loader import Engine

    install()
    Engine.as_driver().sanitize_launches(way == "sanitize")


def pytest_report_header(config: pytest.Config) -> str | None:
    way = config.getoption("softgpu")
    return f"CUDA: the software GPU ({way})" if way else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("softgpu") is None:
        for item in items:
            if item.get_closest_marker("softgpu"):
                item.add_marker(pytest.mark.skip(reason="needs the software GPU: pytest --softgpu"))
