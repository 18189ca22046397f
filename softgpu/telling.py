"""What the sanitizer found: which words say what happened, where, and what to do about it."""

from __future__ import annotations

import re
from functools import cached_property, partial
from pathlib import Path

from . import contract
from .advice import BLOCK, DOES, WARP, Barriers
from .contract import ffi
from .faults import Fault, FaultKind, last_fault
from .findings import Finding, Findings, without_repeats
from .phrases import Said, joined
from .places import CLUSTER, LOCAL, SHARED, TO_THE_END, RawFinding, WatchedLaunch, in_bytes
from .words import Advice, FindingKind, Happened, Place, Thread

__all__ = ["last_findings"]

_LIMIT = contract.values("Limit", "LIMIT_")
_LANES = 32
_NO_SITE = 0xFFFFFFFF
_HEAP_GAP = 16  # bytes, at least, between two blocks of malloc's

_SENDS_HOME = re.compile(r"\bif\s*\(\s*[\w.]+\s*>\s*\w")
_TWO_SIDED = (
    FindingKind.RACE,
    FindingKind.MISSING_SYNCWARP,
    FindingKind.DOUBLE_WRITE,
    FindingKind.MISSING_PROXY_FENCE,
    FindingKind.UNFINISHED_PRODUCT,
)
_RACES = {
    "update": Advice.UPDATE,
    "atomic_and_plain": Advice.ATOMIC_AND_PLAIN,
    "other_block": Advice.OTHER_BLOCK,
    "scope": Advice.SCOPE,
    "two_sizes": Advice.TWO_SIZES,
    "bulk_overwriting": Advice.RELEASE_IT,
}
_OUTSIDE = {  # by notes: the message in place of AT, and the advice
    "freed": (Happened.FREED, Advice.KEEP_ALIVE),
    "other_device": (Happened.OTHER_DEVICE, Advice.PEER_ACCESS),
    "constant": (Happened.CONSTANT, Advice.NO_CONSTANT),
    "not_begun": (Happened.NOT_BEGUN, Advice.MEET_FIRST),
    "returned": (Happened.RETURNED, Advice.PASS_MEMORY),
}
_UNDER_WAY = {  # races with what goes on by itself, by notes
    "copying": (Happened.COPYING, Advice.WAIT_FOR_COPIES),
    "bulk_reading": (Happened.BULK_READING, Advice.WAIT_FOR_READS),
    "bulk_writing": (Happened.BULK_WRITING, Advice.WAIT_FOR_BYTES),
    "multiplying": (Happened.MULTIPLYING, Advice.WAIT_FOR_PRODUCTS),
}
_ON_FAULTS = {
    FaultKind.MBARRIER_BYTES_MISSING: Advice.EXPECT_BYTES,
    FaultKind.MBARRIER_ARRIVALS_MISSING: Advice.ARRIVALS,
    FaultKind.REGISTERS_MISSING: Advice.REGISTERS,
    FaultKind.MBARRIER_MISALIGNED: Advice.MBARRIER_BYTES,
    FaultKind.MBARRIER_ARRIVALS: Advice.FEWER_ARRIVALS,
    FaultKind.MBARRIER_PARITY: Advice.PARITY,
    FaultKind.MISALIGNED: Advice.ALIGN_ARRAY,
    FaultKind.BOX_MISALIGNED: Advice.ALIGN_ARRAY,
}


def _these(bytes_: list[int]) -> Said:
    """Which bytes of an access."""
    first, last = bytes_[0], bytes_[-1]
    if first == last:
        return Place.BYTE(number=first)
    if last - first + 1 == len(bytes_):
        return Place.STRETCH(first=first, last=last)
    return Place.THESE(numbers=", ".join(map(str, bytes_)))


def _at(place: list[int]) -> str:
    return ",".join(map(str, place))


def _thread(f: RawFinding) -> Said:
    return Thread.OF_BLOCK(thread=_at(f.thread), block=_at(f.block))


def _other_thread(f: RawFinding) -> Said:
    return Thread.ALONE(thread=_at(f.other_thread))


def last_findings(
    engine, kind: type[Findings] = Findings, types=(), has_ended: bool = True
) -> Findings | None:
    """The findings of the last sanitized launch; None: there was none.

    types: of the elements of each argument, as NumPy has them; None where it is no array.
    has_ended: nothing stopped it before its end."""
    runtime, handle, threads = engine.runtime, ffi.new("void **"), ffi.new("uint32_t *")
    name = runtime.sg_sanitize_kernel(handle, threads)
    if not name:
        return None
    found, dropped = ffi.new("Finding[]", _LIMIT["findings"]), ffi.new("uint64_t *")
    lost = ffi.new("uint32_t *")
    parameters = ffi.new("char[]", _LIMIT["parameter_bytes"])
    count = runtime.sg_sanitize_findings(found, len(found), dropped, lost, parameters)
    passed = bytes(ffi.buffer(parameters))
    launch = WatchedLaunch(engine, handle[0], ffi.string(name).decode(), passed, types)
    teller = _Teller(launch, threads[0])
    told = without_repeats(teller.tell_all([RawFinding(f) for f in found[0:count]]))
    if not has_ended:
        told.append(teller.tell_fault(last_fault(engine.runtime)))
    exposed = runtime.sg_sanitize_exposed()
    find_fidelity = partial(launch.module.fidelity, launch.kernel)
    return kind(launch.name, told, find_fidelity, dropped[0], bool(lost[0]), exposed)


_CALLS = {"barrier": "__syncthreads()", "fence": "__threadfence()"}
_OTHER_CALLS = {  # what other languages call them
    "numba": {"barrier": "cuda.syncthreads()", "fence": "cuda.threadfence()"},
    "triton": {"barrier": "tl.debug_barrier()"},
}


class _Teller:
    """Puts the findings of one launch, of blocks of so many threads, into words."""

    def __init__(self, launch: WatchedLaunch, threads: int):
        self.launch = launch
        self.has_warps = threads > _LANES
        self.found: list[RawFinding] = []
        self.calls = _CALLS | _OTHER_CALLS.get(launch.module.language, {})

    def _advice(self, code: Advice) -> Said:
        """Advice with the calls that it names as the kernel's language has them."""
        return code(**{name: c for name, c in self.calls.items() if f"{{{name}}}" in code.value})

    @cached_property
    def barriers(self) -> Barriers:
        return Barriers(self.launch.code)

    def tell_all(self, found: list[RawFinding]) -> list[Finding]:
        self.found = [f for f in found if not self.launch.is_no_read(f)]
        # of what one barrier would end, a race of several warps says more
        return [self.tell(f) for f in sorted(self.found, key=self._is_for_block)]

    def tell(self, f: RawFinding) -> Finding:
        file, line = self.launch.line(f.site)
        other_file, other_line = self.launch.line(f.other_site)
        root_file, root_line = self.launch.root(f.site)
        two_sided = f.kind in _TWO_SIDED
        place = self.launch.place(f) if f.space else ""
        message, advice = getattr(self, f"_{f.kind.name.lower()}")(f, place)
        return Finding(
            kind=FindingKind.RACE if self._is_for_block(f) else f.kind,
            kernel=self.launch.name,
            file=Path(file).name,
            line=line,
            message=message,
            advice=advice,
            count=f.count,
            block=tuple(f.block),
            thread=tuple(f.thread),
            place=place,
            source=self.launch.text(file, line),
            other_file=Path(other_file).name,
            other_line=other_line or None,
            other_block=tuple(f.other_block) if two_sided else None,
            other_thread=tuple(f.other_thread) if two_sided else None,
            other_source=self.launch.text(other_file, other_line),
            root_file=Path(root_file).name,
            root_line=root_line or None,
            root_source=self.launch.text(root_file, root_line) if root_line else "",
        )

    def tell_fault(self, fault: Fault) -> Finding:
        file, line = self.launch.line(fault.site)
        message = Happened.FAULT(what=fault.what)
        if fault.loop:
            file = self.launch.module.program.functions[self.launch.kernel].source.file
            line, begins = fault.loop, self.launch.loop_around(file, fault.loop)
            message = Happened.FAULT_IN_LOOP(what=fault.what, line=begins)
        callers = self.launch.callers(file, line)
        root_file, root_line = callers[0] if len(callers) == 1 else ("", 0)
        return Finding(
            kind=FindingKind.FAULT,
            kernel=self.launch.name,
            file=Path(file).name,
            line=line,
            message=message,
            advice=_ON_FAULTS.get(fault.kind, Advice.ENDED)(),
            count=1,
            block=(0, 0, 0),
            thread=(0, 0, 0),
            source=self.launch.text(file, line),
            root_file=Path(root_file).name,
            root_line=root_line or None,
            root_source=self.launch.text(root_file, root_line) if root_line else "",
            fault=fault,
        )

    def _out_of_bounds(self, f: RawFinding, place: Said):
        message = self._access(f, place)
        if f.note == "at_null":
            message = self._access(f, Place.ADDRESS(address=f.address))
            return message, Advice.PASS_ARRAY()
        if f.note in _OUTSIDE:
            what, advice = _OUTSIDE[f.note]
            return what(what=message), advice()
        if f.note == "in_heap" and f.address - f.end >= _HEAP_GAP:
            return Happened.NOT_IN_HEAP(what=message), Advice.HEAP()
        if f.note == "wrong_array":
            return Happened.WRONG_ARRAY(what=message), self._guard(f, place)
        if f.space == SHARED and f.meant[1] == TO_THE_END:
            return message, joined(self._guard(f, place), Advice.MORE_SHARED())
        return message, self._guard(f, place)

    def _guard(self, f: RawFinding, place: Said) -> Said:
        """What to do about an index that is out of bounds."""
        number = self.launch.argument(f)
        type_ = self.launch.types.get(number) if number is not None else None
        if place.has(Place.BEFORE):
            return Advice.NEGATIVE()
        if number is not None and type_ is not None and f.bytes > type_.itemsize:
            wide = Advice.WIDE(number=number + 1, type=type_, bytes=f.bytes)
            return joined(Advice.GUARD_IT(), wide)
        one_past = self._on_one_past(f) if place.has(Place.ONE_PAST) and f.count == 1 else ""
        return joined(Advice.GUARD_IT(), one_past)

    def _on_one_past(self, f: RawFinding) -> Said | str:
        """What to do about a guard up to this line that lets n itself through, if there is one."""
        file, last = self.launch.line(f.site)
        lines = [self.launch.text(file, n).partition("//")[0] for n in range(1, last + 1)]
        if any("<=" in line for line in lines):
            return Advice.MAKE_IT_LESS()
        return Advice.MAKE_IT_GREATER() if any(map(_SENDS_HOME.search, lines)) else ""

    def _misaligned(self, f: RawFinding, place: Said):
        by_luck = f.space == SHARED and self.launch.usual_byte(f) % f.bytes == 0
        happened = Happened.ALIGNED_BY_LUCK if by_luck else Happened.MISALIGNED
        advice = Advice.ALIGN_OWN if f.space in (SHARED, LOCAL) else Advice.ALIGN
        return happened(what=self._access(f, place), bytes=f.bytes), advice(bytes=f.bytes)

    def _access(self, f: RawFinding, place: Said) -> Said:
        does, bytes_ = DOES[f.access](), in_bytes(f.bytes)
        return Happened.AT(thread=_thread(f), does=does, bytes=bytes_, place=place)

    def _uninitialised(self, f: RawFinding, place: Said):
        if f.note == "value":
            if f.other_site >= _NO_SITE:
                return Happened.NO_VALUE(thread=_thread(f)), Advice.GIVE_IT()
            needs = Happened.NO_VALUE_FOR(thread=_thread(f), line=self._other_line(f))
            return needs, Advice.GIVE_IT()
        unwritten = [byte for byte in range(f.bytes) if f.unwritten >> byte & 1]
        what = self._access(f, place)
        message = (
            Happened.UNWRITTEN(what=what)
            if len(unwritten) == f.bytes
            else Happened.UNWRITTEN_PART(what=what, bytes=_these(unwritten))
        )
        advice = {SHARED: Advice.WRITE_IT, LOCAL: Advice.GIVE_IT}
        return message, advice.get(f.space, Advice.FILL_IT)()

    def _sides(self, f: RawFinding, place: Said) -> Said:
        other = Thread.OF_BLOCK(thread=_at(f.other_thread), block=_at(f.other_block))
        return Happened.TWO_SIDES(
            thread=_thread(f),
            does=DOES[f.access](),
            place=place,
            other=_other_thread(f) if f.same_block else other,
            other_does=DOES[f.other_access](),
            line=self._other_line(f),
        )

    def _other_line(self, f: RawFinding) -> Said | str:
        (here, line), (there, other) = self.launch.line(f.site), self.launch.line(f.other_site)
        if there != here:
            return f"{Path(there).name}:{other}" if other else Place.UNKNOWN_LINE()
        return Place.THIS_LINE() if other == line else Place.LINE(number=other)

    def _race(self, f: RawFinding, place: Said):
        if f.note in _UNDER_WAY:
            happened, advice = _UNDER_WAY[f.note]
            return self._meets(happened, f, place), self._advice(advice)
        message = Happened.RACE(what=self._sides(f, place))
        if f.note == "unfenced":
            return message, self._fence(f)
        if f.note == "volatile":
            barrier = self._barrier(f) if f.same_block else ""
            return message, joined(Advice.VOLATILE(), barrier, self._advice(Advice.FLAG))
        if self._is_between_blocks(f) and f.note != "bulk_overwriting":
            return message, self._barrier(f)
        return message, self._advice(_RACES[f.note]) if f.note in _RACES else self._barrier(f)

    def _meets(self, happened: Happened, f: RawFinding, place: Said) -> Said:
        """What a thread does where something of another thread's may be under way."""
        who = {"thread": _thread(f), "does": DOES[f.access](), "other": _other_thread(f)}
        return happened(**who, place=place, line=self._other_line(f))

    def _unfinished_copy(self, f: RawFinding, place: Said):
        reads = f.note == "bulk_reading"
        happened = Happened.ENDS_READING if reads else Happened.ENDS_WRITING
        advice = Advice.WAIT_FOR_GROUP if reads else Advice.WAIT_FOR_PHASE
        return happened(block=_at(f.block), thread=Thread.ALONE(thread=_at(f.thread))), advice()

    def _missing_product_fence(self, f: RawFinding, place: Said):
        if f.other_site >= _NO_SITE:
            return Happened.NO_FENCE_AT_FIRST(thread=_thread(f)), Advice.PRODUCT_FENCE()
        since = Happened.NO_FENCE_SINCE(thread=_thread(f), line=self._other_line(f))
        return since, Advice.PRODUCT_FENCE()

    def _missing_proxy_fence(self, f: RawFinding, place: Said):
        if f.note == "hidden":
            return self._meets(Happened.HIDDEN, f, place), Advice.FENCE_MBARRIER()
        reader = Happened.BULK_COPY if f.note == "bulk_reading" else Happened.WGMMA
        message = Happened.UNPROXIED(
            thread=_thread(f),
            place=place,
            reader=reader(),
            other=_other_thread(f),
            line=self._other_line(f),
        )
        return message, Advice.FENCE_PROXY()

    def _unfinished_product(self, f: RawFinding, place: Said):
        return self._meets(Happened.UNFINISHED, f, place), Advice.WAIT_FOR_SUMS()

    def _barrier(self, f: RawFinding) -> Said:
        if self._is_between_blocks(f):
            return Advice.CLUSTER_SYNC()
        return self.barriers.advice(f, self.calls["barrier"], BLOCK)

    def _is_between_blocks(self, f: RawFinding) -> bool:
        """Whether two blocks of a cluster are at the shared memory of one of them."""
        return f.space in (SHARED, CLUSTER) and not f.same_block

    def _fence(self, f: RawFinding) -> Said:
        return self._advice(Advice.FENCE_BLOCK if f.same_block else Advice.FENCE)

    def _missing_syncwarp(self, f: RawFinding, place: Said):
        message = Happened.SYNCWARP(what=self._sides(f, place))
        if self._races_beside(f):
            return message, self._barrier(f)
        if self._is_for_block(f):
            return message, joined(self._barrier(f), Advice.ONE_WARP_ALONE())
        advice = self.barriers.advice(f, "__syncwarp()", WARP)
        return message, joined(advice, Advice.OR_SHUFFLE())

    def _is_for_block(self, f: RawFinding) -> bool:
        """Whether two lanes of a warp need a barrier of their block: one that other warps need as
        well, or may, as of several warps one alone was seen here."""
        if f.kind != FindingKind.MISSING_SYNCWARP or not self.has_warps:
            return False
        return f.warps & (f.warps - 1) == 0 or self._races_beside(f)

    def _races_beside(self, f: RawFinding) -> bool:
        """Whether one barrier of the block would end a race of several warps, too."""
        races = [g for g in self.found if g.kind == FindingKind.RACE and g.note == "no_note"]
        return any(self.barriers.shared(f, race) for race in races)

    def _double_write(self, f: RawFinding, place: Said):
        message = Happened.DOUBLE_WRITE(what=self._sides(f, place))
        return message, self._fence(f) if f.note == "unfenced" else Advice.ONE_WRITER()

    def _stale_read(self, f: RawFinding, place: Said):
        return Happened.STALE(what=self._sides(f, place)), Advice.PLAIN_LOAD()

    def _divergent_barrier(self, f: RawFinding, place: Said):
        if f.note in ("absent", "not_named"):
            return self._members(f, Happened.SYNCWARP_ITSELF())
        who = {"thread": _thread(f), "other": _at(f.other_thread)}
        if f.note == "whole_warp":
            return Happened.WARP_DISAGREES(**who), Advice.WHOLE_WARP()
        if f.note == "exited":
            return Happened.EXITED(**who, lanes=f.lanes), Advice.NO_RETURN()
        if f.note == "two_lines":
            line = self._other_line(f)
            return Happened.TWO_LINES(**who, line=line), Advice.SAME_BARRIER()
        return Happened.SKIPPED(**who, lanes=f.lanes), Advice.NO_CONDITION()

    def _inactive_shuffle(self, f: RawFinding, place: Said):
        if f.note in ("absent", "not_named"):
            return self._members(f, Happened.SHUFFLE_ITSELF())
        if f.note == "no_thread":
            return Happened.READS_NO_THREAD(thread=_thread(f)), Advice.ALL_LANES()
        who = {"thread": _thread(f), "other": _at(f.other_thread)}
        if f.note == "exited":
            return Happened.READS_RETURNED(**who), Advice.STAY()
        return Happened.READS_ABSENT(**who), Advice.ALL_LANES()

    def _members(self, f: RawFinding, what: Said):
        if f.note == "not_named":
            return Happened.NOT_NAMED(thread=_thread(f), what=what), Advice.NAME_ALL()
        other = Thread.OF_BLOCK(thread=_at(f.other_thread), block=_at(f.block))
        return Happened.ABSENT(thread=other, what=what), Advice.NAME_THESE()
