"""The driver, and an empty graph, for all tests of graphs."""

import pytest

from softgpu.tests.driver.harness import only_driver
from softgpu.tests.graphs.test_graphs import Graph


@pytest.fixture
def driver():
    return only_driver()


@pytest.fixture
def graph(driver):
    return Graph(driver)
