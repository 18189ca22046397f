"""Run a learner's kernel on what it has not seen, watched and counted, and say what came of it."""

import re

import numpy as np

from .. import checks, sources, xray
from ..kernels import CompileError
from ..xray.launch import find as target_of
from ..xray.launch import shape
from .launches import SIZES, In, Out
from .verdict import Count, Reason, Verdict

from pycuda import gpuarray  # isort: skip
from pycuda.driver import Error, Function  # isort: skip

__all__ = ["judge", "trial"]

LIMIT_S = 10.0  # of a launch; the right ones take some thousandths
MOST = 4  # times the instructions of an average block that one block may do
MOST_OF_ALL = 0.75  # the share of all instructions that one block may do, where blocks are few
COUNTED_SEED = 1


def judge(exercise, kernel):
    """The Verdict on a kernel or a CUDA text for an Exercise: open, if it is still the stub."""
    text = _text(kernel)
    if exercise.is_stub(text):
        return Verdict(exercise.name, exercise.title, text, is_open=True)
    return trial(exercise, kernel)


def trial(exercise, kernel):
    """The Verdict on whatever it is."""
    verdict = Verdict(exercise.name, exercise.title, _text(kernel))
    try:
        kernel = _compiled(exercise, kernel)
        with target_of(kernel).engine.time_limit(LIMIT_S):
            _try_all(exercise, kernel, verdict)
            _count(exercise, kernel, verdict)
    except CompileError as error:
        verdict.refuse("compiler", str(error), "Mend the first mistake and judge again.")
    except _Refused as refused:
        verdict.reasons.append(refused.reason)
    return verdict


def _text(kernel):
    return kernel if isinstance(kernel, str) else getattr(kernel, "source", "")


class _Refused(Exception):
    def __init__(self, *words, case=""):
        self.reason = Reason(*words, case=case)


def _compiled(exercise, kernel):
    if isinstance(kernel, Function):
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(f"judge takes a kernel or a CUDA text, not {type(kernel).__name__}")
    try:
        return sources.kernel(f"{kernel}\n", exercise.kernel)  # a line alone might name a file
    except LookupError as error:
        raise _Refused("name", str(error), f"Call it {exercise.kernel}.") from None
    except Error as error:
        raise _Refused("module", str(error), "Use what the course has shown so far.") from None


# --- right at every size, and clean ---------------------------------------------------------------


def _try_all(exercise, kernel, verdict):
    rules = exercise.rules
    sizes = getattr(rules, "SIZES", SIZES)
    verdict.of = len(sizes)
    for size, seed in zip(sizes, np.random.SeedSequence().spawn(len(sizes))):
        launch = rules.launch(np.random.default_rng(seed), size, **_chosen(rules, verdict.text))
        launch.what = launch.what or f"n = {size:,}"
        _watch(kernel, launch)
        _compare(kernel, launch)
        verdict.cases += 1


def _chosen(rules, text):
    """The numbers that the learner chooses, such as the threads of a block."""
    chosen = {}
    for name in getattr(rules, "CHOICES", ()):
        found = re.search(rf"^constexpr int {name} = (\d+);", text, re.MULTILINE)
        if not found or int(found[1]) < 1:
            line = f"constexpr int {name} = 1;"
            raise _Refused("name", f"no choice of {name}", f"Say it on a line of its own: {line}")
        chosen[name.lower()] = int(found[1])
    return chosen


def _watch(kernel, launch):
    """The launch under the sanitizer, on arrays without a byte to spare."""
    arrays = [_sent(a) if isinstance(a, (In, Out)) else a for a in launch.arguments]
    poisoned = [
        array
        for array, a in zip(arrays, launch.arguments)
        if isinstance(a, Out) and a.initial is None
    ]
    options = {"grid": launch.grid, "block": launch.block, "shared": launch.shared}
    try:
        found = xray.sanitize(kernel, *arrays, **options, uninitialised=poisoned)
    except TypeError as error:
        advice = "Keep the parameters of the stub: the judge passes what it declares."
        raise _Refused("parameters", str(error), advice) from None
    except Error as error:
        raise _Refused("launch", _short(error), "Look at the line that it names.") from None
    if found:
        first = found[0]
        kind = "time" if "limit" in first.message and first.kind == "fault" else "sanitizer"
        advice = "Does each loop come to an end?" if kind == "time" else first.advice
        raise _Refused(
            kind, f"{launch.what}: {first.kind}", advice, case=f"{launch.heading}\n{first}"
        )


def _sent(argument):
    """An array of exactly the bytes that it should have, at the alignment that is asked for."""
    values = argument.values if isinstance(argument, In) else argument.initial
    if values is None:
        values = np.zeros(np.shape(argument.expected), argument.dtype)
    values = np.asarray(values, argument.dtype)
    if not values.size:
        return gpuarray.to_gpu(np.zeros(1, argument.dtype))[1:]  # every access is out of bounds
    whole = np.concatenate([np.zeros(argument.offset, argument.dtype), values.ravel()])
    return gpuarray.to_gpu(whole)[argument.offset :].reshape(values.shape)


def _compare(kernel, launch):
    """The launch between guards: outputs poisoned, inputs to stay as they are."""
    guarded = {n: _guarded(a) for n, a in enumerate(launch.arguments) if isinstance(a, (In, Out))}
    passed = [guarded[n].array if n in guarded else a for n, a in enumerate(launch.arguments)]
    grid, block = (shape(what, getattr(launch, what)) for what in ("grid", "block"))
    try:
        kernel(*passed, grid=grid, block=block, shared=launch.shared)
    except Error as error:
        raise _Refused("launch", _short(error), "Look at the line that it names.") from None
    for number, name in enumerate(_names(kernel, len(launch.arguments))):
        if number not in guarded:
            continue
        argument = launch.arguments[number]
        try:
            left = guarded[number].get()
        except AssertionError as error:
            raise _Refused("bounds", f"{launch.what}: {name}: {error}", _BOUNDS) from None
        if isinstance(argument, Out):
            _check(left, argument, name, launch)
        elif left.tobytes() != np.asarray(argument.values, argument.dtype).tobytes():
            changed = f"{launch.what}: {name} has changed"
            raise _Refused("inputs", changed, "Inputs are only to be read.")


def _guarded(argument):
    """The array between guards: filled, or poisoned."""
    before = argument.values if isinstance(argument, In) else argument.initial
    dims = np.shape(argument.expected if before is None else before)
    offset_bytes = argument.offset * np.dtype(argument.dtype).itemsize
    array = checks.Guarded(dims, argument.dtype, offset_bytes)
    return array if before is None or not np.size(before) else array.set(before)


_BOUNDS = "Which threads have no element? Let them do nothing."


def _check(left, out, name, launch):
    try:
        checks.assert_close(left, np.asarray(out.expected), out.tolerance, name)
    except AssertionError as error:
        case = f"{launch.heading}\n{_around(left, out)}"
        advice = _value_advice(left, out)
        raise _Refused("values", f"{launch.what}: {error}", advice, case=case) from None


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
        far = ~(np.abs(got - expected) <= tolerance)
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


def _names(kernel, count):
    declared = getattr(kernel, "parameters", None)
    if declared is None:
        return [f"argument {n}" for n in range(1, count + 1)]
    return [p.text.split("*")[-1].split(" ")[-1] for p in declared]


def _short(error):
    return str(error).splitlines()[0]


# --- what it costs --------------------------------------------------------------------------------


def _count(exercise, kernel, verdict):
    rules = exercise.rules
    chosen = _chosen(rules, verdict.text)
    launch = rules.launch(np.random.default_rng(COUNTED_SEED), rules.COUNTED, **chosen)
    grid, block = shape("grid", launch.grid), shape("block", launch.block)
    arrays = [_sent(a) if isinstance(a, (In, Out)) else a for a in launch.arguments]
    blocks = int(np.prod(grid))
    is_even = getattr(rules, "EVEN", True)
    reports = [
        xray.profile(kernel, *arrays, grid=grid, block=block, shared=launch.shared, watch=watched)
        for watched in (sorted({0, blocks // 2, blocks - 1}) if is_even else [0])
    ]
    verdict.report = reports[0]
    total = reports[0].total
    for key, allowed in rules.BUDGET.items():
        count = Count(key, total[key], *(allowed if isinstance(allowed, tuple) else 2 * (allowed,)))
        verdict.counts.append(count)
        if count.value > count.most:
            verdict.refuse("counters", str(count), count.advice)
    busiest = max(report.watched_instructions for report in reports) / total["instructions"]
    if is_even and blocks > 1 and busiest > min(MOST / blocks, MOST_OF_ALL):
        share = f"one of {blocks} blocks does {busiest:.0%} of all instructions"
        verdict.refuse("counters", share, "Which elements are this block's, and which another's?")
