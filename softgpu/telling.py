"""What the sanitizer found, in words: what happened, where, and what to do about it."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from . import contract
from .advice import BLOCK, DOES, WARP, Barriers
from .contract import ffi
from .findings import Finding, Findings, without_repeats
from .places import CLUSTER, LOCAL, SHARED, TO_THE_END, RawFinding, WatchedLaunch, in_bytes

__all__ = ["GUARD_IT", "MORE_SHARED", "last_findings"]

_LIMIT = contract.values("Limit", "LIMIT_")
_LANES = 32
_NO_SITE = 0xFFFFFFFF
_HEAP_GAP = 16  # bytes, at least, between two blocks of malloc's

_NAMES = {
    "uninitialised": "uninitialised read",
    "missing_syncwarp": "missing __syncwarp",
    "unfinished_product": "unfinished wgmma",
    "missing_product_fence": "missing wgmma fence",
}
"""What kinds are called whose names are not the header's."""

GUARD_IT = (
    "Compare the index that is used with the size before the access, and let threads outside do "
    "nothing."
)
_SENDS_HOME = re.compile(r"\bif\s*\(\s*[\w.]+\s*>\s*\w")
MORE_SHARED = " Or launch with more shared memory."
FILL_IT = "Fill the array before the launch, or write every element before it is read."
GIVE_IT = "Give the variable a value on every path that leads here."
WRITE_IT = "Write it first: every block starts with shared memory full of garbage."
_TWO_SIDED = (
    "race",
    "missing_syncwarp",
    "double_write",
    "missing_proxy_fence",
    "unfinished_product",
)

_RACES = {
    "update": "Several threads read, change and write one value: use atomicAdd or its kin, or give "
    "each thread a value of its own.",
    "atomic_and_plain": "An atomic protects only from other atomics: separate the two by a barrier "
    "(in one block) or a launch, or make both atomic.",
    "other_block": "Blocks run in any order: let each write what no other touches, or let "
    "__threadfence() and an atomic counter say who is done.",
    "scope": "An atomic of block scope (atomicAdd_block, cuda::thread_scope_block) protects only "
    "within its block: use device scope (atomicAdd, cuda::thread_scope_device).",
    "two_sizes": "Atomics of different sizes do not protect from each other: use one size for this "
    "memory.",
}

_ENDED = "The launch ended here: what comes after was not looked at."
_ON_FAULTS = {  # what to do where a launch ended, by the driver's words
    r"bytes have arrived": "Expect as many bytes in a phase as its copies bring: a whole box, also"
    " where it reaches past an edge.",
    r"arrivals are to come": "Does each phase get the arrivals that its mbarrier was begun for? Or"
    " does a wait name the wrong phase? Parities are 0, 1, 0, ... for each mbarrier, one after the"
    " other.",
    r"an mbarrier at .* not a multiple of 8": "An mbarrier has 8 bytes: number i of several begins"
    " 8 * i bytes after the first. Declare room for them as unsigned long long.",
    r"not a multiple of": "Work the address out by hand. If it is the beginning of an array,"
    " declare that with __align__ of so many bytes.",
    r"arrives .* at an mbarrier": "Begin the mbarrier for as many arrivals as a phase gets, or let"
    " fewer threads arrive.",
}
_RELEASE_IT = (
    "Let those who read it say so (arrive at an mbarrier of its own, or meet at a barrier), and "
    "let the thread that copies wait for that before it overwrites it."
)
_WAITS_IN_BULK = {
    "writes": "Wait, however long it takes, for the phase of the mbarrier that counts its bytes "
    "(mbarrier.try_wait.parity with the parity of that phase, in a loop), or meet at a barrier "
    "with a thread that has.",
    "reads": "Let the thread that began it wait (cp.async.bulk.commit_group, then "
    "cp.async.bulk.wait_group.read n: all of its groups but the last n have been read), then let "
    "all meet at a barrier before this is written again.",
}


def _these(bytes_: list[int]) -> str:
    """ "byte 3", "bytes 4 to 7", "bytes 0, 1, 5": of an access."""
    first, last = bytes_[0], bytes_[-1]
    if first == last:
        return f"byte {first}"
    in_a_row = last - first + 1 == len(bytes_)
    return f"bytes {first} to {last}" if in_a_row else f"bytes {', '.join(map(str, bytes_))}"


def _threads(block, thread) -> str:
    return f"thread ({','.join(map(str, thread))}) of block ({','.join(map(str, block))})"


def last_findings(
    engine, kind: type[Findings] = Findings, types=(), fault: str | None = None
) -> Findings | None:
    """The findings of the last sanitized launch; None: there was none.

    types: of the elements of each argument, as NumPy has them; None where it is no array.
    fault: the driver's words on what stopped the launch before its end, if something did."""
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
    if fault is not None:
        told.append(teller.tell_fault(fault))
    exposed = runtime.sg_sanitize_exposed()
    return kind(launch.name, told, dropped[0], bool(lost[0]), exposed)


_WORDS = {
    "numba": {"__syncthreads()": "cuda.syncthreads()", "__threadfence()": "cuda.threadfence()"},
    "triton": {"__syncthreads()": "tl.debug_barrier()"},
}


def _in_words_of(language: str, advice: str) -> str:
    """Advice with the names that the kernel's language has for CUDA's functions."""
    for ours, theirs in _WORDS.get(language, {}).items():
        advice = advice.replace(ours, theirs)
    return advice


class _Teller:
    """Puts the findings of one launch, of blocks of so many threads, into words."""

    def __init__(self, launch: WatchedLaunch, threads: int):
        self.launch = launch
        self.has_warps = threads > _LANES
        self.found: list[RawFinding] = []

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
        message, advice = getattr(self, f"_{f.kind}")(f, place)
        kind = "race" if self._is_for_block(f) else f.kind
        return Finding(
            kind=_NAMES.get(kind, kind.replace("_", " ")),
            kernel=self.launch.name,
            file=Path(file).name,
            line=line,
            message=message,
            advice=_in_words_of(self.launch.module.language, advice),
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

    def tell_fault(self, text: str) -> Finding:
        parts = re.search(r"kernel \S+?(?:, (\S+):(\d+))?:? (.*)", text, re.DOTALL)
        name, line, message = parts.groups() if parts else (None, None, text)
        paths = [site.file for site in self.launch.sites if Path(site.file).name == name]
        if loop := re.search(r"it was in a loop at line (\d+)$", message):
            paths = [self.launch.module.program.functions[self.launch.kernel].source.file]
            line, begins = loop[1], self.launch.loop_around(paths[0], int(loop[1]))
            message = f"{message[: loop.start()]}it was in the loop of line {begins}"
        file = paths[0] if paths else ""
        callers = self.launch.callers(file, int(line or 0))
        root_file, root_line = callers[0] if len(callers) == 1 else ("", 0)
        return Finding(
            kind="fault",
            kernel=self.launch.name,
            file=Path(file).name,
            line=int(line or 0),
            message=message,
            advice=next(
                (to_do for what, to_do in _ON_FAULTS.items() if re.search(what, text)), _ENDED
            ),
            count=1,
            block=(0, 0, 0),
            thread=(0, 0, 0),
            source=self.launch.text(file, int(line or 0)),
            root_file=Path(root_file).name,
            root_line=root_line or None,
            root_source=self.launch.text(root_file, root_line) if root_line else "",
        )

    def _out_of_bounds(self, f: RawFinding, place: str):
        does = f"{_threads(f.block, f.thread)} {DOES[f.access]} {in_bytes(f.bytes)} at"
        message = f"{does} {place}"
        advice = GUARD_IT
        number = self.launch.argument(f)
        type_ = self.launch.types.get(number) if number is not None else None
        if "before the beginning" in place:
            advice = (
                "The index is negative. If this thread has an element, work its index out by hand;"
                " if there is nothing for it, compare it with 0, too, and leave out the access."
            )
        elif number is not None and type_ is not None and f.bytes > type_.itemsize:
            advice += (
                f" Argument {number + 1} is {type_}; the kernel takes {f.bytes} bytes at once."
            )
        elif "(one past" in place and f.count == 1:
            advice += self._on_one_past(f)
        if f.note == "at_null":
            message = f"{does} address {f.address:#x}"
            advice = "Pass an array: a null pointer, or a number in a pointer's place, came in."
        elif f.note == "freed":
            message += ", in memory that has been freed"
            advice = "Keep the array alive until the kernel is done."
        elif f.note == "other_device":
            message += ", in memory of another device, without peer access to it"
            advice = "Call enable_peer_access with that device's context first."
        elif f.note == "constant":
            message += ", which is constant memory"
            advice = "Kernels cannot write constant memory: use __device__ memory."
        elif f.note == "in_heap" and f.address - f.end >= _HEAP_GAP:
            message += ", where malloc's heap has no block"
            advice = "Use no block after free, and none that malloc did not give."
        elif f.note == "not_begun":
            message += ", which may not have begun yet"
            advice = (
                "Blocks of a cluster do not begin at one instant: let them meet at cluster.sync() "
                "before one of them touches another's shared memory."
            )
        elif f.note == "returned":
            message += ", which belongs to a function that has returned"
            advice = "A function's variables end when it returns: let the caller pass memory in."
        elif f.note == "wrong_array":
            message += ", which is in another array"
        elif f.space == SHARED and f.meant[1] == TO_THE_END:
            advice += MORE_SHARED
        return message, advice

    def _on_one_past(self, f: RawFinding) -> str:
        """What to do about a guard up to this line that lets n itself through, if there is one."""
        file, last = self.launch.line(f.site)
        lines = [self.launch.text(file, n).partition("//")[0] for n in range(1, last + 1)]
        if any("<=" in line for line in lines):
            return " If a comparison lets n itself through, make it <."
        if any(_SENDS_HOME.search(line) for line in lines):
            return " If a comparison lets n itself through, make it >=."
        return ""

    def _misaligned(self, f: RawFinding, place: str):
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {in_bytes(f.bytes)} at {place}, "
            f"which is no multiple of {f.bytes}"
        )
        return message, (
            f"Begin {f.bytes}-byte accesses at multiples of {f.bytes} bytes, or use narrower ones."
        )

    def _uninitialised(self, f: RawFinding, place: str):
        if f.note == "value":
            there = f.other_site < _NO_SITE
            then = f" here, and needs the result at {self._other_line(f)}" if there else " here"
            message = f"{_threads(f.block, f.thread)} uses a variable{then}, which has no value yet"
            return message, GIVE_IT
        unwritten = [byte for byte in range(f.bytes) if f.unwritten >> byte & 1]
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {in_bytes(f.bytes)} at {place}, "
            f"{'' if len(unwritten) == f.bytes else f'{_these(unwritten)} of '}"
            "which nothing has written"
        )
        advice = {
            SHARED: WRITE_IT,
            LOCAL: GIVE_IT,
        }
        return message, advice.get(f.space, FILL_IT)

    def _sides(self, f: RawFinding, place: str) -> str:
        other = f"thread ({','.join(map(str, f.other_thread))})"
        other += "" if f.same_block else f" of block ({','.join(map(str, f.other_block))})"
        return (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {place}, which {other} "
            f"{DOES[f.other_access]} at {self._other_line(f)}"
        )

    def _other_line(self, f: RawFinding) -> str:
        (here, line), (there, other) = self.launch.line(f.site), self.launch.line(f.other_site)
        if there != here:
            return f"{Path(there).name}:{other}" if other else "a line that is not known"
        return "this line" if other == line else f"line {other}"

    def _race(self, f: RawFinding, place: str):
        message = f"{self._sides(f, place)}: who comes first is left to chance"
        if f.note == "unfenced":
            return message, self._fence(f)
        if f.note == "copying":
            return self._copying(f, place)
        if f.note == "multiplying":
            return self._multiplying(f, place)
        if f.note == "bulk_overwriting":
            return message, _RELEASE_IT
        if f.note in ("bulk_writing", "bulk_reading"):
            return self._copying_in_bulk(f, place)
        if f.note == "volatile":
            barrier = self._barrier(f) + " " if f.same_block else ""
            return message, (
                f"volatile orders nothing. {barrier}For a flag: "
                "__threadfence() between the data and the flag."
            )
        if self._is_between_blocks(f):
            return message, self._barrier(f)
        return message, _RACES.get(f.note) or self._barrier(f)

    def _copying(self, f: RawFinding, place: str):
        thread = f"thread ({','.join(map(str, f.other_thread))})"
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {place}, to which {thread} copies "
            f"asynchronously at {self._other_line(f)}: the copy may be under way yet"
        )
        return message, (
            "Let each thread wait for its copies (cp.async.wait_group n, __pipeline_wait_prior(n): "
            "all of its groups but the last n are done), then let all meet at __syncthreads(). If "
            "they do, the copy is early: let all who read what was there meet before it begins."
        )

    def _copying_in_bulk(self, f: RawFinding, place: str):
        to, does = ("", "reads") if f.note == "bulk_reading" else ("to ", "writes")
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {place}, {to}which the bulk copy of "
            f"{self._other_line(f)} {does}: it may be under way yet"
        )
        return message, _WAITS_IN_BULK[does]

    def _multiplying(self, f: RawFinding, place: str):
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} {place}, which the wgmma at "
            f"{self._other_line(f)} reads: it may be under way yet"
        )
        return message, (
            "Let each warp of the warpgroup wait for its products (wgmma.commit_group, then "
            "wgmma.wait_group n: all of its groups but the last n are done), and hand the memory "
            "over by a barrier, before it is written again."
        )

    def _unfinished_copy(self, f: RawFinding, place: str):
        reads = f.note == "bulk_reading"
        does = "read from" if reads else "write to"
        message = (
            f"block ({','.join(map(str, f.block))}) ends while the bulk copy that thread "
            f"({','.join(map(str, f.thread))}) began here may {does} its shared memory"
        )
        wait = "Wait for the mbarrier's last phase, too" if f.note == "bulk_writing" else ""
        wait = wait or "Wait before the block ends (cp.async.bulk.wait_group 0)"
        return message, f"{wait}; or begin no copy that nobody will use."

    def _missing_product_fence(self, f: RawFinding, place: str):
        since = "before its first wgmma, which is here"
        if f.other_site < _NO_SITE:
            since = f"between this wgmma and {self._other_line(f)}, which writes its registers"
        return f"{_threads(f.block, f.thread)} executes no wgmma.fence {since}", (
            "Put wgmma.fence.sync.aligned after the registers are written and before the product: "
            "once before the first, and again whenever anything else has written its sums, or a "
            "where it lies in registers."
        )

    def _missing_proxy_fence(self, f: RawFinding, place: str):
        if f.note == "hidden":
            return (
                f"the bulk copy that {_threads(f.block, f.thread)} begins tells {place}, an "
                f"mbarrier that thread ({','.join(map(str, f.other_thread))}) began at "
                f"{self._other_line(f)}: copies need not see that yet"
            ), (
                "Put fence.mbarrier_init.release.cluster (or fence.proxy.async) after the mbarrier "
                "is initialised and before the barrier that lets others copy."
            )
        writer = f"thread ({','.join(map(str, f.other_thread))})"
        reader = "a bulk copy" if f.note == "bulk_reading" else "wgmma"
        message = (
            f"{_threads(f.block, f.thread)} reads {place} by {reader}, which {writer} stored at "
            f"{self._other_line(f)}: {reader} reads through the asynchronous proxy, which need not "
            "see ordinary stores"
        )
        return message, (
            "Put fence.proxy.async after the stores and before the barrier that hands them over."
        )

    def _unfinished_product(self, f: RawFinding, place: str):
        message = (
            f"{_threads(f.block, f.thread)} {DOES[f.access]} a register of the wgmma at "
            f"{self._other_line(f)}, which may be under way yet"
        )
        return message, (
            "Wait first: wgmma.commit_group, then wgmma.wait_group n (all groups but the last n "
            "are done). Until then the sums, and a where it lies in registers, are the product's."
        )

    def _barrier(self, f: RawFinding) -> str:
        if self._is_between_blocks(f):
            return (
                "Put cluster.sync() between the two: all blocks of the cluster meet there, in "
                "PTX by barrier.cluster.arrive and barrier.cluster.wait."
            )
        return self.barriers.advice(f, "__syncthreads()", BLOCK)

    def _is_between_blocks(self, f: RawFinding) -> bool:
        """Whether two blocks of a cluster are at the shared memory of one of them."""
        return f.space in (SHARED, CLUSTER) and not f.same_block

    def _fence(self, f: RawFinding) -> str:
        fence = "__threadfence_block()" if f.same_block else "__threadfence()"
        only = (
            "" if f.same_block else ", which reaches other blocks (__threadfence_block() does not),"
        )
        return (
            f"A lock or a flag hands nothing over without a fence: put {fence}{only} after the "
            "data is written and before the lock is released or the flag set."
        )

    def _missing_syncwarp(self, f: RawFinding, place: str):
        message = f"{self._sides(f, place)}: lanes of one warp need not run in step"
        if self._races_beside(f):
            return message, self._barrier(f)
        if self._is_for_block(f):
            return message, f"{self._barrier(f)} If one warp alone ever gets here: __syncwarp()."
        advice = self.barriers.advice(f, "__syncwarp()", WARP)
        return message, f"{advice} Or exchange values by __shfl_sync."

    def _is_for_block(self, f: RawFinding) -> bool:
        """Whether two lanes of a warp need a barrier of their block: one that other warps need as
        well, or may, as of several warps one alone was seen here."""
        if f.kind != "missing_syncwarp" or not self.has_warps:
            return False
        return f.warps & (f.warps - 1) == 0 or self._races_beside(f)

    def _races_beside(self, f: RawFinding) -> bool:
        """Whether one barrier of the block would end a race of several warps, too."""
        races = [g for g in self.found if g.kind == "race" and g.note == "no_note"]
        return any(self.barriers.shared(f, race) for race in races)

    def _double_write(self, f: RawFinding, place: str):
        message = f"{self._sides(f, place)}, with another value: either may stay"
        if f.note == "unfenced":
            return message, self._fence(f)
        return message, (
            "Let one thread write it, or give each thread its own place; to combine the values use "
            "an atomic."
        )

    def _stale_read(self, f: RawFinding, place: str):
        return f"{self._sides(f, place)}: what was read may be what was there before", (
            "What __ldg or a const __restrict__ pointer reads goes through a cache that writes do "
            "not reach: read memory that the launch writes by a plain load."
        )

    def _divergent_barrier(self, f: RawFinding, place: str):
        thread, other = (f"({','.join(map(str, t))})" for t in (f.thread, f.other_thread))
        block = f"block ({','.join(map(str, f.block))})"
        if f.note == "exited":
            return (
                f"thread {thread} of {block} waits here, but {f.lanes} threads, the first of them "
                f"{other}, have passed by or returned",
                "Take the barrier out of the condition, and let no thread return before it.",
            )
        if f.note == "two_lines":
            return (
                f"thread {thread} of {block} waits here while thread {other} waits at "
                f"{self._other_line(f)}",
                "Take the barrier out of the condition, so that all threads meet at the same one.",
            )
        if f.note in ("absent", "not_named"):
            return self._members(f, "this __syncwarp", thread, other, block)
        return (
            f"thread {thread} of {block} waits here, but {f.lanes} threads of its warp, the first "
            f"of them {other}, pass by",
            "Take the barrier out of the condition or loop that threads may disagree on.",
        )

    def _inactive_shuffle(self, f: RawFinding, place: str):
        thread, other = (f"({','.join(map(str, t))})" for t in (f.thread, f.other_thread))
        block = f"block ({','.join(map(str, f.block))})"
        if f.note in ("absent", "not_named"):
            return self._members(f, "this shuffle or vote", thread, other, block)
        what = {
            "no_thread": "a lane that has no thread",
            "exited": f"thread {other}, which has returned",
        }.get(f.note, f"thread {other}, which does not take part")
        advice = (
            "Let all lanes that are read take part: move the shuffle out of the condition, "
            "or keep to the lanes that are there."
        )
        if f.note == "exited":
            advice = (
                "No lane may return before a shuffle that reads it: let it go on, and leave out "
                "its loads and stores."
            )
        return f"thread {thread} of {block} reads the value of {what}", advice

    def _members(self, f, what, thread, other, block):
        if f.note == "not_named":
            return (
                f"thread {thread} of {block} takes part in {what}, whose mask does not name it",
                "Give a mask that names all lanes that get here, and no others.",
            )
        return (
            f"thread {other} of {block} is named in the mask of {what} but does not get here",
            "Give a mask that names the lanes that get here, taken before the branch "
            "(__ballot_sync), or take the call out of the condition.",
        )
