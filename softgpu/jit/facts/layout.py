"""Where everything lies: variables, frames, sites."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

from ...contract import DEVICE
from ...ptx.forms import check_forms
from ...ptx.program import Address, Function, Module, PtxError, Symbol, Variable, Vector

__all__ = [
    "RESERVED_SHARED",
    "Frame",
    "Image",
    "Layout",
    "Site",
    "symbols_of",
]

RESERVED_SHARED = {"begin": 0, "0": 0, "1": 0, "end": 288, "cap": DEVICE["block_system_shared"]}
"""%reserved_smem_offset_...: offsets in what a block has beside the kernel's shared memory."""

_GAP = 512
"""Unused bytes between variables, so that an access past the end of one is noticed."""

_RECURSIVE_LOCAL_BYTES = 64 * 1024
"""Local memory a lane gets where recursion makes the need unknown."""


def _aligned(offset: int, align: int) -> int:
    return -(-offset // align) * align


@dataclass(frozen=True)
class Site:
    """One memory, barrier, shuffle or trap instruction; see runtime.h."""

    file: str
    line: int
    bytes: int
    space: str
    kind: str
    elements: int = 1
    used: int = 0
    root_file: str = ""  # of an instruction's `root`
    root_line: int = 0


@dataclass
class Frame:
    """The local variables of one call of a function, per lane."""

    bytes: int = 0
    offsets: dict[str, int] = field(default_factory=dict)


def function_number(module: Module, name: str) -> int:
    """What stands for a function's address."""
    return 16 * (1 + list(module.functions).index(name))


class Image:
    """The module's .global and .const variables in one piece of device memory."""

    def __init__(self, module: Module):
        self.module = module
        self.offsets: dict[str, int] = {}
        self.variables = [v for v in module.variables.values() if v.space in ("global", "const")]
        self.variables.sort(key=lambda variable: variable.space == "const")
        at = 0
        start_of_constants = None
        for variable in self.variables:
            if variable.space == "const" and start_of_constants is None:
                start_of_constants = at
            at = _aligned(at, max(variable.align, 256))
            self.offsets[variable.name] = at
            at += variable.bytes + _GAP
        start_of_constants = at if start_of_constants is None else start_of_constants
        self.constants = start_of_constants, at - start_of_constants  # (offset, bytes)
        self.bytes = at
        self.pieces: list[tuple[int, bytes]] = []  # what is not zero: (offset, content)
        self.relocations: list[tuple[int, int]] = []
        for variable in self.variables:
            start = self.offsets[variable.name]
            if variable.initial:
                self.pieces.append((start, variable.initial))
            for offset, name, addend in variable.relocations:
                where = start + offset
                if name in self.offsets:
                    self.relocations.append((where, self.offsets[name] + addend))
                elif name in module.functions:
                    number = function_number(module, name)
                    self.pieces.append((where, number.to_bytes(8, "little")))
                else:
                    raise PtxError(f"{variable.name} is initialised with unknown symbol {name}")

    @cached_property
    def taken(self) -> list[str]:
        """The functions whose address is taken anywhere in the module."""
        names = {name for v in self.variables for _, name, _ in v.relocations}
        for function in self.module.functions.values():
            for item in function.instructions:
                if item.opcode != "call":
                    names |= {name for operand in item.operands for name in symbols_of(operand)}
        return [f.name for f in self.module.functions.values() if f.name in names and f.is_defined]


def symbols_of(operand):
    """The names in an operand that are no registers."""
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address) and isinstance(operand.base, str):
        yield operand.base
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from symbols_of(element)


class Layout:
    """Placement of one kernel's shared and local memory, with the functions it can reach."""

    def __init__(self, module: Module, image: Image, kernel: str):
        self.module = module
        self.image = image
        self.calls: dict[str, set[str]] = {}
        self._shared: dict[str, int] = {}
        self._shared_variables: list[Variable] = []
        self._is_least_aligned = False
        self.shared_bytes = 0
        self.dynamic_align = 0
        waiting = [kernel]
        while waiting:
            name = waiting.pop()
            if name not in self.calls:
                self._visit(name)
                waiting += sorted(self.calls[name], reverse=True)
        self.frames = {name: self._frame(module.functions[name]) for name in self.calls}
        self.local_bytes = self._local_bytes(kernel)
        self.known: dict[tuple, dict] = {}  # of its functions: what passes found

    def _visit(self, name: str) -> None:
        """Place a function's shared variables, and find what it calls."""
        function = self.module.functions[name]
        check_forms(self.module, function)
        self.calls[name] = set()
        for variable in function.variables:
            if variable.space == "shared":
                self._place_shared(variable)
        for item in function.instructions:
            for symbol in (s for operand in item.operands for s in symbols_of(operand)):
                named = self.module.variables.get(symbol)
                if named and named.space == "shared":
                    self._place_shared(named)
            if item.opcode == "call":
                target = item.operands[1]
                names = [target.name] if isinstance(target, Symbol) else self.image.taken
                self.calls[name] |= {n for n in names if self.module.functions[n].is_defined}

    def _place_shared(self, variable) -> None:
        if variable.name in self._shared:
            return
        self._shared_variables.append(variable)
        if (
            variable.bytes == 0
        ):  # extern __shared__ x[]: all of these start where the static ones end
            self.dynamic_align = max(self.dynamic_align, variable.align)
            self._shared[variable.name] = -1
            return
        self._shared[variable.name] = self._next_shared(variable.align)
        self.shared_bytes = self._shared[variable.name] + variable.bytes

    def _next_shared(self, align: int) -> int:
        """Where the next shared variable of an alignment lies."""
        at = _aligned(self.shared_bytes, max(align, 1))
        by_luck = self._is_least_aligned and align and at % (2 * align) == 0
        return at + align if by_luck else at

    def least_aligned(self) -> Layout:
        """The same, but each shared variable lies where its alignment allows, and no larger one,
        so that what needs a larger one shows; as it is, where that takes too much memory, and in
        Python, where the compiler declares them and may rely on more than it declares."""
        if any(file.endswith(".py") for file in self.module.own_files):
            return self
        other = copy(self)
        other._is_least_aligned = True
        other._shared, other._shared_variables, other.shared_bytes = {}, [], 0
        for variable in self._shared_variables:
            other._place_shared(variable)
        more = other.static_shared_bytes - self.static_shared_bytes
        return other if more <= DEVICE["block_system_shared"] else self

    def _frame(self, function: Function) -> Frame:
        frame = Frame()
        for variable in function.variables:
            if variable.space == "local":
                frame.offsets[variable.name] = _aligned(frame.bytes, variable.align)
                frame.bytes = frame.offsets[variable.name] + variable.bytes
        frame.bytes = _aligned(frame.bytes, 16)
        return frame

    def _local_bytes(self, kernel: str) -> int:
        """Bytes that a kernel and all that it calls may need."""
        needed = {kernel: _RECURSIVE_LOCAL_BYTES}  # of what is called, and has not yet returned
        path = [kernel]
        while path:
            name = path[-1]
            calls = sorted(self.calls[name])
            if further := next((callee for callee in calls if callee not in needed), None):
                needed[further] = _RECURSIVE_LOCAL_BYTES
                path.append(further)
            else:
                below = (needed[callee] for callee in calls)
                needed[name] = self.frames[name].bytes + max(below, default=0)
                path.pop()
        return needed[kernel]

    @property
    def may_recurse(self) -> bool:
        return self.local_bytes >= _RECURSIVE_LOCAL_BYTES

    @property
    def follows_pointers(self) -> bool:
        """Whether the kernel reads from memory what may be an address."""
        return any(
            item.opcode in ("ld", "ldu", "atom")
            and "param" not in item.modifiers
            and item.modifiers[-1] in ("u64", "s64", "b64", "b128")
            for name in self.calls
            for item in self.module.functions[name].instructions
        )

    @property
    def static_shared_bytes(self) -> int:
        """Bytes of static shared memory, up to where dynamic shared memory starts."""
        return self._next_shared(self.dynamic_align)

    def shared_variables(self) -> list[tuple[int, int, str]]:
        """(offset, bytes, name) of the kernel's shared variables; dynamic ones have 0 bytes."""
        dynamic = self.static_shared_bytes
        return [
            (dynamic if v.bytes == 0 else self._shared[v.name], v.bytes, v.name)
            for v in self._shared_variables
        ]

    def place(self, function: str, name: str) -> tuple[str, int]:
        """(space, offset) of a name: global, const, shared, dynamic, local, param or function."""
        if name in self.frames[function].offsets:
            return "local", self.frames[function].offsets[name]
        if name in self._shared:
            offset = self._shared[name]
            return ("dynamic", 0) if offset < 0 else ("shared", offset)
        if name in self.image.offsets:
            return self.module.variables[name].space, self.image.offsets[name]
        offsets = self.module.functions[function].param_offsets
        if name in offsets:
            return "param", offsets[name]
        if name in self.module.functions:
            return "function", function_number(self.module, name)
        raise PtxError(f"unknown symbol {name} in {function}")
