"""What the launches of each exercise have between them, or why they can't: a kernel that is wrong
only where something is empty, deep, NaN or of another shape is refused."""

import re
from fnmatch import fnmatch
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import exercises
from helpers.exercises import judging, launches, texts
from helpers.exercises.values import KINDS
from helpers.exercises.verdict import Verdict
from softgpu.declarations import Declarations

NAMES = exercises.names()
pytestmark = pytest.mark.slow


def trial_of(name):
    """A trial of an exercise's solution."""
    exercise = texts.find(name)
    kernel = SimpleNamespace(source=exercise.solution)
    return judging._Trial(
        exercise, kernel, SimpleNamespace(ptx=""), Verdict(name, "", exercise.solution, seed=1)
    )


def given(launch):
    """What a launch's arrays hold before it."""
    held = (
        a.values if isinstance(a, launches.In) else getattr(a, "initial", None)
        for a in launch.arrays
    )
    return [np.asarray(values) for values in held if values is not None]


def is_of(kind, floats, plain):
    """Whether an array is of this kind, one of KINDS, and no longer what it is otherwise."""
    if kind in ("NaN", "inf"):
        return {"NaN": np.isnan, "inf": np.isinf}[kind](floats).any()
    middles = [np.median(np.abs(x[np.isfinite(x) & (x != 0)])) for x in (floats, plain)]
    power = KINDS[kind][floats.itemsize == 2]
    return abs(np.log2(np.float64(middles[0]) / middles[1]) - power) < 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_floats_are_of_each_kind_once(name, kind, monkeypatch):
    """Where it is said what becomes of them: what drops, caps or flushes any is refused."""
    tried = []
    monkeypatch.setattr(
        judging,
        "Run",
        lambda kernel, launch, *_: SimpleNamespace(
            bytes=sum(map(np.size, given(launch))), launch=launch, run=lambda: tried.append(launch)
        ),
    )
    trial = trial_of(name)
    runs = trial._launches(judging._sizes(trial.judge, 1))
    trial._try_special(runs)
    plain = {f"{run.launch.what}, {kind}": given(run.launch) for run in runs}
    pairs = [
        (x, y)
        for launch in tried
        for x, y in zip(given(launch), plain.get(launch.what, ()))
        if x.dtype.kind == "f"
    ]
    if kind not in trial.judge.undefined and any(
        x.dtype.kind == "f" for r in runs for x in given(r.launch)
    ):
        assert any(is_of(kind, *pair) for pair in pairs)


WITHOUT = {  # what no launch has of a number: {why: whose}
    "0": {
        "nothing would be launched, or nothing come out": "*.rows *.columns *.batch *.outer"
        " 13.*.[mn] 14.*.[mn] 15*.[mn] 15.place.rows *.height *.width *.h_out *.w_out *.places*"
        " *.channels 15b.stored.down 15b.stored.across 16.*.queries 16.merged.rows 16.*.n"
        " 11.elements.n 18.*.n",
        "a row has an element, or none that matters": "0[67].*.hidden *.size",
        "there is no such window, ring, or softmax": "*.kernel* *.stride *.dilation *.side *.window"
        " *.ranks 16.*.keys 16.merged.splits",
        "a text has a page": "18.*.most",
        "tensor maps, and pipelines of their boxes, are not empty": "15*.tiles 15*.steps 15*.k"
        " 14.hunt_groups.tiles",
        "only a sum that is 0 would be stored": "14.split.k 14.hunt_sum.k",
        "a brightness of 0 is as good as any": "00.brighter.more",
        "the view is what matters": "09.strided.n",
    },
    "1": {
        "packs divide it, or tiles": "04.eights.n 10.hunt_slots.n 11.packs.width 13.*.[nk] 18.*.k"
        " 14.*.[nk] 15*.[nk] 16.hunt_mask.queries",
        "others are as small": "09.hunt_step.count 09.hunt_step.pixels 10.hunt_round.n"
        " 16.hunt_peak.keys 17.ring.ranks 17.packets.turn",
    },
    "beyond 16 bits": {
        "nobody has so large a window": "*.kernel* *.stride *.pad *.dilation *.side",
        "nobody has so many devices": "17.*.rank 17.*.ranks 17.ring.step",
        "it is a choice of two": "16.tiles.causal",
        "a row has 1,024 at the most": "07.capstone_layer_norm.hidden 16.merged.size",
        "a grid has no more in this direction": "08.middle.outer",
        "its fellows of the same type are": "09.view.*",
        "its judge computes the scores of all pairs": "16.capstone_window.*",
        "a thread takes too long for so many": "16.tiles.keys 16.hunt_*.keys",
        "so many tiles take too long, or too much memory": "14.hunt_groups.tiles 15*.tiles"
        " 15*.steps 15b.*.[mn] 15b.stored.* 15.pixels.places_*",
    },
}


def ranges(name):
    """{parameter: its values, apart from those that are drawn} of the whole numbers that vary."""
    exercise = texts.find(name)
    judge, trial = exercise.judge, trial_of(name)
    rng = np.random.default_rng
    sizes = [*judge.sizes, *judge.large, judge.counted]
    with np.errstate(all="ignore"):
        made = [judge.launch(rng(1), size, **trial.chosen) for size in sizes]
        made += [judge.far(rng(1), **trial.chosen)] if judge.far else []
    declared = Declarations(exercise.solution).parameters(exercise.kernel)
    columns = zip(*(launch.arguments for launch in made))
    numbers = {p.text.split(" ")[-1]: c for p, c in zip(declared, columns)}
    numbers = {p: {int(v) for v in c} for p, c in numbers.items() if isinstance(c[0], np.integer)}
    return {parameter: found for parameter, found in numbers.items() if len(found) > 1}


@pytest.mark.parametrize("name", NAMES)
def test_launches_have_the_empty_the_smallest_and_a_deep_size(name):
    for parameter, found in ranges(name).items():
        has = {"0": 0 in found, "1": 1 in found, "beyond 16 bits": max(found) >= 1 << 15}
        for what, is_there in has.items():
            patterns = " ".join(WITHOUT[what].values()).split()
            is_told = any(fnmatch(f"{name}.{parameter}", pattern) for pattern in patterns)
            assert is_there or is_told, f"{parameter} is never {what}: give it a size, or say why"


@pytest.mark.parametrize("name", NAMES)
def test_what_a_large_launch_leaves_out_shows(name):
    """A part of a sum of random signs may be less than what its many roundings may cost."""
    judge, trial = texts.find(name).judge, trial_of(name)
    for size in judge.large:
        with np.errstate(all="ignore"):
            launch = judge.launch(np.random.default_rng(1), size, **trial.chosen)
        for out in (a for a in launch.arguments if isinstance(a, launches.Out)):
            expected, tolerance = np.broadcast_arrays(out.expected, out.tolerance)
            told = np.isfinite(expected.astype(float)) & (expected != 0)
            share = tolerance[told] / np.abs(expected[told], dtype=float)
            assert share.size == 0 or share.min() < 0.02, size


WITHOUT_FAR = {
    "one thread adds them all, which would take minutes": "01.*",
    "what is wide in its text is an address, a barrier or a packet": "15.* 17.packets",
    "the course's own lines find the tile, and must stay": "14.swizzle",
    "the course's own `store`, or a map, has the places in c": "15b.*",
}


@pytest.mark.parametrize("name", NAMES)
def test_places_of_64_bits_are_tried_past_32(name):
    exercise = texts.find(name)
    is_wide = re.search(r"\blong long\b|\dLL\b", exercise.solution)
    patterns = " ".join(WITHOUT_FAR.values()).split()
    is_told = any(fnmatch(name, pattern) for pattern in patterns)
    assert exercise.judge.far or not is_wide or is_told, "give it a far launch, or say why not"


OF_BLOCKS = r"\b(of|have|for)\s(//\s)?[\d x]+\s(//\s)?threads|\bfour warps"


@pytest.mark.parametrize("name", NAMES)
def test_blocks_have_several_sizes_where_the_text_leaves_them_open(name):
    exercise, trial = texts.find(name), trial_of(name)
    judge = exercise.judge
    sizes = [*judging._sizes(judge, 1), *judge.large, judge.counted]
    with np.errstate(all="ignore"):
        made = [judge.launch(np.random.default_rng(1), s, **trial.chosen) for s in sizes]
    is_open = not re.search(OF_BLOCKS, exercise.statement + exercise.stub)
    if is_open and "blockDim" in exercise.solution:
        assert judge.spare or len({str(launch.block) for launch in made}) > 1


@pytest.mark.parametrize("name", NAMES)
def test_masks_are_not_only_0_and_1(name):
    exercise, trial = texts.find(name), trial_of(name)
    found: dict = {}
    with np.errstate(all="ignore"):
        for size in exercise.judge.sizes:
            launch = exercise.judge.launch(np.random.default_rng(1), size, **trial.chosen)
            for n, values in enumerate(given(launch)):
                if values.dtype.kind in "iu" and values.any():
                    found.setdefault(n, set()).update(np.unique(values)[:9].tolist())
    assert all(values - {0, 1} for values in found.values())
