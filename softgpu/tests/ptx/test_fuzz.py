"""Whatever the PTX, the answer is a kernel or a PtxError that says where; never a traceback."""

from pathlib import Path

import pytest

from softgpu.tests import autoinit

from .fuzz import HEAD, SEEDS, failures, run, statements

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not autoinit.is_software, reason="nvcc leaves PTX for the software GPU"),
]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_no_text_ends_in_a_traceback(seed: int) -> None:
    for changed, trace in failures(seed, 300):
        pytest.fail(f"{changed}\n{trace}", pytrace=False)


@pytest.mark.long
def test_most_of_what_is_unchanged_runs() -> None:
    """Or the changes would be refused for what is around them."""
    head, lines = statements()
    refused = [line for line in lines if run(f"{head}{line}\nret;\n}}\n")]
    assert len(refused) < len(lines) / 4, refused


@pytest.mark.parametrize(
    "statement", ["mov.b64 %rd1, {%r1, %laneid};", "cvta.to.local.u64 %rd1, %rd2;"]
)
def test_what_differs_by_lane_is_seen_wherever_it_stands(statement: str) -> None:
    assert run(f"{HEAD}{statement}\nret;\n}}\n") == ""


@pytest.mark.parametrize(
    "text",
    [
        "mov.b32 %r1, " + "(" * 5000 + "1" + ")" * 5000 + ";",
        "mov.b64 %rd1, " + "{" * 5000 + "}" * 5000 + ";",
        "mov.b32 %r1, 1 << 99999999999;",
        "mov.b32 %r1, " + "9" * 5000 + ";",
        "mov.f32 %f1, 1e300;",
        ".reg .b32 %x<99999999999>;",
        ".reg .b32 %x<-1>;",
        ".local .align 3 .b8 x[4];",
        ".local .b8 x[-4];",
        "L: L: bra L;",
    ],
)
def test_texts_that_ask_for_too_much(text: str) -> None:
    run(f"{HEAD}{text}\nret;\n}}\n")


def _kernel(body: str, before: str = "") -> str:
    head = HEAD[: HEAD.index(".extern")]
    registers = f".reg .b32 %r<{_LENGTH + 1}>; .reg .pred %p<{_LENGTH + 1}>;"
    tile = ".shared .align 16 .b8 tile[64];"
    return f"{head}{before}.visible .entry k() {{ {registers} {tile}\n{body}\nret;\n}}\n"


_LENGTH = 1200
_NUMBERS = range(_LENGTH)
_LOOPS = range(150)
_CALL = "{{ .param .b32 y; st.param.b32 [y], 1; call.uni f{}, (y); }}"
_LONG = {
    "sums": [f"add.s32 %r{n + 1}, %r{n}, 4;" for n in _NUMBERS],
    "products": [f"mad.lo.s32 %r{n + 1}, %r{n}, %r{n}, 4;" for n in _NUMBERS],
    "copies from below": ["L:", *(f"mov.b32 %r{n}, %r{n + 1};" for n in _NUMBERS), "@%p0 bra L;"],
    "predicates": [f"and.pred %p{n + 1}, %p{n}, %p0;" for n in _NUMBERS],
    "loops in loops": [*(f"L{n}:" for n in _LOOPS), *(f"@%p{n} bra L{n};" for n in _LOOPS[::-1])],
    "branches": [*(f"@%p{n} bra L{n};" for n in _LOOPS), *(f"L{n}:" for n in _LOOPS[::-1])],
}


@pytest.mark.parametrize("build", ["plain", "profile", "sanitize"])
@pytest.mark.parametrize("what", _LONG)
def test_what_depends_on_much_is_read(what: str, build: str) -> None:
    access = f"st.shared.u32 [%r{_LENGTH}], 0; st.shared.u32 [%r0], %r1;"
    assert run(_kernel("\n".join([*_LONG[what], access])), build) == ""


def test_functions_may_call_each_other_a_thousand_deep() -> None:
    bodies = (_CALL.format(n - 1) if n else "" for n in _NUMBERS)
    functions = (f".func f{n}(.param .b32 x) {{ {b} ret; }}\n" for n, b in enumerate(bodies))
    assert run(_kernel(_CALL.format(_LENGTH - 1), "".join(functions))) == ""


@pytest.mark.parametrize("seed", sorted(SEEDS.glob("*.ptx")), ids=lambda path: path.stem)
@pytest.mark.parametrize("build", ["plain", "profile", "sanitize", "record"])
def test_what_other_compilers_write_runs(seed: Path, build: str) -> None:
    assert run(seed.read_text(), build, whole=True) == ""
