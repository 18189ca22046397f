"""A browser for the tests that click."""

import pytest

from .browser import CHROMIUM, Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not CHROMIUM:
        pytest.skip("no Chromium here: Debian, Ubuntu: sudo apt install chromium")
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()


@pytest.fixture
def opened(browser, tmp_path):
    """A function that opens a picture's page in the browser."""

    def open_(page, dark=False):
        page.save(tmp_path / "page.html")
        browser.open(tmp_path / "page.html", dark)
        return browser

    return open_
