"""Verdicts and predictions in the language of the lab: COURSE_LANGUAGE=zh, catalogues in
publish/translations/."""

import json
import os
from enum import Enum
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Any

from softgpu.phrases import Said

__all__ = ["told"]

TRANSLATIONS = Path(__file__).resolve().parents[1] / "publish/translations"


def told(text: Any) -> Any:
    """A text in that language; what has no translation stays English.

    The words of a phrase are found by its code, and its blanks are translated, too. Texts of the
    course's contents, such as an exercise's title, are found as they are written."""
    language = os.environ.get("COURSE_LANGUAGE")
    return _told(text, _catalogue(language)) if language else text


def _told(text: Any, catalogue: dict) -> Any:
    if not isinstance(text, Said):
        if isinstance(text, Enum):
            return _words(text, catalogue) or text
        return catalogue["contents"].get(text, text) if isinstance(text, str) else text
    if text.parts:
        return text.between.join(_told(part, catalogue) for part in text.parts)
    words = text.phrase and _words(text.phrase, catalogue)
    blanks = {name: _told(value, catalogue) for name, value in text.blanks.items()}
    return words.format(**blanks) if words else text


def _words(code: Enum, catalogue: dict) -> str:
    return catalogue["words"].get(type(code).__name__, {}).get(code.name, "")


@cache
def _catalogue(language: str) -> dict[str, Any]:
    """words: {name of an enum: {code: words}}; contents: {English: words}."""
    words, *contents = (_table(language, name) for name in ("words", "verdicts", "predictions"))
    return {"words": words, "contents": reduce(or_, contents)}


def _table(language: str, name: str) -> dict[str, Any]:
    file = TRANSLATIONS / language / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
