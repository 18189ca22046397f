"""What may be handed in, and what a verdict says."""

import re
from dataclasses import replace
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import badges, checks, exercises, sources
from helpers import kernels as kernels_module
from helpers.exercises import handed, judging, launches, progress, real, running, texts, values
from helpers.exercises.verdict import Refused, Verdict
from helpers.words import Answer, Next, Refusal, Shown, counter
from softgpu.tests.facts import contrast, missing, refused
from softgpu.words import Advice, FindingKind, Happened, Predicted
from softgpu.xray import clock, occupancy

from ..conftest import MARK
from .verdicts import FIRST, changed, codes, software

from pycuda.compiler import SourceModule  # isort: skip


pytestmark = pytest.mark.usefixtures("work", "plain")


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
        (changed("threadIdx.x", "threadIdx"), "compiler: ", Next.ADD_X),
        (changed("threadIdx.x", "threadidx.x"), "compiler: ", Next.MEANT),
        (changed("if (i < n)", "if i < n:"), "compiler: ", Next.PARENTHESES),
        (changed("if (i < n)", "if (i < n and True)"), "compiler: ", Next.IN_C),
        (changed("(i < n)", "(i < size)"), "compiler: ", Next.DECLARE),
        (changed("2 * x[i]", "2x[i]"), "compiler: ", Next.WRITE_TIMES),
        (changed("x[i]", "x(i)"), "compiler: ", Next.SQUARE_BRACKETS),
        (changed("x[i];", "x.sum();"), "compiler: ", Next.NO_MEMBERS),
        (changed("x[i];", "x[i]; # twice"), "compiler: ", Next.COMMENT),
        (changed("out[i] =", "x[i] ="), "compiler: ", Next.READ_ONLY),
        (changed("out[i] =", "return"), "compiler: ", Next.RETURNS_NOTHING),
        (changed("if (i < n)", "int i = 0; if (i < n)"), "compiler: ", Next.DECLARE_ONCE),
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
    ink, ground = badges.INK[0], badges.GROUNDS[mood][0]
    assert contrast(ink, ground) >= 4.5
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
