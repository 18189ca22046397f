"""The variables of a source, and the registers that hold them, as nvcc tells debuggers (-G).

It is DWARF, version 2, as PTX's `.b8 1,2` and `.b32 label`. A location that is a register stands
there as its name, packed into a number; memory (arrays, what has an address) is not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .cubin import Reader

__all__ = ["Variable", "variables"]

_SECTION = re.compile(r"^\s*\.section\s+(\.debug_\w+)\s*\{(.*?)\}", re.MULTILINE | re.DOTALL)
_DATA = re.compile(r"^\s*\.b(8|16|32|64)\s+([^/\n]+)", re.MULTILINE)

_POINTER, _BASE, _FUNCTION, _PLACE = 0x0F, 0x24, 0x2E, (0x34, 0x05)  # tags; the last: variables
_ALIASES = (0x16, 0x26, 0x35)  # typedef, const, volatile
_LOCATION, _NAME, _BYTES, _ENCODING, _TYPE, _LINKAGE = 0x02, 0x03, 0x0B, 0x3E, 0x49, 0x2007
_REGISTER = 0x90
_ENCODINGS = {2: "bool", 4: "float", 5: "int", 6: "int", 7: "unsigned", 8: "unsigned"}
_FIXED = {0x01: 8, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x0E: 4, 0x10: 8}
_FIXED |= {0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x17: 4}  # forms by their bytes
_BLOCKS = {0x0A: 1, 0x03: 2, 0x04: 4}


@dataclass(frozen=True)
class Variable:
    """A variable of a function's. kind: "int", "unsigned", "float", "bool" or "pointer"."""

    name: str
    kind: str
    bytes: int


class _Section(Reader):
    """The bytes of a section; `symbols` stand for those at some places."""

    def __init__(self, text: str):
        super().__init__(bytearray())
        self.symbols: dict[int, str] = {}
        for bits, values in _DATA.findall(text):
            size = int(bits) // 8
            for value in values.split(","):
                number = value.strip()
                if not number.isdigit():
                    self.symbols[len(self.data)] = number
                    number = "0"
                self.data += int(number).to_bytes(size, "little")

    def byte(self) -> int:
        """The next byte: zero past the end, as the zeros that end a table may be left out."""
        return int(self.number(1))

    def number(self, size: int) -> Any:
        """The next number, or the symbol that stands there."""
        at, self.at = self.at, self.at + size
        return self.symbols.get(at, int.from_bytes(self.data[at : self.at], "little"))

    def register(self, size: int) -> str | None:
        """The register that a location of so many bytes is."""
        end, found = self.at + size, None
        if size and self.number(1) == _REGISTER:
            number = self.leb128()
            found = number.to_bytes((number.bit_length() + 7) // 8, "big").decode("latin-1")
        self.at = end
        return found


@dataclass
class _Entry:
    tag: int
    facts: dict[int, Any]
    registers: set[str] = field(default_factory=set)


class _Reader:
    """All entries of .debug_info, by where they are."""

    def __init__(self, sections: dict[str, _Section]):
        self.info, self.places = sections[".debug_info"], sections.get(".debug_loc")
        self.forms = self._abbreviations(sections[".debug_abbrev"])
        self.entries: dict[int, _Entry] = {}
        self.functions: dict[str, list[_Entry]] = {}
        self._read()

    @staticmethod
    def _abbreviations(section: _Section) -> dict[int, tuple[int, list[tuple[int, int]]]]:
        found = {}
        while section.at < len(section.data) and (code := section.leb128()):
            tag, _, pairs = section.leb128(), section.number(1), []
            while (pair := (section.leb128(), section.leb128())) != (0, 0):
                pairs.append(pair)
            found[code] = tag, pairs
        return found

    def _read(self) -> None:
        info, inside = self.info, []
        info.at = 11  # past the unit's head
        while info.at < len(info.data):
            at, code = info.at, info.leb128()
            if not code:
                continue
            tag, pairs = self.forms[code]
            entry = self.entries[at] = _Entry(tag, {})
            for what, form in pairs:
                entry.facts[what] = self._value(entry, what, form)
            if tag == _FUNCTION:
                name = entry.facts.get(_LINKAGE) or entry.facts.get(_NAME, "")
                inside = self.functions.setdefault(name, [])
            elif tag in _PLACE and entry.registers:
                inside.append(entry)

    def _value(self, entry: _Entry, what: int, form: int) -> Any:
        info = self.info
        if form in _BLOCKS:
            size = info.number(_BLOCKS[form])
            register = info.register(size)
            if what == _LOCATION and register:
                entry.registers.add(register)
            return None
        if form == 0x08:
            return info.text()
        if form in (0x0D, 0x0F, 0x15):
            return info.leb128()
        value = info.number(_FIXED[form])
        if what == _LOCATION:
            entry.registers |= self._listed(value)
        return value

    def _listed(self, place: Any) -> set[str]:
        """The registers of a list of locations, each for a stretch of the code."""
        listed, found = self.places, set[str]()
        if listed is None or not isinstance(place, str):
            return found
        listed.at = int(place.partition("+")[2] or 0)
        while (listed.number(8), listed.number(8)) != (0, 0):
            if register := listed.register(listed.number(2)):
                found.add(register)
        return found

    def kind(self, entry: _Entry) -> tuple[str, int] | None:
        """What a variable is and its bytes, if it is a number or a pointer."""
        known = self.entries.get(entry.facts.get(_TYPE, -1))
        while known and known.tag in _ALIASES:
            known = self.entries.get(known.facts.get(_TYPE, -1))
        if known and known.tag == _POINTER:
            return "pointer", 8
        encoding = _ENCODINGS.get(known.facts.get(_ENCODING, 0)) if known else None
        return (encoding, known.facts[_BYTES]) if known and encoding else None


def variables(text: str) -> dict[str, dict[Variable, set[str]]]:
    """Of each function in PTX, its variables and the registers in which each is at times."""
    sections = {name: _Section(body) for name, body in _SECTION.findall(text)}
    if not {".debug_info", ".debug_abbrev"} <= sections.keys():
        return {}
    reader, found = _Reader(sections), {}
    for name, entries in reader.functions.items():
        known: dict[Variable, set[str]] = {}
        for entry in entries:
            if kind := reader.kind(entry):
                variable = Variable(entry.facts.get(_NAME, ""), *kind)
                known.setdefault(variable, set()).update(entry.registers)
        found[name] = known
    return found
