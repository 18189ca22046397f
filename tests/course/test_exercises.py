"""Exercises: the judge passes each solution and refuses each wrong kernel, for the right reason."""

import ast
import builtins
import inspect
import mmap
import os
import re
import subprocess
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest

from helpers import autoinit, badges, checks, exercises, sources
from helpers import kernels as kernels_module
from helpers.exercises import (
    costs,
    distant,
    extra_checks,
    handed,
    instructions,
    judges,
    judging,
    launches,
    progress,
    real,
    running,
    texts,
    values,
)
from helpers.exercises.judges import Judge
from helpers.exercises.verdict import Refused, Verdict
from helpers.exercises.wrong import Wrong, kernels_of
from helpers.numbering import number_of
from helpers.words import Answer, Next, Part, Refusal, Shown, counter
from softgpu.phrases import Said
from softgpu.tests.facts import missing, refused
from softgpu.words import Advice, FindingKind, Happened, Predicted
from softgpu.xray import clock, occupancy

from ..conftest import MARK
from . import batch

from pycuda.compiler import SourceModule  # isort: skip

NAMES = exercises.names()
NUMBERS = [number_of(name) for name in NAMES]

# beside a real GPU xray wants a kernel's source, and its driver maps more memory than is allowed
software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")


@pytest.fixture(autouse=True)
def work(monkeypatch, tmp_path):
    """A learner's folder of its own."""
    monkeypatch.setenv("HELPERS_WORK", str(tmp_path))
    return tmp_path


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
    ("17.capstone_ring", "acquire and release"): {
        "wait_for(theirs, step)": "for (int seen = -1; seen < step;)"
        ' asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(seen) : "l"(theirs) : "memory")',
        "post(done, step + 1)": 'asm volatile("st.release.sys.u32 [%0], %1;"'
        ' :: "l"(done), "r"(step + 1) : "memory")',
    },
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
    ("17.packets", "acquire and release"): {
        "packets[right * n + i] = (": "unsigned long long sent = (",
        "(mine);\n": '(mine);\n    asm volatile("st.release.sys.u64 [%0], %1;"'
        ' :: "l"(inbox + right * n + i), "l"(sent) : "memory");\n',
        "do packet = packets[rank * n + i];": 'do asm volatile("ld.acquire.sys.u64 %0, [%1];"'
        ' : "=l"(packet) : "l"(inbox + rank * n + i) : "memory");',
    },
    ("17.packets", "an exchange, and a look by an atomic"): {
        "packets[right * n + i] = (": "unsigned long long sent = (",
        "(mine);\n": "(mine);\n    atomicExch_system(inbox + right * n + i, sent);\n",
        "packet = packets[rank * n + i];": "packet = atomicAdd_system(inbox + rank * n + i, 0ull);",
    },
    ("17.packets", "the bits taken by a reference"): {
        "__uint_as_float(packet)": "reinterpret_cast<float &>(packet)"
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
    ("17.push", "sleeps between two looks"): {
        "while (all[rank * gridDim.x + blockIdx.x] == 0) {}": "while (!atomicOr_system("
        "flags + rank * gridDim.x + blockIdx.x, 0u)) __nanosleep(20);"
    },
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


# --- the verdict ----------------------------------------------------------------------------------

FIRST = "00.double"


def twice(rng, n):
    x = values.numbers(rng, n)
    out = launches.Out(2 * x)
    return launches.Launch([launches.In(x), out, np.int64(n)], max(1, -(-n // 256)), 256)


# what the judge of the first exercise says at the least
PLAIN = Judge(launch=twice, counted=1 << 16, budget={"ld.sectors": 8192, "st.sectors": 8192})


@pytest.fixture(autouse=True)
def plain(request, monkeypatch):
    """Tests that are of no exercise of its own have a judge of theirs for the first one."""
    of_an_exercise = "name" in getattr(getattr(request.node, "callspec", None), "params", {})
    if not of_an_exercise:
        monkeypatch.setitem(texts.find(FIRST).__dict__, "judge", PLAIN)


def changed(old, new):
    return exercises.solution(FIRST).replace(old, new)


def test_a_verdict_says_each_thing_once():
    verdict = exercises.judge(FIRST, changed("i < n", "i < n && i % 2"))
    reason, text = verdict.reasons[0], repr(verdict)
    assert re.match(r"values: elements? n = [\d,]+ out\[0\] nan ", reason.code)
    assert text.count(reason.first) == 1 == verdict._repr_html_().count(escape(reason.first))
    assert reason.short.has(Refusal.ONE) or reason.short.has(Refusal.SEVERAL)
    assert str(reason.beside_first) in text and str(reason) not in text


def test_elements_that_nobody_wrote_are_all_counted_where_nan_is_expected():
    """Of 4, of which 2 are to be NaN, 3 are not written."""
    left = np.full(4, checks.POISON, np.float32)
    left[1] = np.nan
    out = launches.Out(np.array([1, np.nan, np.nan, 1]))
    with pytest.raises(Refused) as refused:
        running._check(left, out, "out", launches.Launch([out], 1, 32, what="n = 4"))
    text, short = refused.value.reason.text, refused.value.reason.short
    assert text.has(Refusal.ELEMENTS) and (text.blanks["count"], text.blanks["size"]) == (3, 4)
    assert short == Refusal.SEVERAL(launch="n = 4", name="out", count=3, size=4)


@pytest.mark.parametrize(
    "old, new",
    [
        ("2 *", "3 *"),
        ("if (i < n)", ""),
        ("if (i < n)", "__trap(); if (i < n)"),
        ("if (i < n)", "for (;;) if (i < n)"),
        ("if (i", "out[0] = threadIdx.x; if (i"),
        ("if (i < n)", "__syncthreads(); if (i < n)"),
        ("if (i < n) out", "if (i < n out"),
    ],
)
def test_other_words_change_no_judgement(old, new, request, monkeypatch):
    """Judge twice, the second time with a mark before each sentence."""
    monkeypatch.setattr(judging, "LIMIT_S", 0.5)
    exercise, text = texts.find(FIRST), changed(old, new)
    plain = judging.trial(exercise, text, seed=1)
    shown = repr(plain).replace(MARK, "").split()
    mark = request.getfixturevalue("marked")
    other = judging.trial(exercise, text, seed=1)
    assert plain.reasons and repr(other).count(mark) > 3
    assert repr(other).replace(mark, "").split() == shown
    assert [r.code.replace(mark, "") for r in other.reasons] == [
        code.replace(mark, "") for code in codes(plain)
    ]
    assert other.counts == plain.counts and other.cases == plain.cases


def test_a_verdict_says_where_and_what_next():
    verdict = exercises.judge(FIRST, changed("i < n", "i < n && i != 32"))
    assert not verdict and verdict.reasons[0].code.startswith("values: elements n = 33 out[32] nan")
    text = repr(verdict)
    assert f"00.double Twice as much: {Shown.NOT_YET()}" in text
    assert Shown.HEADING(launch="n = 33", grid="1", block="256") in text
    assert re.search(r"element +30 +31 +32\n", text) and Next.UNTOUCHED() in text
    assert "<pre " in verdict._repr_html_()


@pytest.mark.parametrize(
    "us, said", [(4.56, "4.6 µs"), (121.4, "121 µs"), (24_610, "24,610 µs"), (2.8e6, "2.8 s")]
)
def test_seconds_are_told_as_seconds(us, said):
    assert clock.in_words(us) == said


def test_counters_stand_beside_the_best(judged):
    verdict = exercises.judge(FIRST, exercises.solution(FIRST))
    assert (counter("ld.sectors"), "8,192", Shown.OURS(best=8192)) in verdict.rows()
    assert all(line in repr(verdict) for line in verdict.time.splitlines())
    assert verdict.time.has(Predicted.LIMITED)
    assert re.search(r" at_size n = 67,108,864 .+ µs .+ µs 121 µs$", verdict.time.code)
    assert f"<p>{Shown.PREDICTED(times='')}" in verdict._repr_html_()
    others = "x[i / 32 * 32 % 1000]", "x[(i ^ 255) < n ? i ^ 255 : i]"
    wasteful = " + ".join(["2 * x[i]", *(f"({other} == 12345)" for other in others)])
    verdict = judged(changed("2 * x[i]", wasteful))
    assert re.search(r"count\w* ld_sectors \d{5} 8192", verdict.reasons[0].code)


@pytest.mark.slow
def test_a_speed_stands_beside_ours_and_a_librarys_and_may_be_asked_for(monkeypatch):
    naive, solution = texts.find("13.naive"), exercises.solution("13.naive")
    said, room = r"speeds ([\d.]+) \1 cuBLAS 51.2", r"room \d+ \d+ \d+$"
    verdict = exercises.judge("13.naive", solution)
    assert re.search(rf"speeds_at 4,096 x 4,096 x 4,096 {said} {room}", verdict.time.code)
    rate = replace(naive.judge.rate, least=9e9)
    monkeypatch.setitem(naive.__dict__, "judge", replace(naive.judge, rate=rate))
    (reason,) = exercises.judge("13.naive", solution).reasons
    assert re.search(rf"^clock: slow {said} 9000000000.0 {room}", reason.code)
    assert reason.advice.has(Predicted.LIMITED)
    waits = solution.replace("Acc(a[row * k + i])", "Acc(*(const volatile T *)(a + row * k + i))")
    (reason,) = exercises.judge("13.naive", waits).reasons
    assert reason.code == "clock: no_prediction loads"


@pytest.mark.slow
def test_registers_and_packed_are_predicted_in_the_order_that_was_measured():
    names = "13.naive", "13.shared", "13.registers", "13.packed"
    counts = [(e.judge.rate, judging.counted(e, e.judge.rate)) for e in map(texts.find, names)]
    speeds = [real.times(None, own, own, True, rate).speeds.yours for rate, own in counts]
    assert speeds == sorted(speeds)


@pytest.mark.parametrize(
    "registers, threads, shared, fits",
    [
        (130, 256, 0, 128),
        (128, 256, 0, None),
        (120, 512, 0, 64),
        (64, 1024, 0, None),
        (168, 384, 100_000, 80),
        (168, 384, 200_000, None),
    ],
)
def test_who_leaves_room_for_one_block_only_learns_how_two_fit(registers, threads, shared, fits):
    held = occupancy.occupancy(threads, registers, shared)
    report = SimpleNamespace(
        block=(threads, 1, 1), occupancy=held, chip=held.of, shared_bytes=shared
    )
    advice = real.advice(report)
    expected = Next.SECOND_BLOCK(most=fits, threads=threads)
    assert advice == expected if fits else advice is None


@pytest.mark.parametrize(
    "text, kind, facts",
    [
        (changed("if (i < n) out", "if (i < n out"), "compiler", ["kernel.cu(5): error"]),
        (changed("twice", "thrice"), "name", ["'twice'"]),
        (changed(", long long n", ", int n"), "parameters", [3, "int n", "int64"]),
        (changed("if (i < n)", "for (;;) if (i < n)"), "time", ["n = 1", 1]),
        (changed("out[i] =", "out[i + 64] = out[i] ="), "sanitizer", ["out of bounds"]),
        (changed("out[i] =", "((float *)x)[i] = 7, out[i] ="), "inputs", ["x"]),
        (changed("if (i < n)", "__trap(); if (i < n)"), "sanitizer", ["fault"]),
    ],
)
def test_each_kind_of_mistake_names_facts(monkeypatch, text, kind, facts):
    monkeypatch.setattr(judging, "LIMIT_S", 1.0)
    reasons = exercises.judge(FIRST, text).reasons
    assert [r.kind for r in reasons] == [kind]
    assert not missing(reasons[0], *facts) and reasons[0].advice


@software
def test_a_kernel_may_be_judged_as_pycuda_made_it():
    function = SourceModule(exercises.solution(FIRST)).get_function("twice")
    assert exercises.judge(FIRST, function)
    assert exercises.judge(FIRST, sources.kernel(exercises.solution(FIRST)))
    with refused(TypeError, "CUDA", "int"):
        exercises.judge(FIRST, 3)


@pytest.fixture
def judged(monkeypatch):
    """The verdict on a text for the first exercise, whose judge says this besides."""
    exercise = texts.find(FIRST)

    def verdict(text, **says):
        monkeypatch.setitem(exercise.__dict__, "judge", replace(exercise.judge, **says))
        return judging.trial(exercise, text, seed=1)

    return verdict


def reasons(verdict):
    return [str(reason) for reason in verdict.reasons]


def codes(verdict):
    return [reason.code for reason in verdict.reasons]


# --- what may be handed in ------------------------------------------------------------------------

INCLUDES = [
    '#include "../exercises/00.double/solution.cu"',
    '#include "/etc/passwd"',
    "#include </etc/passwd>",
    '#include "../../solution.cu"',
    '#include "elementwise/../../exercises/00.double/solution.cu"',
    '#include "kernel.cu"',
    '#include "reduce/shared.cu"',
    '  #  include\t"/dev/zero"',
    '%:include "/etc/passwd"',
    '??=include "/etc/passwd"',
    '#inc\\\nlude "/etc/passwd"',
    '#include \\  \n"/etc/passwd"',
    '#/* why */include/* not */"/etc/passwd"',
    '/*\n*/ # /*\n*/ include "/etc/passwd"',
    '#define FILE "/etc/passwd"\n#include FILE',
    '#include_next "/etc/passwd"',
    '#import "/etc/passwd"',
    '#if __has_include("/etc/passwd")\n#endif',
    '#define ASK __has_include\n#if ASK("/etc/passwd")\n#endif',
    '#line 1 "/etc/passwd"',
    '# 1 "/etc/passwd"',
]


@pytest.mark.parametrize("line", INCLUDES)
def test_a_text_includes_nothing_but_headers(line, monkeypatch):
    monkeypatch.setattr(sources, "kernel", None)  # nothing is compiled
    text = f"{line}\n{changed('2 * x', '3 * x')}"
    (reason,) = exercises.judge(FIRST, text).reasons
    assert reason.kind == "include"
    assert reason.text.has(Refusal.INCLUDES) or reason.text.has(Refusal.INCLUDES_NOTHING)


@pytest.mark.parametrize(
    "text",
    [
        f"#{60 * '/**/'} x",
        f"//{100_000 * '#/*#/*#*/'}",
        100_000 * "#/*#",
        f"{100_000 * '#/*#'}*/",
        f"#{300_000 * ' '}#{300_000 * '1'}",
        100_000 * "%:line 1 ",
        50_000 * "__has_include(<vector>) ",
    ],
)
def test_a_text_is_looked_through_in_linear_time(text):
    handed.look_for_includes(text)
    assert not texts.find(FIRST).is_stub(text)


def test_headers_may_be_included(judged):
    lines = (
        "#include <cuda/std/cstdint>",
        '#include "common/reduce.cuh"',
        '#include "cuda_fp16.h"',
        "# include <vector> // vector",
        "#pragma once",
        "#if __has_include(<cuda_fp16.h>)\n#endif",
    )
    assert judged("\n".join((*lines, exercises.solution(FIRST))))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"]
)
def test_a_file_begins_as_its_editor_likes(encoding):
    mark = "\ufeff" if encoding[-2:] in ("le", "be") else ""
    text = "// größer\r\n"
    assert handed.decoded((mark + text).encode(encoding)) == text


def test_a_mark_in_front_is_no_text(judged):
    assert judged("\ufeff" + exercises.solution(FIRST))


def test_of_kernels_of_one_name_the_one_with_the_parameters_is_judged(judged):
    other = "__global__ void twice(float *x, int n) { x[n] = 0; }\n"
    assert judged(other + exercises.solution(FIRST)) and judged(exercises.solution(FIRST) + other)


CAPSTONE = "07.capstone_layer_norm"
WIDTH, ROWS = "constexpr int BLOCK = 128;", "constexpr int ROWS = 4;"


@pytest.mark.parametrize(
    "line",
    [
        "constexpr int BLOCK=64;",
        "  static constexpr unsigned BLOCK{64};",
        "#define BLOCK 64",
        "constexpr int WARPS = 2, BLOCK = WARPS * 32;",
        "enum { BLOCK = 64 }; // constexpr int BLOCK = 128;",
        "namespace my { const auto BLOCK = 64; }\nusing my::BLOCK;",
    ],
)
def test_a_choice_is_said_as_one_likes(line):
    text = exercises.solution(CAPSTONE).replace(WIDTH, line).replace(ROWS, "#define ROWS BLOCK/32")
    assert handed.chosen(texts.find(CAPSTONE), text) == {"block": 64, "rows": 2}


def test_a_choice_may_be_an_expression_beside_what_one_architecture_has_alone():
    exercise = texts.find("15b.capstone_product")
    text = re.sub(r"(constexpr int THREADS) = (\d+);", r"\1 = 3 * \2 / 3;", exercise.solution)
    assert text != exercise.solution
    assert handed.chosen(exercise, text) == handed.chosen(exercise, exercise.solution)


@pytest.mark.parametrize(
    "line, says",
    [
        ("", "name: no_choice BLOCK"),
        ("int BLOCK = 128;", "name: no_choice BLOCK"),
        ("constexpr int BLOCK = 0;", "name: chosen BLOCK 0"),
        ("constexpr long long BLOCK = 1000000000000;", "name: chosen BLOCK 1000000000000"),
        ("constexpr int BLOCK = 4096;", "launch: failed 1 row of 1 .*"),
    ],
)
def test_a_choice_is_a_number_that_a_launch_can_have(line, says):
    text = exercises.solution(CAPSTONE).replace(WIDTH, line or "#define WIDTH 128")
    text = text.replace("BLOCK", "128") if not line else text
    (reason,) = exercises.judge(CAPSTONE, text).reasons
    assert re.fullmatch(says, reason.code)


@software
def test_choices_of_a_kernel_that_pycuda_made():
    text = exercises.solution(CAPSTONE).replace("__global__", 'extern "C" __global__')
    text = text.replace(WIDTH, WIDTH.replace("128", "256")).replace(ROWS, ROWS.replace("4", "8"))
    function = SourceModule(text, no_extern_c=True).get_function("layer_norm")
    assert exercises.judge(CAPSTONE, function)


def test_a_text_may_be_long(judged):
    long = "// as long as it takes\n" * 10_000
    assert judged(f"#include <cuda_fp16.h>\n{long}{exercises.solution(FIRST)}")


def test_a_cell_without_a_kernel_is_judged_as_it_is(work):
    error = judging.CompileError('kernel.cu(5): error: expected a ";"')
    kernel = kernels_module.NoKernel("twice", "the text", error)
    assert codes(exercises.judge(FIRST, kernel)) == [f"compiler: because {kernel.why}"]
    assert exercises.mine(FIRST) == "the text"
    kernel = sources.kernel(exercises.solution(FIRST))
    kernel.instead = kernels_module.NoKernel("twice", "", LookupError("its cell now defines trice"))
    assert codes(exercises.judge(FIRST, kernel)) == ["name: because its cell now defines trice"]
    kernel.instead = None
    assert exercises.judge(FIRST, kernel)


def test_what_the_compiler_says_is_part_of_the_verdict(judged, tmp_path, monkeypatch, recwarn):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))  # it says nothing of what it has done
    verdict = judged(changed("if (i < n)", "i; if (i < n)"))
    assert verdict and "#174-D" in repr(verdict)
    assert "#174-D" in verdict._repr_html_() and not recwarn


@pytest.mark.parametrize(
    "text, says, advice",
    [
        ("import numpy\n" + exercises.solution(FIRST), "compiler: ", Next.CUDA_ALONE),
        ("%%kernel\n" + exercises.solution(FIRST), "compiler: ", Next.CUDA_ALONE),
        (
            "#include <iostream>\n" + changed("if (i", "std::cout << i; if (i"),
            r"compiler: because kernel.cu\(6\): ", Next.USE_PRINTF,
        ),
        ("", "name: because ", Next.CALL_IT),
        (
            changed("if (i", "__shared__ float s[20000]; s[i] = i; out[i] = s[0]; if (i"),
            "module: because .*twice.* 80000 ",
            Next.LESS_OF_IT,
        ),
    ],
)  # fmt: skip
def test_mistakes_of_beginners_have_their_advice(text, says, advice):
    reason = exercises.judge(FIRST, text).reasons[0]
    assert re.match(says, reason.code) and reason.advice.has(advice)
    assert len(str(reason).splitlines()) <= 3


def test_a_time_limit_is_told_first_whatever_else_was_seen(monkeypatch):
    monkeypatch.setattr(judging, "LIMIT_S", 0.5)
    body = "if (i < n) for (int k = 0; k < 10; k *= 2)\n    out[i] += x[i];"
    verdict = exercises.judge(FIRST, changed("if (i < n) out[i] = 2 * x[i];", body))
    (reason,) = verdict.reasons
    assert reason.code == "time: endless n = 1 0.5"
    assert reason.case.has(Happened.FAULT_IN_LOOP) and "SOFTGPU_TIMEOUT" not in reason.case


@pytest.mark.parametrize(
    "condition, kind", [("n == 65536", "time"), ("blockIdx.x == 255", "time"), ("n == 1", "time")]
)
def test_a_launch_may_fail_at_any_size(monkeypatch, condition, kind):
    monkeypatch.setattr(judging, "LIMIT_S", 0.5)
    text = changed("if (i < n)", f'while ({condition}) asm volatile("membar.cta;"); if (i < n)')
    (reason,) = exercises.judge(FIRST, text).reasons
    assert reason.kind == kind
    trap = changed("if (i < n)", f"if ({condition}) __trap(); if (i < n)")
    (reason,) = exercises.judge(FIRST, trap).reasons
    assert reason.text.blanks["finding"] == FindingKind.FAULT


def test_rounding_is_told_as_rounding():
    verdict = exercises.judge("01.wide", exercises.solution("01.wide").replace("double", "float"))
    (reason,) = verdict.reasons
    assert reason.text.has(Refusal.ROUNDING) and reason.advice.has(Next.ROUNDED)
    text = exercises.solution("01.hunt_count").replace("int count", "signed char count")
    (reason,) = exercises.judge("01.hunt_count", text).reasons
    assert not reason.text.has(Refusal.ROUNDING) and reason.advice.has(Next.WRAPPED)


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("i < n", "i < n && i != 32", Next.UNTOUCHED),
        ("2 * x[i]", "i == 32 ? 0 * INFINITY : 2 * x[i]", Next.COMPUTED),
        ("2 * x[i]", "i == 32 ? NAN : 2 * x[i]", Next.COMPUTED),
    ],
)
def test_a_nan_of_the_kernel_is_told_from_one_that_was_there(old, new, says):
    (reason,) = exercises.judge(FIRST, changed(old, new)).reasons
    assert reason.advice.has(says)


def test_steps_that_lose_digits_have_the_judges_words():
    text = exercises.solution("01.kahan").replace("x[i] - lost", "x[i] + lost")
    (reason,) = exercises.judge("01.kahan", text, seed=1).reasons
    assert reason.advice == texts.find("01.kahan").judge.rounding
    text = exercises.solution("01.wide").replace("sum += x[i]", "sum += x[i] + x[i] / 30000")
    (reason,) = exercises.judge("01.wide", text, seed=1).reasons
    assert reason.advice.has(Next.ROUNDED_FAR)


def test_a_nan_that_is_lost_and_a_launch_without_elements_have_their_words():
    text = exercises.solution("00.loop").replace("x[i] *= a", "x[i] = fmaxf(x[i] * a, -INFINITY)")
    (reason,) = exercises.judge("00.loop", text).reasons
    assert reason.advice.has(Next.NAN_LOST)
    text = exercises.solution("02.atomic").replace("if (i", "if (!n && !i) *out = 1;\n    if (i")
    (reason,) = exercises.judge("02.atomic", text).reasons
    assert reason.advice.has(Next.NO_ELEMENTS)


def test_a_race_beside_atomic_cas_names_the_first_read():
    text = exercises.solution("02.atomic").replace("atomicAdd(out, Acc(x[i]))", CAS)
    (reason,) = exercises.judge("02.atomic", text).reasons
    assert reason.kind == "sanitizer" and reason.advice.has(Next.FIRST_READ)
    text = text.replace("old = *to", "old = *(volatile int *)to")
    assert not any(r.kind == "sanitizer" for r in exercises.judge("02.atomic", text).reasons)


CAS = """{
        int *to = (int *)out, old = *to, seen;
        do {
            seen = old;
            old = atomicCAS(to, seen, __float_as_int(__int_as_float(seen) + x[i]));
        } while (old != seen);
    }"""


def test_what_fails_in_another_grid_only_is_told_so():
    text = exercises.solution("00.loop").replace("threads) x", "1024) x")
    (reason,) = exercises.judge("00.loop", text).reasons
    assert "128" in reason.text.blanks["launch"] and reason.advice.has(Next.ANY_GRID)


def test_whether_a_thread_outside_has_work_is_asked():
    (reason,) = exercises.judge(FIRST, changed("if (i < n) ", "")).reasons
    assert reason.advice.has(Next.HAS_IT_WORK)
    assert reason.advice not in reason.case and Advice.GUARD_IT() not in reason.case


def test_a_nan_stands_first_and_later_and_alone():
    rows = values.with_nan(np.random.default_rng(1), np.zeros((6, 70), np.float32), 32)
    place = np.isnan(rows).argmax(1)
    assert (np.isnan(rows).sum(1) == 1).all()
    assert (place < 32).tolist() == [True, False, True] * 2
    assert [rows[n, place[n] - 32] for n in (1, 4)] == [1, 1]
    assert (np.isneginf(rows).sum(1) == [0, 0, 69] * 2).all()


def test_a_nan_that_is_the_lesson_has_its_words(kernel_of):
    kernel = kernel_of("13.hunt_depth", "the depth of a only, b being finite")
    (reason,) = judging.trial(texts.find("13.hunt_depth"), kernel).reasons
    assert reason.advice.has(Next.COMPUTED_FROM_INFINITY)


def test_what_went_into_a_wrong_element_is_shown():
    (reason,) = exercises.judge(FIRST, changed("2 * x[i]", "x[i] < 0 ? 0 : 2 * x[i]")).reasons
    rows = {line[:9].strip(): line[9:].split() for line in reason.case.splitlines()[1:]}
    assert list(rows) == ["element", "got", "expected", "input 1"]
    wrong = rows["got"].index("0")
    assert np.isclose(2 * float(rows["input 1"][wrong]), float(rows["expected"][wrong]))


def test_the_first_wrong_element_is_told_with_what_it_is_made_from():
    text = exercises.solution("10.nearly").replace("isfinite(b[i]) &&", "")
    (reason,) = exercises.judge("10.nearly", text).reasons
    assert re.fullmatch(r"first_from \d+ 1 0 \S+ .* -?∞", reason.first.code)


def test_a_lane_that_returns_before_a_shuffle_is_told_not_to():
    exercise = texts.find("11.packs")
    shuffle = "    width += __shfl_down_sync(~0u, w, 1) < 0;\n    float near"
    text = exercise.solution.replace("    float near", shuffle)
    (reason,) = judging.trial(exercise, text, seed=1).reasons
    assert reason.advice.has(Advice.STAY)


def test_numbers_are_shown_so_that_they_differ():
    text = exercises.solution("09.remainder").replace("r + b[i] : r", "r - b[i] : r")
    (reason,) = exercises.judge("09.remainder", text).reasons
    assert re.fullmatch(r"first_from \d+ -?\d+ -?\d+ .*", reason.first.code)
    text = exercises.solution("01.wide").replace("double", "float")
    (reason,) = exercises.judge("01.wide", text).reasons
    assert reason.first.blanks["got"] != reason.first.blanks["expected"]


def test_a_stub_is_indented_as_what_it_stands_for():
    assert "\n    for (long long row = 0; row < rows; row += 4) {\n" in exercises.stub(
        "08.hunt_last_rows"
    )


def test_of_the_launches_that_fail_the_smallest_is_told(judged):
    verdict = judged(changed("2 * x[i]", "n > 31 ? 0 : 2 * x[i]"), sizes=(1009, 31, 257, 33, 0))
    (reason,) = verdict.reasons
    heading = Shown.HEADING(launch="n = 33", grid="1", block="256")
    assert reason.case.startswith(Shown.SMALLEST(launch=f"{heading}\n"))


def test_a_larger_launch_is_told_whose_advice_leads_further(judged):
    wrong = changed("2 * x[i]", "i ? 2 * x[i] : sinf(99 * x[i])")
    (reason,) = judged(wrong, sizes=(1, 257)).reasons
    assert "n = 257" in reason.text and reason.advice == Next.ONE(where="element 0"), reason.advice


def test_a_parameter_is_told_that_the_kernel_never_reads(judged):
    def launch(rng, n):
        x, by = values.numbers(rng, n), np.float32(rng.uniform(2, 3))
        return launches.Launch([launches.In(x), launches.Out(by * x**3, 1e-4), by], 1, 32)

    text = "__global__ void twice(const float *x, float *out, float by)\n{\n    "
    text += "out[threadIdx.x] = sinf(x[threadIdx.x]);\n}\n"
    (reason,) = judged(text, sizes=(32,), launch=launch).reasons
    assert reason.advice == Next.UNUSED(names="by")


def test_ordinary_numbers_are_told_before_infinities_and_no_elements(judged):
    def launch(rng, n):
        x = values.numbers(rng, n)
        x[: n < 300] = np.inf
        arguments = [launches.In(x), launches.Out(2 * x), np.int64(n)]
        return launches.Launch(arguments, launches.blocks_for(n), 256)

    wrong = changed("2 * x[i]", "3 * x[i] - (isinf(x[i]) ? INFINITY : 0)")
    (reason,) = judged(wrong, sizes=(0, 1, 257, 1009, 500), launch=launch).reasons
    assert "n = 500" in reason.code and "inf" not in reason.code
    infinite = changed("2 * x[i]", "isinf(x[i]) ? 0 : 2 * x[i]")
    (reason,) = judged(infinite, sizes=(257, 1, 1009), launch=launch).reasons
    assert "element n = 1 out[0] 0.0 inf" in reason.code.replace("element_within", "element")


def test_tables_of_elements_are_narrow():
    text = exercises.solution("01.pieces").replace("i < n", "i < 0")
    (reason,) = exercises.judge("01.pieces", text).reasons
    rows = reason.case.splitlines()[1:]
    assert len({len(row) for row in rows}) == 1 and len(rows[0]) <= running.WIDEST


def test_a_small_launch_is_shown_as_a_whole_with_rows_and_columns():
    exercise = texts.find("12.edges")
    text = exercise.wrong["the last product only"].text(exercise.solution, exercise.kernel)
    (reason,) = judging.trial(exercise, text, seed=1).reasons
    table, weights = reason.case.split("\n\n")
    assert re.search(r"^element +\[0, 0\] +\[0, 1\] +\[1, 0\] +\[1, 1\]$", table, re.MULTILINE)
    assert len(weights.removeprefix("input 2").split()) == 9
    assert max(map(len, reason.case.splitlines()[1:])) <= running.WIDEST
    assert reason.first.blanks["place"] == "[0, 0]"


def test_what_is_expected_may_be_the_padding():
    exercise = texts.find("11.pool")
    text = exercise.wrong["zeros outside"].text(exercise.solution, exercise.kernel)
    (reason,) = judging.trial(exercise, text, seed=1).reasons
    assert reason.advice == Next.NO_INPUT_NOR_PADDING(expected="-∞", got="0")


@pytest.mark.parametrize("mood", badges.GROUNDS)
def test_badges_are_read_on_every_page(mood, monkeypatch):
    def luminance(colour):
        shares = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    ink, ground = badges.INK[0], badges.GROUNDS[mood][0]
    assert (luminance(ink) + 0.05) / (luminance(ground) + 0.05) >= 4.5
    assert ink in badges.html("a < b", mood) and "a &lt; b" in badges.html("a < b", mood)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert badges.plain("word", mood) == "word"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert badges.plain("word", mood) == f"\33[38;5;231;48;5;{badges.GROUNDS[mood][1]}mword\33[0m"


def test_a_verdict_is_coloured(judged):
    done = judged(exercises.solution(FIRST))._repr_html_()
    assert badges.html(Shown.DONE(), "good") in done and badges.html("8,192", "good") in done
    assert badges.html(Shown.NOT_YET(), "bad") in judged(changed("2 *", "3 *"))._repr_html_()


@software
@pytest.mark.parametrize("name", ["00.double", "03.shared", "07.capstone_layer_norm", "02.sixteen"])
def test_a_launch_enlarged_takes_as_long_as_a_large_one(name):
    exercise, more = texts.find(name), 16
    size = exercise.judge.counted
    large = more * size if isinstance(size, int) else (more * size[0], *size[1:])
    kernel = handed.compiled(exercise, exercise.solution)
    trial = judging._Trial(exercise, kernel, judging.target_of(kernel), Verdict(name, "", ""))
    enlarged = real.enlarged(trial.counted().count(0), more, blocks_grow=True)
    expected = trial._launch(large, 1).count(0)
    assert enlarged.block_count == expected.block_count
    assert enlarged.total["ld.sectors"] == expected.total["ld.sectors"]
    assert 0.8 < enlarged.predicted_us / expected.predicted_us < 1.25


def test_which_size_fails_first_is_read_from_the_launch_not_from_its_words():
    def run(*numbers, block=256):
        launch = launches.Launch([*map(np.int64, numbers)], 1, block, what="sizes")
        return SimpleNamespace(launch=launch, names=["n", "k"])

    right = [run(9, 8), run(10, 9)]
    found = judging._most_before(run(1040, 7), right)
    assert found == {"what": "sizes", "name": "n", "value": "1,040", "most": "10"}
    assert judging._most_before(run(4, 9), right) is None
    assert judging._most_before(run(4, 9, block=(32, 9)), right)["value"] == "288"


def test_an_interrupt_takes_a_line(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(judging._Trial, "run", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        exercises.judge(FIRST, exercises.solution(FIRST))
    assert len(stopped.value._render_traceback_()) == 1


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


# --- what a Judge may say -------------------------------------------------------------------------


def test_an_unknown_field_is_met_with_a_near_one():
    with refused(TypeError, "'withot'", "'without'"):
        replace(PLAIN, withot={r"\.f64": "Use floats only."})
    with refused(TypeError, "'COUNTED'", "'counted'"):
        Judge(launch=twice, COUNTED=7, budget={})


def test_a_field_that_must_be_there_is_named():
    with refused(TypeError, "'budget'"):
        Judge(launch=twice, counted=7)


@pytest.mark.parametrize(
    "says, wanted",
    [
        ({"sizes": [1, 2]}, "tuple"),
        ({"large": 2000}, "tuple"),
        ({"even": 1}, "bool"),
        ({"spare": True}, "int"),
        ({"launch": None}, "Callable"),
        ({"choices": "BLOCK"}, "tuple"),
        ({"budget": {"ld.sectors": "8"}}, "dict"),
        ({"idea": {"shuffles": 2048}}, "dict"),
        ({"rate": 35}, 35),
        ({"checks": [extra_checks.Repeatable]}, "list"),
    ],
)
def test_a_field_of_another_type_is_refused(says, wanted):
    ((field, given),) = says.items()
    with refused(TypeError, field, wanted, repr(given)):
        replace(PLAIN, **says)


def test_a_judge_has_words_on_each_field():
    """They are what an editor shows, and what CONTRIBUTING leads to."""
    (body,) = (
        node.body
        for node in ast.parse(inspect.getsource(judges)).body
        if isinstance(node, ast.ClassDef) and node.name == "Judge"
    )
    for field, words in zip(body[1:], body[2:]):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(words, ast.Expr) and isinstance(words.value.value, str), field.target


WRONG_ENTRIES = {
    '["values"]': None,
    '[["x[i]", "0"]]': None,
    '["values", ["x[i]"]]': None,
    '["values", ["x[i]", "0"]]': Wrong("values", {"x[i]": "0"}),
    '["values", "*out = 0;"]': Wrong("values", body="*out = 0;"),
    '["values", "*out = 0;", ["0", "1"]]': Wrong("values", {"0": "1"}, "*out = 0;"),
}


@pytest.mark.parametrize("entry, kernel", WRONG_ENTRIES.items())
def test_a_kernel_to_be_refused_is_a_line(tmp_path, entry, kernel):
    (tmp_path / "wrong.toml").write_text(f'"an entry" = {entry}\n')
    if kernel:
        assert kernels_of(tmp_path) == {"an entry": kernel}
    else:
        with refused(ValueError, "wrong.toml", "'an entry'"):
            kernels_of(tmp_path)


def test_sizes_are_drawn_by_the_seed_of_learner_and_exercise(monkeypatch):
    sizes = judging._sizes(PLAIN, seed=1)
    assert sizes == judging._sizes(PLAIN, seed=1) != judging._sizes(PLAIN, seed=2)
    assert sizes[:8] == [*launches.SIZES] and 34 <= sizes[8] <= 1000 and 2561 <= sizes[9] <= 5120
    assert launches.drawn(np.random.default_rng(1), 256)[1] % 256 == 0
    assert progress.seed_of(FIRST, "ada") == progress.seed_of(FIRST, "ada")
    assert progress.seed_of(FIRST, "ada") != progress.seed_of(FIRST, "bob")
    monkeypatch.setattr(progress.getpass, "getuser", lambda: "ada")
    assert progress.seed_of(FIRST) == progress.seed_of(FIRST, "ada")
    verdict = exercises.judge(FIRST, exercises.solution(FIRST), seed=17)
    assert verdict.rows()[0] == (Shown.RIGHT(), "11", Shown.LAUNCHES(launches=11, seed=17))


@pytest.mark.parametrize(
    "size, says",
    [("65536", "n = 65,536 out[0] nan"), ("3127", "n = 3,127 out[0] nan")],
)
def test_the_counted_and_the_drawn_sizes_are_compared(judged, size, says):
    text = changed("if (i < n)", f"if (i < n && n != {size})")
    (code,) = codes(judged(text, drawn=lambda rng: [3127]))
    assert says in code


def test_what_the_compiler_leaves_out_is_seen(judged):
    text = changed("if (i < n) out[i] = 2 * x[i]", "float v = x[i]; if (i < n) out[i] = 2 * v")
    (reason,) = codes(judged(text))
    assert reason == "sanitizer: found n = 257 out of bounds"


WASTE = {
    "instructions": (
        "if (i < n)", 'for (int k = 0; k < 50; ++k) asm volatile("membar.cta;"); if (i < n)'
    ),
    "barriers": ("if (i < n)", "__syncthreads(); if (i < n)"),
    "atomics": ("x[i];", "x[i], atomicOr((int *)out + i, 0);"),
    "stl_sectors": (
        "if (i < n)", "volatile float v[2]; v[i & 1] = 1; if (i < n)"
    ),
    "atoms_requests": (
        "if (i < n)", "__shared__ int s; if (!threadIdx.x) atomicExch(&s, 1); if (i < n)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WASTE)
def test_waste_is_limited_by_what_the_solution_needs(judged, what):
    text = changed(*WASTE[what])
    assert any(re.match(rf"counters: count\w* {what} ", code) for code in codes(judged(text)))
    assert judged(text, limits=None)


def test_limits_may_be_others(judged):
    text = changed(*WASTE["barriers"])
    assert judged(text, limits={"barriers": None}) and judged(text, limits={"barriers": (2048,)})
    assert not judged(text, limits={"barriers": (2047,)})
    (code,) = codes(judged(exercises.solution(FIRST), limits={"instructions": 0.5}))
    assert re.match(r"counters: count instructions ", code)


def test_an_idea_has_a_least_count(judged):
    idea = {"shuffles": (2048, "Shuffle."), "lds.wavefronts": (1, "Share.")}
    verdict = judged(exercises.solution(FIRST), idea=idea)
    assert codes(verdict) == ["counters: idea shuffles 0", "counters: idea lds_wavefronts 0"]
    assert [reason.advice for reason in verdict.reasons] == ["Shuffle.", "Share."]
    shuffled = changed("2 * x[i]", "x[i] + __shfl_xor_sync(0xffffffff, x[i], 0)")
    idea = {"shuffles": (2048, ""), "ld.bytes": (4, ""), "st.bytes": (4, "")}
    sizes = {"sizes": (256,), "drawn": lambda rng: (), "far": None}
    assert not reasons(judged(shuffled.replace("if (i < n) ", ""), idea=idea, **sizes))


def test_waste_is_told_before_too_little_of_an_idea_and_after_none_of_it(judged):
    twice = "((volatile const float *)x)[i]"
    wasteful = changed("2 * x[i]", f"{twice} + {twice}")
    found = codes(judged(wasteful, idea={"st.sectors": (10**6, "Store.")}))
    assert found and all("ld_sectors" in reason for reason in found)
    first, *others = codes(judged(wasteful, idea={"shuffles": (2048, "Shuffle.")}))
    assert first == "counters: idea shuffles 0" and all("ld_sectors" in code for code in others)


def test_blocks_have_a_least_number(judged):
    (code,) = codes(judged(exercises.solution(FIRST), checks=[extra_checks.Blocks(257)]))
    assert code == "counters: at_least blocks 256 257"


def test_instructions_may_be_ruled_out(judged):
    text = changed("2 * x[i]", "(float)(x[i] * 2.1) - .1f * x[i]")
    (code,) = codes(judged(text, without={r"\.f64\b": "Use floats only."}))
    assert code == "instructions: compiled_has .f64"
    (code,) = codes(judged(changed("if (i < n)", "__nanosleep(9); if (i < n)")))
    assert code == "instructions: compiled_has nanosleep"


def test_only_a_sleep_between_two_looks_is_a_wait():
    look, sleep, store = (
        "A: ld.volatile.u32 %r1, [%rd1];",
        "nanosleep.u32 20;",
        "st.u32 [%rd2], %r1;",
    )

    def skips(*items):
        ptx = "\n".join((*items, "ret;"))
        return instructions.some_path_skips(ptx, (judging.SLEEP, judging.ACTS), judging.LOOK)

    assert not skips(look, "@%p1 bra B;", sleep, "bra A;", "B: " + store)
    assert skips(look, sleep, "@%p1 bra A;", store)
    assert skips(sleep) and skips(store, sleep, "ld.u32 %r1, [%rd1];", look)


def test_instructions_may_have_to_be_there(judged):
    says = {"checks": [extra_checks.PtxHas({r"\bfma\.rn\.f32": "Multiply and add at once."})]}
    assert codes(judged(exercises.solution(FIRST), **says)) == ["instructions: compiled_lacks"]
    assert judged(changed("2 * x[i]", "fmaf(x[i], 1.5f, x[i] / 2)"), **says)


PATHS = {
    "bar.sync 0;": False,
    "": True,
    "@%p1 bra $L1;\nbar.sync 0;\n$L1:": True,
    "@%p1 bra $L1;\nbar.sync 0;\nret;\n$L1:": True,
    "@%p1 bra $L1;\nbra.uni $L2;\n$L1:\nret;\n$L2:\nbar.sync 0;": False,
    "$L1:\nbar.sync 0;\n@%p1 bra $L1;": False,
    "ret;": False,
    "membar.gl; bar.sync 0;": False,
    "@%p1 bra $L1; bar.sync 0; $L1: ret;": False,
    "@%p1 bra $L1; bar.sync 0; $L1:": True,
}


@pytest.mark.parametrize("between, skips", PATHS.items())
def test_instructions_may_have_to_lie_on_every_path(between, skips):
    load, count = "ld.global.u32 %r1, [%rd1];", "atom.add.u32 %r1, [%rd1], 1;"
    ptx = "\n".join([load, count, between, load])
    assert instructions.some_path_skips(ptx, (r"\batom\b", r"\bld\."), r"\bbar\b") == skips


def test_an_instruction_that_advice_names_is_named_as_the_headers_do():
    text = '#include "gemm/warpgroup.cuh"\n#include "common/boxes.cuh"\n'
    advice = "Put fence.proxy.async there, then wgmma.wait_group n, and cp.async.wait_all."
    named = instructions.named_by_headers(text, advice)
    assert named == {
        "fence.proxy.async": "show_stores",
        "wgmma.wait_group": "wait_for_products",
    }


def test_a_path_that_skips_them_is_refused(judged):
    path = {(r"\bld\.global", r"\bst\.global"): (r"\bfma\b", "Multiply and add.")}
    says = {"checks": [extra_checks.OnEveryPath(path)]}
    assert codes(judged(exercises.solution(FIRST), **says)) == ["instructions: path_skips"]
    assert judged(changed("2 * x[i]", "fmaf(x[i], 1.5f, x[i] / 2)"), **says)


def test_a_large_launch_is_compared(judged):
    text = changed("if (i < n)", "if (i < min(n, 2000000ll))")
    assert judged(text)
    (code,) = codes(judged(text, large=(2_000_001,)))
    assert code.startswith("values: ") and " n = 2,000,001 " in code
    assert judged(exercises.solution(FIRST), large=(2_000_001,))


def test_instructions_of_another_kernel_are_its_own(judged):
    braces = 'asm volatile("{\\n}");'
    beside = f"__global__ void beside(double *x)\n{{\n    {braces} x[threadIdx.x] *= 2.5;\n}}\n"
    text = beside + exercises.solution(FIRST) + beside.replace("beside", "behind")
    assert judged(text, without={r"\.f64\b": "Use floats only."})


@pytest.mark.parametrize("comment", ["/*\\n.entry other\\n*/", "// x", "/* // */", ""])
def test_a_comment_hides_no_instruction(judged, comment):
    text = changed("if (i < n)", f'asm volatile("{comment}\\nmembar.sys;"); if (i < n)')
    (code,) = codes(judged(text, without={r"\bmembar\.sys": "A fence is not needed."}))
    assert code == "instructions: compiled_has membar.sys"


@pytest.mark.parametrize("comment", ["/* membar.sys */", "/*\\nmembar.sys;\\n*/", "// membar.sys;"])
def test_a_comment_is_no_instruction(judged, comment):
    text = changed("if (i < n)", f'asm volatile("{comment}\\n"); if (i < n)')
    fenced = extra_checks.PtxHas({r"\bmembar\.sys": "A fence is needed."})
    assert codes(judged(text, checks=[fenced])) == ["instructions: compiled_lacks"]


@pytest.mark.parametrize("zero", ["0", "0x0", "0X00U", "00", "0b0", "/**/ 0", "/*\\n*/0"])
def test_a_number_is_read_as_a_number(judged, zero):
    text = changed("if (i < n)", f'asm volatile("cp.async.wait_group {zero};"); if (i < n)')
    (code,) = codes(judged(text, without={r"wait_group\s+0\b": "Don't wait for all."}))
    assert re.match(r"instructions: compiled_has wait_group\s+0", code)


def test_a_barrier_that_counts_is_a_vote(judged):
    text = changed("if (i < n)", "if (__syncthreads_count(i < n) && i < n)")
    assert judged(text, idea={"votes": (2048, "Vote.")}, limits=None)


def test_bits_count_where_the_judge_says_so(judged, monkeypatch):
    def launch(rng, n):
        x = np.full(n, -0.0, np.float32)
        out = launches.Out(2 * x, bits=bits)
        return launches.Launch([launches.In(x), out, np.int64(n)], grid=20, block=256)

    text = changed("2 * x[i]", "2 * x[i] + 0.f")
    bits = False
    assert judged(text, launch=launch, counted=5120, budget={}, limits=None)
    bits = True
    assert codes(judged(text)) == ["values: element n = 1 out[0] 0.0 -0.0"]


@software
@pytest.mark.parametrize("index", ["long long", "int", "unsigned"])
def test_places_of_more_than_32_bits_are_tried(judged, index):
    count = (1 << 31) + 77
    last = (count - 1) // 256

    def far(rng):
        pieces = {0: values.numbers(rng, 512), count - 77: values.numbers(rng, 77)}
        x = launches.Far(count, np.float32, pieces)
        out = launches.Far(count, np.float32, expected={n: 2 * v for n, v in pieces.items()})
        blocks = [range(2), range(last, last + 1)]
        return launches.Launch([x, out, np.int64(count)], last + 1, 256, blocks=blocks)

    own = f"{index} i = blockIdx.x * ({index})blockDim.x"
    text = changed("long long i = blockIdx.x * (long long)blockDim.x", own)
    verdict = judged(text, far=far)
    if index == "int":
        (reason,) = verdict.reasons
        assert reason.text.blanks["launch"] == "beyond 2 ** 31 elements"
        assert reason.advice.has(Next.WIDE)
    else:
        assert verdict and verdict.of == 12


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
NARROW = {
    "09.bias": ("i < count", "i < (int)count"),
    "10.eights": ("i < n / 8", "i < (int)n / 8"),
}


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


@software
def test_far_places_are_tried_where_all_else_is_right(judged):
    def far(rng):
        blocks, i = distant.near(1 << 25, (1 << 24) + 77)
        read, x = distant.strewn(rng, 1 << 25, i)
        out = launches.Far(1 << 25, "f4", expected=distant.pieces(i, 2 * x))
        return launches.Launch([read, out, np.int64(1 << 25)], 1 << 17, 256, blocks=blocks)

    assert judged(exercises.solution(FIRST), far=far)
    text = changed("2 * x[i]", "2 * x[(long long)(float)i]")
    assert judged(text, far=far).reasons[0].advice.has(Next.WHOLE)
    wasteful = text.replace("if (i < n)", "__syncthreads(); if (i < n)")
    assert [reason.kind for reason in judged(wasteful, far=far).reasons] == ["counters"]


def test_far_places_lie_where_they_are_said_to():
    rng = np.random.default_rng(1)
    blocks, i = distant.near(1000, 0, 999)
    assert blocks == [range(0, 2), range(2, 4)] and (i == np.arange(1000)).all()
    places = np.array([[7, 3], [4, 7]])
    far, values = distant.strewn(rng, 9, places)
    whole = np.zeros(9, np.float32)
    for place, piece in far.pieces.items():
        whole[place : place + len(piece)] = piece
    assert sorted(far.pieces) == [3, 7] and (whole[places] == values).all()
    assert np.count_nonzero(whole) == 3


def test_an_array_may_begin_before_the_element_that_is_passed(judged):
    def launch(rng, n):
        x = launches.In(values.numbers(rng, n), first=max(n - 1, 0))
        return launches.Launch([x, launches.Out(2 * x.values[::-1]), np.int64(n)], 20, 256)

    says = {"launch": launch, "counted": 5120, "budget": {}, "limits": None}
    assert judged(changed("x[i]", "x[-i]"), **says)
    (code,) = codes(judged(changed("x[i]", "x[-i - 1]"), **says))
    assert code == "sanitizer: found n = 1 out of bounds"


def test_an_infinity_is_not_near_a_number(judged):
    def launch(rng, n):
        out = launches.Out(np.full(n, np.inf), tolerance=np.inf)
        return launches.Launch([launches.In(values.numbers(rng, n)), out, np.int64(n)], 20, 256)

    says = {"launch": launch, "counted": 5120, "budget": {}, "limits": None}
    assert judged(changed("2 * x[i]", "INFINITY"), **says)
    (reason,) = judged(exercises.solution(FIRST), **says).reasons
    assert reason.text.blanks["expected"] == "inf"


def test_a_text_may_have_to_contain_something(judged):
    says = {"checks": [extra_checks.TextHas({"[48]": "Take four at a time."})]}
    (reason,) = judged(changed("2 * x[i]", "/* 4 */ 2 * x[i]; // 8"), **says).reasons
    assert reason.kind == "text" and reason.advice == "Take four at a time."
    assert "[48]" not in reason.text
    assert judged(changed("2 * x[i]", "4 * x[i] / 2"), **says)


def test_a_kernel_cannot_count_launches(judged):
    text = changed("__global__", "__device__ int launches;\n__global__")
    text = text.replace("i < n", "i < n && ++launches == 1")
    ones = {"sizes": (1, 1, 1), "drawn": lambda rng: (), "counted": 1, "budget": {}, "limits": None}
    assert judged(text, **ones)
    assert not judged(text.replace("== 1", "!= 1"))


def test_bits_are_the_same_in_any_order_where_they_must_be(judged):
    def launch(rng, n):
        x = values.numbers(rng, n)
        sums = np.append(x.sum(dtype=float), x[1:])
        before = np.append(np.float32(0), x[1:])
        out = launches.Out(sums, checks.sum_tolerance(x), initial=before)
        return launches.Launch([launches.In(x), out, np.int64(n)], -(-n // 256), 256)

    says = {"launch": launch, "sizes": (1, 257), "limits": None, "budget": {}}
    says["undefined"] = values.BY_ATOMICS
    text = changed("out[i] = 2 * x[i]", "atomicAdd(out, x[i])")
    assert judged(text, **says)
    (code,) = codes(judged(text, checks=[extra_checks.Repeatable()]))
    assert code == "bits: other_bits n = 65,536"


def test_inputs_are_not_loaded_by_atomics(judged):
    loaded = "2 * __int_as_float(atomicOr((int *)x + i, 0))"
    verdict = judged(changed("2 * x[i]", loaded))
    assert codes(verdict) == ["inputs: written_to n = 65,536 x"]


def test_a_verdict_keeps_none_of_its_arrays(judged):
    """A notebook keeps the verdicts of all its cells."""
    elements = 1 << 18
    says = {"counted": elements, "budget": {}, "limits": None}

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    text = exercises.solution(FIRST)
    kept = [judged(text, **says) for _ in range(2)]
    before = resident()
    kept += [judged(text, **says) for _ in range(4)]
    assert all(kept) and resident() - before < 2 * 8 * elements  # of four, the arrays of two


def test_graders_get_an_exception():
    exercises.check(FIRST, exercises.solution(FIRST))
    with refused(AssertionError, f"00.double Twice as much: {Shown.OPEN()}"):
        exercises.check(FIRST, exercises.stub(FIRST))


def test_an_unknown_name_is_met_with_near_ones():
    with refused(LookupError, "'00.dubble'", "00.double"):
        exercises.stub("00.dubble")


# --- progress -------------------------------------------------------------------------------------


def test_exercises_and_predictions_make_a_score():
    from helpers.predictions import predict

    score = {"done": 1, "total": exercises.map().total}
    done, scored = Shown.EXERCISES(**score), Shown.EXERCISES_AND_PREDICTIONS
    verdict = exercises.judge(FIRST, exercises.solution(FIRST))
    assert Shown.SCORE(score=done) in repr(verdict), verdict
    scored = scored(**score, right=0, made=1)
    assert scored in repr(predict("00.past_the_end", 24, 96))
    again = repr(predict("00.past_the_end", 96, 96))
    assert scored in again and Answer.RIGHT() in again
    assert f"{scored}  (" in exercises.map().heading


def test_progress_is_kept(work):
    assert progress.state_of(FIRST) == "open" and exercises.mine(FIRST) == exercises.stub(FIRST)
    exercises.judge(FIRST, exercises.stub(FIRST))
    assert not list(work.iterdir())
    wrong = changed("2 * x[i]", "3 * x[i]")
    exercises.judge(FIRST, wrong)
    assert progress.state_of(FIRST) == "tried" and exercises.mine(FIRST) == wrong
    assert "\\n" not in repr(exercises.mine(FIRST))
    exercises.judge(FIRST, exercises.solution(FIRST))
    exercises.judge(FIRST, wrong)
    assert progress.state_of(FIRST) == "done" and exercises.mine(FIRST) == wrong
    drawn = exercises.map()
    assert drawn.done == 1 and "● double" in repr(drawn)
    assert 'title="ld.sectors 8,192 (ours 8,192)' in drawn._repr_html_()


def test_what_a_result_is_added_to_is_shown():
    exercise = texts.find("02.atomic")
    out = exercise.judge.launch(np.random.default_rng(1), 1).arguments[1]
    text = exercise.solution.replace("x[i]", "2 * x[i]")
    (reason,) = judging.trial(exercise, text, seed=1).reasons
    assert out.initial is not None and re.search(r"^before +-?[\d.]+$", reason.case, re.MULTILINE)


def test_a_verdict_names_no_address():
    text = changed("if (i < n)", "*(volatile float *)((size_t)out + (1ll << 40)) = 1; if (i < n)")
    (reason,) = exercises.judge(FIRST, text).reasons
    assert reason.kind == "sanitizer" and "0x" not in repr(reason)


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
        ("11.packs", "twelve stores", Next.STORED_IN_PIECES()),
        ("06.spread", "squares of large numbers", "explain"),
        ("00.loop", "steps of a block", "race"),
        ("10.hunt_slots", "the stub", "race"),
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
        ("15.box", "half of the bytes", Advice.EXPECT_BYTES()),
        ("15.phases", "always phase 0", Advice.ARRIVALS()),
        ("17.push", "no barrier before the flag", "race"),
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
        ("17.capstone_ring", "a step too many", "flags[0, 0]"),
        ("18.append", "columns before slots", "cache[0, 15, 0]"),
        ("18.capstone_four", "scales as whole numbers", "NVFP4::scale"),
        ("18.eight", "a sum of whole numbers", "float"),
        ("18.gate", "the next gate passes", "made[0, 0, 1]"),
        ("18.hunt_scale", "the mean of both", "0.5"),
        ("18.norm", "one more than the weight", "1 + weight[i]"),
        ("18.query", "the first text's slots", "seen[text]"),
        ("18.rotate", "the row for the position", "turns[0, 0]"),
    ],
)
def test_a_judges_own_advice_names_what_came_out(name, what, fact, kernel_of):
    said = judging.trial(texts.find(name), kernel_of(name, what), seed=1).reasons[0].advice
    assert not missing(said, fact), said


def test_pictures_are_those_of_pictures():
    assert PICTURED == ["00.brighter", "03.transposed", "11.pool", "12.edges"]
