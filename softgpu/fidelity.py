"""How far a launch's results can be trusted: which instructions give a GPU's bits, and whether one
that may not decides more than a number.

Terms: taint analysis (Denning, Denning 1977; docs/terms.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .jit.analysis.flow import registers_of
from .jit.analysis.origins import Origins
from .jit.facts.layout import Layout, symbols_of
from .jit.facts.opcodes import Does, Trait, does, has
from .ptx.program import Address, Function, Instruction, Register, Symbol, Vector

__all__ = ["RECORDED", "Fidelity", "fidelity_of", "form_of"]

RECORDED = Path(__file__).with_name("recorded_forms.txt")
"""The forms that a GPU's answers are recorded for: softgpu/tests/recorded_forms.py."""

_ANYWHERE = "?"
_HINTS = frozenset("weak ca cg cs lu cv nc wb wt tile".split())
_APPROXIMATE = frozenset(("approx", "full"))
_MOVED = {"ld", "st", "mov", "selp", "shfl"}  # which ask no more of a type than its size


def form_of(item: Instruction) -> str:
    """An instruction's name without what changes no result: hints to caches, a type that is only
    moved."""
    kept = [m for m in item.modifiers if m not in _HINTS and not m.startswith(("L1::", "L2::"))]
    kept = ["shared" if m == "shared::cta" else m for m in kept]
    if item.opcode in _MOVED and kept and kept[-1][1:].isdigit():
        kept[-1] = f"b{kept[-1][1:]}"
    return ".".join((item.opcode, *kept))


@cache
def _recorded() -> Set[str]:
    return frozenset(RECORDED.read_text().split())


@dataclass(frozen=True)
class Fidelity:
    """How many of a launch's PTX instructions give a GPU's bits. A profile counts each as often as
    warps executed it; the sanitizer's findings count each that the kernel has, once.

    `exact`: the results of their form were recorded on a GPU, and are the same here.
    `approximate`: by form, those whose results CUDA bounds only: here they lie within that bound of
    the true value, as a GPU's do. `by_the_manual`: by form, those for which no GPU's results are
    recorded. `decides`: what a result of the last two reached beside numbers, "addresses",
    "branches" or "barriers"."""

    exact: int
    approximate: dict[str, int]
    by_the_manual: dict[str, int]
    decides: tuple[str, ...]

    def as_dict(self) -> dict:
        """What JSON can hold."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.approximate and not self.by_the_manual:
            return "every instruction gives a GPU's bits"
        others = sum((self.approximate | self.by_the_manual).values())
        kinds = (
            ("within CUDA's error bounds", self.approximate),
            ("by the manual", self.by_the_manual),
        )
        named = "; ".join(f"{words}: {', '.join(found)}" for words, found in kinds if found)
        reached = " and ".join(self.decides) if self.decides else "no address, branch or barrier"
        return (
            f"{self.exact:,} of {self.exact + others:,} instructions give a GPU's bits;"
            f" results of the others ({named}) reach {reached}"
        )


def fidelity_of(layout: Layout, kernel: str, executed: Counter[int] | None = None) -> Fidelity:
    """What can be said of a launch. `executed`: how often each instruction of the module ran, by
    its token; None where nobody counted: then each counts once."""
    functions = [layout.module.functions[name] for name in layout.calls]
    exact, approximate, by_the_manual = 0, Counter[str](), Counter[str]()
    doubtful = set()
    for item in (item for function in functions for item in function.instructions):
        if not (times := 1 if executed is None else executed[item.token]):
            continue
        form = form_of(item)
        if _APPROXIMATE.intersection(item.modifiers):
            approximate[form] += times
        elif form not in _recorded() and not does(item, Does.HINTS):
            by_the_manual[form] += times
        else:
            exact += times
            continue
        if registers_of(item)[0] or (_places(item) and not does(item, Does.ORDERS)):
            doubtful.add(item)
    decides = _Taint(layout, kernel, functions, doubtful).decides() if doubtful else ()
    return Fidelity(exact, dict(approximate), dict(by_the_manual), decides)


class _Taint:
    """Where the results of some instructions go: a taint analysis, flow-insensitive and across
    calls. What is stored is followed by the array or variable that it goes to."""

    def __init__(
        self, layout: Layout, kernel: str, functions: list[Function], sources: Set[Instruction]
    ):
        self.functions, self.sources = functions, sources
        self.by_name = {function.name: function for function in functions}
        self.origins = {f.name: Origins(f, layout) for f in functions}
        self.kernel = kernel
        self.tainted: set[tuple[str, str]] = set()  # (function, register or parameter)
        self.memory: set = set()  # what Origins has, or _ANYWHERE
        before = -1
        while before < (before := len(self.tainted) + len(self.memory)):
            for function in functions:
                for item in function.instructions:
                    if self._is_tainted(function, item):
                        self._taint_results(function, item)

    def decides(self) -> tuple[str, ...]:
        """What a tainted value decides."""
        found = {
            what for f in self.functions for i in f.instructions for what in self._decides(f, i)
        }
        return tuple(sorted(found))

    def _decides(self, function: Function, item: Instruction) -> Iterator[str]:
        if item.predicate and self._has(function, item.predicate.name):
            yield "branches"
        elif does(item, Does.JUMPS) and any(self._reads(function, o) for o in item.operands):
            yield "branches"
        bases = [place.base for place in _places(item)]
        if any(isinstance(base, Register) and self._has(function, base.name) for base in bases):
            yield "addresses"
        elif has(item, Trait.MEETS) and any(self._reads(function, o) for o in item.operands):
            yield "barriers"

    def _has(self, function: Function, name: str) -> bool:
        return (function.name, name) in self.tainted

    def _reads(self, function: Function, operand: Any) -> bool:
        if isinstance(operand, Vector):
            return any(self._reads(function, element) for element in operand.elements)
        name = getattr(operand, "register", operand)
        return isinstance(name, (Register, Symbol)) and self._has(function, name.name)

    def _is_tainted(self, function: Function, item: Instruction) -> bool:
        if item in self.sources or any(
            self._has(function, register.name) for register in registers_of(item)[1]
        ):
            return True
        if item.opcode == "call":
            passed = any(self._has(function, name) for o in item.operands for name in symbols_of(o))
            returned = ((f, result.name) for f in self._callees(item) for result in f.returns)
            return passed or any(self._has(callee, name) for callee, name in returned)
        return item.opcode != "st" and any(
            self._holds(function, item, place) for place in _places(item)
        )

    def _holds(self, function: Function, item: Instruction, place: Address) -> bool:
        """Whether what an address leads to may be tainted."""
        if "param" in item.modifiers:
            return isinstance(place.base, str) and self._has(function, place.base)
        where = self._where(function, place)
        return bool(where & self.memory or (self.memory and _ANYWHERE in where | self.memory))

    def _where(self, function: Function, place: Address) -> Set:
        known = (
            self.origins[function.name].origins_of(place) if function.name == self.kernel else ()
        )
        return frozenset(known or {_ANYWHERE})

    def _taint_results(self, function: Function, item: Instruction) -> None:
        self.tainted |= {(function.name, r.name) for r in registers_of(item)[0]}
        if item.opcode == "call":
            self._taint_call(function, item)
        elif not does(item, Does.READS, Does.COMPUTES):
            for place in _places(item):
                if "param" in item.modifiers and isinstance(place.base, str):
                    self.tainted.add((function.name, place.base))
                else:
                    self.memory |= self._where(function, place)

    def _callees(self, item: Instruction) -> list[Function]:
        called = item.operands[1]
        names = [called.name] if isinstance(called, Symbol) else [*self.by_name]
        return [self.by_name[name] for name in names if name in self.by_name]

    def _taint_call(self, function: Function, item: Instruction) -> None:
        """Parameters that are tainted, and all results."""
        returned, _, passed, *_ = item.operands
        self.tainted |= {(function.name, name) for name in symbols_of(returned)}
        for callee in self._callees(item):
            for symbol, parameter in zip(passed.elements, callee.params):
                if any(self._has(function, name) for name in symbols_of(symbol)):
                    self.tainted.add((callee.name, parameter.name))


def _places(item: Instruction) -> list[Address]:
    """The memory that an instruction names; somewhere in shared memory, for a product's
    descriptors."""
    if item.opcode == "wgmma":
        return [Address(None)]
    parts = [e for o in item.operands for e in (o.elements if isinstance(o, Vector) else (o,))]
    return [part for part in parts if isinstance(part, Address)]
