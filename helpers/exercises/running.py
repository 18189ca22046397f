"""One launch of a kernel that is judged: watched, plainly, counted, and compared each time."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np

from .. import checks, xray
from ..xray.launch import address_of, shape, variables_kept
from .launches import Far, In, Out
from .verdict import Refused

from pycuda.driver import Error  # isort: skip
from pycuda.gpuarray import GPUArray  # isort: skip

__all__ = ["Run"]

ONLY_READ = "Inputs are only to be read."
BOUNDS = "Which threads have no element? Let them do nothing."


class Run:
    """A kernel and a Launch on an engine. Its arrays lie between guards, or are Far."""

    def __init__(self, kernel, launch, rng, engine):
        self.kernel, self.launch, self.engine = kernel, launch, engine
        self.shape = {what: shape(what, getattr(launch, what)) for what in ("grid", "block")}
        self.options = {**self.shape, "shared": launch.shared}
        given = list(enumerate(launch.arguments))
        self.guarded = {n: _guarded(a, rng) for n, a in given if isinstance(a, (In, Out))}
        self.far = {n: _spread(a, engine) for n, a in given if isinstance(a, Far)}
        arrays = {n: _from_first(launch.arguments[n], g.array) for n, g in self.guarded.items()}
        arrays |= self.far
        self.passed = [arrays.get(n, a) for n, a in given]
        self.names = _names(kernel, len(self.passed))
        self.left = {}

    @property
    def bytes(self):
        """Of all arrays."""
        return sum(guarded.bytes for guarded in self.guarded.values())

    def watch(self, debug=False):
        """Under the sanitizer. debug: as the compiler leaves it without optimisation."""
        if found := self.findings(debug):
            self._refuse(found)
        if not debug:  # which rounds otherwise
            self._compare()

    def findings(self, debug=False):
        """The sanitizer's report."""
        poisoned = [
            self.guarded[n].array
            for n, a in enumerate(self.launch.arguments)
            if isinstance(a, Out) and a.initial is None
        ]
        how = {"uninitialised": poisoned, "debug": debug, "after": self._fetch}
        found = self._launched(xray.sanitize, self.kernel, *self.passed, **self.options, **how)
        if debug:  # in which values of a shuffle that are thrown away cannot be told from others
            found[:] = [
                f for f in found if f.kind != "inactive shuffle" and not _is_copy_of_nothing(f)
            ]
        return found

    def count(self, block):
        """The report of xray.profile, with this block watched."""
        how = {**self.options, "watch": block, "after": self._fetch}
        report = self._launched(xray.profile, self.kernel, *self.passed, **how)
        self._compare()
        self._look_for_writes(report)
        return report

    def run(self):
        """As any other launch."""
        for guarded in self.guarded.values():
            guarded.reset()
        blocks = self.launch.blocks
        with (
            variables_kept(self.kernel),
            self.engine.only_blocks(blocks) if blocks else nullcontext(),
        ):
            self._launched(self.kernel, *self.passed, **self.options)
        self._fetch(GPUArray.get)
        self._compare()

    def outputs(self):
        """The bytes that the last launch left in the outputs."""
        return [
            self.guarded[n].inside(raw).tobytes()
            for n, raw in self.left.items()
            if isinstance(self.launch.arguments[n], Out)
        ]

    def _launched(self, launch, *arguments, **options):
        try:
            return launch(*arguments, **options)
        except TypeError as error:
            advice = "Keep the parameters of the stub: the judge passes what it declares."
            raise Refused("parameters", str(error), advice) from None
        except Error as error:
            text = f"{self.launch.what}: {str(error).splitlines()[0]}"
            if "ran longer than" in text:
                raise Refused("time", text, "Does each loop come to an end?") from None
            raise Refused("launch", text, "Look at the line that it names.") from None

    def _refuse(self, found):
        """A fault ends a launch: it is told before what else was seen."""
        first = next((f for f in found if f.kind == "fault"), found[0])
        kind = "time" if "limit" in first.message and first.kind == "fault" else "sanitizer"
        advice = "Does each loop come to an end?" if kind == "time" else first.advice
        what = f"{self.launch.what}: {first.kind}"
        raise Refused(kind, what, advice, case=f"{self.launch.heading}\n{first}")

    # --- what it left -----------------------------------------------------------------------------

    def _fetch(self, read):
        """Keep what the arrays hold, guards included."""
        self.left = {n: read(guarded.raw) for n, guarded in self.guarded.items()}

    def _compare(self):
        for n, guarded in self.guarded.items():
            argument, name = self.launch.arguments[n], self.names[n]
            try:
                left = guarded.left(self.left[n])
            except AssertionError as error:
                raise Refused("bounds", f"{self.launch.what}: {name}: {error}", BOUNDS) from None
            if isinstance(argument, Out):
                _check(left, argument, name, self.launch)
            elif left.tobytes() != guarded.inside(guarded.before).tobytes():
                raise Refused("inputs", f"{self.launch.what}: {name} has changed", ONLY_READ)
        for n, array in self.far.items():
            far = self.launch.arguments[n]
            for place, expected in far.expected.items():
                left = array[place : place + len(expected)].get()
                out = Out(np.asarray(expected), far.tolerance, far.dtype)
                _check(left, out, f"{self.names[n]} + {place:,}", self.launch)

    def _look_for_writes(self, report):
        """Inputs are not written to, even if they stay as they are: an atomic is no load."""
        for n, guarded in self.guarded.items():
            place = address_of(guarded.array)
            for touched in report.arrays[report.arrays["written"] > 0]:
                is_input = isinstance(self.launch.arguments[n], In)
                if is_input and touched["begin"] <= place < touched["end"]:
                    text = f"{self.launch.what}: {self.names[n]} is written to"
                    raise Refused("inputs", text, ONLY_READ)


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


def _spread(far, engine):
    """The array that a Far stands for, in which only what is touched costs memory."""
    dtype = np.dtype(far.dtype)
    array = GPUArray(far.count, dtype, gpudata=engine.sparse(far.count * dtype.itemsize))
    for place, values in far.pieces.items():
        array[place : place + len(values)].set(np.ascontiguousarray(values, dtype))
    return array


def _names(kernel, count):
    declared = getattr(kernel, "parameters", None)
    if declared is None:
        return [f"argument {n}" for n in range(1, count + 1)]
    return [p.text.split("*")[-1].split(" ")[-1] for p in declared]


def _is_copy_of_nothing(finding):
    """Whether a struct's padding is passed on, as code without optimisation does: a byte, where a
    struct has no members, and whatever the compiler's own headers copy."""
    if finding.kind != "uninitialised read" or "local memory" not in finding.place:
        return False
    return "reads 1 byte" in finding.message or Path(finding.file).suffix not in ("", ".cu")


# --- wrong values, in words -----------------------------------------------------------------------


def _check(left, out, name, launch):
    expected = np.asarray(out.expected)
    try:
        checks.assert_close(left, expected, out.tolerance, name)
    except AssertionError as error:
        case = f"{launch.heading}\n{_around(left, out)}"
        advice = _value_advice(left, out)
        raise Refused("values", f"{launch.what}: {error}", advice, case=case) from None
    if out.bits:
        _check_bits(left, expected.astype(left.dtype), name, launch)


def _check_bits(left, expected, name, launch):
    """Every bit is the expected one, but those that tell one NaN from another."""
    whole = f"u{left.itemsize}"
    wrong = left.view(whole) != expected.view(whole)
    if left.dtype.kind == "f":
        wrong &= ~(np.isnan(left) & np.isnan(expected))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        text = f"{name}{list(at)}: got {left[at]!s}, expected {expected[at]!s}"
        advice = "Every bit counts here: -0 is not 0."
        raise Refused("values", f"{launch.what}: {text}", advice, case=launch.heading)


def _around(left, out):
    """The neighbours of the first wrong element, got and expected."""
    got, expected = left.ravel(), np.asarray(out.expected).ravel()
    wrong = _wrong(left, out)
    first = int(np.flatnonzero(wrong)[0])
    begin = max(0, first - 2)
    rows = [("element", *range(begin, min(first + 4, got.size)))]
    for name, values in (("got", got), ("expected", expected)):
        rows.append((name, *(f"{v:.6g}" for v in values[begin : first + 4])))
    return "\n".join(f"{row[0]:<9}" + "".join(f"{cell!s:>13}" for cell in row[1:]) for row in rows)


def _wrong(left, out):
    """Which elements are wrong, flat."""
    tolerance = np.broadcast_to(np.asarray(out.tolerance, float), left.shape).ravel()
    with np.errstate(invalid="ignore", over="ignore"):
        got = left.ravel().astype(np.longdouble)
        expected = np.asarray(out.expected).ravel().astype(np.longdouble)
        far = ~(np.abs(got - expected) <= tolerance) | np.isinf(expected)
    return far & ~((got == expected) | (np.isnan(got) & np.isnan(expected)))


def _value_advice(left, out):
    wrong = _wrong(left, out)
    if out.initial is None and left.dtype.kind == "f" and np.isnan(left.ravel()[wrong]).all():
        return (
            "NaN is what the judge had filled the output with: nobody has written these elements,"
            " or something that was never written went into them."
        )
    if wrong.all():
        return "No element is right: try one by hand, on paper, with the smallest size that fails."
    places = np.flatnonzero(wrong)
    if places[0] > 0 and wrong[places[0] :].all():
        return f"All is right up to element {places[0]} and wrong from there on: what ends there?"
    return "Some elements are right: what do the wrong ones have in common?"
