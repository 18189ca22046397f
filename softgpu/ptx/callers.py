"""Functions of CUDA's headers that are called and not inlined, as nvcc -G leaves them.

Each line of the author's that calls one gets a copy of its own, whose instructions know that line:
what an atomic does is told where it was written, not inside of a header.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from .parser import CUDA_HEADER
from .program import Function, Instruction, Label, Module, SourceLine, Symbol

__all__ = ["tell_callers"]


def _is_header_s(function: Function) -> bool:
    """Whether a function is none of the author's; those that nvcc makes itself have no lines."""
    if function.is_entry or not function.is_defined:
        return False
    return not function.source.line or bool(CUDA_HEADER.search(function.source.file))


def tell_callers(module: Module) -> Module:
    """The module itself; of -G, with a copy of each such function for each line that calls it."""
    if not module.debug:
        return module
    for function in list(module.functions.values()):
        if function.is_defined and not _is_header_s(function):
            function.body = [
                _redirected(module, item, item.user_line) if _is_call(item) else item
                for item in function.body
            ]
    return module


def _is_call(item: Instruction | Label) -> TypeGuard[Instruction]:
    return isinstance(item, Instruction) and item.opcode == "call"


def _redirected(module: Module, call: Instruction, line: SourceLine) -> Instruction:
    """A call; of a header's function, as one of its copy for a line."""
    returned, target, *rest = call.operands
    known = module.functions.get(target.name) if isinstance(target, Symbol) else None
    if not line.line or known is None or not _is_header_s(known):
        return call
    return replace(call, operands=(returned, Symbol(_copy(module, known, line)), *rest))


def _copy(module: Module, function: Function, line: SourceLine) -> str:
    """The name of a function's copy for a line."""
    name = f"{function.name}@{line}"
    if name not in module.functions:
        module.functions[name] = copy = replace(function, name=name)  # known before it calls itself
        body = [_redirected(module, i, line) if _is_call(i) else i for i in function.body]
        copy.body = [replace(i, caller=line) if isinstance(i, Instruction) else i for i in body]
    return name
