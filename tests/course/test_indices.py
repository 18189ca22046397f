"""Drawings of indices show what NumPy does, and what the machine would."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from helpers import indices
from softgpu.tests.facts import missing


@pytest.mark.parametrize("pair, dashed", [(((3, 4), (4,)), 8), (((3, 1), (1, 4)), 17)])
def test_what_broadcasting_repeats_is_dashed(pair, dashed, axes_of):
    axes, alt = axes_of(indices.broadcast, pair)
    squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(squares) == 36
    assert sum(square.get_linestyle() not in ("solid", "-") for square in squares) == dashed
    numbers = [int(text.get_text()) for text in axes.texts if text.get_text().isdigit()]
    one, other = (np.arange(1, np.prod(shape) + 1).reshape(shape) for shape in pair)
    assert numbers[-12:] == (10 * one + other).ravel().tolist()
    assert f"{pair[0]} + {pair[1]} = (3, 4)" in alt


@pytest.mark.parametrize("divisor", [3, 7, 10])
def test_a_product_never_reaches_the_next_quotient(divisor, axes_of):
    axes, alt = axes_of(indices.division, divisor)
    dots = [line for line in axes.lines if line.get_marker() in "oD"]
    exact, product = ([dot.get_xdata()[0] for dot in dots[k::2]] for k in (0, 1))
    assert exact == pytest.approx(np.arange(divisor) / divisor)
    assert all(0 <= e <= p < 1 and p - e < 1 / divisor for e, p in zip(exact, product))
    assert f"1 / {divisor} = {1 / divisor:.3f}" in alt


def test_layouts_have_a_channel_together_or_a_pixel(axes_of):
    axes, alt = axes_of(indices.layouts, 3, 4)
    squares = sorted((p for p in axes.patches), key=lambda p: (p.get_y(), p.get_x()))
    colours = [square.get_edgecolor() for square in squares]
    assert len(squares) == 24 and len(set(colours)) == 3
    assert colours[:4] == [colours[0]] * 4 and colours[12:15] == colours[15:18] == colours[:12:4]
    assert not missing(alt, "NCHW: 3", "NHWC: 4")
