"""A module of PTX once it is parsed: its layouts, its code, its source, what ptxas says of it."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from . import sass
from .contract import DEVICE
from .declarations import Declarations, short_name
from .fidelity import Fidelity, fidelity_of
from .jit.analysis.contraction import contracted
from .jit.compile import KernelCode
from .jit.facts.layout import Image, Layout
from .mistakes import own_mistake
from .ptx import PtxError, TooLarge, link, parse
from .ptx.callers import tell_callers
from .ptx.program import InternalError
from .ptx.tokens import token_lines

__all__ = ["APART", "LoadedModule", "at_work_on"]

APART = "\n// -fmad=false\n"
"""Stands in a text whose compiler was told to round products and their sums one by one."""


_INLINE_ASM = re.compile(r"// begin inline asm\n.*?// end inline asm", re.DOTALL)
_LOC = re.compile(r"^\s*\.loc\b.*", re.MULTILINE)


def _of_one_line(match: re.Match[str]) -> str:
    """Inline assembly with its first .loc only: LLVM counts one line up with each instruction."""
    if not (first := _LOC.search(match[0])):
        return match[0]
    return match[0][: first.end()] + _LOC.sub("", match[0][first.end() :])


@contextmanager
def at_work_on(kernel: str) -> Iterator[None]:
    """What goes wrong here, and is no refusal, is reported with the kernel's name."""
    try:
        yield
    except (PtxError, InternalError, MemoryError):
        raise
    except Exception as error:
        raise InternalError(f"kernel {short_name(kernel)}") from error


class LoadedModule:
    """A module of PTX: parsed, its variables placed; its kernels are looked at on demand."""

    def __init__(self, text: str):
        text = _INLINE_ASM.sub(_of_one_line, text)
        self.text = text
        self.digest = hashlib.sha256(text.encode()).digest()
        program = tell_callers(parse(link(text)))
        self.program = program if APART in text else contracted(program)
        self.image = Image(self.program)
        self._layouts: dict[str, Layout] = {}
        self._watched_layouts: dict[str, Layout] = {}
        self._codes: dict[tuple[str, str, bool], KernelCode] = {}
        self._told_refusals = False

    def fidelity(self, kernel: str) -> Fidelity:
        """Which of a kernel's instructions, run or not, give a GPU's bits."""
        return fidelity_of(self.layout(kernel), kernel)

    def layout(self, kernel: str) -> Layout:
        """Where a kernel's shared and local memory lies; refuses more than there can be."""
        if kernel not in self._layouts:
            layout = Layout(self.program, self.image, kernel)
            shared, local = layout.static_shared_bytes, layout.local_bytes
            parameters = self.program.functions[kernel].param_bytes
            tiles = self.program.functions[kernel].of_tiles
            most = DEVICE["block_most_shared" if tiles else "block_shared"]
            if shared > most:
                raise TooLarge(
                    f"kernel {kernel} has {shared} bytes of static shared"
                    f" memory; a block can have {most}, more only as dynamic"
                )
            if local > DEVICE["thread_local"]:
                raise TooLarge(
                    f"kernel {kernel} needs {local} bytes of local memory;"
                    f" a thread can have {DEVICE['thread_local']}"
                )
            if parameters > DEVICE["kernel_parameters"]:
                raise TooLarge(
                    f"kernel {kernel} takes {parameters} bytes of parameters;"
                    f" {DEVICE['kernel_parameters']} are possible"
                )
            self._layouts[kernel] = layout
        return self._layouts[kernel]

    def code(self, kernel: str, build_name: str, quick: bool = True) -> KernelCode:
        """A build of a kernel; building it for the first time notices what cannot be run.

        `quick`: it need not be in full, as for what both tiers have."""
        full = self._codes.get((kernel, build_name, True))
        found = full or (quick and self._codes.get((kernel, build_name, False)))
        if not found:
            found = self._new_code(kernel, build_name, quick)
            self._codes[kernel, build_name, found.is_full] = found
        return found

    def _new_code(self, kernel: str, build_name: str, quick: bool = True) -> KernelCode:
        layout = self.watched_layout(kernel) if build_name == "sanitize" else self.layout(kernel)
        return KernelCode(self.digest, layout, kernel, build_name, quick)

    def watched_layout(self, kernel: str) -> Layout:
        """The layout of the sanitizer's build, where nothing is aligned by luck."""
        if kernel not in self._watched_layouts:
            self._watched_layouts[kernel] = self.layout(kernel).least_aligned()
        return self._watched_layouts[kernel]

    def refused_beside(self, kernel: str) -> str:
        """The module's other kernels that cannot run, in words; empty from the second time on."""
        if self._told_refusals:
            return ""
        reasons = []
        for other in self.program.kernels:
            try:
                if other.name != kernel:
                    with at_work_on(other.name):
                        self._new_code(other.name, "plain")
            except PtxError as error:
                reasons.append(f"\n    {other.name}: {error}")
            except InternalError as error:
                reasons.append(f"\n    {other.name}: {own_mistake(error)}")
        self._told_refusals = True
        if not reasons:
            return ""
        head = (
            f"\n{len(reasons)} more of the module's {len(self.program.kernels)} kernels cannot run:"
        )
        return head + "".join(reasons)

    @cached_property
    def source_lines(self) -> dict[str, dict[int, str]]:
        """The CUDA source by file and line, from comments after the PTX or the files it names.

        What `#line` does not name in those comments is file "".
        """
        found: dict[str, dict[int, str]] = {}
        file, number = "", 0
        for line in self.text.splitlines():
            if not line.startswith("//@ "):
                continue
            if match := re.match(r'//@ \s*#\s*(?:line\s+)?(\d+)(?:\s+"([^"]*)")?', line):
                file, number = match[2] or file, int(match[1]) - 1
                continue
            number += 1
            found.setdefault(file, {})[number] = line[4:]
        return found or {name: _lines_of(name) for name in self.program.own_files}

    @cached_property
    def language(self) -> str:
        """What the kernels are written in: "triton", "numba" or "cuda"."""
        if not any(name.endswith(".py") for name in self.program.own_files):
            return "cuda"
        return "numba" if "NumbaEnv" in self.text else "triton"

    @cached_property
    def declarations(self) -> Declarations:
        """What that source declares."""
        lines = (line for lines in self.source_lines.values() for line in lines.values())
        return Declarations("\n".join(lines))

    @cached_property
    def _ptxas(self) -> str | None:
        """NVIDIA's assembler, the first that takes this text."""
        found = sass.find_assemblers(os.environ.get("SOFTGPU_NVCC", ""))
        for ptxas in found:
            with suppress(sass.Refused):
                sass.assembled(self.text, self.program.target, ptxas)
                return ptxas
        return found[0] if found else None

    @cached_property
    def resources(self) -> dict[str, dict[str, int]]:
        """What ptxas reports of each kernel: registers, local and constant bytes; {} without it."""
        if self._ptxas is None:
            return {}
        try:
            report, _ = sass.assembled(self.text, self.program.target, self._ptxas)
        except sass.Refused:
            return {}
        return _read_ptxas(report)

    @cached_property
    def machine_code(self) -> dict[str, list[sass.SassBlock]]:
        """Each kernel's machine code; sass.Refused, where there is none, says why."""
        ptxas = self._ptxas
        nvdisasm = sass.find_nvdisasm(os.environ.get("SOFTGPU_NVCC", ""))
        if ptxas is None or nvdisasm is None:
            raise sass.Refused("machine code is unknown without NVIDIA's ptxas and nvdisasm")
        return sass.disassemble(self.text, self.program.target, ptxas, nvdisasm)

    @cached_property
    def token_lines(self) -> list[int]:
        """The line of the text on which each token stands."""
        return token_lines(self.text)


def _lines_of(file: str) -> dict[int, str]:
    """The lines of a file by number; {} if it cannot be read."""
    try:
        return dict(enumerate(Path(file).read_text(errors="replace").splitlines(), 1))
    except OSError:
        return {}


def _read_ptxas(report: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    current: dict[str, int] = {}
    for line in report.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            current = found.setdefault(match[1], {"registers": 0, "local": 0, "constant": 0})
        elif match := re.search(r"Function properties for (\S+)", line):
            current = found.get(match[1].strip("'"), {})
        elif match := re.search(r"(\d+) bytes stack frame", line):
            current["local"] = int(match[1])
        elif match := re.search(r"Used (\d+) registers", line):
            current["registers"] = int(match[1])
            current["constant"] = sum(int(n) for n in re.findall(r"(\d+) bytes cmem\[[^0]\]", line))
    return found
