"""Whatever the PTX, the answer is a kernel or a PtxError that says where; never a traceback."""

import pytest

from helpers import autoinit

from .fuzz import HEAD, failures, run, statements

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not autoinit.is_software, reason="nvcc leaves PTX for the software GPU"),
]


@pytest.mark.parametrize("seed", range(4))
def test_no_text_ends_in_a_traceback(seed: int) -> None:
    for changed, trace in failures(seed, 600):
        pytest.fail(f"{changed}\n{trace}", pytrace=False)


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
