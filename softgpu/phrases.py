"""Sentences that know their codes: what judges, tests and translations compare, not the words.

A `Phrase` is an enum of codes, whose values are the English words with blanks in braces; calling a
member fills them: a `Said`, which is its text, and knows the member and what the blanks hold."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

__all__ = ["Phrase", "Said", "joined"]


class Said(str):
    """A text made of a phrase, or of several texts joined, whose phrase is None."""

    phrase: Enum | None  # a Phrase, or a fault's kind: the driver has its words
    blanks: dict[str, Any]
    parts: tuple[str, ...]
    between: str

    def __new__(
        cls, text: str, phrase: Enum | None = None, blanks: dict[str, Any] | None = None
    ) -> Said:
        said = super().__new__(cls, text)
        said.phrase, said.blanks, said.parts, said.between = phrase, blanks or {}, (), ""
        return said

    @property
    def codes(self) -> Iterator[Enum]:
        """The phrases that it is made of, its blanks' and parts' after its own."""
        if self.phrase is not None:
            yield self.phrase
        for inner in (*self.blanks.values(), *self.parts):
            if isinstance(inner, Said):
                yield from inner.codes

    def has(self, phrase: Enum) -> bool:
        return phrase in self.codes

    @property
    def code(self) -> str:
        """Its phrases' names, in lower case, and what else fills their blanks: no sentence."""
        return " ".join(_words_of_code(self))


def _words_of_code(value: Any) -> Iterator[str]:
    if not isinstance(value, Said):
        yield str(value)
        return
    if value.phrase is not None:
        yield value.phrase.name.lower()
    if value.phrase is not None and not isinstance(value.phrase, Phrase):
        return
    for inner in (*value.blanks.values(), *value.parts):
        yield from _words_of_code(inner)


class Phrase(Enum):
    """Base of the enums of words."""

    def __call__(self, /, **blanks: Any) -> Said:
        return Said(self.english(blanks), self, blanks)

    def english(self, blanks: dict[str, Any]) -> str:
        return self.value.format(**blanks)


def joined(*texts: str, between: str = " ") -> Said:
    """Texts one after the other; the empty ones are left out."""
    parts = tuple(filter(None, texts))
    said = Said(between.join(parts))
    said.parts, said.between = parts, between
    return said
