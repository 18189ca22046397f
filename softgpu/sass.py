"""A kernel's machine code as ptxas makes it: blocks of instructions, each with the line of PTX that
it is for, and how often a launch ran each block, by how often it ran the PTX."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from statistics import median
from typing import TypeVar

from . import cache
from .ptx.matrices import product_of
from .ptx.program import Instruction, SourceLine

__all__ = [
    "Refused",
    "SassBlock",
    "SassInstruction",
    "add_tools",
    "assembled",
    "disassemble",
    "disassembly",
    "executions",
    "find_assemblers",
    "find_nvdisasm",
    "listing",
    "prefixed",
    "second_factor",
]

_T = TypeVar("_T")
_more_folders: list[str] = []  # where clients have tools of their own

_LINE = re.compile(r'//## File "\.nv_debug_ptx_txt", line (\d+)')
_LABEL = re.compile(r"^(\.L_x_\d+|\$[\w$]+):")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.+?) ?;")
_PARTS = re.compile(r"(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*)")
_REGISTER = re.compile(r"\b(U?R\d+|U?P\d)(\.64)?\b")
_FRAME = re.compile(r"^(ptxas|nvdisasm) (\S+\.ptx, )?((error|fatal)\s*: )?|; error\s*(?=: )")
_ENDS = ("BRA", "EXIT", "RET", "BRX", "JMP", "CALL", "WARPSYNC", "BREAK", "BSYNC", "KILL")
_PRODUCT = re.compile(r"\s*(?:@!?%\w+\s+)?((?:wmma\.)?mma\.[\w.:]+)")
_FRAGMENT = re.compile(r"\s*(?:@!?%\w+\s+)?wmma\.(?:load|store)\.")
_PRODUCTS = "HMMA", "IMMA", "BMMA", "DMMA"
_GROUP_PRODUCTS = "HGMMA", "QGMMA", "IGMMA", "BGMMA"  # of warpgroups
_WIDTHS = {  # registers of d, a, b and c of products
    "HMMA.16816.F32": (4, 4, 2, 4), "HMMA.16816.F16": (2, 4, 2, 2), "HMMA.1688.F32": (4, 2, 1, 4),
    "HMMA.1688.F16": (2, 2, 1, 2), "HMMA.1688.F32.TF32": (4, 4, 2, 4),
    "HMMA.1684.F32.TF32": (4, 2, 1, 4), "IMMA.16832": (4, 4, 2, 4), "IMMA.16816": (4, 2, 1, 4),
    "IMMA.8816": (2, 1, 1, 2), "BMMA.168256": (4, 4, 2, 4), "BMMA.168128": (4, 2, 1, 4),
    "BMMA.88128": (2, 1, 1, 2), "DMMA.8x8x4": (4, 2, 2, 4), "DMMA.16x8x4": (8, 4, 2, 8),
    "DMMA.16x8x8": (8, 8, 4, 8), "DMMA.16x8x16": (8, 16, 8, 8),
}  # fmt: skip
_MATRICES = (*_PRODUCTS, *_GROUP_PRODUCTS, "LDSM")  # which ptxas leaves where they are
# PTX of these becomes one instruction each, so that more of them are copies; of products, so many
_ONE_EACH = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "ATOM", "RED", "SHFL", "BAR", "FFMA", "DFMA",
             "HFMA2", "FMUL", "POPC", "FADD", *_PRODUCTS)  # fmt: skip
_CONSTANTS = ("LDC", "ULDC", "MOV", "UMOV", "IMAD.MOV", "HFMA2.MMA", "S2R", "S2UR", "CS2R", "PLOP3")
_STORES = ("ST", "RED", "BAR", "BRA", "EXIT", "BSSY", "BSYNC")


class Refused(Exception):
    """ptxas or nvdisasm said no: in their words."""


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction. line: of the PTX, 0 where ptxas added it; share: of that line's
    product of matrices, if it is one, else 1; keeps: how many groups of copies, or of a
    warpgroup's products, may be under way after it; closes: whether it ends such a group."""

    opcode: str
    line: int
    predicate: str
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    target: str = ""
    share: float = 1
    keeps: int = 0
    closes: bool = False

    @cached_property
    def base(self) -> str:
        return self.opcode.partition(".")[0]


@dataclass
class SassBlock:
    """Instructions that run one after the other. cold: only where a warp's lanes have parted."""

    instructions: list[SassInstruction] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    cold: bool = False

    @property
    def is_loop(self) -> bool:
        """Whether it goes on to itself."""
        return bool(self.labels) and self.instructions[-1].target in self.labels


def add_tools(folder: str) -> None:
    """Look into another folder for NVIDIA's tools, after all others."""
    if folder not in _more_folders:
        _more_folders.append(folder)


def find_assemblers(nvcc: str = "") -> list[str]:
    """NVIDIA's ptxas: on PATH or beside the compiler, then of the wheels, which may be newer, and
    of clients."""
    first = [*os.get_exec_path(), os.path.dirname(nvcc) or os.devnull]
    asked = [("ptxas", first), ("ptxas", _wheels())]
    asked += [("ptxas-blackwell", [folder]) for folder in _more_folders]
    found = (shutil.which(name, path=os.pathsep.join(path)) for name, path in asked)
    return list(dict.fromkeys(path for path in found if path))


def find_nvdisasm(nvcc: str = "") -> str | None:
    """NVIDIA's disassembler: beside the compiler, of the wheels, or on PATH."""
    path = [os.path.dirname(nvcc), *_wheels(), *os.get_exec_path(), *_more_folders]
    return shutil.which("nvdisasm", path=os.pathsep.join(path))


def _wheels() -> list[str]:
    """Where NVIDIA's wheels have programs."""
    found = importlib.util.find_spec("nvidia")
    places = found.submodule_search_locations if found else ()
    return [f"{place}/cu13/bin" for place in places or ()]


def assembled(ptx: str, target: str, ptxas: str) -> tuple[str, bytes]:
    """What ptxas reports of the kernels of a PTX text, and the machine code that it makes; or
    Refused.

    It takes ASCII alone, in comments, too: another letter becomes a "?", so lines stay theirs."""
    text = ptx.encode("ascii", "replace")

    def make() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_bytes(text)
            _, report = _told_by(ptxas, *options, "-o", str(cubin), str(source))
            return report.encode() + b"\0" + cubin.read_bytes()

    options = "-v", "-lineinfo", "-arch", target
    parts = "ptxas", _named(ptxas), *options, text.decode()
    report, _, cubin = cache.kept(parts, make).partition(b"\0")
    return report.decode(errors="replace"), cubin


def _told_by(*command: str) -> tuple[str, str]:
    """What a tool of NVIDIA's writes on its two streams; or Refused."""
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        name, said = Path(command[0]).name, (ran.stderr or ran.stdout).strip()
        words = said.splitlines()[0] if said else f"it ended with {ran.returncode}"
        words = _FRAME.sub("", words)  # "ptxas FILE, line 5; error   : why": line 5: why
        raise Refused(f"{name} refused the kernel: {words}")
    return ran.stdout, ran.stderr


def disassembly(ptx: str, target: str, ptxas: str, nvdisasm: str, *options: str) -> str:
    """The machine code of a PTX text, each instruction after the line of PTX that it is for."""

    def make() -> bytes:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(assembled(ptx, target, ptxas)[1])
            file.flush()
            return _told_by(nvdisasm, "-c", "-gp", *options, file.name)[0].encode()

    tools = _named(ptxas), _named(nvdisasm)
    return cache.kept(["nvdisasm", *tools, *options, target, ptx], make).decode()


def _named(tool: str) -> str:
    """Which program a tool is, and of which version: a script may stand for another program."""
    path = shutil.which(tool) or tool
    status = os.stat(path)
    return f"{path} {status.st_size} {status.st_mtime_ns} {_version(path, status.st_mtime_ns)}"


@lru_cache
def _version(tool: str, changed: int) -> str:
    return subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout


def listing(text: str) -> dict[str, list[tuple[str, str]]]:
    """The rows of each kernel of a disassembly that say something: ("line", number of the PTX that
    the next instructions are for), ("label", name) or ("instruction", its text)."""
    sections = re.findall(
        r"^\.text\.(\w+):\n(.*?)(?=^\t\.section|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return {name: list(_rows(section)) for name, section in sections}


def _rows(section: str) -> Iterator[tuple[str, str]]:
    for row in section.splitlines():
        for what, form in (("line", _LINE), ("label", _LABEL), ("instruction", _INSTRUCTION)):
            if found := form.search(row):
                yield what, found[1]
                break


@lru_cache(maxsize=16)
def disassemble(ptx: str, target: str, ptxas: str, nvdisasm: str) -> dict[str, list[SassBlock]]:
    """The blocks of each kernel of a PTX text."""
    # the targets of indirect branches, which -ndf leaves out, take a third of the time
    text = disassembly(ptx, target, ptxas, nvdisasm, "-ndf")
    shares = _shares(ptx)
    return {name: _blocks(rows, shares) for name, rows in listing(text).items()}


def _shares(ptx: str) -> dict[int, float]:
    """Of each line of PTX that is a product of matrices: 1 / the machine instructions it takes; of
    one that loads or stores a fragment, by as many as its layout asks for, 0."""
    shares = {}
    for line, text in enumerate(ptx.splitlines(), 1):
        if found := _PRODUCT.match(text):
            opcode, *modifiers = found[1].split(".")
            item = Instruction(opcode, tuple(modifiers), (), SourceLine("", 0))
            shares[line] = 1 / max(product_of(item).machine[1], 1)
        elif _FRAGMENT.match(text):
            shares[line] = 0
    return shares


def _blocks(rows: list[tuple[str, str]], shares: dict[int, float]) -> list[SassBlock]:
    blocks, line, targets = [SassBlock()], 0, set()
    for what, text in rows:
        if what == "line":
            line = int(text)
        elif what == "label":
            if blocks[-1].instructions:
                blocks.append(SassBlock())
            blocks[-1].labels += (text,)
        elif parts := _PARTS.fullmatch(text):
            machine = _machine(parts[1], parts[2], parts[3], line, shares.get(line))
            if machine.base == "NOP":
                continue
            blocks[-1].instructions.append(machine)
            if machine.opcode == "BRA.DIV":
                targets.add(machine.target)
            if machine.base in _ENDS:
                blocks.append(SassBlock())
    cold = again = slow = False  # again: an mbarrier is asked once more
    for block in blocks:
        cold = any(label in targets or "slowpath" in label for label in block.labels) or (
            cold and not any(label.startswith("$") for label in block.labels)
        )
        end = block.instructions[-1:]  # a loop of its own follows the last instruction
        padding = any(m.target in block.labels for m in end) and len(block.instructions) == 1
        back = again and len(block.instructions) == 1  # to where it goes on once it is over
        slow, called = any("slowpath" in m.target for m in end), slow and not block.labels
        again = {"YIELD", "SYNCS"} <= {m.base for m in block.instructions}
        block.cold = cold or padding or again or back or slow or called
    return [block for block in blocks if block.instructions]


def _machine(predicate: str | None, opcode: str, rest: str, line: int,
             share: float | None) -> SassInstruction:  # fmt: skip
    target = re.search(r"`\((\S+)\)", rest)
    pieces = rest.split(",")
    registers = [_registers(piece, opcode, place) for place, piece in enumerate(pieces)]
    if opcode.startswith(_STORES):
        writes, reads = [], sum(registers, [])
    else:
        ends = 2 if len(pieces) > 1 and re.fullmatch(r"\s*U?P\w", pieces[0]) else 1
        writes, reads = sum(registers[:ends], []), sum(registers[ends:], [])
    if predicate:
        reads.append(predicate.strip("@!"))
    told = target[1] if target else ""
    if share is None or not opcode.startswith(_PRODUCTS):
        share = float(share is None)
    keeps = int(pieces[1], 16) if opcode.endswith("DEPBAR.LE") else 0
    closes = opcode.startswith(_GROUP_PRODUCTS) and "gsb0" in rest
    return SassInstruction(
        opcode, line, predicate or "", tuple(writes), tuple(reads), told, share, keeps, closes
    )


def _registers(piece: str, opcode: str, place: int) -> list[str]:
    """The registers that an operand names; wide ones are several."""
    found = []
    for name, wide in _REGISTER.findall(piece):
        found.append(name)
        count = 2 if wide or (".64" in opcode or ".WIDE" in opcode and place == 0) else 1
        count = 4 if ".128" in opcode and "[" not in piece else count
        count = _width(opcode, place, count)
        if name[0] != "P" and name[:2] != "UP":
            stem = name.rstrip("0123456789")
            found += [f"{stem}{int(name[len(stem) :]) + k}" for k in range(1, count)]
    return found


def prefixed(table: dict[str, _T], opcode: str) -> _T | None:
    """What a table has for the longest beginning of an opcode."""
    while opcode and opcode not in table:
        opcode = opcode.rpartition(".")[0]
    return table.get(opcode)


def _width(opcode: str, place: int, count: int) -> int:
    """How many registers the operand of a product or of ldmatrix has, of another one `count`."""
    if opcode.startswith("LDSM") and place == 0:
        return int(opcode[-1]) if opcode[-2] == "." else 1
    widths = prefixed(_WIDTHS, opcode)
    return widths[place] if widths and place < len(widths) else count


def second_factor(product: SassInstruction) -> str:
    """The first register of a product's second factor; "" where shared memory holds it."""
    widths = prefixed(_WIDTHS, product.opcode)
    return product.reads[widths[1]] if widths and len(product.reads) > widths[1] else ""


def executions(blocks: list[SassBlock], by_line: dict[int, float], warps: float) -> list[float]:
    """How often warps ran each block, if they ran the lines of PTX so often.

    A block ran as often as most of its instructions' lines. Where ptxas unrolled a loop, a line
    has copies in several blocks: the one with most runs as often as that goes into the turns."""
    raw = [_median(_counts(block, by_line)) for block in blocks]
    copies = [_copies(block) for block in blocks]
    found = [0.0 if block.cold else count for block, count in zip(blocks, raw)]
    anchors = [frozenset(_anchors(b)) if not b.cold else frozenset() for b in blocks]
    for first, own in enumerate(anchors):
        group = [n for n, lines in enumerate(anchors) if own and _alike(lines, own)]
        if not group or group[0] != first or (len(group) == 1 and copies[first] == 1):
            continue
        before = [found[n] for n in range(first) if 0 < found[n] < raw[first]]
        entries = before[-1] if before else min(warps, raw[first]) or 1
        turns = raw[first] / entries
        for n in sorted(group, key=lambda n: -copies[n]):
            last = n == min(group, key=lambda n: copies[n])
            each = turns / copies[n] if last else turns // copies[n]
            found[n] = entries * each
            turns -= each * copies[n]
        _once_each(blocks, found, raw, group, entries)
    return [warps if count == 0 and n == 0 else count for n, count in enumerate(found)]


def _once_each(blocks: list[SassBlock], found: list[float], raw: list[float], group: list[int],
               entries: float) -> None:  # fmt: skip
    """What stands between the copies of a loop, and only decides which is next, runs once for each
    time that the loop is come to."""
    for n in range(max(group[0] - 2, 0), min(group[-1] + 4, len(blocks))):
        if n not in group and raw[n] == raw[group[0]] and not _anchors(blocks[n]):
            found[n] = min(found[n], entries)


def _counts(block: SassBlock, by_line: dict[int, float]) -> list[float]:
    """How often the lines ran that a block's instructions are for; what is under a predicate may
    be for a branch of the PTX that fewer warps take, and constants may come from another place."""
    known = [m for m in block.instructions if m.line in by_line]
    certain = [m for m in known if not m.predicate or m.base in _ENDS]
    own = [m for m in certain if not m.opcode.startswith(_CONSTANTS)]
    matrices = [m for m in certain if m.base in _MATRICES]
    return [by_line[m.line] for m in matrices or own or certain or known]


def _alike(lines: frozenset, own: frozenset) -> bool:
    return bool(lines) and 2 * len(lines & own) > max(len(lines), len(own))


def _anchors(block: SassBlock) -> dict[tuple[int, str], float]:
    """Instructions of which PTX has one each: how many copies a block has."""
    copies: dict[tuple[int, str], float] = defaultdict(float)
    for m in block.instructions:
        if m.base.startswith(_ONE_EACH) and m.line and m.share:
            copies[m.line, m.base] += m.share
    return copies


def _copies(block: SassBlock) -> int:
    """How many copies of its PTX a block holds."""
    return max(1, round(_median(list(_anchors(block).values()))))


def _median(values: list) -> float:
    return float(median(values)) if values else 0.0
