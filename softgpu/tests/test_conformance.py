"""Small kernels give the answers that an NVIDIA H200 gave (softgpu/tests/conformance/golden)."""

from __future__ import annotations

import numpy as np
import pytest

from softgpu.tests import autoinit, facts
from softgpu.tests.conformance import record, runner
from softgpu.tests.conformance.case import Case, Kernel
from softgpu.tests.conformance.refused import REFUSED, Refused
from softgpu.tests.conformance.suite import CASES, Golden, family

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.usefixtures("in_full"),
    pytest.mark.skipif(
        autoinit.device.compute_capability() < (9, 0),
        reason="the kernels use instructions of compute capability 9.0",
    ),
]
GOLDEN = Golden()
_answers: dict[str, dict[str, bytes] | Exception] = {}  # by kernel


def _answer(name: str) -> bytes:
    module, kernel, _ = CASES[name]
    if kernel.entry not in _answers:
        runner.prepare(family(name))
        try:
            _answers[kernel.entry] = runner.answers(module, kernel)
        except Exception as error:
            _answers[kernel.entry] = error
    result = _answers[kernel.entry]
    if isinstance(result, Exception):
        raise result
    return result[name]


def _explained(case: Case, kernel: Kernel, got: bytes, want: bytes, at: np.ndarray) -> str:
    """The first values that differ, with the operands they come from."""
    unit = case.rule.unit(case.dtype)
    if case.rule.kind == "bits":  # what differs are bytes
        at = np.unique(at // unit.itemsize)
    got_words, want_words = np.frombuffer(got, unit), np.frombuffer(want, unit)
    digits = 2 * unit.itemsize
    lines = [f"{case.name}: {len(at)} of {len(got_words)} values differ"]
    for n in at[:8]:
        thread = n * case.count // len(got_words)
        operands = " ".join(
            f"{array[thread]:#0{2 + 2 * array.itemsize}x}"
            for array in kernel.inputs
            if array.size == case.count
        )
        lines.append(f"[{n}] {operands}: {got_words[n]:0{digits}x}, not {want_words[n]:0{digits}x}")
    return "\n".join(lines)


def _case(name: str) -> object:
    """A family's cases, which share modules, have the first part of their names in common."""
    mark = pytest.mark.one_launch(CASES[name][1].entry)
    return pytest.param(name, id=name.replace("/", "-", 1), marks=[mark])


@pytest.mark.parametrize("name", [*map(_case, CASES)])
def test_answer(name: str) -> None:
    module, kernel, case = CASES[name]
    assert name in GOLDEN.names(), "no answer was recorded for this case"
    stale = "the case has changed since its answer was recorded"
    assert GOLDEN.fingerprint(name) == module.fingerprint(kernel, case), stale
    got, want = _answer(name), GOLDEN.answer(name)
    operands = [array for array in kernel.inputs if array.size == case.count]
    at = case.rule.differing(got, want, operands)
    if len(at):
        pytest.fail(_explained(case, kernel, got, want, at), pytrace=False)


def test_every_answer_has_a_case() -> None:
    assert not GOLDEN.names() - set(CASES)


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU may record")
def test_only_a_gpu_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert record.main([]) == 1
    assert "real GPU" in capsys.readouterr().err


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU runs these")
@pytest.mark.parametrize("refused", REFUSED, ids=lambda refused: refused.name)
def test_refused_when_asked_for(refused: Refused) -> None:
    """By name of the instruction and line of the source."""
    with facts.refused(runner.cuda.Error, refused.instruction, f"kernel.cu:{refused.line}"):
        refused.get()
