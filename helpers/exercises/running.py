"""One launch of a kernel that is judged: watched, plainly, counted, and compared each time."""

import re
from contextlib import nullcontext
from functools import cached_property
from itertools import chain
from math import prod
from pathlib import Path

import numpy as np

from softgpu.faults import FaultKind
from softgpu.phrases import joined
from softgpu.words import Advice, FindingKind, Place
from softgpu.xray.launch import OwnTarget, Sparse, address_of, shape, variables_kept
from softgpu.xray.parameters import ArgumentError

from .. import checks, sources, tensormap, xray
from ..words import Next, Refusal, Shown
from . import instructions
from .judges import Judge
from .launches import Boxes, Far, In, Launch, Out
from .patterns import in_common
from .verdict import Refused, Unwritten

from pycuda.driver import Error, function_attribute  # isort: skip
from pycuda.gpuarray import GPUArray  # isort: skip

__all__ = ["Run"]

WIDE, NEAR = 1 << 31, 1 << 20  # elements that no int counts, and what lies beside a piece
CLOSE = 8  # times what the method that is asked for may be off
FEW_NUMBERS = 3  # at least: fewer may be whole by chance
FEW = 16  # elements of each array: small enough to be worked out on paper
WIDEST = 64  # characters of a table: JupyterLab breaks longer lines
BY_HAND_AT_MOST = 32  # elements
EXERCISES_SAY = {  # what judges say in place of the sanitizer's advice
    Advice.GUARD_IT: (Next.HAS_IT_WORK,),
    Advice.MORE_SHARED: (),
    Advice.FILL_IT: (Next.HOLDS_GARBAGE,),
    Advice.WRITE_IT: (Advice.WRITE_IT, Next.NOTHING_TO_DO),
    Advice.ENDED: (Next.SEE_LINE,),
}


SHARED_UNASKED = 48 << 10  # bytes that a launch may have without more ado
MAX_SHARED = function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES


NO_WORDS = Judge(launch=Launch, counted=None, budget={})  # where no judge adds its own


class Run:
    """A kernel and a Launch on an engine. Its arrays lie between guards, or are Far."""

    def __init__(self, kernel, launch, rng, target, judge=NO_WORDS):
        self.kernel, self.launch, self.target = kernel, launch, target
        self.judge = judge
        self.shape = {what: shape(what, getattr(launch, what)) for what in ("grid", "block")}
        self.options = {**self.shape, "shared": launch.shared}
        if launch.shared > SHARED_UNASKED:
            self._ask_for(launch.shared)
        given = list(enumerate(launch.arrays))
        made = {id(a): _guarded(a, rng) for _, a in given if isinstance(a, (In, Out))}
        self.guarded = {n: made[id(a)] for n, a in given if id(a) in made}
        spread = {id(a): _spread(a, target) for _, a in given if isinstance(a, Far)}
        self.far = {n: spread[id(a)] for n, a in given if id(a) in spread}
        arrays = {n: _from_first(launch.arrays[n], g.array) for n, g in self.guarded.items()}
        arrays |= {n: np.uintp(sparse.address) for n, sparse in self.far.items()}
        arrays |= {n: _maps(a, made, spread) for n, a in given if isinstance(a, Boxes)}
        self.passed = [arrays.get(n, a) for n, a in given][: len(launch.arguments)]
        self.names = _names(kernel, len(self.passed))
        self.names += [f"the array of map {n}" for n in range(len(given) - len(self.passed))]
        self.left = {}
        self.exposed_bytes = 0  # of bulk copies, when it was watched

    @property
    def block_count(self):
        return prod(self.shape["grid"])

    @property
    def bytes(self):
        """Of all arrays."""
        return sum(guarded.bytes for guarded in self.guarded.values())

    @property
    def is_empty(self):
        """Whether an array has no elements."""
        return any(0 in np.shape(values) for values in self._given())

    @property
    def is_tiny(self):
        """Whether each output has one element."""
        outs = (a for a in self.launch.arrays if isinstance(a, Out))
        return all(np.size(out.expected) == 1 for out in outs)

    @property
    def is_special(self):
        """Whether infinities or NaN are among what goes in."""
        floats = (values for values in self._given() if values.dtype.kind == "f")
        return not all(np.isfinite(values).all() for values in floats)

    def _given(self):
        """What its arrays hold before the launch."""
        for argument in self.launch.arrays:
            if isinstance(argument, In):
                yield np.asarray(argument.values)
            elif isinstance(argument, Out) and argument.initial is not None:
                yield np.asarray(argument.initial)

    def watch(self, debug=False):
        """Under the sanitizer. debug: as the compiler leaves it without optimisation."""
        if found := self.findings(debug):
            self._refuse(found)
        if not debug:  # which rounds otherwise
            self.exposed_bytes = found.exposed_bytes
            self._compare()

    def findings(self, debug=False):
        """The sanitizer's report."""
        poisoned = [
            self.guarded[n].array
            for n, a in enumerate(self.launch.arrays)
            if isinstance(a, Out) and a.initial is None
        ]
        how = {"uninitialised": poisoned, "debug": debug, "after": self._fetch}
        found = self._launched(xray.sanitize, self.kernel, *self.passed, **self.options, **how)
        if debug:  # which copies what it throws away: values of a shuffle, sums of a wgmma
            copied = FindingKind.INACTIVE_SHUFFLE, FindingKind.UNFINISHED_PRODUCT
            found[:] = [f for f in found if f.kind not in copied and not _is_copy_of_nothing(f)]
        return found

    def count(self, block):
        """The report of xray.profile, with this block watched."""
        how = {**self.options, "watch": block, "after": self._fetch}
        report = self._launched(xray.profile, self.kernel, *self.passed, **how)
        self._compare()
        self._look_for_writes(report)
        if block == 0:
            self._look_for_reads(report)
        return report

    def run(self, by_engine=False):
        """As any other launch. by_engine: not by a real GPU, which can't run some blocks only, have
        them in a given order, or reach what is Far."""
        blocks = self.launch.blocks
        with self.target.engine.only_blocks(blocks) if blocks else nullcontext():
            if (self.far or blocks or by_engine) and not isinstance(self.target, OwnTarget):
                how = {**self.options, "after": self._fetch}
                self._launched(self.target.launch, self.passed, **how)
            else:
                with variables_kept(self.kernel):
                    self._launched(self.kernel, *self.passed, **self.options)
                self._fetch(GPUArray.get)
        self._compare()

    def outputs(self):
        """The bytes that the last launch left in the outputs."""
        return [
            self.guarded[n].inside(raw).tobytes()
            for n, raw in self.left.items()
            if isinstance(self.launch.arrays[n], Out)
        ]

    def _ask_for(self, shared):
        """So much dynamic shared memory, of which a learner may want more than there is."""
        try:
            self.kernel.set_attribute(MAX_SHARED, shared)
        except Error as error:
            why = self.target.engine.error_detail() or str(error).splitlines()[0]
            text = Refusal.FAILED(launch=self.launch.what, why=why)
            raise Refused("launch", text, Next.LESS_AT_A_TIME()) from None

    def _launched(self, launch, *arguments, **options):
        for guarded in self.guarded.values():
            guarded.reset()
        try:
            return launch(*arguments, **options)
        except ArgumentError as error:
            why = Refusal.BECAUSE(why=error.problem)
            raise Refused("parameters", why, Next.KEEP_PARAMETERS()) from None
        except Error as error:
            what, fault = self.launch.what, self.target.engine.last_fault()
            if fault.kind == FaultKind.TIME_LIMIT:
                raise self._endless(fault) from None
            text = Refusal.FAILED(launch=what, why=self._why(fault, error))
            raise Refused("launch", text, Next.SEE_LINE()) from None

    def _why(self, fault, error):
        """Why a launch has failed: in the software GPU's words if it was its, else in CUDA's."""
        if fault.kind != FaultKind.NO_FAULT:
            return joined(fault.where, fault.what, between=": ")
        ours = isinstance(self.target, OwnTarget) and self.target.engine.error_detail()
        return ours or str(error).splitlines()[0]

    def _endless(self, fault, case=""):
        text = Refusal.ENDLESS(launch=self.launch.what, seconds=fault.limit_s)
        return Refused("time", text, self._own_advice("time", Next.ENDLESS()), case=case)

    def _refuse(self, found):
        """A fault ends a launch, so it comes before what else was seen, unless nobody came to an
        end and something lay out of bounds; a barrier that threads miss comes before the races
        that it causes."""
        is_endless = any(f.fault and f.fault.kind == FaultKind.TIME_LIMIT for f in found)
        outside = [f for f in found if f.kind == FindingKind.OUT_OF_BOUNDS and not f.fault]
        found = outside if is_endless and outside else found
        missed = (f for f in found if f.kind == FindingKind.DIVERGENT_BARRIER)
        first = next(chain((f for f in found if f.fault), missed), found[0])
        case = joined(self.launch.heading, first.text, between="\n")
        if first.fault and first.fault.kind == FaultKind.TIME_LIMIT:
            raise self._endless(first.fault, case)
        text = Refusal.FOUND(launch=self.launch.what, finding=first.kind)
        kind = FaultKind(first.fault.kind).name.lower() if first.fault else first.kind
        advice = self._own_advice(kind, joined(*_said_by_judges(first.advice)))
        is_race = first.kind == FindingKind.RACE
        if is_race and re.search(r"\batomicCAS\b", getattr(self.kernel, "source", "")):
            advice = joined(advice, Next.FIRST_READ())
        named = instructions.named_by_headers(getattr(self.kernel, "source", ""), advice)
        here = (Next.NAMED_HERE(function=named[each], instruction=each) for each in named)
        raise Refused("sanitizer", text, joined(advice, *here), case=case)

    def _own_advice(self, kind, advice):
        """The judge's words in place of these, if it has some."""
        return self.judge.advice.get(kind, advice)

    # --- what it left -----------------------------------------------------------------------------

    def _fetch(self, read):
        """Keep what the arrays hold, guards included."""
        self.left = {n: read(guarded.raw) for n, guarded in self.guarded.items()}
        address = getattr(read, "address", address_of)
        self.places = {n: address(guarded.array) for n, guarded in self.guarded.items()}

    def _compare(self):
        for n, guarded in self.guarded.items():
            argument, name = self.launch.arrays[n], self.names[n]
            try:
                left = guarded.left(self.left[n])
            except AssertionError as error:
                text = Refusal.OUTSIDE(launch=self.launch.what, name=name, why=error)
                raise Refused("bounds", text, Next.BOUNDS()) from None
            if isinstance(argument, Out):
                _check(left, argument, name, self.launch, self.judge)
            elif left.tobytes() != guarded.inside(guarded.before).tobytes():
                text = Refusal.CHANGED(launch=self.launch.what, name=name)
                raise Refused("inputs", text, Next.ONLY_READ())
        unwritten = [found for n in self.far for found in self._compare_far(n)]
        if unwritten:
            raise Unwritten(*unwritten[0])

    def _compare_far(self, n):
        """The words on each piece of a Far in which all that is wrong is as it was before."""
        far, sparse = self.launch.arrays[n], self.far[n]
        for place, expected in far.expected.items():
            left = sparse.part(place, len(expected), far.dtype)
            by_place = isinstance(far.tolerance, dict)
            tolerance = far.tolerance[place] if by_place else far.tolerance
            out = Out(np.asarray(expected), tolerance, far.dtype)
            before = np.asarray(far.pieces.get(place, np.zeros(len(expected))), far.dtype)
            try:
                _check(left, out, self.names[n], self.launch, start=place)
            except Refused as refused:
                wrong = _Wrong(left, out).is_wrong
                if (left[wrong] != before[: left.size][wrong]).any():
                    raise
                yield refused.reason.kind, refused.reason.text, Next.NOT_WRITTEN()

    @property
    def has_strayed(self):
        """Whether blocks wrote nowhere near what was expected of them, nor where that is if its
        place is taken as one of 32 bits."""
        return any((self._off(n) > NEAR).all(1).any() for n in self.far if self._is_wide(n))

    @property
    def has_come_far(self):
        """Whether a place was written that no int counts."""
        return any((self._touched(n) >= WIDE).any() for n in self.far if self._is_wide(n))

    def _touched(self, n):
        """The first elements of the pages of a Far that were touched."""
        return self.far[n].touched() // np.dtype(self.launch.arrays[n].dtype).itemsize

    def _is_wide(self, n):
        """Whether its places may matter: it is an output, and small ones share their pages."""
        far = self.launch.arrays[n]
        return far.count > WIDE and bool(far.expected)

    def _off(self, n):
        """How far these are from each piece, modulo 2 ** 32."""
        expected = np.array([*self.launch.arrays[n].expected], int)
        off = (self._touched(n)[:, None] - expected) % (2 * WIDE)
        return np.minimum(off, 2 * WIDE - off)

    def _look_for_writes(self, report):
        """Inputs are not written to, even if they stay as they are: an atomic is no load."""
        for n, place in self.places.items():
            for touched in report.arrays[report.arrays["written"] > 0]:
                is_input = isinstance(self.launch.arrays[n], In)
                if is_input and touched["begin"] <= place < touched["end"]:
                    text = Refusal.WRITTEN_TO(launch=self.launch.what, name=self.names[n])
                    raise Refused("inputs", text, Next.ONLY_READ())

    def _look_for_reads(self, report):
        """Whether block 0 reads, or changes by atomics, what is for others, as may_read says."""
        may_read = self.judge.may_read
        for n, parts, advice in may_read(self.launch) if may_read else ():
            array = self.launch.arrays[n]
            begin, size = self.places[n], np.dtype(array.dtype).itemsize
            count = self.guarded[n].array.size
            for sample in report.samples:
                if report.sites[sample["site"]].kind == "store":
                    continue
                lanes = [lane for lane in range(32) if int(sample["mask"]) >> lane & 1]
                for at in ((int(sample["lanes"][lane]) - begin) // size for lane in lanes):
                    if 0 <= at < count and not any(at in part for part in parts):
                        what = {"launch": self.launch.what, "name": self.names[n]}
                        text = Refusal.READS(**what, at=at)
                        raise Refused("reads", text, advice)


def _guarded(argument, rng):
    """The array between guards: filled, or poisoned."""
    before = argument.values if isinstance(argument, In) else argument.initial
    dims = np.shape(argument.expected if before is None else before)
    offset_bytes = argument.offset * np.dtype(argument.dtype).itemsize
    array = checks.Guarded(dims, argument.dtype, offset_bytes, rng)
    return array if before is None else array.set(before)


def _from_first(argument, array):
    """The array from the element on whose address the kernel gets."""
    first = getattr(argument, "first", 0)
    return array.ravel()[first:] if first else array


def _spread(far, target):
    """The array that a Far stands for, in which only what is touched costs memory."""
    sparse = Sparse(target, far.count * np.dtype(far.dtype).itemsize)
    for place, values in far.pieces.items():
        sparse.part(place, len(values), far.dtype)[:] = values
    return sparse


def _said_by_judges(advice):
    """The sanitizer's advice, part by part, as a judge gives it."""
    for part in advice.parts or (advice,):
        own = EXERCISES_SAY.get(part.phrase)
        yield from (part,) if own is None else (phrase() for phrase in own)


def _maps(boxes, made, spread):
    """The argument that tensor maps are, of arrays between guards or Far."""

    def on_gpu(array):
        if id(array) in made:
            return made[id(array)].array
        return GPUArray((array.count,), array.dtype, gpudata=spread[id(array)].address)

    return tensormap.packed(*(make(on_gpu(array)) for array, make in boxes.of))


def _names(kernel, count):
    declared = getattr(kernel, "parameters", None)
    if declared is None:
        return [f"argument {n}" for n in range(1, count + 1)]
    return [p.text.split("*")[-1].split(" ")[-1] for p in declared]


def _is_copy_of_nothing(finding):
    """Whether a struct's padding is passed on, as code without optimisation does: a byte, where a
    struct has no members, and whatever the compiler's own headers copy."""
    place = finding.place
    if finding.kind != FindingKind.UNINITIALISED or not (place and place.has(Place.LOCAL)):
        return False
    own = Path(finding.file).suffix in ("", ".cu") or any(sources.ROOT.rglob(finding.file))
    return finding.message.has(Place.ONE_BYTE) or not own


# --- wrong values, in words -----------------------------------------------------------------------


def _check(left, out, name, launch, judge=NO_WORDS, start=0):
    """start: the number of the first element, where it is a piece of an array."""
    expected = np.asarray(out.expected)
    try:
        checks.assert_close(left, expected, out.tolerance, name)
    except checks.Differs as differs:
        wrong = _Wrong(left, out)
        case = joined(launch.heading, wrong.around(launch, judge, start), between="\n")
        first = wrong.first(launch, judge.inputs)
        text = wrong.text(launch, name, differs, start)
        short = wrong.short(launch, name) if first else ""
        advice = wrong.advice(launch, judge)
        raise Refused("values", text, advice, case=case, first=first, short=short) from None
    if out.bits:
        is_exact = np.broadcast_to(out.tolerance, expected.shape) == 0
        _check_bits(left, expected.astype(left.dtype), is_exact, name, launch)


def _check_bits(left, expected, is_exact, name, launch):
    """Every bit is the expected one, where nothing may round; but those that tell one NaN from
    another."""
    whole = f"u{left.itemsize}"
    wrong = (left.view(whole) != expected.view(whole)) & is_exact
    if left.dtype.kind == "f":
        wrong &= ~(np.isnan(left) & np.isnan(expected))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        values = {"got": str(left[at]), "expected": str(expected[at])}
        text = Refusal.ELEMENT(launch=launch.what, element=f"{name}{list(at)}", **values)
        raise Refused("values", text, Next.EVERY_BIT(), case=launch.heading)


def _aligned(rows):
    """The lines of a table {what: cells}."""
    width = 2 + max(len(str(cell)) for cells in rows.values() for cell in cells)
    return [
        f"{what:<9}" + "".join(f"{cell!s:>{width}}" for cell in cells)
        for what, cells in rows.items()
    ]


def _broken(rows):
    """The texts of tables {what: cells}, each no wider than WIDEST, that have these columns."""
    count = len(next(iter(rows.values())))
    while len(_aligned({what: cells[:count] for what, cells in rows.items()})[0]) > WIDEST:
        count -= 1
    rest = {what: cells[count:] for what, cells in rows.items()}
    text = "\n".join(_aligned({what: cells[:count] for what, cells in rows.items()}))
    return [text, *(_broken(rest) if any(rest.values()) else ())]


class _Wrong:
    """The elements of an output that are wrong: flat arrays, and which of them."""

    ROUNDING = 1e-4  # of a value, at most: what is further off is no rounding

    def __init__(self, left, out):
        self.out, self.dtype = out, left.dtype
        self.got, self.expected = left.ravel(), np.asarray(out.expected).ravel()
        self.tolerance = np.broadcast_to(np.asarray(out.tolerance, float), left.shape).ravel()
        with np.errstate(invalid="ignore", over="ignore"):
            got, expected = (a.astype(np.longdouble) for a in (self.got, self.expected))
            self.off = np.abs(got - expected)
            same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        self.is_wrong = (~(self.off <= self.tolerance) | np.isinf(expected)) & ~same
        self.places = np.flatnonzero(self.is_wrong)

    @property
    def count(self):
        """How many are wrong; those that are to be NaN, and that nobody has written, too."""
        return int((self.is_wrong | self.is_untouched).sum())

    @cached_property
    def is_untouched(self):
        """Which still hold the fill value, a NaN."""
        if self.dtype.kind != "f" or self.out.initial is not None:
            return np.zeros(self.got.shape, bool)
        whole = f"u{self.dtype.itemsize}"
        return self.got.view(whole) == np.full_like(self.got, checks.POISON).view(whole)

    def text(self, launch, name, differs, start):
        """What is wrong, of which the first wrong element is differs.place."""
        if rounding := self.rounding(launch, name):
            return rounding
        place = list(differs.place)
        if start:
            place = [f"{start + place[0]:,}"]
        element = f"{name}[{', '.join(map(str, place))}]" if place else name
        values = {"launch": launch.what, "element": element}
        values |= {"got": str(differs.got), "expected": str(differs.expected)}
        if differs.within is not None:
            values["within"] = differs.within
        if differs.size > 1:
            values |= {"count": self.count, "size": differs.size}
        return {
            (False, False): Refusal.ELEMENT,
            (True, False): Refusal.ELEMENT_WITHIN,
            (False, True): Refusal.ELEMENTS,
            (True, True): Refusal.ELEMENTS_WITHIN,
        }["within" in values, "count" in values](**values)

    def short(self, launch, name):
        """The same in short, beside the first wrong element."""
        if rounding := self.rounding(launch, name):
            return rounding
        what = {"launch": launch.what, "name": name}
        if self.got.size == 1:
            return Refusal.ONE(**what)
        return Refusal.SEVERAL(**what, count=self.count, size=self.got.size)

    def rounding(self, launch, name):
        """In words, if all that is wrong is off by little, or ""."""
        if not self.is_rounding:
            return ""
        size, off, allowed = self._sizes()
        worst = int(np.argmax(off / np.maximum(allowed, np.finfo(float).tiny)))
        unit = np.spacing(size[worst].astype(self.dtype)).astype(float)
        units, most = (f"{float(n) / unit:,.3g}" for n in (off[worst], allowed[worst]))
        place = np.unravel_index(self.places[worst], np.shape(self.out.expected))
        element = f"{name}{[int(n) for n in place] or ''}"
        return Refusal.ROUNDING(launch=launch.what, element=element, units=units, most=most)

    @cached_property
    def is_rounding(self):
        """Whether all that is wrong is off by little."""
        if self.dtype.kind != "f":
            return False
        size, off, _ = self._sizes()
        near = max(self.ROUNDING, 4 * np.finfo(self.dtype).eps) * size
        return bool((np.isfinite(off) & (off <= near)).all())

    def _sizes(self):
        """Of the wrong elements: how large they should be, how far off they are, and may be."""
        size = np.abs(self.expected[self.is_wrong].astype(np.longdouble))
        return size, self.off[self.is_wrong], self.tolerance[self.is_wrong]

    def _on_rounding(self):
        """Whether so much is still the rounding of a method as good as is asked for."""
        _, off, allowed = self._sizes()
        return Next.ROUNDED() if (off <= CLOSE * allowed).all() else Next.ROUNDED_FAR()

    def first(self, launch, inputs):
        """The first wrong element, and what it is made from, if the judge says that."""
        if any(isinstance(a, Far) for a in launch.arguments):
            return ""  # its pieces have no numbers of elements
        place = int(self.places[0])
        where = self._named(place)
        values = [self._shown(value) for value in (inputs(launch, place) if inputs else ())]
        got, expected = self._shown(self.got[place]), self._shown(self.expected[place])
        what = {"place": where, "got": got, "expected": expected}
        if values:
            return Shown.FIRST_FROM(**what, inputs=" and ".join(values))
        return Shown.FIRST(**what)

    def around(self, launch, judge, start=0):
        """The neighbours of the first wrong element: what was there before if that counts, got and
        expected, and what went into them. All elements, where no array has more than a FEW.

        judge: an exercise's, which may know more; start: the number of the first element."""
        given = {
            f"input {number}": np.ravel(argument.values)
            for number, argument in enumerate(launch.arguments, 1)
            if isinstance(argument, In) and np.size(argument.values)
        }
        is_small = max(map(np.size, (self.got, *given.values()))) <= FEW
        first = 0 if is_small else max(0, int(self.places[0]) - 2)
        columns = range(first, self.got.size if is_small else min(first + 5, self.got.size))
        rows = {"element": [self._named(n, start) for n in columns]}
        if self.out.initial is not None:
            before = np.broadcast_to(self.out.initial, np.shape(self.out.expected)).ravel()
            rows["before"] = [self._shown(before[n]) for n in columns]
        rows["got"] = [self._shown(self.got[n]) for n in columns]
        rows["expected"] = [self._shown(self.expected[n]) for n in columns]
        for what, values in given.items():
            if values.size == self.got.size:
                rows[what] = [self._shown(values[n]) for n in columns]
        if beside := judge.beside:
            more = beside(launch, columns, self.got)
            rows |= {what: [self._shown(value) for value in more[what]] for what in more}
        if is_small:
            texts = ["\n\n".join(_broken(rows))]
            for what in sorted(given.keys() - rows.keys()):
                first, *more = _broken({what: [*map(self._shown, given[what])]})
                texts.append("\n".join([first, *(m.replace(what, len(what) * " ") for m in more)]))
            return "\n\n".join(texts)
        return _broken(rows)[0]  # the first wrong one is among the first three

    def _named(self, place, start=0):
        """What the table calls an element: its number, or its row and column."""
        at = np.unravel_index(place, np.shape(self.out.expected))
        return start + place if len(at) < 2 else f"[{', '.join(map(str, at))}]"

    def _shown(self, value):
        """A number; with so many digits that the first wrong one does not look right."""
        if self.dtype.kind in "iu" and np.isfinite(value) and value == int(value):
            return str(int(value))
        wrong = self.got[self.places[0]], self.expected[self.places[0]]
        alike = len({f"{number:.6g}" for number in wrong}) == 1
        return f"{value:{'.12g' if alike else '.6g'}}".replace("inf", "∞")

    def advice(self, launch, judge):
        """What to look at next."""
        wrong = self.got[self.is_wrong]
        untouched = np.flatnonzero(self.is_untouched & self.is_wrong)
        if self.dtype.kind == "f" and np.isnan(wrong).all():
            if untouched.size == wrong.size:
                return Next.UNTOUCHED()
            if words := self._explained(launch, judge):
                return words
            floats = [a.values for a in launch.arrays if isinstance(a, In) and a.dtype.kind == "f"]
            if any(np.isnan(values).any() for values in floats):
                return Next.COMPUTED_FROM_NAN()  # or from an infinity, if there is one, too
            is_infinite = any(np.isinf(values).any() for values in floats)
            return Next.COMPUTED_FROM_INFINITY() if is_infinite else Next.COMPUTED()
        if self.is_rounding:
            return judge.rounding or self._on_rounding()
        is_empty = any(isinstance(a, In) and not np.size(a.values) for a in launch.arguments)
        if is_empty and np.unique(self.expected[self.is_wrong]).size == 1:
            return Next.NO_ELEMENTS()
        if np.isnan(self.expected[self.is_wrong]).all():
            return Next.NAN_LOST()
        if words := self._explained(launch, judge) or self._on_no_input(launch, judge):
            return words
        if untouched.size:
            place = self._named(untouched[0])
            return Next.SOME_UNTOUCHED(count=f"{untouched.size:,}", place=place)
        if words := self._on_narrow_type() or self._on_flushed():
            return words
        if words := in_common(self.got, self.out, self.is_wrong, launch.arrays):
            return words
        elements = [np.size(a.values) for a in launch.arguments if isinstance(a, In)]
        is_small = max(elements, default=0) <= BY_HAND_AT_MOST
        return Next.BY_HAND() if is_small else Next.NOT_BY_HAND()

    def _explained(self, launch, judge):
        """The judge's words on what it knows to be a usual fault, or None."""
        return judge.explain and judge.explain(launch, self.out, self.got)

    def _on_narrow_type(self):
        """In words, if what is wrong has only the numbers of a type that holds fewer."""
        wrong, right = self.got[self.is_wrong], self.expected[self.is_wrong]
        if self.dtype.kind != "f" or wrong.size < FEW_NUMBERS or not np.isfinite(wrong).all():
            return ""
        with np.errstate(over="ignore"):
            types = [(Next.WHOLE_NUMBERS, np.rint(wrong), np.rint(right))]
            if self.dtype.itemsize > 2:
                types.append((Next.HALVES, wrong.astype(np.float16), right.astype(np.float16)))
        for words, held, of_right in types:
            is_lost = np.isfinite(right) & (right != of_right)
            if (
                (wrong == held).all()
                and np.unique(wrong).size >= FEW_NUMBERS
                and is_lost.mean() > 0.5
            ):
                return words()
        return ""

    def _on_flushed(self):
        """In words, if all that is wrong is 0 in place of subnormal numbers."""
        wrong, right = self.got[self.is_wrong], np.abs(self.expected[self.is_wrong])
        is_float = self.dtype == np.float32
        is_lost = is_float and not wrong.any() and (right < np.finfo(np.float32).tiny).all()
        return Next.FLUSHED() if is_lost else ""

    def _on_no_input(self, launch, judge):
        """In words, if the inputs have each element that is expected, and not the first got: of
        whole numbers, if they are many to an element, as small ones meet by chance."""
        given = [np.ravel(a.values) for a in launch.arguments if isinstance(a, In)]
        is_one = len(given) == 1
        given += [] if self.out.initial is None else [np.ravel(self.out.initial)]
        inputs = np.unique(np.concatenate(given)) if given else np.empty(0)
        if self.dtype.kind != "f" and inputs.size < 4 * self.got.size:
            return ""
        place = int(self.places[0])
        got, expected = self.got[place], self.expected[place]
        if not (np.isfinite(expected) or expected == judge.padding):
            return ""
        if not np.isin(self.expected[self.is_wrong], inputs).all() or np.isin(got, inputs):
            return ""
        if got == 0 and np.isfinite(expected) and is_one:
            return Next.LEFT_OUT(expected=self._shown(expected))
        is_padding = expected == judge.padding
        text = Next.NO_INPUT_NOR_PADDING if is_padding else Next.NO_INPUT
        return text(got=self._shown(got), expected=self._shown(expected))
