"""Exercises: the judge passes each solution and refuses each wrong kernel, for the right reason."""

import ast
import builtins
import os
import re
import subprocess
from functools import cache

import nbformat
import numpy as np
import pytest

from helpers import exercises, sources
from helpers.exercises import costs, handed, judging, texts
from helpers.exercises.verdict import Verdict
from helpers.exercises.wrong import Wrong
from helpers.numbering import number_of
from helpers.words import Next, Part, Shown
from softgpu.phrases import Said
from softgpu.tests.facts import missing, refused
from softgpu.words import Advice

from . import batch
from .verdicts import FIRST, changed, software

pytestmark = pytest.mark.usefixtures("work", "plain")


NAMES = exercises.names()
NUMBERS = [number_of(name) for name in NAMES]


# --- what an exercise is --------------------------------------------------------------------------


def test_each_folder_is_in_the_course_once():
    assert sorted(NAMES) == sorted(path.parent.name for path in texts.ROOT.glob("*/judge.py"))
    assert NUMBERS == sorted(NUMBERS)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_its_parts(name):
    exercise = texts.find(name)
    assert re.fullmatch(r"\d\d[a-z]?\.[a-z0-9_]+", name) and exercise.title and exercise.statement
    assert 2 <= len(exercise.hints) <= 3
    assert len(exercise.wrong) >= 5
    assert exercise.judge.budget or exercise.is_hunt


def used_in_notebook(number):
    """The Python names of a notebook's cells, without its exercises'."""
    (path,) = texts.ROOT.parent.glob(f"notebooks/{number}_*.ipynb")
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    own = [c.source for c in cells if "exercise:" not in str(c.metadata.get("tags"))]
    own = [source for source in own if not source.startswith("%%kernel")]
    return {node.id for node in ast.walk(ast.parse("\n".join(own))) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("name", NAMES)
def test_its_kernel_takes_no_name_from_the_notebook(name):
    taken = set() if texts.find(name).ours else used_in_notebook(number_of(name))
    assert texts.find(name).kernel not in taken | set(dir(builtins))


@pytest.mark.parametrize("name", [name for name in NAMES if not texts.find(name).ours])
def test_the_stub_is_the_solution_less_the_answer(name):
    exercise = texts.find(name)
    marked = (exercise.folder / "solution.cu").read_text()
    outside = re.sub(r" *// BEGIN(.|\n)*?// END\n", "", marked).splitlines()
    for text in (exercise.stub, exercise.solution):
        lines = iter(text.splitlines())
        assert all(line in lines for line in outside), "lines outside of the answer differ"
        assert not re.search(r"// (BEGIN|STUB|END)", text)
    assert not exercise.is_stub(exercise.solution)


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_is_open_where_it_is_no_hunt(name, monkeypatch):
    monkeypatch.setattr(judging, "trial", lambda *arguments: None)
    verdict = judging.judge(texts.find(name), exercises.stub(name))
    assert verdict is None if texts.find(name).is_hunt else verdict.is_open


STUB = Wrong(r"^(?!compiler|name|parameters)")


def wrong(name):
    """What must be refused of an exercise, by what is wrong with it; the stub, too."""
    return {"the stub": STUB} | texts.find(name).wrong


@cache
def texts_of(name):
    """Their texts."""
    exercise = texts.find(name)
    changes = exercise.wrong.items()
    changed = {what: how.text(exercise.solution, exercise.kernel) for what, how in changes}
    return {"the stub": exercise.stub} | changed


@cache
def compiled(name, *whats):
    """Some of their kernels, by what is wrong with them."""
    given = {what: texts_of(name)[what] for what in whats or texts_of(name)}
    return batch.compiled(given, texts.find(name).kernel)


@pytest.fixture
def kernel_of(request):
    """Compiles a text of an exercise, together with the others that this test tries in this run."""
    function = request.node.function

    def of(name, what):
        tried = [i for i in request.session.items if getattr(i, "function", 0) is function]
        cases = [item.callspec.params for item in tried if hasattr(item, "callspec")]
        together = [case["what"] for case in cases if case["name"] == name and "what" in case]
        return compiled(name, *(together if what in together else [what]))[what]

    return of


def unchanged():
    """The exercises whose files are as in the commit SINCE (the last one): none if the judges'
    own changed, or if git can't say."""
    since, judges_own = os.environ.get("SINCE", "HEAD^"), texts.ROOT.parent / "helpers/exercises"
    command = ["git", "diff", "--name-only", since, "--", texts.ROOT, judges_own]
    try:
        told = subprocess.run(command, cwd=texts.ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return set()
    changed = {path.partition("/")[2].partition("/")[0] for path in told.stdout.splitlines()}
    return set() if "exercises" in changed else set(NAMES) - changed


def wrong_ones():
    """(exercise, what is wrong) of each wrong kernel; where the exercise is unchanged, by turns."""
    in_turn = unchanged()
    for name in NAMES:
        marks = [pytest.mark.rotating] if name in in_turn else []
        yield from (pytest.param(name, what, marks=marks) for what in wrong(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_with_the_best_counters(name):
    exercise = texts.find(name)  # a text, whose machine code its notebook needs as well
    verdict = judging.trial(exercise, exercise.solution)
    assert verdict, verdict
    assert [(c.key, c.value) for c in verdict.counts] == [(c.key, c.best) for c in verdict.counts]
    counts = costs.limited(exercise.judge, costs.totals(verdict.report))
    assert exercise.counts == counts, "run `make exercises`"


@pytest.mark.slow
@pytest.mark.parametrize("name, what", [*wrong_ones()])
def test_a_wrong_kernel_is_refused_for_its_reason(name, what, kernel_of, monkeypatch, marked):
    """Whatever the sentences are: each has a mark before it here."""
    refused = wrong(name)[what].refused
    if "time" in refused:
        monkeypatch.setattr(judging, "LIMIT_S", 0.5)
    verdict = judging.trial(texts.find(name), kernel_of(name, what))
    told = [f"{reason.code}\n    {reason}" for reason in verdict.reasons]
    if not any(re.search(refused, reason.code) for reason in verdict.reasons):
        pytest.fail("\n".join([f"no reason of {name}, {what}, says {refused!r}:", *told]), False)


OTHER_DESIGNS = {
    ("00.hunt_guard", "fminf"): {"value > most ? most : value": "fminf(value, most)"},
    ("03.reversed", "registers"): """
    int t = threadIdx.x;
    long long first = blockIdx.x * 256LL;
    int count = min(256LL, n - first);
    float v = t < count ? x[first + count - 1 - t] : 0;
    __syncthreads();
    if (t < count) out[first + t] = v;""",
    ("04.best_lane", "down to lane 0"): {"__shfl_xor_sync": "__shfl_down_sync"},
    ("05.capstone_histogram", "one for each warp"): {
        "own[256];": "all[BLOCK / 32][256]; unsigned *own = all[threadIdx.x / 32];",
        "k < 256; k += BLOCK) own[k] = 0": "k < BLOCK * 8; k += BLOCK) all[0][k] = 0",
        "if (own[k]) atomicAdd(counts + k, own[k]);": "{ unsigned sum = 0;"
        " for (int w = 0; w < BLOCK / 32; ++w) sum += all[w][k];"
        " if (sum) atomicAdd(counts + k, sum); }",
    },
    ("06.spread", "Welford, and Chan's merge"): """
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= batch) return;
    x += row * hidden;
    float count = 0, average = 0, squares = 0;
    for (long long i = lane; i < hidden; i += 32) {
        float d = x[i] - average;
        average += d / ++count, squares += d * (x[i] - average);
    }
    for (int by = 16; by > 0; by /= 2) {
        float more = __shfl_xor_sync(~0u, count, by);
        float d = __shfl_xor_sync(~0u, average, by) - average;
        squares += __shfl_xor_sync(~0u, squares, by);
        float both = max(count + more, 1.f);
        squares += d * d * count * more / both;
        average = more > count ? average + d - d * count / both : average + d * more / both;
        count += more;
    }
    if (lane == 0) mean[row] = average, variance[row] = squares / hidden;""",
    ("08.rows", "a tree over the eight"): {
        "    __syncthreads();\n": "    for (int half = 4; half > 0; half /= 2) {\n"
        "        __syncthreads();\n"
        "        if (threadIdx.y < half)\n"
        "            s[threadIdx.y][threadIdx.x] += s[threadIdx.y + half][threadIdx.x];\n    }\n",
        "    for (int y = 1; y < 8; ++y) sum += s[y][threadIdx.x];\n": "",
        "out[column] = sum": "out[column] = s[0][threadIdx.x]",
    },
    ("08.rows", "a stretch of rows each"): {
        "row = threadIdx.y; row < rows; row += 8": "row = rows * threadIdx.y / 8;"
        " row < rows * (threadIdx.y + 1) / 8; ++row"
    },
    ("02.atomic", "atomics that return a value"): {
        "atomicAdd(out, Acc(x[i]));": "if (atomicAdd(out, Acc(x[i])) == 1e30f) *out = 0;"
    },
    ("16.fused", "a tree for the sum"): {
        "sum = block_reduce(sum, Sum<Acc>());": """__shared__ Acc part[64];
    part[threadIdx.x] = sum;
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    sum = part[0];"""
    },
    ("17.capstone_ring", "all threads wait"): {"if (threadIdx.x == 0) wait_for": "wait_for"},
    ("17.push", "fences in one order, after the barrier"): {
        "== 0) {}\n        __threadfence_system();": "== 0) {}",
        "    if (i < n) out": "    __threadfence_system();\n    if (i < n) out",
    },
    ("17.capstone_ring", "fences in one order, of all threads"): {
        "wait_for(theirs, step);\n        __syncthreads();": "while (*(volatile unsigned *)theirs <"
        " (unsigned)step) {}\n        __syncthreads();\n        __threadfence_system();",
        "        __syncthreads();\n        if (threadIdx.x == 0) post(done, step + 1);": "        "
        "__threadfence_system();\n        __syncthreads();\n"
        "        if (threadIdx.x == 0) *(volatile unsigned *)done = step + 1;",
    },
    ("17.packets", "its two halves by a union"): {
        "unsigned long long packet;": "union { struct { unsigned value, number; } is;"
        " unsigned long long bits; } packet;\n    packet.is.number = ~turn;",
        "do packet =": "while (packet.is.number != turn) packet.bits =",
        "    while (packet >> 32 != turn);\n": "",
        "float(packet)": "float(packet.is.value)",
    },
    ("17.packets", "two packets in a store of 16 bytes"): """
    volatile unsigned long long *packets = inbox;
    int rank = blockIdx.y, right = (rank + 1) % gridDim.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x, even = right * n % 2;
    if (i >= n) return;
    unsigned long long *to = inbox + right * n + i, packet;
    unsigned mine = __float_as_uint(x[rank * n + i]), lane = threadIdx.x + even;
    bool is_first = lane % 2 == 0, is_last = is_first ? i + 1 == n : i == 0;
    if (is_last || (is_first ? threadIdx.x == 255 : threadIdx.x == 0))
        *(volatile unsigned long long *)to = (unsigned long long)turn << 32 | mine;
    else if (is_first)
        asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(to),
                     "l"((unsigned long long)turn << 32 | mine),
                     "l"((unsigned long long)turn << 32 | __float_as_uint(x[rank * n + i + 1]))
                     : "memory");
    do packet = packets[rank * n + i];
    while (packet >> 32 != turn);
    out[rank * n + i] = __uint_as_float(mine) + __uint_as_float(packet);""",
    ("17.layer", "a row of x is shared, and ranks are an array"): """
    __shared__ float line[256];
    long long row = blockIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, *all[] = {a, b, c, d};
    for (int first = 0; first < depth; first += 256) {
        int i = first + threadIdx.x, count = min(256, depth - first);
        __syncthreads();
        if (i < depth) line[threadIdx.x] = x[row * depth + i];
        __syncthreads();
        for (i = 0; i < count && column < wide; ++i)
            sum += line[i] * w[(first + i) * (long long)wide + column];
    }
    for (int r = 0; r < 4 && column < wide; ++r)
        all[(r + rank) % 4][(row * 4 + rank) * wide + column] = sum;""",
    ("14.transposed", "the right matrix before the lower one"): {
        "step + lane % 16, e * 2 + lane / 16": "step + lane / 16 * 8 + lane % 8,"
        " e * 2 + lane / 8 % 2",
        "multiply_add(sum[e * 2], p, q, half());": "unsigned left[2] = {q[0], q[2]};"
        " unsigned right[2] = {q[1], q[3]}; multiply_add(sum[e * 2], p, left, half());",
        "p, q + 2, half()": "p, right, half()",
    },
    ("15.phases", "an array of phases"): {
        "float sum = 0;": "float sum = 0; int phase[STAGES] = {};",
        "tile / STAGES % 2);": "phase[tile % STAGES]); phase[tile % STAGES] ^= 1;",
    },
    ("15.place", "fields of bits"): {
        "return row * 8 + (chunk ^ row % 8);": "union { struct { unsigned low : 3, high : 29; };"
        " int all; } at; at.high = row; at.low = chunk ^ row % 8; return at.all;",
    },
    # a swizzle is of address bits, so tiles need no more than a box does
    ("15.capstone_product", "tiles at multiples of 128 bytes"): {"__align__(1024)": "alignas(128)"},
    ("15.capstone_product", "one warp waits for the product of four"): {
        'asm volatile("bar.sync 1, 128;");  // of this warpgroup': ""
    },
    ("13.packed", "as its stub asks"): texts.find("13.packed").folder / "written_out.cu",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name, how", OTHER_DESIGNS)
@pytest.mark.parametrize("seed", [1, 2])
def test_other_designs_pass(name, how, seed):
    exercise = texts.find(name)
    design = OTHER_DESIGNS[name, how]
    kinds = {dict: "changes", str: "body"}
    design = Wrong("", **{kinds.get(type(design), "instead"): design})
    text = design.text(exercise.solution, exercise.kernel)
    verdict = judging.trial(exercise, text, seed=seed)
    assert verdict, verdict


def test_another_operator_is_tried_in_place_of_the_texts():
    text = exercises.solution("03.shared").replace(
        "using Op = Sum<Acc>;\n", "#define Op Sum<Acc>\n"
    )
    (reason,) = judging.trial(texts.find("03.shared"), text).reasons
    assert reason.kind == "operator" and reason.advice.has(Next.KEEP_OPERATOR)


def test_a_nan_that_is_the_lesson_has_its_words(kernel_of):
    kernel = kernel_of("13.hunt_depth", "the depth of a only, b being finite")
    (reason,) = judging.trial(texts.find("13.hunt_depth"), kernel).reasons
    assert reason.advice.has(Next.COMPUTED_FROM_NAN)


# --- hunts ----------------------------------------------------------------------------------------


HUNTS = [name for name in NAMES if texts.find(name).is_hunt]


@pytest.mark.slow
@pytest.mark.parametrize("name", HUNTS)
def test_a_hunt_is_judged_as_it_stands(name, kernel_of):
    verdict = exercises.judge(name, kernel_of(name, "the stub"))
    assert verdict.state == "tried" and verdict.reasons[0].kind in ("sanitizer", "values")


def lines_of_python(name):
    """What the hints and the statement of an exercise tell one to type."""
    exercise = texts.find(name)
    told = "\n".join([exercise.statement, *exercise.hints])
    return re.findall(r"`((?:xray|exercises)\.\w+\(.*?\))`", told)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if lines_of_python(name)])
def test_the_lines_of_hints_run(name, capsys):
    exercise = texts.find(name)
    names = {
        "exercises": exercises,
        exercise.kernel: sources.kernel(exercise.stub, exercise.kernel),
    }
    for line in lines_of_python(name):
        assert eval(line, names), line
        assert capsys.readouterr().out.count("\n") == 1


def test_nothing_is_found_in_what_is_clean(capsys):
    assert exercises.watch(FIRST, exercises.solution(FIRST)).clean
    finding, _ = exercises.watch(FIRST, changed("i < n", "i <= n"))
    heading = Shown.HEADING(launch="n = 1", grid="1", block="256")
    assert finding.kind == "out of bounds" and heading in capsys.readouterr().out
    with refused(ValueError, "'twice'", Next.CALL_IT(name="twice")):
        exercises.watch(FIRST, changed("twice", "thrice"))


BLOCK = "blockIdx.x * (long long)"
OTHERWISE = {  # who does what
    "backwards": "(gridDim.x - 1 - blockIdx.x) * (long long)",
    "pairs of blocks swapped": "(blockIdx.x ^ (blockIdx.x / 2 < gridDim.x / 2)) * (long long)",
    "from a third on": "((blockIdx.x + gridDim.x / 3LL) % gridDim.x) * (long long)",
}
FAR_NAMES = "05.packs", "09.bias", "10.eights"
SHARES = [(name, BLOCK, OTHERWISE[how]) for name in FAR_NAMES for how in OTHERWISE]
SHARES += [
    (name, tail, f"}} if (i < n % {size}) {{ long long k = n / {size} * {size} + i;")
    for name, size, tail in (
        ("05.packs", 4, "} else if (i == n / 4) {\n        for (long long k = 4 * i; k < n; ++k)"),
        ("10.eights", 8, "} else if (i == n / 8) {\n        for (long long k = 8 * i; k < n; ++k)"),
    )
]
NARROW = {"09.bias": ("i < count", "i < (int)count"), "10.eights": ("i < n / 8", "i < (int)n / 8")}


@software
@pytest.mark.slow
@pytest.mark.parametrize("name, old, new", SHARES)
def test_at_far_places_blocks_share_the_work_as_they_like(name, old, new):
    text = exercises.solution(name)
    assert old in text
    assert tried_far(name, text.replace(old, new)) is None


@software
@pytest.mark.slow
@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("how", OTHERWISE)
def test_at_far_places_narrow_indices_are_refused_whoever_has_them(name, how):
    text = exercises.solution(name).replace(BLOCK, OTHERWISE[how]).replace(*NARROW[name])
    assert tried_far(name, text).advice.has(Next.WIDE)


@software
@pytest.mark.slow
@pytest.mark.parametrize(
    "name, old, new",
    [
        ("13.naive", "a[row * k + i]", "a[unsigned(row * k + i)]"),
        ("13.naive", "b[i * n + column]", "b[unsigned(i * n + column)]"),
        ("13.naive", "c[row * n + column]", "c[unsigned(row * n + column)]"),
        ("14.fragments", "c[row * n + column]", "c[unsigned(row * n + column)]"),
        ("14.hunt_groups", "x += blockIdx.x * (long long)tiles", "x += blockIdx.x * tiles"),
        ("14.hunt_groups", "out[blockIdx.x * (long long)TILE", "out[blockIdx.x * TILE"),
        ("16.hunt_mask", "sees[query * (long long)keys + key]", "sees[query * keys + (int)key]"),
        ("16.hunt_mask", "out[row * SIZE", "out[unsigned(row) * SIZE"),
        ("16.hunt_peak", "v[(unit + key) * SIZE", "v[unsigned(unit + key) * SIZE"),
        ("16.tiles", "(long long)keys * SIZE", "(unsigned)keys * SIZE"),
        ("16.capstone_window", "(long long)n * SIZE", "(unsigned)n * SIZE"),
    ],
)
def test_at_far_places_unsigned_indices_are_refused(name, old, new):
    """Places pass 2 ** 32, too."""
    text = exercises.solution(name)
    assert old in text and tried_far(name, text.replace(old, new)).advice.has(Next.WIDE)


def tried_far(name, text):
    """Why the far launch of a judge refuses a kernel, or None."""
    exercise = texts.find(name)
    kernel = handed.compiled(exercise, text)
    trial = judging._Trial(
        exercise, kernel, judging.target_of(kernel), Verdict(name, "", "", seed=1)
    )
    try:
        trial._try_far(exercise.judge.far)
    except judging.Refused as refused:
        return refused.reason
    return None


PICTURED = [name for name in exercises.names() if texts.find(name).judge.seen]


@pytest.mark.parametrize("name", PICTURED)
def test_a_verdict_shows_the_picture_that_a_kernel_makes(name):
    exercise = texts.find(name)
    done = judging.judge(exercise, exercise.solution, seed=1)
    yours = "yours, more = 70" if name == "00.brighter" else "yours"
    assert done.picture.alt == f"Pictures: before; {yours}; expected."
    assert done.picture._repr_html_() in done._repr_html_()
    astray = judging.judge(
        exercise, exercise.solution.replace("{", "{ *(volatile int *)64 = 1;", 1)
    )
    assert astray.reasons and astray.picture is None and "<img" not in astray._repr_html_()


@pytest.mark.parametrize("what", ["from zero", "zeros outside", "one test for both"])
def test_a_picture_of_pool_shows_what_is_wrong_at_its_edges(what, monkeypatch):
    drawn = []
    monkeypatch.setattr("helpers.plots.pictures", lambda images, *_: drawn.extend(images))
    exercise = texts.find("11.pool")
    text = exercise.wrong[what].text(exercise.solution, exercise.kernel)
    assert judging.trial(exercise, text, seed=1).picture is None
    _, yours, expected = drawn
    assert (np.abs(yours - expected) > 0.1 * np.ptp(expected)).mean() > 0.01


def test_a_picture_is_of_a_launch_that_fails():
    text = exercises.solution("00.brighter").replace("min(max(pixels[i] + more, 0), 255)", "{}")
    for line, more in ("min(pixels[i] + more, 255)", -300), ("max(pixels[i] + more, 0)", 300):
        wrong = exercises.judge("00.brighter", text.replace("{}", line), seed=1)
        assert not missing(wrong.picture.alt, f"more = {more}")


IN_BRANCHES = {
    "00.brighter": (
        "out[i] = min(max(pixels[i] + more, 0), 255);",
        "int v = pixels[i] + more;\nif (v < 0) out[i] = 0;\n"
        "else if (v > 255) out[i] = 255;\nelse out[i] = v;",
    ),
    "00.hunt_guard": (
        "out[i] = value > most ? most : value;",
        "if (x[i] > most) out[i] = most;\nelse out[i] = x[i];",
    ),
    "11.elements": (
        "out[i] = inside ? x[(channel * h.image + row) * w.image + column] : T(0);",
        "if (inside) out[i] = x[(channel * h.image + row) * w.image + column];"
        "\nelse out[i] = T(0);",
    ),
}


@pytest.mark.parametrize("name", IN_BRANCHES)
def test_each_branch_may_store(name):
    text = exercises.solution(name).replace(*IN_BRANCHES[name])
    verdict = exercises.judge(name, text, seed=1)
    (stored,) = (count for count in verdict.counts if count.key == "st.sectors")
    assert verdict and stored.value > stored.most and stored.mood == ""


def test_a_hunt_after_02_says_that_branches_store(monkeypatch):
    monkeypatch.setattr(costs, "LAST_FREE", "")
    text = exercises.solution("00.hunt_guard").replace(*IN_BRANCHES["00.hunt_guard"])
    (reason,) = exercises.judge("00.hunt_guard", text, seed=1).reasons
    assert reason.advice.has(Next.BRANCHES)


WAIT_FOR_COPIES = Advice.WAIT_FOR_COPIES(barrier="__syncthreads()")


LAST_FRAGMENT = Next.TERMS(depth=40, how=Part.LEFT_OUT(), which=Part.TERMS(first=32, last=39))


def used_as(name, right, wrong):
    return Part.USED_AS(name=name, right=right, wrong=wrong)


@pytest.mark.parametrize(
    "name, what, advice",
    [
        ("11.packs", "twelve loads", Next.AGAIN()),
        ("11.packs", "twelve stores", Next.IN_PIECES()),
        (
            "02.least",
            "whole turns only",
            Next.CHOSEN(
                number=1, right="256", wrong="36", expected="-2147483647", got="-2147483646"
            ),
        ),
        ("06.spread", "squares of large numbers", "explain"),
        ("00.loop", "steps of a block", "race"),
        ("10.hunt_slots", "the stub", "race"),
        ("10.nearly", "of a", Next.BOOLS(true=3, false=4, place="16")),
        ("11.pool", "the least", Next.ALIKE(value="-inf")),
        ("04.votes", "every lane adds", Next.ADDED(times="32")),
        ("08.rows", "whole eights of rows", Next.LEFT_OUT(expected="4.43507e+07")),
        ("00.backwards", "one off", Next.HAS_IT_WORK()),
        (
            "13.naive",
            "16 bits for the depth",
            Next.FIRST_BEYOND(
                what="3 x 70003 times 70003 x 2", name="k", value="70,003", most="55"
            ),
        ),
        ("13.warps", "all of k for each share", Next.MORE_TURNS(times="1.9")),
        ("14.fragments", "whole fragments only", LAST_FRAGMENT),
        (
            "14.fragments",
            "places of a and b swapped",
            Next.OPERAND(which=Part.SECOND(), right="[16, 1]", wrong="[0, 17]"),
        ),
        ("14.hunt_sum", "a half at the end", Next.HALVES()),
        ("14.hunt_sum", "one column for two", Next.SOME_UNTOUCHED(count="64", place="[0, 1]")),
        ("14.transposed", "a in place of b", Next.SAME_OPERAND(number=1)),
        ("15.phases", "sums of whole numbers", Next.WHOLE_NUMBERS()),
        ("13.packed", "one pair of tiles, one barrier", "race"),
        ("14.capstone_product", "no barrier after", WAIT_FOR_COPIES),
        ("14.fragment", "the right half of a before the lower one", used_as("a", "0, 8", "8, 0")),
        ("14.fragment", "pairs swapped", used_as("b", "1, 0", "0, 0")),
        ("16.registers", "pairs swapped", used_as("score", "0, 1", "0, 0")),
        ("15b.persistent", "more registers than the block has", Advice.REGISTERS()),
        ("15.box", "half of the bytes", Advice.EXPECT_BYTES()),
        ("15.phases", "always phase 0", Advice.ARRIVALS()),
        ("17.push", "no barrier before the flag", "race"),
        (
            "18.capstone_four",
            "more registers than a GPU has",
            Next.FEWER_REGISTERS(registers="66", threads="1024"),
        ),
        (
            "18.capstone_four",
            "the first of x",
            Next.OPERAND(which=Part.SECOND(), right="[0, 0]", wrong="[32, 0]"),
        ),
        (
            "18.eight",
            "a pack backwards",
            Next.OPERAND(which=Part.SECOND(), right="[3, 0]", wrong="[0, 0]"),
        ),
        ("18.hunt_slot", "a fence alone", "race"),
        (
            "18.row",
            "a pack again",
            Next.TERMS(depth=40, how=Part.COUNTED(times="2"), which=Part.TERMS(first=32, last=39)),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_usual_mistakes_have_their_advice(name, what, advice, kernel_of):
    """advice: a phrase with its blanks; or which advice of the judge's own."""
    exercise = texts.find(name)
    said = judging.trial(exercise, kernel_of(name, what), seed=1).reasons[0].advice
    if isinstance(advice, Said):
        assert advice.code in said.code, said
    elif advice == "explain":
        assert type(said) is str and said not in exercise.judge.advice.values()
    else:
        assert exercise.judge.advice[advice] in (said, *getattr(said, "parts", ())), said


@pytest.mark.parametrize(
    "name, what, fact",
    [
        ("14.fragment", "four lanes in turn", "t % 4"),
        ("14.hunt_sum", "halves read as bfloat16", "bfloat16"),
        ("14.split", "the rest added", "upper a · upper b 3"),
        ("14.split", "rests cut at 7 bits", "7 bits"),
        ("15.place", "backwards", "place(0, 5)"),
        ("15.place", "chunk by chunk", "place(0, 5)"),
        ("16.hunt_mask", "a NaN is too late", "−∞ − (−∞)"),
        ("16.hunt_mask", "rows that see nothing at all are NaN", "0 / 0"),
        ("16.tiles", "not scaled", "scale"),
        ("17.capstone_ring", "a step too many", "flags[0, 0]"),
        ("18.append", "columns before slots", "cache[0, 15, 0]"),
        ("18.capstone_four", "scales as whole numbers", "NVFP4::scale"),
        ("18.eight", "a sum of whole numbers", "float"),
        ("18.gate", "the next gate passes", "made[0, 0, 1]"),
        ("18.hunt_scale", "the mean of both", "0.5"),
        ("18.norm", "one more than the weight", "1 + weight[i]"),
        ("18.gate", "no gate", "0.2024"),
        ("18.query", "the first text's slots", "seen[text]"),
        ("18.query", "the sum doesn't shrink", "0.3333"),
        ("18.rotate", "the row for the position", "turns[0, 0]"),
    ],
)
def test_a_judges_own_advice_names_what_came_out(name, what, fact, kernel_of):
    said = judging.trial(texts.find(name), kernel_of(name, what), seed=1).reasons[0].advice
    assert not missing(said, fact), said


def test_pictures_are_those_of_pictures():
    assert PICTURED == ["00.brighter", "03.transposed", "11.pool", "12.edges"]
