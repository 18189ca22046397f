"""All cases; and the goldens: a file of answers a family, and an index of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from . import (
    atomics,
    convert,
    floating,
    fp8,
    functions,
    half,
    integer,
    matrices,
    memory,
    nans,
    programs,
    written,
)
from .case import Case, Kernel, Module

__all__ = ["CASES", "FAMILIES", "Golden", "family"]

FOLDER = Path(__file__).parent / "golden"
_PARTS = (
    integer,
    floating,
    half,
    convert,
    fp8,
    nans,
    functions,
    memory,
    atomics,
    matrices,
    written,
    programs,
)
_MODULES: list[Module] = [module for part in _PARTS for module in part.MODULES]

CASES: dict[str, tuple[Module, Kernel, Case]] = {
    case.name: (module, kernel, case)
    for module in _MODULES
    for kernel in module.kernels
    for case in kernel.cases
}
assert len(CASES) == sum(len(k.cases) for m in _MODULES for k in m.kernels), "a name occurs twice"


def family(name: str) -> str:
    """What stands before the slash in a case's name."""
    return name.partition("/")[0]


FAMILIES: list[str] = list(dict.fromkeys(map(family, CASES)))


class Golden:
    """The recorded answers. The index holds where they come from, and of each case its place in its
    family's file, its size in bytes and the fingerprint of the kernel that gave it."""

    def __init__(self) -> None:
        self.origin: dict[str, str] = {}
        self._index: dict[str, list[int]] = {}
        self._answers: dict[str, bytes] = {}
        if (FOLDER / "index.json").exists():
            stored = json.loads((FOLDER / "index.json").read_text())
            self.origin, self._index = stored["origin"], stored["cases"]

    def names(self) -> set[str]:
        return set(self._index)

    def fingerprint(self, name: str) -> int:
        return self._index[name][2]

    def answer(self, name: str) -> bytes:
        which = family(name)
        if which not in self._answers:
            with np.load(_file(which)) as stored:
                self._answers[which] = stored["answers"].tobytes()
        start, size, _ = self._index[name]
        return self._answers[which][start : start + size]

    def record(self, origin: dict[str, str], answers: dict[str, bytes]) -> None:
        """Replace the goldens of every family that occurs among the answers."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        new = set(map(family, answers))
        kept = {n: entry for n, entry in self._index.items() if family(n) not in new}
        self._index = {n: entry for n, entry in kept.items() if n in CASES}
        for which in sorted(new):
            names = [name for name in answers if family(name) == which]
            start = 0
            for name in names:
                size = len(answers[name])
                module, kernel, _ = CASES[name]
                self._index[name] = [start, size, module.fingerprint(kernel)]
                start += size
            words = np.frombuffer(b"".join(answers[name] for name in names), np.uint8)
            np.savez_compressed(_file(which), answers=words)
        lines = ",\n".join(f"  {json.dumps(n)}: {e}" for n, e in sorted(self._index.items()))
        text = f'{{"origin": {json.dumps(origin, indent=1)},\n "cases": {{\n{lines}\n }}}}\n'
        (FOLDER / "index.json").write_text(text)


def _file(which: str) -> Path:
    return FOLDER / f"{which.replace(' ', '_')}.npz"
