"""Drawings of how an index is found: what broadcasting repeats, where the channels of pictures lie,
and a division by multiplying."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from . import shapes
from .plots import COLOURS, INK, Picture, draw

__all__ = ["broadcast", "division", "layouts"]


def broadcast(*pairs: tuple) -> Picture:
    """Sums of two matrices, a pair of shapes a row: what is repeated has a dashed edge."""
    rows = [(one, other, shapes.broadcast(one, other)) for one, other in pairs]
    gap = 1.3
    heights = [out[0] + gap for *_, out in rows]

    def matrix(
        axes: Any, left: float, top: float, values: Any, own: Sequence[int], colour: str
    ) -> None:
        for (row, column), value in np.ndenumerate(values):
            dashed = row >= own[0] or column >= own[1]
            style = {"ls": (0, (2, 2)), "fc": "none"} if dashed else {"fc": f"{colour}30"}
            at = left + column, top + row
            axes.add_patch(Rectangle(at, 0.9, 0.9, ec=colour, lw=1.2, **style))
            middle = {"ha": "center", "va": "center", "size": 10, "color": colour}
            axes.text(at[0] + 0.45, at[1] + 0.45, value, **middle)

    def paint(axes: Any) -> None:
        for top, (one, other, out) in zip(np.cumsum([gap, *heights]), rows):
            values = [_numbered(one, 10), _numbered(other, 1)]
            values = [np.broadcast_to(v, out) for v in values]
            step = out[1] + 1.2
            for place, (shape, sign) in enumerate(zip((one, other, out), (" ", "+", "="))):
                left = place * step
                own = shapes.pad(shape, 2)
                matrix(axes, left, top, [*values, sum(values)][place], own, COLOURS[place])
                axes.text(left - 0.65, top + out[0] / 2, sign, ha="center", va="center", size=14)
                axes.text(left, top - 0.15, str(tuple(shape)), va="bottom", color=COLOURS[place])
        axes.set(xlim=(-0.2, 3 * step - 1), ylim=(sum(heights), gap - 0.9), aspect="equal")
        axes.set_axis_off()

    told = "; ".join(f"{one} + {other} = {out}" for one, other, out in rows)
    width = max(3 * (out[1] + 1.2) for *_, out in rows)
    alt = f"Sums of matrices; what broadcasting repeats has a dashed edge: {told}."
    return draw(paint, alt, width=0.4 * width, height=0.4 * sum(heights))


def _numbered(shape: Sequence[int], step: int) -> np.ndarray:
    return step * (1 + np.arange(np.prod(shape, dtype=int))).reshape(shapes.pad(shape, 2))


def layouts(channels: int, pixels: int) -> Picture:
    """A picture in memory, NCHW above NHWC: a square per number, coloured and named by channel, in
    groups that lie together."""
    orders = {"NCHW": (channels, pixels, "channel"), "NHWC": (pixels, channels, "pixel")}
    gap = 0.5

    def paint(axes: Any) -> None:
        for top, (name, (groups, each, what)) in zip((0, 2.2), orders.items()):
            axes.text(-0.4, top + 0.45, name, ha="right", va="center")
            for group in range(groups):
                left = group * (each + gap)
                axes.text(left, top - 0.1, f"{what} {group}", va="bottom")
                for place in range(each):
                    channel = group if what == "channel" else place
                    colour, at = COLOURS[channel], (left + place, top)
                    axes.add_patch(Rectangle(at, 0.9, 0.9, fc=f"{colour}30", ec=colour, lw=1.2))
                    middle = {"ha": "center", "va": "center", "color": colour}
                    axes.text(at[0] + 0.45, top + 0.45, channel, **middle)
        axes.set(xlim=(-0.1, channels * pixels + gap * pixels), ylim=(3.2, -0.8), aspect="equal")
        axes.set_axis_off()

    told = "; ".join(f"{name}: {groups} {what}s" for name, (groups, _, what) in orders.items())
    alt = f"{channels} channels of {pixels} pixels in memory, the channel in each square. {told}."
    return draw(paint, alt, width=0.4 * (channels * pixels + gap * pixels), height=1.6)


def division(divisor: int, bits: int = 32) -> Picture:
    """n / divisor beside n * multiplier / 2^k, true to scale, for the largest n below 2^(bits-1)
    between two multiples of the divisor."""
    multiplier, shift = shapes.magic(divisor, bits)
    quotient = (1 << (bits - 1)) // divisor - 1
    ns = [quotient * divisor + rest for rest in range(divisor)]
    power = 1 << (bits - 1 + shift)
    error = (multiplier * divisor - power) * ns[-1] / (divisor * power)

    def paint(axes: Any) -> None:
        axes.plot([0, 1.06], [0, 0], color=INK, lw=1)
        for end, name in (0, "q"), (1, "q + 1"):
            axes.plot([end, end], [-0.35, 1.5], color=INK, lw=1.5, ls="--")
            axes.text(end, -0.5, name, ha="center", va="top")
        for rest in range(divisor):
            exact = rest / divisor
            axes.plot(exact, 0, "o", color=COLOURS[0], mfc="none", ms=8, mew=1.5)
            arrow = {
                "arrowstyle": "-|>",
                "color": COLOURS[1],
                "lw": 1.5,
                "shrinkA": 4,
                "shrinkB": 0,
            }
            axes.annotate("", (exact + error, 0.75), (exact, 0), arrowprops=arrow)
            axes.plot(exact + error, 0.8, "D", color=COLOURS[1], ms=6)
        axes.text(0.02, -0.3, "n / d", color=COLOURS[0], va="top")
        axes.text(error + 0.02, 0.95, "n · m / 2ᵏ", color=COLOURS[1], va="bottom", ha="center")
        last = (divisor - 1) / divisor
        axes.annotate("", (1, 1.25), (last, 1.25), arrowprops={"arrowstyle": "<->", "color": INK})
        axes.text((last + 1) / 2, 1.32, "1 / d", ha="center", va="bottom")
        told = "Only left to right counts: the diamonds are drawn higher so that you see both."
        axes.text(0.5, -1, told, ha="center", va="top", color=INK)
        axes.set(xlim=(-0.05, 1.1), ylim=(-1.6, 1.8))
        axes.set_axis_off()

    alt = (
        f"For n from {ns[0]:,} to {ns[-1]:,}: n / {divisor} and, {error:.3f} to the right of each,"
        f" n · {multiplier} / 2^{bits - 1 + shift}. All lie between q = {quotient:,} and q + 1,"
        f" which is 1 / {divisor} = {1 / divisor:.3f} from the last n / {divisor}."
    )
    return draw(paint, alt, width=6.2, height=2.1)
