"""Words on a ground of their own, so that they read the same on a white page and on a black one."""

import os
import sys
from html import escape

from softgpu.findings import FOLDED

__all__ = ["FOLDED", "GROUNDS", "INK", "html", "plain"]

INK = "#ffffff", 231  # in HTML, and of a terminal's 256 colours
GROUNDS = {"good": ("#1a7f37", 22), "bad": ("#b42318", 88), "open": ("#0550ae", 24)}


def html(words: str, mood: str | None) -> str:
    """HTML of a badge; without a mood, of the words alone."""
    if not mood:
        return escape(words)
    style = f"background:{GROUNDS[mood][0]};color:{INK[0]};padding:0 0.4em;border-radius:3px"
    return f'<span style="{style}">{escape(words)}</span>'


def plain(words: str, mood: str | None) -> str:
    """The same for a terminal; elsewhere the words alone."""
    if not mood or not _has_colour():
        return words
    return f"\33[38;5;{INK[1]};48;5;{GROUNDS[mood][1]}m{words}\33[0m"


def _has_colour() -> bool:
    """By the customs of NO_COLOR and FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()
