"""Tensor cores: products of fragments have the bits that an NVIDIA H200 gave them."""

from __future__ import annotations

import numpy as np
import pytest

from softgpu.tests import autoinit
from softgpu.tests.conformance import products

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(
        autoinit.device.compute_capability() < (9, 0),
        reason="the kernels use instructions of compute capability 9.0",
    ),
]
CHUNKS = 1


@pytest.fixture(scope="module")
def answers(request):
    """Of the forms that are asked for: not all are, of a sample."""
    params = [getattr(item, "callspec", None) for item in request.session.items]
    labels = {told.params.get("label") for told in params if told}
    return products.answers([form for form in products.SOME if form.label in labels], CHUNKS)


@pytest.fixture(scope="module")
def recorded():
    return products.golden(), products.samples()


@pytest.mark.parametrize("label", [form.label for form in products.SOME])
def test_fragments(label: str, answers, recorded) -> None:
    """Four thousand, of all kinds; `make products` multiplies a million for each form."""
    (words, results), (expected, samples) = answers[label], recorded
    for fragment, word, lane in np.argwhere(results != samples[label])[:8]:
        place = fragment, word, lane
        got, want = results[place], samples[label][place]
        print(f"fragment {fragment}, word {word}, lane {lane}: {got:08x}, not {want:08x}")
    np.testing.assert_array_equal(words, expected[label][:CHUNKS])


def test_every_form_is_recorded() -> None:
    assert set(products.golden()) == set(products.FORMS)
