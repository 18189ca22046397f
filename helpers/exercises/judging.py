"""Run a learner's kernel on what it has not seen, watched and counted, and say what came of it."""

import getpass
import os
import re
from functools import partial
from math import gcd, prod
from zlib import crc32

import numpy as np

from .. import sources
from ..kernels import CompileError, Kernel
from ..xray.launch import find as target_of
from . import costs
from .launches import SIZES, drawn
from .running import Run
from .verdict import Refused, Verdict

from pycuda.driver import Error, Function  # isort: skip

__all__ = ["counts", "judge", "seed_of", "trial"]

LIMIT_S = 10.0  # of a launch; the right ones take some thousandths
COUNTED_SEED = 1


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
            _try_all(exercise.rules, kernel, verdict)
            _count(exercise, kernel, verdict)
    except CompileError as error:
        verdict.refuse("compiler", str(error), "Mend the first mistake and judge again.")
    except Refused as refused:
        verdict.reasons.append(refused.reason)
    return verdict


def seed_of(exercise, learner=None):
    """The seed of a learner (by default who runs this) for an exercise, by their names."""
    if learner is None:
        learner = os.environ.get("JUPYTERHUB_USER") or _user()
    return crc32(f"{learner} {exercise}".encode(errors="replace")) % 1_000_000


def _user():
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""


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


def _launch(rules, size, text, seed):
    """The Launch of one size, which is named if the judge does not say what it is."""
    launch = rules.launch(np.random.default_rng(seed), size, **_chosen(rules, text))
    launch.what = launch.what or f"n = {size:,}"
    return launch


def _sizes(rules, seed):
    """The sizes of a judge, and those that are drawn."""
    sizes = getattr(rules, "SIZES", SIZES)
    draw = getattr(rules, "drawn", None)
    if draw is None and all(isinstance(size, int) for size in sizes):
        draw = partial(drawn, step=gcd(*sizes))
    return [*sizes, *(draw(np.random.default_rng([seed, len(sizes)])) if draw else ())]


def _try_all(rules, kernel, verdict):
    """All sizes, and then without optimisation one that has several blocks."""
    sizes = _sizes(rules, verdict.seed)
    verdict.of = len(sizes) + 1  # the counted one, too
    several = None
    for number, size in enumerate(sizes):
        launch = _launch(rules, size, verdict.text, [verdict.seed, number])
        run = Run(kernel, launch, np.random.default_rng([verdict.seed, number]))
        run.watch()
        run.run()
        verdict.cases += 1
        if several is None and prod(run.shape["grid"]) > 1:
            several = run
    if isinstance(kernel, Kernel):
        (several or run).watch(debug=True)


def _count(exercise, kernel, verdict):
    """The counted launch, which is right and clean as well."""
    rules = exercise.rules
    run = _counted(rules, kernel, verdict.text)
    run.watch()
    reports = [run.count(block) for block in _watched(rules, run)]
    run.run()
    verdict.cases += 1
    costs.weigh(exercise, verdict, reports)


def _counted(rules, kernel, text):
    launch = _launch(rules, rules.COUNTED, text, COUNTED_SEED)
    return Run(kernel, launch, np.random.default_rng(COUNTED_SEED))


def _watched(rules, run):
    """The blocks whose instructions are counted apart."""
    blocks = prod(run.shape["grid"])
    return sorted({0, blocks // 2, blocks - 1}) if getattr(rules, "EVEN", True) else [0]


def counts(exercise):
    """{counter: how much} of the solution's counted launch, for the counters that are limited."""
    kernel = _compiled(exercise, exercise.solution)
    total = costs.totals(_counted(exercise.rules, kernel, exercise.solution).count(0))
    return {key: total[key] for key in costs.FACTORS}
