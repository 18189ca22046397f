"""Pictures of what a tensor core multiplies: which lane holds which element, which bits count."""

import re
from dataclasses import dataclass
from math import frexp, ldexp

import numpy as np
from matplotlib.patches import Rectangle

from ..ptx.matrices import BITS, Product, product_of
from ..ptx.program import Instruction, SourceLine, Unsupported
from .draw import HUES
from .figures import COLOURS, INK, draw

__all__ = ["draw_fragment", "draw_sum", "holders"]

SUMS = {"f64": "f64", **dict.fromkeys(("s8", "u8", "s4", "u4", "b1"), "s32")}
PARTS = "a", "b", "c"
KEPT = 25  # bits below the largest exponent that a sum of a tensor core has, on Hopper
WIDE, HIGH = 0.48, 0.25  # inches of a box
GAP, SMALL = 2.6, 9  # boxes between matrices, points


def holders(shape="m16n8k16", kind="f16", part="a"):
    """Who holds each element of a fragment of mma.sync: arrays of lanes, and of the number that the
    element has among its lane's, both in the matrix's shape.

    shape, kind: as PTX spells them; part: "a", "b" or "c", which d is like."""
    product = _product(shape, kind)
    if part not in PARTS:
        raise ValueError(f"a part is one of {', '.join(PARTS)}, not {part!r}")
    m, n, k = product.shape
    row, column = np.indices({"a": (m, k), "b": (k, n), "c": (m, n)}[part])
    if part == "c":
        return row % 8 * 4 + column // 2, row // 8 * 2 + column % 2
    width = max(32 // BITS[kind], 1)  # elements side by side along k that are a lane's
    line, along, high = (row, column, m // 8) if part == "a" else (column, row, 1)
    word = along // (4 * width) * high + line // 8
    return line % 8 * 4 + along // width % 4, word * width + along % width


def _product(shape, kind) -> Product:
    """The mma of this shape and type of a and b."""
    sums = SUMS.get(kind, "f32")
    words = f"sync aligned {shape} row col {sums} {kind} {kind} {sums}".split()
    words += ["and", "popc"] if kind == "b1" else []
    try:
        if not re.fullmatch(r"m\d+n\d+k\d+", shape) or kind not in BITS:
            raise Unsupported("")
        product = product_of(Instruction("mma", tuple(words), (), SourceLine("", 0)))
    except Unsupported:
        product = None
    if product is None or product.is_quads:
        raise ValueError(f"no mma.sync of {kind} in shape {shape} has one fragment for a warp")
    return product


@dataclass(frozen=True)
class _Part:
    """One matrix of a product, in boxes for neighbours that one lane holds."""

    head: str
    lanes: np.ndarray
    numbers: np.ndarray
    down: int  # rows of a box
    along: int  # columns
    wide: int  # a box, where a column of b is 1

    @classmethod
    def of(cls, part, shape, kind):
        lanes, numbers = holders(shape, kind, part)
        word, size = max(32 // BITS[kind], 1), " × ".join(map(str, lanes.shape))
        box = {"a": (1, word, 1), "b": (word, 1, 1), "c": (1, 2, 2)}[part]
        return cls(f"{part}: {size}{f' {kind}' * (part != 'c')}", lanes, numbers, *box)

    @property
    def size(self):
        """Its rows and columns as they are drawn."""
        return self.lanes.shape[0] // self.down, self.lanes.shape[1] // self.along * self.wide

    def paint(self, axes, x, y, lane):
        """The boxes, and the numbers of rows and columns. lane: as draw_fragment has it."""
        axes.text(x, y - 0.25, self.head, va="bottom")
        lanes = self.lanes[:: self.down, :: self.along]
        last = self.numbers[self.down - 1 :: self.down, self.along - 1 :: self.along]
        for (row, column), owner in np.ndenumerate(lanes):
            number = self.numbers[row * self.down, column * self.along]
            several = f"–{last[row, column]}" if last[row, column] > number else ""
            text = f"{owner}" if lane is None else f"{number}{several}" if lane == owner else ""
            _paint_box(axes, x + column * self.wide, y + row, self.wide, owner, text)
        for row in range(0, lanes.shape[0], 4):
            place = x - 0.1, y + row + 0.5
            axes.text(*place, row * self.down, ha="right", va="center", fontsize=SMALL)
        for column in range(0, lanes.shape[1], 4 // self.wide):
            place = x + (column + 0.5) * self.wide, y + lanes.shape[0] + 0.1
            axes.text(*place, column * self.along, ha="center", va="top", fontsize=SMALL)

    def told(self, lane):
        """What a lane holds of it, in words."""
        held = np.argwhere(self.lanes == lane)
        held = held[np.argsort(self.numbers[tuple(held.T)])].tolist()
        places = ", ".join(f"[{row}, {column}]" for row, column in held[:8])
        return f"{self.head}, lane {lane} holds {places}{', …' * (len(held) > 8)}."


def _paint_box(axes, x, y, wide, owner, text):
    """A box in the colour of its lane, which is pale if there is nothing to say."""
    colour = {"facecolor": HUES[owner], "linewidth": 0, "alpha": 1 if text else 0.2}
    axes.add_patch(Rectangle((x + 0.04, y + 0.06), wide - 0.08, 0.88, **colour))
    ink = "black" if HUES[owner] @ (0.3, 0.59, 0.11) > 0.5 else "white"
    style = {"ha": "center", "va": "center", "color": ink, "fontsize": SMALL}
    axes.text(x + wide / 2, y + 0.53, text, **style)


def draw_fragment(shape="m16n8k16", kind="f16", lane=None, parts="abc"):
    """Which lane holds which elements of a product d = a b + c by mma.sync: a to the left of c, b
    above it, a box for neighbours that one lane holds. d is like c.

    lane: only the boxes of this one are named, by their elements' numbers among its own; parts:
    draw some only, as "a" or "bc"."""
    drawn = {part: _Part.of(part, shape, kind) for part in parts}
    sizes = {name: part.size for name, part in drawn.items()}
    left = sizes["a"][1] + GAP if "a" in drawn and len(drawn) > 1 else 0
    top = sizes["b"][0] + GAP if "b" in drawn and len(drawn) > 1 else 0
    corners = {"a": (0, top), "b": (left, 0), "c": (left, top)}
    wide = max(corners[name][0] + size[1] for name, size in sizes.items())
    high = max(corners[name][1] + size[0] for name, size in sizes.items())

    def paint(axes):
        for name, part in drawn.items():
            part.paint(axes, *corners[name], lane)
        axes.set(xlim=(-1.1, wide + 0.05), ylim=(high + 1.05, -1.4))
        axes.set_axis_off()

    alt = f"{shape}: " + " ".join(part.told(lane or 0) for part in drawn.values())
    return draw(paint, alt, width=WIDE * (wide + 1.1), height=HIGH * (high + 2.5))


def draw_sum(terms, kept=KEPT):
    """How a tensor core adds: the bits of all terms under each other. Those more than `kept` places
    below the largest exponent are cut off before anything is added.

    terms: pairs of factors, whose exponents are added, or numbers, as c is one."""
    pairs = [term if isinstance(term, tuple) else (term, 1) for term in terms]
    values = [a * b for a, b in pairs]
    end = max(_exponent(a) + _exponent(b) for a, b in pairs if a and b) - kept
    sums = [ldexp(int(ldexp(value, -end)), end) for value in values]
    begin = max(_exponent(value) for value in (*values, sum(sums)) if value)
    last = min(end - 2, *(1 - value.as_integer_ratio()[1].bit_length() for value in values))
    names = [
        f"{a:g} · {b:g}" if isinstance(t, tuple) else f"{t:g}" for t, (a, b) in zip(terms, pairs)
    ]
    rows = [*zip(names, values), ("sum", sum(sums))]

    def paint(axes):
        for y, (name, value) in enumerate(rows):
            axes.text(-0.4, y + 0.53, name, ha="right", va="center")
            for x, place in enumerate(range(begin, last - 1, -1)):
                is_set = int(abs(value) // ldexp(1, place)) & 1
                colour = COLOURS[5 if place < end else 2 if name == "sum" else 0]
                style = {"facecolor": colour} if is_set else {"fill": False, "alpha": 0.4}
                box = Rectangle((x + 0.06, y + 0.1), 0.88, 0.8, edgecolor=INK, **style)
                axes.add_patch(box)
        edge = begin - end + 1
        axes.plot([edge, edge], [-0.3, len(rows)], color=COLOURS[5], linewidth=2)
        axes.text(edge + 0.2, -0.15, "cut off", va="bottom", color=COLOURS[5])
        axes.axhline(len(terms), color=INK)
        for x in range(0, begin - last + 1, 4):
            axes.text(x + 0.5, len(rows) + 0.15, f"$2^{{{begin - x}}}$", ha="center", va="top")
        axes.set(xlim=(-0.2, begin - last + 1.2), ylim=(len(rows) + 1.2, -1.2))
        axes.set_axis_off()

    alt = f"Terms {', '.join(names)}: bits below 2^{end} are cut off, then all is added:"
    return draw(
        paint,
        f"{alt} {sum(sums):g}, where the sum is {sum(values):g}.",
        height=0.3 * len(rows) + 0.7,
    )


def _exponent(value):
    return frexp(value)[1] - 1
