"""PTX, the assembly language of CUDA: `parse` turns its text into the data of `program`."""

from .parser import parse
from .program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Module,
    Not,
    PtxError,
    Register,
    SourceLine,
    Special,
    Symbol,
    Variable,
    Vector,
)

__all__ = [
    "Address",
    "Function",
    "Immediate",
    "Instruction",
    "Label",
    "Module",
    "Not",
    "PtxError",
    "Register",
    "SourceLine",
    "Special",
    "Symbol",
    "Variable",
    "Vector",
    "parse",
]
