"""Runs passes over a function, one after the other, and stores their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

from ...ptx.program import InternalError, PtxError

__all__ = ["Found", "Hook", "Pass", "Ran", "run_pass", "run_passes"]


@dataclass(frozen=True)
class Pass:
    """A compilation pass. `run` gets earlier results by the names in `needs`; its own result is
    stored under the pass's name."""

    name: str
    needs: tuple[str, ...]
    run: Callable
    fast: bool = False
    """Run only for optimised code: not if the driver does all accesses, nor if the function is
    large."""
    rewrites: bool = False
    """The first result is a function. If it changed, all earlier passes are run again on it."""


class Ran(NamedTuple):
    """A pass that has run, and its result."""

    function: str
    name: str
    result: Any
    seconds: float


Hook = Callable[[Ran], object]
"""Called after each pass: for timing, dumps, and inspecting results."""


class Found(SimpleNamespace):
    """The results of the passes over a function, by pass name."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} is not among what this build's emitter needs: see passes.py")


def run_pass(step: Pass, values: Iterable, function: str, after: Hook | None) -> Any:
    """Run a pass on the values of what it needs, and return its result."""
    start = time.perf_counter()
    try:
        result = step.run(*values)
    except (PtxError, InternalError, MemoryError):
        raise
    except Exception as error:
        raise InternalError(f"the pass {step.name} over {function}") from error
    if after:
        after(Ran(function, step.name, result, time.perf_counter() - start))
    return result


def run_passes(
    passes: Sequence[Pass], known: dict[str, Any], by_driver: bool, after: Hook | None = None
) -> None:
    """Run the passes that have no result yet, over known["function"].

    `by_driver`: the driver does all accesses."""
    for step in passes:
        if step.name in known or (step.fast and (by_driver or known["large"])):
            continue
        values = [known[name] for name in step.needs]
        result = run_pass(step, values, known["function"].name, after)
        if step.rewrites:
            rewritten, result = result
            if result:
                for other in passes:
                    known.pop(other.name, None)
                known["function"] = rewritten
        known[step.name] = result
