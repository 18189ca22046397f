"""wgmma: sums have the bits, and descriptors the meaning, that an NVIDIA H200 gave them."""

from __future__ import annotations

import numpy as np
import pytest

from softgpu.tests import autoinit
from softgpu.tests.conformance import groups

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        autoinit.device.compute_capability() != (9, 0),
        reason="the kernels use instructions of sm_90a",
    ),
]


@pytest.fixture(scope="module")
def answers(request):
    """Of the forms that are asked for: not all are, of a sample."""
    params = [getattr(item, "callspec", None) for item in request.session.items]
    asked = [told.params.get("form") for told in params if told]
    return groups.answers([form for form in groups.SOME if form in asked], 1)


@pytest.fixture(scope="module")
def recorded():
    return groups.golden()


@pytest.mark.parametrize("form", groups.SOME, ids=lambda form: form.label)
def test_fragments(form: groups.Group, answers, recorded) -> None:
    """64, of all kinds; `make products` multiplies 32,768 for each form."""
    words, sums = answers[form.label]
    for place in map(tuple, np.argwhere(sums != recorded[form.entry])[:8]):
        got, want = sums[place], recorded[form.entry][place]
        print(f"fragment, register, thread {place}: {got:08x}, not {want:08x}")
    np.testing.assert_array_equal(words, recorded[form.label][:1])


@pytest.mark.parametrize("operand", "ab")
def test_layouts(operand: str, recorded) -> None:
    """Of each, where every element lies."""
    layouts = [layout for layout in groups.LAYOUTS if layout.operand == operand]
    found, expected = groups.places(layouts), recorded[operand]
    wrong = [one for one, got, want in zip(layouts, found, expected) if (got != want).any()]
    assert not wrong


def test_every_form_is_recorded(recorded) -> None:
    assert set(recorded["forms"]) == set(groups.FORMS)
