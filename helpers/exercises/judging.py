"""Run a learner's kernel on what it has not seen, watched and counted, and say what came of it."""

import re
import warnings
from dataclasses import replace
from functools import cache, partial
from math import gcd, prod

import numpy as np

from softgpu.loader import Engine
from softgpu.phrases import joined
from softgpu.ptx import TooLarge
from softgpu.xray.launch import target_of

from .. import nvcc_says
from ..kernels import CompileError, CompilerWarning, Kernel, NoKernel
from ..words import Kind, Next, Refusal, Shown
from . import costs, handed, instructions, real, seen
from .launches import Far, Out, drawn
from .progress import seed_of
from .running import Run
from .values import KINDS, Special
from .verdict import Refused, Unwritten, Verdict

from pycuda.driver import Error, Function  # isort: skip

__all__ = ["Stopped", "counts", "judge", "trial", "watch"]

LIMIT_S = 10.0  # of a launch; the right ones take some thousandths
COUNTED_SEED, FAR_SEED, LARGE_SEED = 1, 1 << 31, 1 << 30
SLEEP, LOOK = r"\bnanosleep\b", r"\b(ld\.(volatile|relaxed|acquire)|atom|mbarrier)\b"
ACTS = r"^(@\S+ )?(ret|exit|trap|red|bar|barrier|(st|ld)\.(?!param|local))"


def judge(exercise, kernel, seed=None):
    """The Verdict on a kernel or a CUDA text for an Exercise: open, if it is still the stub.

    seed: of the sizes and values; by default the learner's own for this exercise."""
    kernel = getattr(kernel, "instead", None) or kernel
    text = _text(kernel)
    is_kernel = not isinstance(kernel, NoKernel)
    if is_kernel and exercise.is_stub(text) and not exercise.is_hunt:
        return Verdict(exercise.name, exercise.title, text, is_open=True)
    return trial(exercise, kernel, seed)


def trial(exercise, kernel, seed=None):
    """The Verdict on whatever it is."""
    seed = seed_of(exercise.name) if seed is None else seed
    verdict = Verdict(exercise.name, exercise.title, _text(kernel), seed=seed)
    try:
        kernel = _compiled(exercise, kernel, verdict.text)
        verdict.said = getattr(kernel, "said", "")
        target = target_of(kernel)
        verdict.instructions = instructions.of_kernel(target)
        _look_through(exercise.judge, verdict.instructions)
        if find := exercise.judge.seen:
            verdict.find_picture = partial(seen.picture, find, kernel, target)
        with target.engine.time_limit(LIMIT_S), target.engine.addresses_hidden():
            _Trial(exercise, kernel, target, verdict).run()
    except CompileError as error:
        advice = nvcc_says.advice(str(error), verdict.text) or Next.FIX_FIRST()
        verdict.refuse("compiler", Refusal.BECAUSE(why=error), advice)
    except Refused as refused:
        verdict.reasons.append(refused.reason)
    except KeyboardInterrupt:
        raise Stopped("stopped; nothing was judged") from None
    return verdict


def watch(exercise, kernel, seed=None):
    """The sanitizer's report on a kernel or a CUDA text, of the smallest launch that has any."""
    seed = seed_of(exercise.name) if seed is None else seed
    verdict = Verdict(exercise.name, exercise.title, _text(kernel), seed=seed)
    try:
        kernel = _compiled(exercise, kernel, verdict.text)
        target = target_of(kernel)
        with target.engine.time_limit(LIMIT_S), target.engine.addresses_hidden():
            heading, found = _Trial(exercise, kernel, target, verdict).first_findings()
    except Refused as refused:
        raise ValueError(f"{refused.reason.text}. {refused.reason.advice}") from None
    except KeyboardInterrupt:
        raise Stopped("stopped") from None
    print(heading)
    return found


class Stopped(KeyboardInterrupt):
    """Somebody has had enough, and needs no traceback."""

    def _render_traceback_(self):
        """What IPython shows."""
        return [str(self)]


def _text(kernel):
    text = kernel if isinstance(kernel, str) else getattr(kernel, "source", "")
    return text.removeprefix("\ufeff")  # an editor's mark


def _compiled(exercise, kernel, text):
    if isinstance(kernel, NoKernel):
        kind = "name" if kernel.is_compiled else "compiler"
        call = Next.CALL_AND_RUN(name=exercise.kernel)
        advice = call if kernel.is_compiled else Next.FIX_AND_RUN()
        raise Refused(kind, Refusal.BECAUSE(why=kernel.why), advice)
    if isinstance(kernel, Function):
        if getattr(kernel, "source", None):
            handed.look_for_includes(kernel.source)
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(f"judge takes a kernel or a CUDA text, not {type(kernel).__name__}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompilerWarning)  # the verdict says what it says
            return handed.compiled(exercise, text)
    except Error as error:
        engine = Engine.in_use()  # none where a real GPU's driver refuses it
        why = Refusal.BECAUSE(why=engine.error_detail() if engine else error)
        is_large = engine and isinstance(engine.last_error, TooLarge)
        advice = Next.LESS_OF_IT() if is_large else Next.SHOWN_SO_FAR()
        raise Refused("module", why, advice) from None


def _look_through(judge, ptx):
    """Refuse what must not be among the instructions of a kernel."""
    if instructions.some_path_skips(ptx, (SLEEP, ACTS), LOOK):  # it does not look again
        raise Refused("instructions", Refusal.COMPILED_HAS(what="nanosleep"), Next.NO_SLEEP())
    for pattern, advice in judge.without.items():
        if found := re.search(pattern, ptx, re.MULTILINE):
            what = found.groupdict().get("what", found[0])
            raise Refused("instructions", Refusal.COMPILED_HAS(what=what), advice)


class _Trial:
    """A kernel on trial: its launches, which the Verdict tells of."""

    def __init__(self, exercise, kernel, target, verdict):
        self.exercise, self.judge = exercise, exercise.judge
        self.kernel, self.target, self.verdict = kernel, target, verdict
        beside = "\n".join(re.findall("^//@ (.*)$", target.ptx, re.MULTILINE))  # see bin/nvcc
        self.chosen = handed.chosen(exercise, verdict.text or beside)
        self.checks = [c for c in self.judge.checks if verdict.text or not c.needs_text]

    def run(self):
        """All launches, in turn, until one is wrong."""
        sizes = _sizes(self.judge, self.verdict.seed)
        far, large = self.judge.far, self.judge.large
        more = sum(check.launches for check in self.checks) + bool(far)
        self.verdict.of = len(sizes) + len(large) + 1 + more
        runs = self._try_all(sizes)
        self._try_special(runs)
        self._try_large(large, runs)
        for check in self.checks:
            check.before(self)
        self._count()
        for check in self.checks:
            check.after(self)
        if far and not self.verdict.reasons:  # what does otherwise may run other blocks for them
            self._try_far(far)
        elif far:
            self.verdict.of -= 1

    def first_findings(self):
        """(the launch, the sanitizer's report) of the smallest launch that has any."""
        runs = sorted(self._launches(_sizes(self.judge, self.verdict.seed)), key=_by_size)
        looks = [(run, False) for run in runs]
        if isinstance(self.kernel, Kernel):
            looks += [(run, True) for run in runs]
        for run, debug in looks:
            if found := run.findings(debug):
                break
        return run.launch.heading, found

    def _launches(self, sizes):
        return [self._launch(size, self.verdict.seed, n) for n, size in enumerate(sizes)]

    def _launch(self, size, *seed, block=None, special=""):
        """One size's launch, which is named if the judge does not say what it is.

        block: the threads of its blocks, in place of the judge's; special: of which of KINDS
        its arrays of floats are."""
        rng = Special(seed, special) if special else np.random.default_rng(seed)
        with np.errstate(all="ignore"):  # infinities are among the values
            launch = self.judge.launch(rng, size, **self.chosen)
        launch.what = launch.what or f"n = {size:,}"
        if special:
            launch.what += f", {special}"
            _may_underflow(launch)
        launch = launch.with_blocks_of(block) if block else launch
        return Run(self.kernel, launch, np.random.default_rng(seed), self.target, self.judge)

    def _try_all(self, sizes):
        """All sizes, the last in other blocks, too, if the judge says so; then without optimisation
        one that has several blocks, the smallest, and one without elements, where what is read
        for no result may lie outside. Their Runs."""
        runs = self._launches(sizes)
        for number, run in enumerate(runs):
            if reason := _refusal(run):
                raise _smallest(reason, run, runs[number + 1 :], runs[:number])
            self.verdict.cases += 1
        if spare := self.judge.spare:
            last = len(sizes) - 1
            other = self._launch(sizes[last], self.verdict.seed, last, block=spare)
            if reason := _refusal(other):
                raise Refused(reason.kind, reason.text, Next.ANY_GRID(), case=reason.case)
        full = [run for run in runs if not run.is_empty]
        several = next((run for run in full if run.block_count > 1), full[-1])
        empty = [run for run in runs if run.is_empty][:1]
        for run in (several, min(full, key=lambda run: run.bytes), *empty):
            if isinstance(self.kernel, Kernel):
                run.watch(debug=True)
        return runs

    def _try_special(self, runs):
        """The largest of the judge's own sizes with arrays of floats of each of KINDS, where the
        exercise says what becomes of them; not watched, and counted with that size."""
        sizes = self.judge.sizes
        size = max(range(len(sizes)), key=lambda n: runs[n].bytes)
        for special in KINDS.keys() - self.judge.undefined.keys():
            self._launch(sizes[size], self.verdict.seed, size, special=special).run()

    def _try_large(self, sizes, right):
        """Sizes far outside of those that are drawn, not watched, which would take long."""
        for number, size in enumerate(sizes):
            run = self._launch(size, self.verdict.seed, LARGE_SEED, number)
            try:
                run.run()
            except Refused as refused:
                if not refused.is_rounding:
                    most = _most_before(run, right)
                    advice = Next.FIRST_BEYOND(**most) if most else Next.LARGER()
                    refused.reason = replace(refused.reason, advice=advice)
                raise
            self.verdict.cases += 1

    def try_changed(self, kind, text, launch, what, advice):
        """One launch of a text that the judge has changed."""
        self.try_other(kind, launch, what, advice, handed.compiled(self.exercise, text))

    def try_other(self, kind, launch, what, advice, kernel=None):
        """One launch, `launch(rng)`, with its own advice; of another kernel, if one is given."""
        kernel, rng = kernel or self.kernel, np.random.default_rng(self.verdict.seed)
        launch = launch(rng)
        launch.what = launch.what or what
        try:
            Run(kernel, launch, rng, target_of(kernel)).run()
        except Refused as refused:
            reason = refused.reason
            said = advice if _is_general(reason) else joined(advice, reason.advice)
            raise Refused(kind, reason.text, said, case=reason.case) from None
        self.verdict.cases += 1

    def _try_far(self, far):
        """A few blocks of a launch on arrays whose places 32 bits do not hold."""
        rng = np.random.default_rng([self.verdict.seed, FAR_SEED])
        with np.errstate(all="ignore"):
            launch = far(rng, **self.chosen)
        launch.what = launch.what or "beyond 2 ** 31 elements"
        try:
            self._run_far(launch, rng)
        except Refused as refused:
            is_wide = any(a.count > 1 << 31 for a in launch.arrays if isinstance(a, Far))
            advice = Next.WIDE if is_wide else Next.WHOLE
            reason = replace(refused.reason, advice=advice(), first="", short="")
            refused.reason = reason
            raise
        self.verdict.cases += 1

    def _run_far(self, launch, rng):
        """Which block writes what is the kernel's own affair: where those that ran have left an
        element out, others get a turn. If it is nobody's among these either, it is somebody's
        elsewhere, provided that the first ones had other work, and some of it lay as far out."""
        run = Run(self.kernel, launch, rng, self.target)
        try:
            run.run()
        except Unwritten as unwritten:
            has_strayed = run.has_strayed  # before others read what lies beside their own arrays
            more = Run(self.kernel, launch.with_more_blocks(), rng, self.target)
            try:
                more.run()
            except Unwritten:
                if not (has_strayed and more.has_come_far):
                    raise unwritten from None

    def _count(self):
        """The counted launch, which is right and clean as well."""
        run = self.counted()
        run.watch()
        reports = [run.count(block) for block in _watched(self.judge, run)]
        _look_for_room(run, reports[0])
        run.run()
        self.verdict.cases += 1
        costs.weigh(self.exercise, self.verdict, reports)
        self.verdict.find_times = partial(self._times, run.launch.what, run.shape, reports[0])
        if self.rate and self.rate.least:
            self._weigh_rate(reports[0])
        for check in self.checks:
            check.counted(self, run, reports)

    @property
    def rate(self):
        """What the clock has to predict, or None."""
        return self.judge.rate

    def _weigh_rate(self, report):
        """Whether the clock predicts as much; without NVIDIA's tools it predicts nothing."""
        times, why = self.verdict.times, report.prediction.why
        if times and times.speeds.yours < self.rate.least:
            speeds = times.speeds.text
            text = Refusal.SLOW(speeds=speeds, least=self.rate.least, room=times.room)
            own = self.judge.advice.get("clock")
            advice = real.advice(report) or own or times.yours.limited
            self.verdict.refuse("clock", text, advice)
        elif why and not counted(self.exercise).prediction.why:
            self.verdict.refuse("clock", Refusal.NO_PREDICTION(why=why), Next.PLAIN())

    def _times(self, what, shape, report):
        """What the counted launch would take, beside ours, if it were a large one. It is known by
        its words and its shape: a verdict lives on in a notebook, and would keep its arrays."""
        if self.rate:
            run, ours = (
                self._launch(self.rate.size, COUNTED_SEED),
                counted(self.exercise, self.rate),
            )
            return real.times(None, run.count(0), ours, True, self.rate)
        size = self.judge.counted
        is_plain = what == f"n = {size:,}" if isinstance(size, int) else False
        with self.target.engine.time_limit(LIMIT_S):
            ours = counted(self.exercise)
        blocks_grow = not is_plain or self._has_more_blocks(2 * size, shape)
        return real.times(size if is_plain else None, report, ours, blocks_grow, self.rate)

    def _has_more_blocks(self, size, shape):
        larger = self._launch(size, COUNTED_SEED).shape
        return prod(larger["grid"]) > prod(shape["grid"]) or larger["block"] != shape["block"]

    def counted(self):
        return self._launch(self.judge.counted, COUNTED_SEED)


def _sizes(judge, seed):
    """The sizes of a judge, and those that are drawn."""
    sizes, draw = judge.sizes, judge.drawn
    if draw is None and all(isinstance(size, int) for size in sizes):
        draw = partial(drawn, step=gcd(*sizes))
    return [*sizes, *(draw(np.random.default_rng([seed, len(sizes)])) if draw else ())]


def _may_underflow(launch):
    """What is not exact may be off by the smallest number, too, as far as a sum's terms vanish."""
    for out in (array for array in launch.arrays if isinstance(array, Out)):
        of = np.dtype(out.dtype).type
        if issubclass(of, np.floating) and np.any(out.tolerance):
            out.tolerance = np.asarray(out.tolerance, float) + float(np.nextafter(of(0), of(1)))


def _by_size(run):
    """From the smallest launch to the largest; infinities and NaN come after ordinary numbers, and
    what has no elements last."""
    return run.is_empty, run.is_special, run.bytes


def _refusal(run):
    """Why a launch is refused, or None."""
    try:
        run.watch()
        run.run()
    except Refused as refused:
        return refused.reason
    return None


def _smallest(reason, run, untried, right):
    """Refused for the reason of a launch, or of the simplest among the untried that fails so."""
    simpler = [other for other in untried if _by_size(other) < _by_size(run)]
    if reason.kind != Kind.TIME:  # which would take long for each
        for other in sorted(simpler, key=_by_size):
            found = _refusal(other)
            if found and _cause(found) == _cause(reason):
                reason, run = found, other
                break
        case = Shown.SMALLEST(launch=reason.case or run.launch.heading)
        reason = replace(reason, case=case)
    reason = _more_telling(reason, run, untried, right)
    refused = Refused(reason.kind, reason.text, reason.advice)
    refused.reason = reason
    return refused


def _more_telling(reason, run, untried, right):
    """The reason, with more specific advice if its own would fit any wrong kernel."""
    if _is_general(reason):
        if unused := _unused(run):
            return replace(reason, advice=Next.UNUSED(names=unused))
        if most := _most_before(run, right):
            return replace(reason, advice=Next.FIRST_BEYOND(**most))
    elif not run.is_tiny or reason.advice != Next.ZERO():
        return reason
    others = (_refusal(other) for other in sorted(untried, key=_by_size) if other is not run)
    told = (o for o in others if o and _cause(o) == _cause(reason) and not _is_general(o))
    return next(told, reason)


def _is_general(reason):
    """Whether its advice would fit any wrong kernel."""
    return reason.advice in (Next.BY_HAND(), Next.NOT_BY_HAND())


def _unused(run):
    """The names of the inputs that a launch's kernel never reads, or ""."""
    numbers = instructions.unused(instructions.of_kernel(run.target), len(run.passed))
    inputs = (n for n in numbers if not isinstance(run.launch.arguments[n], Out))
    return " and ".join(run.names[n] for n in inputs)


def _most_before(run, right):
    """Which of a launch's sizes is most beyond the same one of the right launches, or None:
    a dict of words."""
    sizes, others = run.launch.sizes, [other.launch.sizes for other in right]
    others = [other for other in others if len(other) == len(sizes)]
    if len(others) < 2:
        return None
    named = zip(_named(run), sizes, map(max, zip(*others)))
    name, value, most = max(named, key=lambda size: size[1] / max(size[2], 1))
    words = {"what": run.launch.what, "name": name, "value": f"{value:,}", "most": f"{most:,}"}
    return words if value > most else None


def _named(run):
    """What a launch's sizes are called."""
    arguments = run.launch.arguments
    numbers = [n for n, a in enumerate(arguments) if isinstance(a, (int, np.integer))]
    arrays = [f"the length of {name}" for name in run.names]
    return [*([run.names[n] for n in numbers] or arrays), "the number of a block's threads"]


def _cause(reason):
    """What two launches that are refused for one fault have in common."""
    return reason.kind, reason.text.blanks.get("finding")


def _look_for_room(run, report):
    """Refuse a launch that a GPU refuses, since not even one block has room on a multiprocessor."""
    if not report.occupancy.blocks:
        text = Refusal.FAILED(launch=run.launch.what, why=report.prediction.why)
        words = {"registers": report.registers, "threads": report.thread_count}
        raise Refused("launch", text, Next.FEWER_REGISTERS(**words), case=run.launch.heading)


def _watched(judge, run):
    """The blocks whose instructions are counted apart."""
    blocks = run.block_count
    return sorted({0, blocks // 2, blocks - 1}) if judge.even else [0]


def counted(exercise, rate=None):
    """The report of the solution's counted launch, or of that which is counted for a Rate."""
    return _counted(exercise, rate.size if rate else exercise.judge.counted)


@cache
def _counted(exercise, size):
    verdict = Verdict(exercise.name, exercise.title, exercise.solution)
    kernel = handed.compiled(exercise, exercise.solution)
    return _Trial(exercise, kernel, target_of(kernel), verdict)._launch(size, COUNTED_SEED).count(0)


def counts(exercise):
    """{counter: how much} of the solution's counted launch, for the counters that are limited."""
    return costs.limited(exercise.judge, costs.totals(counted(exercise)))
