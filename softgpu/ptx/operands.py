"""Operands: registers, symbols and addresses, and what names stand for in each scope."""

from __future__ import annotations

import re

from .constants import Constants
from .program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Not,
    Operand,
    Register,
    Special,
    Symbol,
    Vector,
)
from .tokens import NAME

__all__ = ["SIZES", "Operands"]

SPECIAL = re.compile(
    r"%(?:(?:n?tid|n?ctaid|n?clusterid|cluster_n?ctaid)(?:\.[xyzw])?|cluster_n?ctarank"
    r"|is_explicit_cluster|laneid|n?warpid|n?smid|gridid|lanemask_(?:eq|le|lt|ge|gt)"
    r"|clock(?:_hi|64)?|pm[0-7](?:_64)?|envreg(?:[12]?\d|3[01])|globaltimer(?:_lo|_hi)?"
    r"|reserved_smem_offset_\w+|(?:total|aggr|dynamic)_smem_size|current_graph_exec)"
)
PART = re.compile(r"\.[bh][0-7]+")  # of a scalar register, in video instructions
SIZES = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16", "bf16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64", "texref", "samplerref", "surfref"), 8),
    "b128": 16,
    "pred": 1,
}
COMPONENTS = ("xr", "yg", "zb", "wa")


class Operands(Constants):
    """Reads operands; knows what names stand for in the function at hand."""

    def __init__(self, text: str):
        super().__init__(text)
        self.result = Module("", "", {}, {}, text)
        self.begin_names()

    def begin_names(self) -> None:
        self.function = Function("", False, [])  # of nobody, until its name is known
        self.known: dict[str, Operand] = {}  # what a single token stands for
        self.declared: set[str] = set()
        self.scopes: list[tuple[int, int, list]] = []  # open { }: number, start, names to restore
        self.scope_count = 0

    # Names and scopes

    def declare(self, name: str, value: Operand) -> None:
        if self.scopes:
            self.scopes[-1][2].append((name, self.known.get(name)))
        self.known[name] = value

    def unique(self, name: str) -> str:
        """Declare a variable or table in the scope; its name from now on."""
        full = self.name_in_scope(name)
        self.declare(name, Symbol(full))
        return full

    def name_in_scope(self, name: str) -> str:
        """What is declared under a name in the scope is called so in the whole function."""
        full = f"{name}@{self.scopes[-1][0]}" if self.scopes else name
        if full in self.declared:
            raise self.error(f"{name} is declared twice", self.at - 1)
        self.declared.add(full)
        return full

    def declare_register(self, name: str, type_: str, width: int = 1) -> None:
        full = self.name_in_scope(name)
        registers = self.function.registers
        if width == 1:
            registers[full] = register = Register(full, type_)
            self.declare(name, register)
            return
        parts = []
        for letters in COMPONENTS[:width]:
            part = Register(f"{full}.{letters[0]}", type_)
            registers[part.name] = part
            parts.append(part)
            for letter in letters:
                self.declare(f"{name}.{letter}", part)
        self.declare(name, Vector(tuple(parts)))

    def close_scope(self) -> None:
        number, start, names = self.scopes.pop()
        for name, before in reversed(names):
            if before is None:
                del self.known[name]
            else:
                self.known[name] = before
        body = self.function.body
        labels = {}
        for index in range(start, len(body)):
            item = body[index]
            if isinstance(item, Label) and "@" not in item.name:
                labels[item.name] = f"{item.name}@{number}"
                body[index] = Label(labels[item.name])
        if not labels:
            return
        for item in body[start:]:
            if isinstance(item, Instruction) and item.opcode == "bra":
                item.operands = tuple(
                    Symbol(labels[target.name])
                    if isinstance(target, Symbol) and target.name in labels
                    else target
                    for target in item.operands
                )
        for name, targets in self.function.branch_targets.items():
            if int(name.partition("@")[2] or 0) >= number:  # declared in this scope or inside it
                targets[:] = [labels.get(target, target) for target in targets]

    # Operands

    def group(self, end: str) -> Vector:
        """Operands in ( ) or { }, separated by commas."""
        self.at += 1
        found: list = []
        while not self.accept(end):
            self.operand(found)
            if self.tokens[self.at] != end:
                self.expect(",")
        return Vector(tuple(found))

    def operand(self, found: list) -> None:
        """Read one operand, or the two of `a|p`, and append them."""
        token = self.tokens[self.at]
        if token == "[":
            found.append(self.address())
        elif token == "{":
            found.append(self.group("}"))
        elif token == "!" and NAME.fullmatch(self.tokens[self.at + 1]):
            self.at += 1
            register = self.value()
            if not isinstance(register, Register):
                self.at -= 1
                raise self.unexpected("a predicate register")
            found.append(Not(register))
        elif token[:1] in "_$%" or token[:1].isalpha():
            found.append(self.value())
            if self.accept("|"):
                found.append(self.value())
        elif token:
            at, value = self.at, self.constant()
            found.append(value)
            if self.at == at + 1:
                self.known[token] = value
        else:
            raise self.unexpected("an operand")

    def value(self) -> Operand:
        """What a name stands for, with an offset where one is added to a symbol."""
        token = self.tokens[self.at]
        value = self.known.get(token)
        if value is None:
            if token == "_":
                self.at += 1
                return None
            value = self.known[token] = self.meaning(token)
        if token == "WARP_SZ":
            return self.constant()
        self.at += 1
        return self.moved(value) if isinstance(value, Symbol) else value

    def moved(self, symbol: Symbol) -> Symbol:
        """A symbol with the bytes added to it, or the element of it, that may follow its name."""
        if self.tokens[self.at] in ("+", "-"):
            return Symbol(symbol.name, symbol.offset + self.integer())
        if not self.accept("["):
            return symbol
        function, name = self.function, symbol.name
        variables = (*function.variables, *function.params, *self.result.variables.values())
        types = [variable.type for variable in variables if variable.name == name]
        if not types:
            raise self.error(f"there is no array {name}", self.at - 2)
        number = self.integer()
        self.expect("]")
        return Symbol(name, symbol.offset + number * SIZES[types[0]])

    def meaning(self, token: str) -> Register | Symbol | Special | Immediate:
        if token == "WARP_SZ":
            return Immediate(32)
        if SPECIAL.fullmatch(token):
            return Special(token[1:])
        root, dot, part = token.partition(".")
        if dot and root in self.known and PART.fullmatch(dot + part):
            return Symbol(token)
        if token[:1] == "%" or not NAME.fullmatch(token):
            raise self.unexpected("a declared register or a name")
        return Symbol(token)

    def address(self) -> Address | Vector:
        self.expect("[")
        base: Register | str | None = None
        offset = 0
        token = self.tokens[self.at]
        if token[:1] in "_$%" or token[:1].isalpha():
            at = self.at
            value = self.value()
            if isinstance(value, Symbol):
                base, offset = value.name, value.offset
            elif isinstance(value, Register):
                base = value
                if self.tokens[self.at] in ("+", "-"):
                    offset = self.integer()
            else:
                raise self.error("an address expected", at)
        else:
            offset = self.integer()
        found: list = [Address(base, offset)]
        while self.accept(","):
            self.operand(found)
        self.expect("]")
        return found[0] if len(found) == 1 else Vector(tuple(found))
