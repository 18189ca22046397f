"""Declarations of variables and parameters, with their initial values."""

from __future__ import annotations

import math
import struct

from .operands import SIZES, Operands
from .program import Immediate, Symbol, Variable

__all__ = ["SPACES", "Variables"]

SPACES = {".global", ".const", ".shared", ".local", ".param"}
FLOATS = {"f32": "<f", "f64": "<d"}
ALIGNMENTS = [1 << n for n in range(16)]
MOST_BYTES = 2**40  # of a variable


class Variables(Operands):
    """Reads declarations."""

    def attributes(self) -> None:
        while self.accept(".attribute"):
            self.expect("(")
            depth = 1
            while depth:
                token = self.tokens[self.at]
                if not token:
                    raise self.unexpected("')'")
                depth += (token == "(") - (token == ")")
                self.at += 1

    def parameters(self) -> list[Variable]:
        found = []
        self.expect("(")
        while not self.accept(")"):
            if self.tokens[self.at] == ".hidden":
                raise self.error(
                    "the driver writes this parameter, a tensor map, as only NVIDIA's can: leave "
                    "out TMA (in cuTile, pass allow_tma=False to loads and stores)"
                )
            if not (self.accept(".param") or self.accept(".reg")):
                raise self.unexpected(".param")
            space = self.tokens[self.at - 1][1:]
            type_, align, width = self.element()
            found.append(self.variable(space, type_, align, width))
            if self.tokens[self.at] != ")":
                self.expect(",")
        return found

    def element(self) -> tuple[str, int, int]:
        """Type, alignment and vector width (1, 2, 4) of a declaration, up to its name."""
        align, width, type_ = 0, 1, ""
        while (token := self.tokens[self.at])[:1] == ".":
            if token == ".attribute":
                self.attributes()
                continue
            self.at += 1
            if token == ".align":
                align = self.integer()
                if align not in ALIGNMENTS:
                    raise self.error("no alignment", self.at - 1)
            elif token in (".v2", ".v4", ".v8"):
                width = int(token[2:])
            elif token == ".ptr":  # what a parameter points to
                if self.tokens[self.at] in SPACES:
                    self.at += 1
                if self.accept(".align"):
                    self.integer()
            elif token[1:] in SIZES:
                type_ = token[1:]
            else:
                self.at -= 1
                raise self.unexpected("a type")
        if not type_:
            raise self.unexpected("a type")
        return type_, align, width

    def variables(self, space: str) -> list[Variable]:
        type_, align, width = self.element()
        found = [self.variable(space, type_, align, width)]
        while self.accept(","):
            found.append(self.variable(space, type_, align, width))
        self.expect(";")
        return found

    def variable(self, space: str, type_: str, align: int, width: int) -> Variable:
        """One declared variable from its name on, with its initial value."""
        name = self.name()
        size = SIZES[type_]
        dims = []
        while self.accept("["):
            dims.append(0 if self.tokens[self.at] == "]" else self.integer())
            if not 0 <= dims[-1] < MOST_BYTES:
                raise self.error("no length of an array", self.at - 1)
            self.expect("]")
        shape = [*dims, width] if width > 1 else dims
        total = total_of(shape, size)
        if total > MOST_BYTES:
            raise self.error(f"{name} has {total} bytes", self.at - 1)
        variable = Variable(name, space, type_, total, align or size * width)
        if self.accept("="):
            initial, variable.relocations = _Initialiser(self, type_, shape).read()
            variable.initial = initial
            if not dims or dims[0]:
                if len(initial) > total:
                    raise self.error(f"{name} has too many initial values", self.at - 1)
            else:
                row = total_of(shape[1:], size)
                variable.bytes = -(-len(initial) // row) * row
        return variable


class _Initialiser:
    """The initial value of a variable: bytes, and addresses to be filled in at load."""

    def __init__(self, parser: Variables, type_: str, shape: list[int]):
        self.parser = parser
        self.type = type_
        self.size = SIZES[type_]
        self.shape = shape
        self.bytes = bytearray()
        self.addresses: dict[tuple[int, str, int], int] = {}  # place, symbol, addend: bits covered

    def read(self) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
        at = self.parser.at
        if self.parser.tokens[at] == "{":
            self.braces(0, 0)
        else:
            self.scalar(0)
        if any(mask != 2**64 - 1 for mask in self.addresses.values()):
            raise self.parser.error("only whole 8-byte addresses can be initial values", at)
        return bytes(self.bytes), tuple(self.addresses)

    def braces(self, level: int, offset: int) -> None:
        parser = self.parser
        parser.expect("{")
        row = total_of(self.shape[level + 1 :], self.size)
        while not parser.accept("}"):
            if parser.tokens[parser.at] == "{":
                self.braces(level + 1, offset)
                offset += row
            else:
                self.scalar(offset)
                offset += self.size
            if parser.tokens[parser.at] != "}":
                parser.expect(",")

    def scalar(self, offset: int) -> None:
        parser = self.parser
        token = parser.tokens[parser.at]
        if token[:1] in "_$%" or token[:1].isalpha():
            self.address(offset, (1 << 8 * self.size) - 1)
        elif token[:1].isdigit() and parser.tokens[parser.at + 1] == "(":
            mask = parser.integer()
            parser.expect("(")
            self.address(offset, mask)
            parser.expect(")")
        else:
            self.put(offset, self.pack(parser.constant()))

    def address(self, offset: int, mask: int) -> None:
        """sym, generic(sym), each with + bytes or [element]: what `mask` selects goes here."""
        parser = self.parser
        symbol = Symbol(parser.name())
        if symbol.name == "generic" and parser.accept("("):
            symbol = parser.moved(Symbol(parser.name()))
            parser.expect(")")
        symbol = parser.moved(symbol)
        low = (mask & -mask).bit_length() - 1
        key = (offset - low // 8, symbol.name, symbol.offset)
        self.addresses[key] = self.addresses.get(key, 0) | mask
        self.put(offset, bytes(self.size))

    def pack(self, value: Immediate) -> bytes:
        number, kind = value.value, value.kind
        if self.type in FLOATS and kind != self.type:
            if kind != "int":
                (number,) = struct.unpack(FLOATS[kind], number.to_bytes(SIZES[kind], "little"))
            try:
                return struct.pack(FLOATS[self.type], number)
            except OverflowError:
                raise self.parser.error(
                    f"a number beyond {self.type}", self.parser.at - 1
                ) from None
        return (number & ((1 << 8 * self.size) - 1)).to_bytes(self.size, "little")

    def put(self, offset: int, data: bytes) -> None:
        if len(self.bytes) < offset:
            self.bytes += bytes(offset - len(self.bytes))
        self.bytes[offset : offset + len(data)] = data


def total_of(extents: list[int], size: int) -> int:
    """Bytes of an array of elements of `size` bytes."""
    return math.prod(extents, start=size)
