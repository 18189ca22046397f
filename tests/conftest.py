"""What tests of several rooms use."""

import pytest

from softgpu.tests.conftest import axes_of, fake_nvcc, in_quick, watched

from .play.browser import CHROMIUM, Browser

__all__ = ["axes_of", "browser", "fake_nvcc", "in_quick", "watched"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not CHROMIUM:
        pytest.skip("no Chromium here: Debian, Ubuntu: sudo apt install chromium")
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
