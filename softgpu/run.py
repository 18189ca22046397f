"""Runs a CUDA program on the software GPU: nvcc compiles it, and this process calls its main().
Or runs a program in Python, which launches kernels.

    softgpu run vectorAdd.cu
    softgpu sanitize main.cu kernels.cu -Iinclude -DN=1000 -- input.txt 7
    softgpu profile vectorAdd.cu -O2
    softgpu sanitize train.py --steps 7
    softgpu profile --json counts.jsonl --chip h100 train.py

What is not an option below goes to nvcc, and what comes after -- to the program. To a program in
Python goes all that comes after its name.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import install
from .build import BuildError
from .contract import ffi
from .declarations import short_name
from .findings import Findings
from .loaded import LoadedModule
from .loader import Engine
from .programs import SUFFIXES, ProgramError, Runtime, load_program, run_main, sources_of
from .toolkit import ToolkitError, find_cuda_12, find_toolkit
from .xray.chip import MODELLED, Chip, chip
from .xray.profiler import report


@dataclass
class _Asked:
    """What the command is asked to do with each launch."""

    sanitize: bool
    profile: bool
    json: str | None  # the file that takes it, too
    chip: Chip  # whose time is predicted

    def watch(self, engine: Engine) -> None:
        try:
            self._lines = open(self.json, "w", buffering=1) if self.json else None
        except OSError as error:
            raise ProgramError(f"--json {self.json}: {error.strerror}") from None
        self._seen: set[object] = set()
        if self.sanitize:
            engine.findings_fail, engine.tell_findings = False, self._tell_findings
            engine.tell_watched = self._tell_watched
            engine.sanitize_launches()
        if self.profile:
            engine.profile_launches(lambda result: self._tell_profile(engine, result))

    def _tell_findings(self, found: Findings) -> None:
        self._tell(found, map(asdict, found))

    def _tell_watched(self, module: LoadedModule, kernel: str) -> None:
        """Which results to trust of a kernel, before its first watched launch."""
        name = short_name(kernel)
        if name not in self._seen:
            self._seen.add(name)
            fidelity = module.fidelity(kernel)
            record = {"kernel": name, "fidelity": fidelity.as_dict()}
            self._tell(f"Fidelity of {name}: {fidelity}.", [record])

    def _tell_profile(self, engine: Engine, result: Any) -> None:
        """A report of each kernel's first launch with a grid and block."""
        shape = ffi.string(result.kernel), tuple(result.grid), tuple(result.block)
        if shape not in self._seen:
            self._seen.add(shape)
            found = report(engine, result, self.chip)
            self._tell(f"{found}\nFidelity: {found.fidelity}.\n", [found.as_dict()])

    def _tell(self, words: object, records: Iterable[dict]) -> None:
        print(words, file=sys.stderr, flush=True)
        if self._lines:
            self._lines.writelines(json.dumps(record) + "\n" for record in records)


def _run_python(words: list[str], asked: _Asked) -> int:
    """Run a script of Python, whose kernels are PyCUDA's, Numba's, Triton's ..."""
    if not os.path.isfile(words[0]):
        raise ProgramError(f"there is no file {words[0]}")
    install()
    asked.watch(Engine.as_driver())
    sys.argv = [word for n, word in enumerate(words) if word != "--" or "--" in words[:n]]
    sys.path.insert(0, str(Path(words[0]).resolve().parent))
    runpy.run_path(words[0], run_name="__main__")
    return 0


def _run(words: list[str], asked: _Asked, cuda12: bool) -> int:
    if words and words[0].endswith(".py"):
        return _run_python(words, asked)
    split = words.index("--") if "--" in words else len(words)
    sources = sources_of(words[:split])
    if not sources:
        raise ProgramError(f"name a program: a file that ends in {', '.join(SUFFIXES)} or .py")
    for source in sources:
        if not os.path.isfile(source):
            raise ProgramError(f"there is no file {source}")
    toolkit = find_cuda_12() if cuda12 else find_toolkit()
    install(toolkit=toolkit)
    runtime = Runtime(toolkit)
    asked.watch(Engine.as_driver())
    runtime.leave_at_exit()
    runtime.tell_user()
    program = load_program(words[:split], toolkit)
    return run_main(program, [Path(sources[0]).stem, *words[split + 1 :]])


def main(command: str, own: list[str]) -> int:
    """Run a program as `softgpu COMMAND` does, with these words after it."""
    head, _, examples = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=f"softgpu {command}", description=head, epilog=examples,
        usage="%(prog)s [options] FILE.cu ... [options of nvcc] [-- ARGUMENT ...]\n"
        f"       softgpu {command} [options] FILE.py [ARGUMENT ...]",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--sanitize", action="store_true", help="say what each launch does wrong")
    ways.add_argument(
        "--profile", action="store_true", help="count what each kernel costs, by line"
    )
    parser.add_argument(
        "--cuda12", action="store_true", help="take CUDA 12's headers, which have what 13 removed"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write to a file, too, what is found or counted: JSON lines"
    )
    parser.add_argument(
        "--chip", default=MODELLED, help="predict times of this GPU: h200 (the default) or h100"
    )
    ends = (at for at, word in enumerate(own) if word == "--" or word.endswith(".py"))
    end = next(ends, len(own))
    way = [] if command == "run" else [f"--{command}"]
    given, words = parser.parse_known_args([*way, *own[:end]])
    if given.json and not (given.sanitize or given.profile):
        parser.error("--json goes with sanitize or profile, which find or count something")
    try:
        asked = _Asked(given.sanitize, given.profile, given.json, chip(given.chip))
    except ValueError as error:
        parser.error(str(error))
    try:
        return _run([*words, *own[end:]], asked, given.cuda12)
    except (BuildError, ProgramError, ToolkitError) as error:
        print(f"softgpu: {error}", file=sys.stderr)
        return 2
