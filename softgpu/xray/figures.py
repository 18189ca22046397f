"""Figures with their alternative text: transparent, in tones that stand out from white and from
black alike.

A notebook gets them twice: as an HTML image with its alternative text, which JupyterLab shows, and
as a plain PNG for viewers that drop images from HTML, as GitHub does."""

from base64 import b64encode
from collections.abc import Callable
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler
from PIL import Image

from ..findings import FOLDED

__all__ = ["COLOURS", "INK", "Picture", "draw"]

INK = "#797979"  # as far from white as from black
COLOURS = ("#2a7fc9", "#d9661f", "#1f9e74", "#b565a7", "#b08a1e", "#d0454c", "#6f74d6")
COLOURS_STORED = 256  # of a figure: a third of the bytes, and no difference to see
DOTS_PER_INCH = 192  # two pixels for each that a notebook counts
STYLE = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.dpi": DOTS_PER_INCH,
    "font.size": 11,
    "grid.alpha": 0.3,
    "grid.color": INK,
    "hatch.color": INK,
    "savefig.transparent": True,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


class Picture:
    """A finished figure with its alternative text."""

    def __init__(self, figure: Figure, alt: str, shades: bool = False):
        drawn, small = BytesIO(), BytesIO()
        figure.savefig(drawn, format="png", bbox_inches="tight", pad_inches=0.06)
        with Image.open(drawn) as image:
            few = image if shades else image.quantize(COLOURS_STORED, Image.Quantize.FASTOCTREE)
            few.save(small, "PNG")
            self.width = image.width // 2
        self.png, self.alt, self.shades = small.getvalue(), alt, shades

    def __repr__(self) -> str:
        return self.alt

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        return self.png, {"width": self.width}

    def _repr_html_(self) -> str:
        data = b64encode(self.png).decode()
        drawn = "" if self.shades else ' class="drawn"'
        return (
            f'{FOLDED}<img{drawn} src="data:image/png;base64,{data}" width="{self.width}"'
            f' alt="{escape(self.alt)}" style="max-width: 100%">'
        )

    def save(self, path: str | Path) -> None:
        """Write the figure to a PNG file."""
        Path(path).write_bytes(self.png)


def draw(
    paint: Callable[[Any], object],
    alt: str,
    width: float = 6.2,
    height: float = 3.1,
    shades: bool = False,
) -> Picture:
    """A Picture of what paint(axes) draws, in the course's style; sizes in inches, 96 px each.
    shades: as a photograph has them."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        paint(figure.add_subplot())
        return Picture(figure, alt, shades)
