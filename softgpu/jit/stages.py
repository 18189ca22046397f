"""A kernel at every stage on its way to machine code, for people to read."""

from __future__ import annotations

import hashlib
import re
import textwrap
import time
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from ..ptx.program import Function, Instruction, Module
from .analysis.ahead import Ahead
from .analysis.flow import EXIT, Block
from .analysis.found import Ran
from .analysis.merging import Merged
from .analysis.nans import NanPlan
from .compile import assembly, module_of, optimise
from .emit.module_text import ModuleText
from .facts.layout import Layout
from .passes import BUILDS

__all__ = ["STAGES", "Stages", "stages"]

STAGES = ("kernel.ptx", "blocks.txt", "emitted.ll", "passes.txt", "optimised.ll", "assembly.s")
"""The texts of a kernel, in the order in which they are made."""


@dataclass
class Stages:
    """The texts of one build of a kernel, by names of STAGES, and what making each took."""

    kernel: str
    build: str
    texts: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, make):
        """Keep, under a name, the text that `make` returns, and how long it took."""
        start = time.perf_counter()
        text = str(make())
        self.seconds[name] = time.perf_counter() - start
        self.texts[name] = text

    def write(self, folder: Path) -> Path:
        """A file per text and times.txt, in a folder of their own; returns that."""
        digest = hashlib.sha256(self.texts["emitted.ll"].encode()).hexdigest()
        own = folder / f"{self.kernel[:180]}-{digest[:8]}.{self.build}"
        own.mkdir(parents=True, exist_ok=True)
        for name, text in self.texts.items():
            (own / name).write_text(text)
        rows = [f"{seconds * 1e3:10.1f} ms  {name}\n" for name, seconds in self.seconds.items()]
        (own / "times.txt").write_text("".join(rows))
        return own


def stages(layout: Layout, kernel: str, build: str) -> Stages:
    """Compile a kernel once more, in the open; whatever the cache may hold."""
    made, ran = Stages(kernel, build), list[Ran]()
    text = ModuleText(layout, BUILDS[build], annotated=True, after=ran.append)
    made.add("kernel.ptx", lambda: _ptx(layout.module, kernel))
    made.add("blocks.txt", lambda: _blocks(text))
    made.add("emitted.ll", lambda: text.emit(kernel))
    made.add("passes.txt", lambda: _passes(ran))
    module = module_of(made.texts["emitted.ll"])
    made.add("optimised.ll", lambda: optimise(module))
    made.add("assembly.s", lambda: assembly(module))
    return made


def _ptx(module: Module, kernel: str) -> str:
    """A kernel's own part of the text that it came in."""
    head = re.search(rf"^[^\n]*\.entry\s+{re.escape(kernel)}\b", module.text, re.MULTILINE)
    if head is None:
        return module.text
    body = re.compile(r"^}\n?", re.MULTILINE).search(module.text, head.end())
    return module.text[head.start() : body.end() if body else None]


def _passes(ran: list[Ran]) -> str:
    """What each pass over each function found, and how long it took."""
    lines = []
    for name in dict.fromkeys(one.function for one in ran):
        lines.append(name)
        for one in ran:
            if one.function == name:
                told = f"{one.seconds * 1e3:10.3f} ms  {one.name}: {_told(one.result) or 'nothing'}"
                lines += textwrap.wrap(told, 100, subsequent_indent=" " * 15)
    return "\n".join([*lines, ""])


def _told(found) -> str:
    """What a pass found, in words; lists have an element per block."""
    if isinstance(found, Function):
        return found.name
    if isinstance(found, Enum):
        return found.value
    if isinstance(found, list) and found and isinstance(found[0], Block):
        return f"{len(found)}, of {sum(len(block.instructions) for block in found)} instructions"
    if isinstance(found, list):
        return _told({f"b{index}": one for index, one in enumerate(found)})
    if isinstance(found, NanPlan | Ahead | Merged):
        return _told(vars(found))
    if isinstance(found, dict):
        told = ((_told(key), _told(value)) for key, value in found.items() if value is not False)
        return ", ".join(
            key if value == "True" else f"{key}: {value}" for key, value in told if value
        )
    if isinstance(found, set | frozenset):
        return " ".join(sorted(map(_told, found)))
    if isinstance(found, tuple):
        return " ".join(filter(None, map(_told, found)))
    text = str(found)
    return text if "\n" not in text else f"{text.count(chr(10)) + 1} lines"


def _blocks(text: ModuleText) -> str:
    """The functions of a kernel as the passes leave them to the emitter."""
    functions = (text.module.functions[name] for name in text.layout.calls)
    return "\n".join(_function(**text.known(f)) for f in functions if f.is_defined)


def _function(function, blocks, varying, waiting, divergent, **_) -> str:
    lines = [f"{function.name}\n  a value per lane: {' '.join(sorted(varying))}"]
    for index, block in enumerate(blocks):
        others = ", ".join(f"b{other}" for other in sorted(waiting[index]))
        lines.append(f"b{index}:{f'  lanes may wait at {others}' if others else ''}")
        lines += [f"    {_with_line(item)}" for item in block.instructions]
        lines.append(f"    -> {_ways(block, divergent[index])}")
    return "\n".join([*lines, ""])


def _with_line(item: Instruction) -> str:
    text = str(item)
    return f"{text:<56}  // {item.user_line}" if item.user_line.line else text


def _ways(block: Block, divergent: bool) -> str:
    """Where lanes go after a block."""
    targets = ["end" if target == EXIT else f"b{target}" for target in block.targets]
    if block.choice is None:
        return targets[0]
    if isinstance(block.choice, Instruction) and block.choice.predicate:
        test = f"{'!' if block.choice.negated else ''}{block.choice.predicate}"
        text = f"{targets[0]} if {test} else {targets[1]}"
    else:
        by = block.choice if isinstance(block.choice, str) else block.choice.operands[0]
        text = f"{', '.join(targets)} by {by}"
    return f"{text}{', lanes may part' if divergent else ''}"
