"""Run a learner's kernel on what it has not seen, watched and counted, and say what came of it."""

import re
from functools import partial
from math import gcd, prod

import numpy as np

from .. import autoinit, sources
from ..kernels import CompileError, Kernel
from ..xray.launch import find as target_of
from . import costs
from .launches import SIZES, drawn
from .progress import seed_of
from .running import Run
from .verdict import Refused, Verdict

from pycuda.driver import Error, Function  # isort: skip

__all__ = ["counts", "judge", "trial"]

LIMIT_S = 10.0  # of a launch; the right ones take some thousandths
COUNTED_SEED, FAR_SEED = 1, 1 << 31
REPEATS = 2
REPEATABLE = "Let no sum depend on who comes first: add in an order that is always the same."
WIDE = "Places beyond 2,147,483,647 need 64 bits, also on the way: say long long."


def judge(exercise, kernel, seed=None):
    """The Verdict on a kernel or a CUDA text for an Exercise: open, if it is still the stub.

    seed: of the sizes and values; by default the learner's own for this exercise."""
    text = _text(kernel)
    if exercise.is_stub(text) and not exercise.is_hunt:
        return Verdict(exercise.name, exercise.title, text, is_open=True)
    return trial(exercise, kernel, seed)


def trial(exercise, kernel, seed=None):
    """The Verdict on whatever it is."""
    seed = seed_of(exercise.name) if seed is None else seed
    verdict = Verdict(exercise.name, exercise.title, _text(kernel), seed=seed)
    try:
        kernel = _compiled(exercise, kernel)
        target = target_of(kernel)
        _look_through(exercise.rules, target.ptx)
        with target.engine.time_limit(LIMIT_S):
            _Trial(exercise, kernel, target.engine, verdict).run()
    except CompileError as error:
        verdict.refuse("compiler", str(error), "Mend the first mistake and judge again.")
    except Refused as refused:
        verdict.reasons.append(refused.reason)
    return verdict


def _text(kernel):
    return kernel if isinstance(kernel, str) else getattr(kernel, "source", "")


def _compiled(exercise, kernel):
    if isinstance(kernel, Function):
        return kernel
    if not isinstance(kernel, str):
        raise TypeError(f"judge takes a kernel or a CUDA text, not {type(kernel).__name__}")
    try:
        return sources.kernel(f"{kernel}\n", exercise.kernel)  # a line alone might name a file
    except LookupError as error:
        raise Refused("name", str(error), f"Call it {exercise.kernel}.") from None
    except Error as error:
        raise Refused("module", str(error), "Use what the course has shown so far.") from None


def _look_through(rules, ptx):
    """Refuse what must not be among the kernel's instructions."""
    instructions = re.sub(r"^\s*//.*$", "", ptx, flags=re.MULTILINE)
    for pattern, advice in getattr(rules, "WITHOUT", {}).items():
        if found := re.search(pattern, instructions):
            raise Refused("instructions", f"the compiled kernel has {found[0]}", advice)


def _chosen(rules, text):
    """The numbers that the learner chooses, such as the threads of a block."""
    chosen = {}
    for name in getattr(rules, "CHOICES", ()):
        found = re.search(rf"^constexpr int {name} = (\d+);", text, re.MULTILINE)
        if not found or int(found[1]) < 1:
            line = f"constexpr int {name} = 1;"
            raise Refused("name", f"no choice of {name}", f"Say it on a line of its own: {line}")
        chosen[name.lower()] = int(found[1])
    return chosen


class _Trial:
    """A kernel on trial: its launches, which the Verdict tells of."""

    def __init__(self, exercise, kernel, engine, verdict):
        self.exercise, self.rules = exercise, exercise.rules
        self.kernel, self.engine, self.verdict = kernel, engine, verdict
        self.chosen = _chosen(self.rules, verdict.text)

    def run(self):
        """All launches, in turn, until one is wrong."""
        sizes = _sizes(self.rules, self.verdict.seed)
        far = getattr(self.rules, "far", None) if autoinit.is_software else None
        self.verdict.of = len(sizes) + 1 + bool(far)
        self._try_all(sizes)
        if far:
            self._try_far(far)
        self._count()

    def _launch(self, size, *seed):
        """One size's launch, which is named if the judge does not say what it is."""
        launch = self.rules.launch(np.random.default_rng(seed), size, **self.chosen)
        launch.what = launch.what or f"n = {size:,}"
        return Run(self.kernel, launch, np.random.default_rng(seed), self.engine)

    def _try_all(self, sizes):
        """All sizes, and then without optimisation one that has several blocks."""
        several = None
        for number, size in enumerate(sizes):
            run = self._launch(size, self.verdict.seed, number)
            run.watch()
            run.run()
            self.verdict.cases += 1
            if several is None and prod(run.shape["grid"]) > 1:
                several = run
        if isinstance(self.kernel, Kernel):
            (several or run).watch(debug=True)

    def _try_far(self, far):
        """A few blocks of a launch on arrays whose places 32 bits do not hold."""
        rng = np.random.default_rng([self.verdict.seed, FAR_SEED])
        launch = far(rng)
        launch.what = launch.what or "beyond 2 ** 31 elements"
        try:
            Run(self.kernel, launch, rng, self.engine).run()
        except Refused as refused:
            reason = refused.reason
            raise Refused(reason.kind, reason.text, WIDE, case=reason.case) from None
        self.verdict.cases += 1

    def _count(self):
        """The counted launch, which is right and clean as well."""
        run = self.counted()
        run.watch()
        reports = [run.count(block) for block in _watched(self.rules, run)]
        run.run()
        if getattr(self.rules, "REPEATABLE", False):
            self._repeat(run)
        self.verdict.cases += 1
        costs.weigh(self.exercise, self.verdict, reports)

    def _repeat(self, run):
        """The same launch with its blocks in other orders: every bit is to be the same."""
        left = run.outputs()
        for order in range(REPEATS):
            with self.engine.block_order(self.verdict.seed + order):
                run.run()
            if run.outputs() != left:
                text = f"{run.launch.what}: with blocks in another order it leaves other bits"
                raise Refused("bits", text, REPEATABLE)

    def counted(self):
        return self._launch(self.rules.COUNTED, COUNTED_SEED)


def _sizes(rules, seed):
    """The sizes of a judge, and those that are drawn."""
    sizes = getattr(rules, "SIZES", SIZES)
    draw = getattr(rules, "drawn", None)
    if draw is None and all(isinstance(size, int) for size in sizes):
        draw = partial(drawn, step=gcd(*sizes))
    return [*sizes, *(draw(np.random.default_rng([seed, len(sizes)])) if draw else ())]


def _watched(rules, run):
    """The blocks whose instructions are counted apart."""
    blocks = prod(run.shape["grid"])
    return sorted({0, blocks // 2, blocks - 1}) if getattr(rules, "EVEN", True) else [0]


def counts(exercise):
    """{counter: how much} of the solution's counted launch, for the counters that are limited."""
    verdict = Verdict(exercise.name, exercise.title, exercise.solution)
    kernel = _compiled(exercise, exercise.solution)
    trial = _Trial(exercise, kernel, target_of(kernel).engine, verdict)
    total = costs.totals(trial.counted().count(0))
    return {key: total[key] for key in costs.FACTORS}
