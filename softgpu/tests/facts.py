"""What an error, a warning or an output must name: facts, such as an argument, a value, a line, a
command. Never its sentences, which an editor may change."""

import re
from contextlib import contextmanager

import pytest

from softgpu.faults import FaultKind, last_fault

__all__ = ["contrast", "missing", "numbers", "refused", "stopped", "warned"]


def missing(text, *facts):
    """Those facts that do not stand in a text, each as a word, or as words, of its own."""
    return [fact for fact in facts if not re.search(_pattern(fact), str(text))]


def _pattern(fact):
    text = str(fact)
    before = r"(?<![\w-])(?<!\d[.,])" if isinstance(fact, int | float) else r"(?<!\w)"
    after = r"(?!\w|[.,]\d)" if isinstance(fact, int | float) else r"(?!\w)"
    return (
        (before if text[0].isalnum() or text[0] in "_-" else "")
        + re.escape(text)
        + (after if text[-1].isalnum() or text[-1] == "_" else "")
    )


def numbers(text):
    """The numbers in a text, in order."""
    return [float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?", text)]


@contextmanager
def refused(error, *facts):
    """What is within raises this error, which names these facts."""
    with pytest.raises(error) as caught:
        yield caught
    assert not missing(caught.value, *facts), str(caught.value)


@contextmanager
def stopped(kind, *facts):
    """What PyCUDA launches within ends with a fault of this FaultKind, which names these facts."""
    import pycuda.driver as cuda  # not above: it takes the driver of the process

    from softgpu.loader import Engine

    with refused(cuda.Error, *facts) as caught:
        yield caught
    found = FaultKind(last_fault(Engine.as_driver().runtime).kind)
    assert found == kind, f"{found.name}: {caught.value}"


@contextmanager
def warned(kind, *facts):
    """What is within warns so, in one warning that names these facts."""
    with pytest.warns(kind) as caught:
        yield caught
    assert any(not missing(one.message, *facts) for one in caught), [*map(str, caught)]


def contrast(one, other):
    """Of two colours, as WCAG defines it."""
    from matplotlib.colors import to_rgb

    def light(colour):
        linear = (
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
        )
        return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))

    low, high = sorted(map(light, (one, other)))
    return (high + 0.05) / (low + 0.05)
