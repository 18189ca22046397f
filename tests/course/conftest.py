"""What several files of tests use."""

import pytest

from helpers import plots


@pytest.fixture
def axes_of(monkeypatch):
    """A function that gives the axes, and the alternative text, of what a plot draws."""
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: (figure.axes[0], alt))
    return lambda plot, *arguments, **named: plot(*arguments, **named)
