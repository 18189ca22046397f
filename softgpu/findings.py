"""What the sanitizer found, in words. driver/sanitize.c finds, this module tells."""

from __future__ import annotations

import ctypes
import re
from ctypes import c_uint64
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from . import contract
from .advice import BLOCK, DOES, WARP, Barriers, line_name
from .contract import ffi
from .declarations import short_name

__all__ = ["Finding", "Findings", "last_findings", "line_name"]

_NO_SITE = 0xFFFFFFFF
_MOST = 256
_PARAMETER_BYTES = 4096

# as in driver/runtime.h
KINDS = (
    "out of bounds",
    "misaligned",
    "uninitialised read",
    "race",
    "missing __syncwarp",
    "double write",
    "divergent barrier",
    "inactive shuffle",
    "stale read",
)
_NOTES = (
    " null heap freed constant elsewhere returned moved update atomic volatile blocks scope sizes "
    "unfenced exited lines unnamed absent nobody"
).split(" ")
_SPACE = contract.values("Space", "SPACE_")
_GLOBAL, _SHARED, _LOCAL = (_SPACE[name] for name in ("global", "shared", "local"))
_HEAP_GAP = 16  # bytes, at least, between two blocks of malloc's

_RACES = {
    "update": "Several threads read, change and write one value: use atomicAdd or its kin, or give "
    "each thread a value of its own.",
    "atomic": "An atomic protects only from other atomics: separate the two by a barrier (in one "
    "block) or a launch, or make both atomic.",
    "blocks": "Blocks run in any order: let each write what no other touches, or let "
    "__threadfence() and an atomic counter say who is done.",
    "scope": "An atomic of block scope (atomicAdd_block, cuda::thread_scope_block) protects only "
    "within its block: use device scope (atomicAdd, cuda::thread_scope_device).",
    "sizes": "Atomics of different sizes do not protect from each other: use one size for this "
    "memory.",
}


def _bytes(number: int) -> str:
    return f"{number} byte" if number == 1 else f"{number} bytes"


def _these(bytes_: list[int]) -> str:
    """ "byte 3", "bytes 4 to 7", "bytes 0, 1, 5": of an access."""
    first, last = bytes_[0], bytes_[-1]
    if first == last:
        return f"byte {first}"
    in_a_row = last - first + 1 == len(bytes_)
    return f"bytes {first} to {last}" if in_a_row else f"bytes {', '.join(map(str, bytes_))}"


class _Finding:
    """`struct Finding` of driver/runtime.h, copied: its fields, arrays as lists."""

    def __init__(self, found):
        for name, field in ffi.typeof("Finding").fields:
            value = getattr(found, name)
            setattr(self, name, list(value) if field.type.kind == "array" else value)


@dataclass(frozen=True)
class Finding:
    """One thing that a kernel does wrong at a line, or between two lines.

    Threads and blocks are those of the first time; for races and the like, other_... is the other
    side, and other_line may be the same line."""

    kind: str
    kernel: str
    file: str
    line: int
    message: str
    advice: str
    count: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    place: str = ""  # the memory: "argument 1, byte 4096 (one past the end of 4096)"
    source: str = ""  # the line's text
    other_file: str = ""
    other_line: int | None = None
    other_block: tuple[int, int, int] | None = None
    other_thread: tuple[int, int, int] | None = None
    other_source: str = ""

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines at fault, in order."""
        return tuple(sorted(line for _, line in self.places))

    @property
    def places(self) -> dict[tuple[str, int], str]:
        """The text of the lines at fault by (file, line), in order."""
        both = {(self.file, self.line): self.source}
        if self.other_line is not None:
            both.setdefault((self.other_file, self.other_line), self.other_source)
        return dict(sorted(both.items()))

    def __str__(self):
        times = "" if self.count == 1 else f" ({self.count} times)"
        where = f"{self.file}:{self.line}" if self.file else f"line {self.line or 'unknown'}"
        text = [f"{self.kind}: {where}: {self.message}{times}"]
        text += [
            f"    {line_name(file, line):>4} | {source}"
            for (file, line), source in self.places.items()
            if line and source
        ]
        return "\n".join([*text, f"    {self.advice}"])


class Findings(list):
    """The findings of one launch, in the order in which they happened."""

    def __init__(self, kernel: str, found=(), dropped: int = 0):
        super().__init__(found)
        self.kernel = kernel
        self.dropped = dropped  # occurrences of further findings, which were not kept

    @property
    def clean(self) -> bool:
        return not self

    def of(self, kind: str) -> Findings:
        """Those of one kind."""
        return Findings(self.kernel, [f for f in self if f.kind == kind])

    def __str__(self):
        if self.clean:
            return f"kernel {self.kernel}: nothing found"
        head = f"kernel {self.kernel}: {len(self)} finding{'s' if len(self) > 1 else ''}"
        more = [f"and {self.dropped} times something else"] if self.dropped else []
        return "\n".join([head, *(f"{n}. {f}" for n, f in enumerate(self, 1)), *more])

    __repr__ = __str__


def last_findings(
    engine, kind: type[Findings] = Findings, types=(), fault: str | None = None
) -> Findings | None:
    """The findings of the last sanitized launch; None: there was none.

    types: of the elements of each argument, as NumPy has them; None where it is no array.
    fault: the driver's words on what stopped the launch before its end, if something did."""
    runtime, handle = engine.runtime, ffi.new("void **")
    name = runtime.sg_sanitize_kernel(handle)
    if not name:
        return None
    found, dropped = ffi.new("Finding[]", _MOST), ffi.new("uint64_t *")
    parameters = ffi.new("char[]", _PARAMETER_BYTES)
    count = runtime.sg_sanitize_findings(found, _MOST, dropped, parameters)
    words = ffi.string(name).decode(), bytes(ffi.buffer(parameters)), types
    teller = _Teller(engine, handle[0], *words)
    told = _fold(teller.tell_all([_Finding(f) for f in found[0:count]]))
    if fault is not None:
        told.append(teller.tell_fault(fault))
    return kind(teller.name, told, dropped[0])


def _fold(found: list[Finding]) -> list[Finding]:
    """Without what a race at the same lines says already, and reads that come too early by one."""
    told = ("missing __syncwarp", "double write")
    races = [f.places for f in found if f.kind == "race"]
    pairs = [f.places for f in found if f.kind in ("race", told[0]) and len(f.places) > 1]
    early = {place for places in pairs for place in places}
    return [
        f
        for f in found
        if not (f.kind in told and f.places in races)
        and not (f.kind == "uninitialised read" and (f.file, f.line) in early)
    ]


def _threads(block, thread) -> str:
    return f"thread ({','.join(map(str, thread))}) of block ({','.join(map(str, block))})"


def _same_block(f: _Finding) -> bool:
    return f.block[:] == f.other_block[:]


class _Teller:
    """Puts the findings of one launch into words."""

    def __init__(self, engine, handle: int, kernel: str, parameters: bytes, types):
        self.library = engine.library
        self.handle = handle
        self.kernel = kernel
        self.name = short_name(kernel)
        self.types = dict(enumerate(types))
        self.module = engine.modules[handle]
        self.code = self.module.code(kernel, "sanitize")
        self.sites = self.code.sites
        self.layout = self.module.layout(kernel)
        function = self.module.program.functions[kernel]
        self.arguments = []
        for offset, variable in zip(function.param_offsets.values(), function.params, strict=True):
            words = range(-(-offset // 8) * 8, offset + variable.bytes - 7, 8)
            self.arguments.append([int.from_bytes(parameters[w : w + 8], "little") for w in words])
        self.source = self.module.source_lines
        self.declarations = self.module.declarations
        self.parameters = self.declarations.parameters(kernel) or []
        self.found: list[_Finding] = []

    @cached_property
    def barriers(self) -> Barriers:
        return Barriers(self.code)

    def tell_all(self, found: list[_Finding]) -> list[Finding]:
        self.found = [f for f in found if _NOTES[f.note] != "moved" or not self._is_gap(f)]
        return [self.tell(f) for f in self.found]

    def tell(self, f: _Finding) -> Finding:
        kind = KINDS[f.kind]
        file, line = self._line(f.site)
        other_file, other_line = self._line(f.other_site)
        two_sided = kind in ("race", "missing __syncwarp", "double write")
        place = self._place(f) if f.space else ""
        tell = getattr(self, f"_{kind.replace('__', '').replace(' ', '_')}")
        message, advice = tell(f, place)
        return Finding(
            kind=kind,
            kernel=self.name,
            file=Path(file).name,
            line=line,
            message=message,
            advice=advice,
            count=f.count,
            block=tuple(f.block),
            thread=tuple(f.thread),
            place=place,
            source=self._text(file, line),
            other_file=Path(other_file).name,
            other_line=other_line or None,
            other_block=tuple(f.other_block) if two_sided else None,
            other_thread=tuple(f.other_thread) if two_sided else None,
            other_source=self._text(other_file, other_line),
        )

    def tell_fault(self, text: str) -> Finding:
        parts = re.search(r"kernel \S+?(?:, (\S+):(\d+))?:? (.*)", text, re.DOTALL)
        name, line, message = parts.groups() if parts else (None, None, text)
        paths = [site.file for site in self.sites if Path(site.file).name == name]
        if loop := re.search(r"it was in a loop at line (\d+)$", message):
            line, paths = loop[1], [self.module.program.functions[self.kernel].source.file]
        file = paths[0] if paths else ""
        return Finding(
            kind="fault",
            kernel=self.name,
            file=Path(file).name,
            line=int(line or 0),
            message=message,
            advice="The launch ended here: what comes after was not looked at.",
            count=1,
            block=(0, 0, 0),
            thread=(0, 0, 0),
            source=self._text(file, int(line or 0)),
        )

    def _line(self, site: int) -> tuple[str, int]:
        known = site < len(self.sites)
        return (self.sites[site].file, self.sites[site].line) if known else ("", 0)

    def _text(self, file: str, line: int) -> str:
        for name in (file, Path(file).name):
            if name in self.source:
                return self.source[name].get(line, "").strip()
        if Path(file).is_file():  # a header
            lines = Path(file).read_text(errors="replace").splitlines()
            return lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return self.source.get("", {}).get(line, "").strip()

    # --- memory -----------------------------------------------------------------------------

    def _place(self, f: _Finding) -> str:
        if f.space == _SHARED:
            return self._shared_place(f)
        at = f.address - f.begin
        if f.space == _LOCAL:
            return f"local memory byte {at}{self._beyond(f, at, f.end - f.begin)}"
        if not f.begin:
            return "no memory that is allocated"
        return f"{self._owner(f)}, byte {at}{self._beyond(f, at, f.end - f.begin)}"

    def _beyond(self, f: _Finding, at: int, size: int) -> str:
        if at < 0:
            return f" ({_bytes(-at)} before the beginning)"
        if at >= size:
            past = "one" if at == size else _bytes(at - size)
            return f" ({past} past the end of {size})"
        if at + f.bytes > size:
            return f" ({_bytes(f.bytes)} from there reach past the end of {size})"
        return ""

    def _argument(self, f: _Finding) -> int | None:
        """The number, from 0, of the argument that leads to the memory."""
        numbers = range(len(self.arguments)) if f.space == _GLOBAL and f.begin else ()
        return next(
            (n for n in numbers if any(f.begin <= v <= f.end for v in self.arguments[n])), None
        )

    def _is_gap(self, f: _Finding) -> bool:
        """Whether what was copied unwritten may be a gap in a struct."""
        unwritten = [byte for byte in range(f.bytes) if f.unwritten >> byte & 1]
        begin, type_ = self._declared(f)
        extent = self.declarations.extent(type_)
        if extent is None:
            return len(unwritten) < f.bytes
        return all((f.address - begin + byte) % extent.bytes in extent.gaps for byte in unwritten)

    def _declared(self, f: _Finding) -> tuple[int, str]:
        """Where an array begins, and the type that its elements were declared with, if known."""
        number = self._argument(f)
        if number is not None and self.parameters:
            parameter = self.parameters[number]
            begin = next(v for v in self.arguments[number] if f.begin <= v <= f.end)
            raw = parameter.target in ("void", "char", "unsigned char")
            return begin, "" if raw or not parameter.is_pointer else parameter.target
        for begin, size, name in self._shared_variables() if f.space == _SHARED else ():
            if 0 <= f.address - f.begin - begin < (size or _NO_SITE):
                return f.begin + begin, self.declarations.shared_type(name)
        return 0, ""

    def _owner(self, f: _Finding) -> str:
        number = self._argument(f)
        if number is not None:
            name = f" ({self.parameters[number].name})" if self.parameters else ""
            return f"argument {number + 1}{name}"
        if _NOTES[f.note] == "heap":
            return f"a block of {f.end - f.begin} bytes from malloc"
        for variable in self.module.image.variables:
            address, size = c_uint64(), ctypes.c_size_t()
            self.library.cuModuleGetGlobal_v2(
                ctypes.byref(address), ctypes.byref(size), contract.address(self.handle),
                variable.name.encode(),
            )  # fmt: skip
            if address.value == f.begin:
                return f"variable {short_name(variable.name)}"
        return f"an allocation of {f.end - f.begin} bytes"

    def _shared_place(self, f: _Finding) -> str:
        at = f.address - f.begin
        at -= (at >> 31) << 32 if at < 1 << 32 else 0  # offsets have 32 bits
        size = f.end - f.begin
        if f.meant[1]:
            begin, end = f.meant[0], min(f.meant[1], size)
            name = self._variable(begin)
            beyond = self._beyond(f, at - begin, end - begin)
            return f"shared memory of {name}, byte {at - begin}{beyond}"
        inner = "" if at < 0 or at >= size else self._element(f, at)
        return f"shared memory byte {at}{inner or self._beyond(f, at, size)}"

    def _shared_variables(self) -> list[tuple[int, int, str]]:
        """(offset, bytes, name); bytes 0: to the end."""
        return self.layout.shared_variables()

    def _variable(self, offset: int) -> str:
        names = [name for at, _, name in self._shared_variables() if at == offset]
        return short_name(names[0]) if names else f"byte {offset}"

    def _element(self, f: _Finding, at: int) -> str:
        """ " (s[33])": the variable there and the number of the access's size in it."""
        for begin, size, name in self._shared_variables():
            if begin <= at and (not size or at < begin + size):
                number, rest = divmod(at - begin, f.bytes)
                inner = f"[{number}]" if not rest else f" + {at - begin} bytes"
                return f" ({short_name(name)}{inner if size != f.bytes else ''})"
        return ""

    # --- words ------------------------------------------------------------------------------

    def _out_of_bounds(self, f: _Finding, place: str):
        note = _NOTES[f.note]
        does = f"{_threads(f.block, f.thread)} {DOES[f.access]} {_bytes(f.bytes)} at"
        message = f"{does} {place}"
        advice = (
            "Compare the index that is used with the size before the access, and let threads "
            "outside do nothing."
        )
        number = self._argument(f)
        type_ = self.types.get(number)
        if "before the beginning" in place:
            advice = (
                "The index is negative: compare it with 0, too, and let threads outside do nothing."
            )
        elif type_ is not None and f.bytes > type_.itemsize:
            advice += (
                f" Argument {number + 1} is {type_}; the kernel takes {f.bytes} bytes at once."
            )
        elif "(one past" in place and f.count == 1:
            advice += " If a comparison lets n itself through, make it <."
        if note == "null":
            message = f"{does} address {f.address:#x}"
            advice = "Pass an array: a null pointer, or a number in a pointer's place, came in."
        elif note == "freed":
            message += ", in memory that has been freed"
            advice = "Keep the array alive until the kernel is done."
        elif note == "constant":
            message += ", which is constant memory"
            advice = "Kernels cannot write constant memory: use __device__ memory."
        elif note == "heap" and f.address - f.end >= _HEAP_GAP:
            message += ", where malloc's heap has no block"
            advice = "Use no block after free, and none that malloc did not give."
        elif note == "returned":
            message += ", which belongs to a function that has returned"
            advice = "A function's variables end when it returns: let the caller pass memory in."
        elif note == "elsewhere":
            message += ", which is in another array"
        elif f.space == _SHARED and f.meant[1] == _NO_SITE:
            advice += " Or launch with more shared memory."
        return message, advice

    def _misaligned(self, f: _Finding, place: str):
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {_bytes(f.bytes)} at {place}, "
            f"which is no multiple of {f.bytes}"
        )
        return message, (
            f"Begin {f.bytes}-byte accesses at multiples of {f.bytes} bytes, or use narrower ones."
        )

    def _uninitialised_read(self, f: _Finding, place: str):
        unwritten = [byte for byte in range(f.bytes) if f.unwritten >> byte & 1]
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {_bytes(f.bytes)} at {place}, "
            f"{'' if len(unwritten) == f.bytes else f'{_these(unwritten)} of '}"
            "which nothing has written"
        )
        advice = {
            _SHARED: "Write it first: every block starts with shared memory full of garbage.",
            _LOCAL: "Give the variable a value on every path that leads here.",
        }
        return message, advice.get(
            f.space, "Fill the array before the launch, or write every element before it is read."
        )

    def _sides(self, f: _Finding, place: str) -> str:
        other = f"thread ({','.join(map(str, f.other_thread))})"
        other += "" if _same_block(f) else f" of block ({','.join(map(str, f.other_block))})"
        return (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {place}, which {other} "
            f"{DOES[f.other_access]} at {self._other_line(f)}"
        )

    def _other_line(self, f: _Finding) -> str:
        (here, line), (there, other) = self._line(f.site), self._line(f.other_site)
        if there != here:
            return f"{Path(there).name}:{other}" if other else "a line that is not known"
        return "this line" if other == line else f"line {other}"

    def _race(self, f: _Finding, place: str):
        message = f"{self._sides(f, place)}: who comes first is left to chance"
        note = _NOTES[f.note]
        if note == "unfenced":
            return message, self._fence(f)
        if note == "volatile":
            barrier = self._barrier(f) + " " if _same_block(f) else ""
            return message, (
                f"volatile orders nothing. {barrier}For a flag: "
                "__threadfence() between the data and the flag."
            )
        return message, _RACES.get(note) or self._barrier(f)

    def _barrier(self, f: _Finding) -> str:
        return self.barriers.advice(f, "__syncthreads()", BLOCK)

    def _fence(self, f: _Finding) -> str:
        fence = "__threadfence_block()" if _same_block(f) else "__threadfence()"
        only = (
            ""
            if _same_block(f)
            else ", which reaches other blocks (__threadfence_block() does not),"
        )
        return (
            f"A lock or a flag hands nothing over without a fence: put {fence}{only} after the "
            "data is written and before the lock is released or the flag set."
        )

    def _missing_syncwarp(self, f: _Finding, place: str):
        message = f"{self._sides(f, place)}: lanes of one warp need not run in step"
        races = [g for g in self.found if KINDS[g.kind] == "race" and not _NOTES[g.note]]
        if any(self.barriers.shared(f, race) for race in races):
            return message, self._barrier(f)
        advice = self.barriers.advice(f, "__syncwarp()", WARP)
        return message, f"{advice} Or exchange values by __shfl_sync."

    def _double_write(self, f: _Finding, place: str):
        message = f"{self._sides(f, place)}, with another value: either may stay"
        if _NOTES[f.note] == "unfenced":
            return message, self._fence(f)
        return message, (
            "Let one thread write it, or give each thread its own place; to combine the values use "
            "an atomic."
        )

    def _stale_read(self, f: _Finding, place: str):
        return f"{self._sides(f, place)}: what was read may be what was there before", (
            "What __ldg or a const __restrict__ pointer reads goes through a cache that writes do "
            "not reach: read memory that the launch writes by a plain load."
        )

    def _divergent_barrier(self, f: _Finding, place: str):
        note = _NOTES[f.note]
        thread, other = (f"({','.join(map(str, t))})" for t in (f.thread, f.other_thread))
        block = f"block ({','.join(map(str, f.block))})"
        if note == "exited":
            return (
                f"thread {thread} of {block} waits here, but {f.lanes} threads, the first of them "
                f"{other}, have passed by or returned",
                "Take the barrier out of the condition, and let no thread return before it.",
            )
        if note == "lines":
            return (
                f"thread {thread} of {block} waits here while thread {other} waits at "
                f"{self._other_line(f)}",
                "Take the barrier out of the condition, so that all threads meet at the same one.",
            )
        if note in ("absent", "unnamed"):
            return self._members(f, note, "this __syncwarp", thread, other, block)
        return (
            f"thread {thread} of {block} waits here, but {f.lanes} threads of its warp, the first "
            f"of them {other}, pass by",
            "Take the barrier out of the condition or loop that threads may disagree on.",
        )

    def _inactive_shuffle(self, f: _Finding, place: str):
        note = _NOTES[f.note]
        thread, other = (f"({','.join(map(str, t))})" for t in (f.thread, f.other_thread))
        block = f"block ({','.join(map(str, f.block))})"
        if note in ("absent", "unnamed") and f.thread[:] != f.other_thread[:]:
            return self._members(f, note, "this shuffle or vote", thread, other, block)
        what = {
            "nobody": "a lane that has no thread",
            "exited": f"thread {other}, which has returned",
        }.get(note, f"thread {other}, which does not take part")
        return (
            f"thread {thread} of {block} reads the value of {what}",
            "Let all lanes that are read take part: move the shuffle out of the condition, "
            "or keep to the lanes that are there.",
        )

    def _members(self, f, note, what, thread, other, block):
        if note == "unnamed":
            return (
                f"thread {thread} of {block} takes part in {what}, whose mask does not name it",
                "Give a mask that names all lanes that get here, and no others.",
            )
        return (
            f"thread {other} of {block} is named in the mask of {what} but does not get here",
            "Give a mask that names the lanes that get here, taken before the branch "
            "(__ballot_sync), or take the call out of the condition.",
        )
