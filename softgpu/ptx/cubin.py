"""Machine code of a GPU (a cubin): the PTX that ptxas -lineinfo leaves in it, with source lines.

ptxas takes .loc and .file out of that text. Two line tables of DWARF bring them back: by address of
the machine code, .debug_line has the line of the source and .nv_debug_line_sass that of the PTX.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from .program import PtxError

__all__ = ["MAGIC", "Damaged", "Reader", "ptx_of"]

MAGIC = b"\x7fELF"


class Damaged(PtxError):
    """Machine code that ends too early, or points outside of itself."""


_SECTION = struct.Struct("<IIQQQQIIQQ")
_RELOCATION = struct.Struct("<QQq")
_HEAD = struct.Struct("<IHIBBbBB")
_TEXT = ".nv_debug_ptx_txt"  # lines that end with a zero byte each
_SOURCES_OF_TILES = ".nv_intermediate_source_section"  # not PTX: what tileiras made it of
_SPECIAL, _COPY, _ADVANCE, _LINE, _FILE, _ADVANCE_LONG, _ADVANCE_FIXED = 0, 1, 2, 3, 4, 8, 9
_END, _ADDRESS = 1, 2


def ptx_of(image: bytes) -> str:
    """Return the PTX in a cubin; refuse a cubin that has none."""
    try:
        sections = _sections(image)
        lines = sections.get(_TEXT, b"").rstrip(b"\0").split(b"\0")
        decoded = (line.decode(errors="replace") for line in lines)
        text = list(takewhile(lambda line: not line.startswith(_SOURCES_OF_TILES), decoded))
        tables = [_Table.read(sections, name) for name in (".debug_line", ".nv_debug_line_sass")]
    except (struct.error, IndexError, ValueError):
        raise Damaged("this machine code of a GPU is cut off or damaged: make it again") from None
    if not any(text):
        raise PtxError(
            "this is machine code of a GPU without its PTX, and the software GPU runs PTX:"
            " compile with nvcc --ptx, or leave the PTX in by ptxas -lineinfo (nvcc -lineinfo)"
        )
    return "\n".join(_with_lines(text, *tables)) + "\n"


def _sections(image: bytes) -> dict[str, bytes]:
    """Return the contents of an ELF file's sections, by name."""
    (at,) = struct.unpack_from("<Q", image, 0x28)
    entry, count, names = struct.unpack_from("<HHH", image, 0x3A)
    heads = [_SECTION.unpack_from(image, at + i * entry) for i in range(count)]
    found = {}
    for name, kind, _, _, offset, size, *_ in heads:
        begin = heads[names][4] + name
        if kind != 8 and offset + size > len(image):  # 8: it has no content
            raise ValueError
        found[image[begin : image.index(0, begin)].decode()] = image[offset : offset + size]
    return found


@dataclass
class _Table:
    """A line table: `rows` of (function, address, file, line), by the functions' symbols."""

    files: list[str] = field(default_factory=lambda: [""])
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)

    @classmethod
    def read(cls, sections: dict[str, bytes], name: str) -> _Table:
        table, data = cls(), sections.get(name, b"")
        if not data:
            return table
        moved = _RELOCATION.iter_unpack(sections.get(f".rela{name}", b""))
        symbols = {offset: info >> 32 for offset, info, _ in moved}
        _, _, length, step, _, base, span, opcodes = _HEAD.unpack_from(data)
        program = 10 + length  # what follows the length of the head
        reader = Reader(data, _HEAD.size + opcodes - 1)
        folders = ["", *iter(reader.text, "")]
        for file in iter(reader.text, ""):
            folder = folders[reader.leb128()]
            table.files.append(f"{folder}/{file}" if folder else file)
            reader.leb128(), reader.leb128()  # its time and size
        reader.at = program
        table.rows = sorted(_rows(reader, symbols, step, base, span, opcodes))
        return table


@dataclass
class Reader:
    """What stands in a section of DWARF, from a place on."""

    data: bytes | bytearray
    at: int = 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def leb128(self, signed: bool = False) -> int:
        """Return a number of seven bits a byte."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    def text(self) -> str:
        begin, self.at = self.at, self.data.index(0, self.at) + 1
        return self.data[begin : self.at - 1].decode(errors="replace")


def _rows(
    reader: Reader, symbols: dict[int, int], step: int, base: int, span: int, opcodes: int
) -> Iterator[tuple[int, int, int, int]]:
    """Run the table's program (DWARF 4, section 6.2.5)."""
    function, address, file, line = 0, 0, 1, 1
    while reader.at < len(reader.data):
        opcode = reader.byte()
        if opcode >= opcodes:
            address += (opcode - opcodes) // span * step
            line += base + (opcode - opcodes) % span
        elif opcode == _ADVANCE_LONG:
            address += (255 - opcodes) // span * step
        elif opcode == _ADVANCE_FIXED:
            address += struct.unpack_from("<H", reader.data, reader.at)[0]
            reader.at += 2
        elif opcode == _ADVANCE:
            address += reader.leb128() * step
        elif opcode == _LINE:
            line += reader.leb128(signed=True)
        elif opcode == _FILE:
            file = reader.leb128()
        elif opcode == _SPECIAL:
            length = reader.leb128()
            end, kind = reader.at + length, reader.byte()
            if kind == _ADDRESS:
                function = symbols.get(reader.at, 0)
                (address,) = struct.unpack_from("<Q", reader.data, reader.at)
            elif kind == _END:
                address, file, line = 0, 1, 1
            reader.at = end
        elif opcode in (5, 12):  # a column, an instruction set
            reader.leb128()
        if opcode >= opcodes or opcode == _COPY:
            yield function, address, file, line


def _with_lines(text: list[str], source: _Table, ptx: _Table) -> Iterator[str]:
    """Yield the lines of a text, with .loc where the line of the source changes."""
    places: dict[int, tuple[int, int]] = {}
    begins = _begins(text)
    for function, address, _, number in ptx.rows:
        place = bisect_right(source.rows, (function, address, len(source.files), 0)) - 1
        if place >= 0 and source.rows[place][0] == function:
            places.setdefault(begins.get(number, number), source.rows[place][2:])
    before = None
    for number, line in enumerate(text, 1):
        is_body = line == "{"  # ptxas takes no .loc before it
        if is_body:
            yield line
        if places.get(number, before) != before:
            before = places[number]
            yield ".loc {} {} 0".format(*before)
        if not is_body:
            yield line
    for number, name in enumerate(source.files[1:], 1):
        yield f'.file {number} "{name}"'


def _begins(text: list[str]) -> dict[int, int]:
    """For each line of a text, the first line of its statement, by numbers from 1."""
    begins, begin = {}, 0
    for number, line in enumerate(text, 1):
        is_whole = line in ("", "{", "}")
        begins[number] = begin = number if is_whole or not begin else begin
        if is_whole or line.endswith((";", ":")):
            begin = 0
    return begins
