"""Where a finding is: lines of source, and names for places in the memory of the watched launch."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from . import contract
from .contract import ffi
from .declarations import short_name
from .phrases import Said
from .words import FindingKind, Place

__all__ = [
    "CLUSTER",
    "GLOBAL",
    "LOCAL",
    "SHARED",
    "TO_THE_END",
    "RawFinding",
    "WatchedLaunch",
    "in_bytes",
]

_SPACE = contract.values("Space", "SPACE_")
GLOBAL, SHARED, LOCAL, CLUSTER = (_SPACE[name] for name in ("global", "shared", "local", "cluster"))
TO_THE_END = 0xFFFFFFFF
"""What stands for the end of a variable that goes on to the end of shared memory."""

_KINDS = contract.names("FindingKind")
_NOTES = contract.names("Note")


def in_bytes(count: int) -> Said:
    return Place.ONE_BYTE(count=count) if count == 1 else Place.BYTES(count=count)


class RawFinding(SimpleNamespace):
    """`struct Finding` of watch/contract.h, copied: its fields, arrays as lists, enums as names."""

    def __init__(self, found: Any):
        super().__init__()
        for name, field in ffi.typeof("Finding").fields:
            value = getattr(found, name)
            setattr(self, name, list(value) if field.type.kind == "array" else value)
        self.kind, self.note = FindingKind[_KINDS[found.kind].upper()], _NOTES[found.note]

    @property
    def same_block(self) -> bool:
        """Whether both sides are of one block."""
        return self.block == self.other_block


def _goes_on(loop: str) -> bool:
    """Whether a loop's body has not ended, given all that follows the word for, while or do."""
    body = re.sub(r"^\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "", loop).lstrip()
    return body.count("{") > body.count("}") if body.startswith("{") else ";" not in body


class WatchedLaunch:
    """What is known of a launch that the sanitizer watched."""

    def __init__(self, engine: Any, handle: int, kernel: str, parameters: bytes, types: Any):
        self.library = engine.library
        self.handle = handle
        self.kernel = kernel
        self.name = short_name(kernel)
        self.types = dict(enumerate(types))
        self.module = engine.modules[handle]
        self.code = self.module.code(kernel, "sanitize")
        self.sites = self.code.sites
        self.layout = self.module.watched_layout(kernel)
        function = self.module.program.functions[kernel]
        self.arguments = []
        for offset, variable in zip(function.param_offsets.values(), function.params, strict=True):
            words = range(-(-offset // 8) * 8, offset + variable.bytes - 7, 8)
            self.arguments.append([int.from_bytes(parameters[w : w + 8], "little") for w in words])
        self.source = self.module.source_lines
        self.declarations = self.module.declarations
        self.parameters = self.declarations.parameters(kernel) or []

    def line(self, site: int) -> tuple[str, int]:
        """File and number of a site's line; "", 0 where it has none."""
        if site < len(self.sites):
            return self.sites[site].file, self.sites[site].line
        beyond = dict(enumerate(self.code.notes.get("beyond", ()), len(self.sites)))
        file, line = beyond.get(site, ("", 0))
        return file, line

    def root(self, site: int) -> tuple[str, int]:
        """File and number of the line that called, in the end, a site's line of another file."""
        known = self.sites[site] if site < len(self.sites) else None
        return (known.root_file, known.root_line) if known else ("", 0)

    def callers(self, file: str, line: int) -> list[tuple[str, int]]:
        """All that root() says of the sites of a line."""
        roots = {(s.root_file, s.root_line) for s in self.sites if (s.file, s.line) == (file, line)}
        return sorted(roots - {("", 0)})

    def text(self, file: str, line: int) -> str:
        """A line of the source, of the kernel's own or of a header."""
        for name in (file, Path(file).name):
            if name in self.source:
                return self.source[name].get(line, "").strip()
        if Path(file).is_file():  # a header
            lines = Path(file).read_text(errors="replace").splitlines()
            return lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return self.source.get("", {}).get(line, "").strip()

    def loop_around(self, file: str, line: int) -> int:
        """Where the loop begins that a line is of: in the source, as far as that can be read."""
        inside = ""
        for number in range(line, max(line - 200, 0), -1):
            text = re.sub(r"//.*", "", self.text(file, number))
            if loop := re.search(r"\b(for|while|do)\b", text):
                if number == line or _goes_on(text[loop.end() :] + inside):
                    return number
            inside = text + inside if number < line else ""
        return line

    def place(self, f: RawFinding) -> Said:
        """The memory that a finding is about: "argument 1 (x), byte 4000"."""
        if f.space == SHARED:
            return self._shared_place(f)
        at = f.address - f.begin
        if f.space == LOCAL:
            return self._beyond(Place.LOCAL(byte=at), f, at, f.end - f.begin)
        if f.space == CLUSTER:
            return Place.OTHER_SHARED(byte=at)
        if not f.begin:
            return Place.NOWHERE()
        byte = Place.BYTE_OF(what=self._owner(f), byte=at)
        return self._beyond(byte, f, at, f.end - f.begin)

    def _beyond(self, place: Said, f: RawFinding, at: int, size: int) -> Said:
        """The place, and how far outside of so many bytes it is."""
        if at < 0:
            return Place.BEFORE(place=place, far=in_bytes(-at))
        if at == size:
            return Place.ONE_PAST(place=place, end=size)
        if at > size:
            return Place.PAST(place=place, far=in_bytes(at - size), end=size)
        if at + f.bytes > size:
            return Place.REACHES_PAST(place=place, bytes=in_bytes(f.bytes), end=size)
        return place

    def argument(self, f: RawFinding) -> int | None:
        """The number, from 0, of the argument that leads to the memory."""
        numbers = range(len(self.arguments)) if f.space == GLOBAL and f.begin else ()
        return next(
            (n for n in numbers if any(f.begin <= v <= f.end for v in self.arguments[n])), None
        )

    def is_no_read(self, f: RawFinding) -> bool:
        """Whether what is said to be read unwritten need not be: gaps in structs that are copied,
        sums that a product may begin anew."""
        if f.kind != FindingKind.UNINITIALISED or f.note == "value":
            return False
        begun = f.space == LOCAL and f.site in self.code.notes.get("begun", ())
        return begun or (f.note == "moved" and self.is_gap(f))

    def is_gap(self, f: RawFinding) -> bool:
        """Whether what was copied unwritten may be a gap in a struct."""
        unwritten = [byte for byte in range(f.bytes) if f.unwritten >> byte & 1]
        begin, type_ = self._declared(f)
        extent = self.declarations.extent(type_)
        if extent is None:
            return len(unwritten) < f.bytes
        return all((f.address - begin + byte) % extent.bytes in extent.gaps for byte in unwritten)

    def _declared(self, f: RawFinding) -> tuple[int, str]:
        """Where an array begins, and the type that its elements were declared with, if known."""
        number = self.argument(f)
        if number is not None and self.parameters:
            parameter = self.parameters[number]
            begin = next(v for v in self.arguments[number] if f.begin <= v <= f.end)
            raw = parameter.target in ("void", "char", "unsigned char")
            return begin, "" if raw or not parameter.is_pointer else parameter.target
        for begin, size, name in self._shared_variables() if f.space == SHARED else ():
            if 0 <= f.address - f.begin - begin < (size or TO_THE_END):
                return f.begin + begin, self.declarations.shared_type(name)
        return 0, ""

    def _owner(self, f: RawFinding) -> Said:
        number = self.argument(f)
        if number is not None:
            if not self.parameters:
                return Place.ARGUMENT(number=number + 1)
            return Place.NAMED_ARGUMENT(number=number + 1, name=self.parameters[number].name)
        if f.note == "in_heap":
            return Place.FROM_MALLOC(bytes=f.end - f.begin)
        for variable in self.module.image.variables:
            address, size = ctypes.c_uint64(), ctypes.c_size_t()
            self.library.cuModuleGetGlobal_v2(
                ctypes.byref(address), ctypes.byref(size), contract.address(self.handle),
                variable.name.encode(),
            )  # fmt: skip
            if address.value == f.begin:
                return Place.VARIABLE(name=short_name(variable.name))
        return Place.ALLOCATION(bytes=f.end - f.begin)

    def _shared_place(self, f: RawFinding) -> Said:
        at = f.address - f.begin
        at -= (at >> 31) << 32 if at < 1 << 32 else 0  # offsets have 32 bits
        size = f.end - f.begin
        if f.meant[1]:
            begin, end = f.meant[0], min(f.meant[1], size)
            place = Place.SHARED_OF(name=self._variable(begin), byte=at - begin)
            return self._beyond(place, f, at - begin, end - begin)
        place = Place.SHARED(byte=self._unmoved(at))
        if element := "" if at < 0 or at >= size else self._element(f, at):
            return Place.ELEMENT(place=place, element=element)
        return self._beyond(place, f, at, size)

    def usual_byte(self, f: RawFinding) -> int:
        """Where an access to shared memory lies in other builds than the sanitizer's."""
        return self._unmoved(f.address - f.begin)

    def _unmoved(self, at: int) -> int:
        """Where a byte of shared memory lies in other builds than the sanitizer's."""
        usual = {
            name: begin for begin, _, name in self.module.layout(self.kernel).shared_variables()
        }
        for begin, size, name in self._shared_variables():
            if begin <= at and (not size or at < begin + size):
                return at - begin + usual[name]
        return at

    def _shared_variables(self) -> list[tuple[int, int, str]]:
        """(offset, bytes, name); bytes 0: to the end."""
        return self.layout.shared_variables()

    def _variable(self, offset: int) -> str:
        names = [name for at, _, name in self._shared_variables() if at == offset]
        return short_name(names[0]) if names else f"byte {offset}"

    def _element(self, f: RawFinding, at: int) -> str:
        """s[33]: the variable there and the number of the access's size in it."""
        for begin, size, name in self._shared_variables():
            if begin <= at and (not size or at < begin + size):
                number, rest = divmod(at - begin, f.bytes)
                inner = f"[{number}]" if not rest else f" + {at - begin} bytes"
                return f"{short_name(name)}{inner if size != f.bytes else ''}"
        return ""
