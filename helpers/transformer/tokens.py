"""Text to tokens and back, by byte pair encoding."""

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["END", "PIECE", "Vocabulary", "plain"]

END = 0  # the token between two texts
PIECE = re.compile(r" ?[A-Za-z]+| ?[^A-Za-z\s]+|\s")  # no token reaches across two of these
ASCII = str.maketrans("‘’“”–—´·", "''\"\"--'.")


def plain(text: str) -> str:
    """Return a text in printable ASCII and line feeds: accents and unknown signs are dropped."""
    text = unicodedata.normalize("NFKD", text.translate(ASCII))
    return "".join(c for c in text if c == "\n" or " " <= c <= "~")


class Vocabulary:
    """The strings that tokens stand for, in the order in which training found them: the first is
    END's, and single characters come before all others."""

    def __init__(self, strings: Iterable[str]) -> None:
        self.strings = list(strings)
        self.tokens = {string: token for token, string in enumerate(self.strings)}
        self.known: dict[str, list[int]] = {}  # the tokens of pieces

    def __len__(self) -> int:
        return len(self.strings)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        pieces = PIECE.findall(plain(text))
        for piece in {*pieces} - self.known.keys():
            self.known[piece] = self._merged(piece)
        return [token for piece in pieces for token in self.known[piece]]

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens."""
        return "".join(self.strings[token] for token in tokens)

    def _merged(self, piece: str) -> list[int]:
        """Return a piece's tokens: the pair that training joined first is joined first."""
        parts = list(piece)
        while len(parts) > 1:
            ranks = [self.tokens.get(a + b, len(self)) for a, b in zip(parts, parts[1:])]
            first = min(ranks)
            if first == len(self):
                break
            at = ranks.index(first)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self.tokens[part] for part in parts]
