"""Verdicts and predictions in the language of the lab: COURSE_LANGUAGE=zh, tables of phrases in
publish/translations/."""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["told"]

TRANSLATIONS = Path(__file__).resolve().parents[1] / "publish/translations"
TABLES = "verdicts", "predictions"
BLANK = re.compile(r"\\\{(\w+)\\\}")
ANYTHING, WORD = r".+?", r"\S+?"
ONE_WORD = "thread", "block", "line", "number", "count", "value", "best", "most"


def told(text: str) -> str:
    """A text in that language, line by line; what has no translation stays English.

    A phrase of the table may have blanks, such as {size}: what stands there is told, too. The first
    phrase that fits counts."""
    language = os.environ.get("COURSE_LANGUAGE")
    return "\n".join(_told(line, language) for line in text.split("\n")) if language else text


def _told(line: str, language: str) -> str:
    phrases, patterns = _table(language)
    inner = line.strip()
    if inner in phrases:
        return line.replace(inner, phrases[inner])
    for pattern, phrase in patterns:
        if match := pattern.fullmatch(inner):
            blanks = {name: _told(value, language) for name, value in match.groupdict().items()}
            return line.replace(inner, phrase.format(**blanks))
    return line


@cache
def _table(language: str) -> Any:
    """The phrases without blanks, and [(pattern, phrase)] of the others, in the table's order."""
    files = [TRANSLATIONS / language / f"{name}.json" for name in TABLES]
    table: dict[str, str] = {}
    for file in files:
        table |= json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    plain = {english: phrase for english, phrase in table.items() if "{" not in english}
    return plain, [
        (re.compile(BLANK.sub(_blank, re.escape(english))), phrase)
        for english, phrase in table.items()
        if english not in plain
    ]


def _blank(match: re.Match) -> str:
    """What may stand in a phrase's blank."""
    return f"(?P<{match[1]}>{WORD if match[1] in ONE_WORD else ANYTHING})"
