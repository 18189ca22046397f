"""What tests of several rooms use."""

from dataclasses import replace

import pytest

from softgpu import loader, telling
from softgpu.faults import last_fault
from softgpu.phrases import Phrase
from softgpu.tests.conftest import axes_of, fake_nvcc, in_quick, watched
from softgpu.tests.facts import refused

from .play.browser import CHROMIUM, Browser

__all__ = ["axes_of", "browser", "fake_nvcc", "in_quick", "marked", "watched"]


MARK = "§"


@pytest.fixture
def marked(monkeypatch):
    """A mark before each sentence on faults and findings and in verdicts: nobody may read them."""
    english, detail = Phrase.english, loader.Engine.error_detail
    monkeypatch.setattr(Phrase, "english", lambda code, blanks: MARK + english(code, blanks))
    monkeypatch.setattr(loader.Engine, "error_detail", lambda engine: MARK + detail(engine))
    for module in loader, telling:
        monkeypatch.setattr(module, "last_fault", _marked_fault)
    return MARK


def _marked_fault(runtime):
    fault = last_fault(runtime)
    return replace(fault, what=MARK + fault.what) if fault.what else fault


@pytest.fixture(autouse=True)
def marked_if_asked(request):
    if request.config.getoption("--marked"):
        request.getfixturevalue("marked")


@pytest.fixture
def no_launches(monkeypatch):
    """A function that expects (error, facts, call) of each call, and no launch of helpers.ops."""
    from helpers.ops.launch import KernelCall  # not above: it takes the GPU

    def launched(*_):
        raise AssertionError("launched")

    def expect(wrong):
        calls = list(wrong)
        monkeypatch.setattr(KernelCall, "__call__", launched)
        for error, facts, call in calls:
            with (
                refused(error, *facts)
                if isinstance(facts, list)
                else pytest.raises(error, match=facts)
            ):
                call()

    return expect


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if not CHROMIUM:
        pytest.skip("no Chromium here: Debian, Ubuntu: sudo apt install chromium")
    opened = Browser(tmp_path_factory.mktemp("chromium"))
    yield opened
    opened.close()
