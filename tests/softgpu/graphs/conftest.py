"""The driver, and an empty graph, for all tests of graphs."""

import pytest

from tests.softgpu.driver.harness import only_driver
from tests.softgpu.graphs.test_graphs import Graph


@pytest.fixture
def driver():
    return only_driver()


@pytest.fixture
def graph(driver):
    return Graph(driver)
