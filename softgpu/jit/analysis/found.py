"""Passes over a function, one after the other, and what they find."""

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
    """A step on the way to LLVM text: `run` gets what it `needs`, by name, of what was found before
    it; what it returns is found from then on, by the name of the pass."""

    name: str
    needs: tuple[str, ...]
    run: Callable
    fast: bool = False
    """Only for code that shall be fast: neither the driver does all accesses, nor is it large."""
    rewrites: bool = False
    """It returns another function first, of which all is found anew, unless it changed nothing."""


class Ran(NamedTuple):
    """That a pass has been run, and what came of it."""

    function: str
    name: str
    result: Any
    seconds: float


Hook = Callable[[Ran], object]
"""What is called after each pass: for times, dumps, and to look into what was found."""


class Found(SimpleNamespace):
    """What an emitter needs of what was found of a function, by the names of the passes."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{name} is not among what this build's emitter needs: see passes.py")


def run_pass(step: Pass, values: Iterable, function: str, after: Hook | None) -> Any:
    """What a pass returns for the values of what it needs."""
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
    """Run those passes, of which nothing is known yet, over known["function"].

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
