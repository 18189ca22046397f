"""Numbers and constant expressions in PTX text."""

from __future__ import annotations

import operator
import struct

from .program import Immediate
from .tokens import Tokens

__all__ = ["Constants"]

OPERATORS = {  # of constant expressions: how tightly they bind, what they compute
    "|": (1, operator.or_),
    "^": (2, operator.xor),
    "&": (3, operator.and_),
    "<<": (4, lambda a, b: a << min(b, 128)),
    ">>": (4, lambda a, b: a >> min(b, 128)),
    "+": (5, operator.add),
    "-": (5, operator.sub),
    "*": (6, operator.mul),
    "/": (6, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
    "%": (6, lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1)),
}


class Constants(Tokens):
    """Reads numbers, and what is computed from them."""

    def integer(self) -> int:
        at = self.at
        value = self.constant()
        if value.kind != "int":
            raise self.error("an integer expected", at)
        return value.value

    def number(self) -> Immediate:
        """A single literal."""
        token = self.tokens[self.at]
        start = token[:2].lower()
        try:
            if start == "0f":
                value = Immediate(int(token[2:], 16), "f32")
            elif start == "0d":
                value = Immediate(int(token[2:], 16), "f64")
            elif "." in token or (start != "0x" and "e" in token.lower()):
                value = Immediate(struct.unpack("<Q", struct.pack("<d", float(token)))[0], "f64")
            elif token == "WARP_SZ":
                value = Immediate(32)
            else:
                digits = token.rstrip("U")
                octal = digits.isdigit() and digits[0] == "0"
                value = Immediate(int(digits, 8 if octal else 0))
        except ValueError:
            raise self.unexpected("a number") from None
        self.at += 1
        return value

    def constant(self) -> Immediate:
        """A constant expression; of floating point numbers only the sign can be changed."""
        token, follows = self.tokens[self.at], self.tokens[self.at + 1]
        if token[:1].isdigit() and follows not in OPERATORS:
            return self.number()
        at = self.at
        value = self.expression(1)
        if value.kind == "int" and not -(2**63) <= value.value < 2**64:
            raise self.error("a constant beyond 64 bits", at)
        return value

    def expression(self, binding: int) -> Immediate:
        value = self.unary()
        while True:
            at = self.at
            if self.tokens[at] not in OPERATORS:
                return value
            strength, compute = OPERATORS[self.tokens[at]]
            if strength < binding:
                return value
            self.at += 1
            other = self.expression(strength + 1)
            if value.kind != "int" or other.kind != "int":
                raise self.error("arithmetic on floating point constants", at)
            try:
                value = Immediate(compute(value.value, other.value))
            except (ArithmeticError, ValueError):
                raise self.error("a constant that cannot be computed", at) from None

    def unary(self) -> Immediate:
        token = self.tokens[self.at]
        if token not in ("-", "+", "~", "!", "("):
            return self.number()
        at = self.at
        self.at += 1
        if token == "(":
            value = self.expression(1)
            self.expect(")")
            return value
        value = self.unary()
        if value.kind != "int":
            if token in "+-":
                sign = 1 << (31 if value.kind == "f32" else 63)
                return Immediate(value.value ^ (sign if token == "-" else 0), value.kind)
            raise self.error("arithmetic on floating point constants", at)
        number = value.value
        return Immediate({"-": -number, "+": number, "~": ~number, "!": int(not number)}[token])
