"""A function that opens pictures, for the tests that click."""

import pytest

# a context, for tests that run alone
from helpers import autoinit  # noqa: F401


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens a picture's page in the browser."""

    def open_(page, dark=False):
        page.save(tmp_path / "page.html")
        browser.open(tmp_path / "page.html", dark)
        return browser

    return open_
