"""PTX text as tokens, and a reader that goes through them and says where it stopped."""

from __future__ import annotations

import re
from itertools import islice

from .program import PtxError

__all__ = ["NAME", "TOKEN", "Tokens", "line_number", "token_lines"]

TOKEN = re.compile(
    r"""(?:\s+|//[^\n]*|/\*[\s\S]*?\*/)*
    ( (?:[A-Za-z_$][\w$]*|%[\w$]+)(?:(?:\.|::)[\w$]+)*      # name, opcode with its modifiers
    | \.[A-Za-z_]\w*(?:::\w+)?                              # directive
    | 0[fF][0-9A-Fa-f]{8} | 0[dD][0-9A-Fa-f]{16} | 0[xX][0-9A-Fa-f]+U? | 0[bB][01]+U?
    | \d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+|U?)
    | "[^"\\]*(?:\\.[^"\\]*)*"
    | <<|>>
    | \S | \Z )""",
    re.VERBOSE | re.ASCII,
)
NAME = re.compile(r"[A-Za-z_$%][\w$%]*", re.ASCII)


def line_number(text: str, token: int) -> int:
    """The line of a PTX text on which a token stands."""
    match = next(islice(TOKEN.finditer(text), token, None), None)
    return text.count("\n", 0, match.start(1) if match else len(text)) + 1


def token_lines(text: str) -> list[int]:
    """The line of a PTX text on which each of its tokens stands."""
    lines, number, before = [], 1, 0
    for match in TOKEN.finditer(text):
        number += text.count("\n", before, match.start(1))
        before = match.start(1)
        lines.append(number)
    return lines


class Tokens:
    """One pass over the tokens: `at` is the index of the next one."""

    def __init__(self, text: str):
        self.text = text
        self.tokens = TOKEN.findall(text)
        self.tokens += ("", "")  # the end, and something to look ahead at
        self.at = 0

    def error(self, message: str, at: int | None = None) -> PtxError:
        """An error at a token (the next one), with the line it is on."""
        number = line_number(self.text, self.at if at is None else at)
        lines = self.text.splitlines()
        line = lines[number - 1].strip() if number <= len(lines) else "end of text"
        return PtxError(f"PTX line {number}: {message}: {line}")

    def unexpected(self, wanted: str) -> PtxError:
        return self.error(f"{wanted} expected, not {self.tokens[self.at] or 'the end'!r}")

    def expect(self, token: str) -> None:
        if self.tokens[self.at] != token:
            raise self.unexpected(repr(token))
        self.at += 1

    def accept(self, token: str) -> bool:
        if self.tokens[self.at] != token:
            return False
        self.at += 1
        return True

    def name(self) -> str:
        token = self.tokens[self.at]
        if not NAME.fullmatch(token):
            raise self.unexpected("a name")
        self.at += 1
        return token

    def skip_past(self, token: str) -> None:
        try:
            self.at = self.tokens.index(token, self.at) + 1
        except ValueError:
            raise self.unexpected(repr(token)) from None
