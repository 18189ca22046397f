"""Several PTX texts made one, as a linker makes one program of several files.

Terms: linking, symbol resolution (Levine 1999; docs/terms.md).
"""

from __future__ import annotations

import re
from pathlib import Path

from .program import PtxError

__all__ = ["link"]

# What every text begins with; the linker of the driver lets one text follow the other.
_BEGIN = re.compile(r"^(?=[ \t]*\.version\b)", re.MULTILINE)
# Declarations of a module begin a line; these are seen from other texts only if they say so.
_VARIABLE = r"\.(?:global|const|shared)\b[^;={\[\n]*?([\w$]+)\s*[\[=;]"
_FUNCTION = r"\.func\s*(?:\([^)]*\)\s*)?([\w$]+)"
_PRIVATE = re.compile(rf"^(?:{_VARIABLE}|{_FUNCTION})", re.MULTILINE)
_DEFINED = re.compile(
    r"^\.visible\s+\.(?:entry|func\s*(?:\([^)]*\))?)\s*([\w$]+)[^;{]*\{", re.MULTILINE
)
_FILE_NUMBER = re.compile(r"(^[ \t]*\.(?:file|loc)\s+|\binlined_at\s+)(\d+)", re.MULTILINE)
_FILES = 10_000  # more than a text has

# libcudadevrt's part for grids that meet as a whole; what else it has is not supported.
_RUNTIME = Path(__file__).parent.parent / "lib64/cudadevrt.ptx"
_NEEDS_RUNTIME = re.compile(r"^\.extern\s+\.func\b[^;]*\bcudaCG\w+", re.MULTILINE)


def link(text: str) -> str:
    """One text of those that stand in this one; names that are private to each are kept apart."""
    texts = _BEGIN.split(text)[1:]
    if _NEEDS_RUNTIME.search(text):
        texts.append(_RUNTIME.read_text())
    if len(texts) < 2:
        return text
    defined: set[str] = set()
    for part in texts:
        names = set(_DEFINED.findall(part))
        if twice := defined & names:
            raise PtxError(f"{', '.join(sorted(twice))} is defined in two of the linked texts")
        defined |= names
    return "".join(_set_apart(part, number) for number, part in enumerate(texts))


def _set_apart(text: str, number: int) -> str:
    """A text whose private names and source files differ from the ones of the texts before it."""
    if not number:
        return text
    private = {variable or function for variable, function in _PRIVATE.findall(text)}
    if private:
        names = "|".join(map(re.escape, sorted(private, key=len, reverse=True)))
        text = re.sub(rf"(?<![\w$%.])({names})(?![\w$])", rf"\g<1>$text{number}", text)
    return _FILE_NUMBER.sub(lambda match: f"{match[1]}{int(match[2]) + _FILES * number}", text)
