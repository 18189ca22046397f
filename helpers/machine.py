"""What becomes of a kernel: its PTX, and the machine instructions that each of PTX becomes.

PTX is the same for all GPUs; machine code (SASS) is for one kind, here the one in use. One of PTX
can be many of the machine's, and some call routines that NVIDIA's assembler adds."""

import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from softgpu.sass import disassembly, find_nvdisasm, listing

from . import autoinit

__all__ = ["Code", "PtxStep", "code"]

MISSING = "machine code unknown: install NVIDIA's nvdisasm (the package nvidia-cuda-nvdisasm)"
FILE = re.compile(r'^\s*\.file\s+(\d+) "(.+)"', re.MULTILINE)
PLACE = re.compile(r"\.loc\s+(\d+) (\d+)")
ROUTINE = re.compile(r"\$__internal_\d+_\$(\w+)")
PADDING = re.compile(r"NOP|BRA `\(\.L_x_\d+\)")  # after the last instruction
CELL = "text-align: left; vertical-align: top; padding: 1px 1em 1px 0"
FONT = "font-family: var(--jp-code-font-family, monospace); font-size: 90%"
PRE = f"{FONT}; background: none; color: inherit; padding: 0"


@dataclass(frozen=True)
class PtxStep:
    """An instruction of PTX. source: the CUDA line that it is for, "" where nvcc added it."""

    source: str
    ptx: str
    machine: tuple


@dataclass(frozen=True)
class Code:
    """A kernel's steps, and the routines that they call: {name: instructions}.

    code["rem."]: those steps only whose PTX has that piece."""

    kernel: str
    target: str
    steps: tuple
    routines: dict
    note: str = ""

    @property
    def count(self):
        """Machine instructions, its routines' among them; None without nvdisasm."""
        lists = [*(step.machine for step in self.steps), *self.routines.values()]
        return None if self.note else sum(map(len, lists))

    def __getitem__(self, piece):
        steps = tuple(step for step in self.steps if piece in step.ptx)
        if not steps:
            raise LookupError(f"no PTX of {self.kernel} contains {piece!r}")
        called = " ".join(text for step in steps for text in step.machine)
        routines = {name: rows for name, rows in self.routines.items() if name in called}
        return replace(self, steps=steps, routines=routines)

    @property
    def heading(self):
        machine = self.note or f"{self.count} machine instructions for {self.target}"
        return f"{self.kernel}: {len(self.steps)} of PTX, {machine}"

    def rows(self):
        """(CUDA line where it changes, PTX, machine instructions)."""
        last = ""
        for step in self.steps:
            yield step.source if step.source != last else "", step.ptx, step.machine
            last = step.source

    def __repr__(self):
        lines = [self.heading]
        for source, ptx, machine in self.rows():
            lines += [source] if source else []
            lines += [f"    {ptx}", *(f"        {text}" for text in machine)]
        called = (f"{name}: {len(rows)} instructions" for name, rows in self.routines.items())
        return "\n".join([*lines, *called])

    def _repr_html_(self):
        rows = [("CUDA", "PTX", "machine")]
        rows += [(source, ptx, "\n".join(machine)) for source, ptx, machine in self.rows()]
        body = "".join(
            f'<tr style="background: none">{"".join(map(_cell, row))}</tr>' for row in rows
        )
        called = "".join(
            f"<details><summary>{name}: {len(rows)} instructions</summary>"
            f"{_pre(chr(10).join(rows))}</details>"
            for name, rows in self.routines.items()
        )
        return f"<p>{escape(self.heading)}</p><table>{body}</table>{called}"


def _cell(text):
    return f'<td style="{CELL}">{_pre(text)}</td>'


def _pre(text):
    return f'<pre style="{PRE}">{escape(text)}</pre>'


def code(kernel):
    """The Code of a kernel of helpers.sources, for the GPU in use."""
    target = "sm_{}{}".format(*autoinit.device.compute_capability())
    ptx, tool = _ptx(kernel, target), find_nvdisasm(autoinit.compiler.nvcc)
    sass = disassembly(ptx, target, "ptxas", tool) if tool else ""
    machine, routines = _machine(sass, kernel.name)
    steps = (
        PtxStep(where, instruction, tuple(machine.get(number, ())))
        for number, where, instruction in _instructions(ptx, kernel)
    )
    return Code(kernel.name, target, tuple(steps), routines, "" if tool else MISSING)


def _ptx(kernel, target):
    """A kernel's PTX, with its CUDA lines."""
    from pycuda.compiler import compile

    if autoinit.is_software:  # for which this is what it was compiled to, followed by its source
        return compile(**kernel.arguments).decode().partition("\n//@")[0]
    with tempfile.TemporaryDirectory() as folder:
        source, ptx = Path(folder, "kernel.cu"), Path(folder, "kernel.ptx")
        source.write_text(kernel.arguments["source"])
        options = [*kernel.arguments["options"], "-arch", target, "-lineinfo", "-ptx", "-o", ptx]
        options += [f"-I{path}" for path in kernel.arguments["include_dirs"]]
        command = [autoinit.compiler.nvcc, *options, source]
        subprocess.run(command, capture_output=True, check=True)
        return ptx.read_text()


def _instructions(ptx, kernel):
    """(line of the PTX, CUDA line, instruction) of a kernel."""
    lines = ptx.splitlines()
    files, inside, where = dict(FILE.findall(ptx)), False, ""
    for number, line in enumerate(map(str.strip, lines), 1):
        if ".entry" in line:
            inside = f".entry {kernel.name}(" in line
        elif inside and (place := PLACE.match(line)):
            where = _said(files[place[1]], int(place[2]), kernel)
        elif inside and line.endswith(";") and line[0] not in ".{}":
            yield number, where, line.rstrip(";").replace("\t", " ")


def _said(path, line, kernel):
    """A CUDA line with its number, and its file where that is a header."""
    if not line:
        return ""
    file = Path(path)
    text = file.read_text() if file.is_file() else kernel.source  # a text has no file
    header = f"{file.name}:" if file.suffix != ".cu" else ""
    return f"{header}{line}  {text.splitlines()[line - 1].strip()}"


def _machine(sass, kernel):
    """{line of the PTX: instructions}, and {routine: instructions}."""
    by_line: dict[int, list[str]] = {}
    routines: dict[str, list[str]] = {}
    here: list[str] = []
    for what, text in listing(sass).get(kernel, ()):
        if what == "line":
            here = by_line.setdefault(int(text), [])
        elif routine := ROUTINE.fullmatch(text):
            here = routines.setdefault(routine[1], [])
        elif what == "instruction":
            here.append(text)
    while here and PADDING.fullmatch(here[-1]):
        here.pop()
    return by_line, routines
