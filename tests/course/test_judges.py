"""What a Judge may ask for."""

import ast
import builtins
import dis
import inspect
import mmap
import re
import runpy
from dataclasses import replace
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

from helpers import checks, exercises
from helpers.exercises import (
    distant,
    extra_checks,
    instructions,
    judges,
    judging,
    launches,
    progress,
    texts,
    values,
)
from helpers.exercises.judges import Judge
from helpers.exercises.wrong import Wrong, kernels_of
from helpers.words import Next, Shown
from softgpu.tests.facts import refused

from .verdicts import FIRST, PLAIN, changed, codes, reasons, software, twice

pytestmark = pytest.mark.usefixtures("work", "plain")


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


def names_in(code):
    """The global names that code and the functions in it read."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)


def test_all_names_in_judges_are_defined():
    """Lint does not see it, since `import *` may define any."""
    for name in exercises.names():
        path = str(texts.find(name).folder / "judge.py")
        known = {**vars(builtins), **runpy.run_path(path)}
        with open(path) as file:
            read = {*names_in(compile(file.read(), path, "exec"))}
        assert read <= known.keys(), (name, read - known.keys())


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
    "size, says", [("65536", "n = 65,536 out[0] nan"), ("3127", "n = 3,127 out[0] nan")]
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
    assert named == {"fence.proxy.async": "show_stores", "wgmma.wait_group": "wait_for_products"}


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
