"""A kernel at every stage on its way to machine code, for people to read."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..ptx.program import Instruction, Module
from .analysis.flow import EXIT, Block
from .analysis.passes import Analysis
from .compile import BUILDS, assembly, module_of, optimise
from .emit.module_text import ModuleText
from .facts.layout import Layout

__all__ = ["STAGES", "Stages", "stages"]

STAGES = ("kernel.ptx", "blocks.txt", "emitted.ll", "optimised.ll", "assembly.s")
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
    made = Stages(kernel, build)
    made.add("kernel.ptx", lambda: _ptx(layout.module, kernel))
    made.add("blocks.txt", lambda: _blocks(layout, build))
    made.add("emitted.ll", lambda: ModuleText(layout, BUILDS[build], annotated=True).emit(kernel))
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


def _blocks(layout: Layout, build: str) -> str:
    """The functions of a kernel as the passes leave them to the emitter."""
    text = ModuleText(layout, BUILDS[build])
    functions = (layout.module.functions[name] for name in layout.calls)
    found = (text.analysis(f, BUILDS[build].unrolls) for f in functions if f.is_defined)
    return "\n".join(map(_function, found))


def _function(found: Analysis) -> str:
    lines = [f"{found.function.name}\n  a value per lane: {' '.join(sorted(found.varying))}"]
    for index, block in enumerate(found.blocks):
        waiting = ", ".join(f"b{other}" for other in sorted(found.waiting[index]))
        lines.append(f"b{index}:{f'  lanes may wait at {waiting}' if waiting else ''}")
        lines += [f"    {_with_line(item)}" for item in block.instructions]
        lines.append(f"    -> {_ways(block, found.divergent[index])}")
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
