"""What a PTX text says, as plain data: modules, functions, variables, instructions, operands."""

from __future__ import annotations

import builtins
import math
import os.path
import re
from dataclasses import dataclass, field
from typing import Any

from ..contract import DEVICE, LANES

__all__ = [
    "Address",
    "Function",
    "Immediate",
    "Instruction",
    "InternalError",
    "Label",
    "Module",
    "Not",
    "Operand",
    "PtxError",
    "TooLarge",
    "Register",
    "SourceLine",
    "Special",
    "Symbol",
    "Unsupported",
    "Variable",
    "Vector",
    "elements_of",
]


class PtxError(Exception):
    """PTX that cannot be read or run; the message names instruction and source line."""

    why: str = ""  # what keeps an instruction from running


class TooLarge(PtxError):
    """More memory than a block or a thread can have, or more parameters than a kernel."""


class Unsupported(PtxError):
    """Why the instruction at hand cannot be run; whoever emits it adds which one, and where."""


class InternalError(Exception):
    """A mistake of the software GPU's own: the message says what it was at, the cause why."""


def _operand(operand: Any) -> str:
    return "_" if operand is None else str(operand)


@dataclass(frozen=True)
class SourceLine:
    """A line of CUDA source, as `.loc` and `.file` give it; line 0 where none is known."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}" if self.line else "unknown source line"


@dataclass(frozen=True)
class Register:
    """A virtual register; `type` is as declared: pred, b16, b32, b64, b128, f32, f64, s32 ..."""

    name: str
    type: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Not:
    """A negated predicate as a source operand, `!%p1`."""

    register: Register

    def __str__(self) -> str:
        return f"!{self.register}"


@dataclass(frozen=True)
class Immediate:
    """A constant. `kind`: int (may be negative), f32 or f64 (bit patterns; 1.5 is an f64)."""

    value: int
    kind: str = "int"

    def __str__(self) -> str:
        if self.kind == "int":
            return str(self.value)
        return f"0{'f' if self.kind == 'f32' else 'd'}{self.value:0{int(self.kind[1:]) // 4}X}"


@dataclass(frozen=True)
class Special:
    """A special register such as %tid.x, without the percent sign: "tid.x", "laneid"."""

    name: str

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True)
class Symbol:
    """The address (plus offset) of a variable, parameter or function."""

    name: str
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.name}+{self.offset}" if self.offset else self.name


@dataclass(frozen=True)
class Address:
    """A memory operand [base + offset]; the base is a register, a symbol's name or None."""

    base: Register | str | None
    offset: int = 0

    def __str__(self) -> str:
        return (
            f"[{'' if self.base is None else self.base}{f'{self.offset:+}' if self.offset else ''}]"
        )


@dataclass(frozen=True)
class Vector:
    """A brace list {a, b, c, d}; an element may be None where PTX writes the sink `_`.

    A register declared with .v2 or .v4 is the Vector of its components, the registers v.x, v.y ...
    A tex operand [texture, {x, y}] is a Vector whose first element is an Address.
    """

    elements: tuple

    def __str__(self) -> str:
        return f"{{{', '.join(map(_operand, self.elements))}}}"


def elements_of(operand: Operand) -> tuple:
    """The operands of a Vector, or the only one."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


Operand = Register | Not | Immediate | Special | Symbol | Address | Vector | None
"""What stands between an instruction's commas; None is the sink `_`."""


@dataclass(frozen=True)
class Label:
    """A branch target, standing in a function's body in front of the instruction it names."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}:"


@dataclass(eq=False)
class Instruction:
    """One instruction: `ld.global.v4.f32` has opcode "ld" and modifiers ("global", "v4", "f32").

    It equals itself only, and so can be the key of what a pass finds out about it.

    Destinations come first in `operands`, as PTX writes them; `a|p` gives two operands; the sink
    `_` is None; WARP_SZ is Immediate(32); `bra` has a Symbol.
    A call has operands (returned symbols: Vector, function: Symbol or Register, arguments: Vector
    [, prototype or target-list name: Symbol]).
    `brx.idx` has operands (Register, Symbol of the target list).

    `source` is the innermost line that `.loc` gives. Where that is in a CUDA header that was
    inlined, `caller` is the nearest line outside of such headers, else None. `token` counts
    the tokens of the text in front of it. `used_bytes`: of what a load
    reads, the bytes that it is for, as bits; None: all. `root`: where a function of another file
    was inlined, the line of the outermost function that called it, else None.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple
    source: SourceLine
    predicate: Register | None = None
    negated: bool = False
    caller: SourceLine | None = None
    token: int = 0
    used_bytes: int | None = None
    root: SourceLine | None = None

    @property
    def user_line(self) -> SourceLine:
        """The line to show to the author of the CUDA source."""
        return self.caller or self.source

    @property
    def name(self) -> str:
        """The full spelling, `ld.global.v4.f32`."""
        return ".".join((self.opcode, *self.modifiers))

    def __str__(self) -> str:
        """As PTX writes it, without the semicolon."""
        test = f"@{'!' if self.negated else ''}{self.predicate} " if self.predicate else ""
        return f"{test}{self.name} {', '.join(map(_operand, self.operands))}".rstrip()


@dataclass
class Variable:
    """A module, function, or parameter variable.

    `space`: global, const, shared, local, param, or reg for a parameter passed in a register.
    `bytes` is the whole size (0: [] without a value). `initial`: the first bytes (rest zero), or
    None. `relocations`: (offset, variable or function name, addend) of 8-byte addresses to be put
    into it, not always at a multiple of 8. `type`: element type as declared ("b8", "f32" ...).
    """

    name: str
    space: str
    type: str
    bytes: int
    align: int
    initial: builtins.bytes | None = None
    relocations: tuple[tuple[int, str, int], ...] = ()


@dataclass
class Function:
    """An `.entry` or `.func` with its body in order; external ones (vprintf ...) have none.

    `params` have `offset`s in kernel parameter space by `param_offsets`. Names declared in nested
    { } scopes (call parameters, scoped registers, labels) are renamed so that they are unique in a
    function: name@scope. `directives` holds .maxntid, .reqnctapercluster ... and their numbers,
    `kept_rolled` the labels of loops with the pragma "nounroll".
    """

    name: str
    is_entry: bool
    params: list[Variable]
    returns: list[Variable] = field(default_factory=list)
    registers: dict[str, Register] = field(default_factory=dict)
    variables: list[Variable] = field(default_factory=list)
    is_defined: bool = False
    body: list[Instruction | Label] = field(default_factory=list)
    branch_targets: dict[str, list[str]] = field(default_factory=dict)
    call_targets: dict[str, list[str]] = field(default_factory=dict)
    prototypes: dict[str, tuple[list[Variable], list[Variable]]] = field(default_factory=dict)
    directives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    kept_rolled: set[str] = field(default_factory=set)
    max_threads: int | None = None
    source: SourceLine = SourceLine("", 0)

    @property
    def of_tiles(self) -> bool:
        """Whether a tile compiler (tileiras) made it."""
        return 7 in self.directives.get("language", ())

    @property
    def registers_at_entry(self) -> int:
        """How many each thread begins with, if its directives say so; 0: ptxas cannot know it."""
        unit = DEVICE["register_unit"] // LANES
        if most := self.directives.get("maxnreg"):
            return -(-most[0] // unit) * unit
        blocks = self.directives.get("minnctapersm")
        dims = self.directives.get("reqntid", self.directives.get("maxntid"))
        if not blocks or not dims:
            return 0
        warps = -(-math.prod(dims) // LANES)
        return DEVICE["sm_registers"] // (blocks[0] * warps * LANES) // unit * unit

    @property
    def instructions(self) -> list[Instruction]:
        """The body without its labels."""
        return [item for item in self.body if isinstance(item, Instruction)]

    @property
    def param_offsets(self) -> dict[str, int]:
        """Byte offset of each parameter in the packed kernel parameter buffer."""
        offsets, at = {}, 0
        for param in self.params:
            at = -(-at // param.align) * param.align
            offsets[param.name] = at
            at += param.bytes
        return offsets

    @property
    def param_bytes(self) -> int:
        """Size of the packed kernel parameter buffer."""
        offsets = self.param_offsets
        return max((offsets[p.name] + p.bytes for p in self.params), default=0)


@dataclass
class Module:
    """A whole PTX text; `target` is sm_90 or alike, `debug` whether nvcc had -G."""

    version: str
    target: str
    functions: dict[str, Function]
    variables: dict[str, Variable]
    text: str = field(default="", repr=False)
    debug: bool = False
    own_files: tuple[str, ...] = ()  # that it was made of, except CUDA's headers

    @property
    def architecture(self) -> int:
        """What the text is for, 90 for sm_90a; 0: it does not say."""
        found = re.search(r"\d+", self.target)
        return int(found[0]) if found else 0

    @property
    def kernels(self) -> list[Function]:
        return [f for f in self.functions.values() if f.is_entry]
