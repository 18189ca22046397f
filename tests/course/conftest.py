"""What tests of several files use."""

from dataclasses import replace

import pytest


@pytest.fixture
def work(monkeypatch, tmp_path):
    """A learner's folder of its own."""
    monkeypatch.setenv("HELPERS_WORK", str(tmp_path))
    return tmp_path


@pytest.fixture
def plain(request, monkeypatch):
    """Tests that are of no exercise of its own have a judge of theirs for the first one."""
    from helpers.exercises import texts  # not above: it takes the GPU

    from .verdicts import FIRST, PLAIN

    of_an_exercise = "name" in getattr(getattr(request.node, "callspec", None), "params", {})
    if not of_an_exercise:
        monkeypatch.setitem(texts.find(FIRST).__dict__, "judge", PLAIN)


@pytest.fixture
def judged(monkeypatch):
    """The verdict on a text for the first exercise, whose judge says this besides."""
    from helpers.exercises import judging, texts

    from .verdicts import FIRST

    exercise = texts.find(FIRST)

    def verdict(text, **says):
        monkeypatch.setitem(exercise.__dict__, "judge", replace(exercise.judge, **says))
        return judging.trial(exercise, text, seed=1)

    return verdict
