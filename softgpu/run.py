"""Runs a CUDA program on the software GPU: nvcc compiles it, and this process calls its main().

    softgpu run vectorAdd.cu
    softgpu sanitize main.cu kernels.cu -Iinclude -DN=1000 -- input.txt 7
    softgpu profile vectorAdd.cu -O2
    softgpu sanitize train.py --steps 7

What is not an option below goes to nvcc, or to a program in Python; what comes after -- goes to
the program.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from pathlib import Path

from . import install
from .build import BuildError
from .contract import ffi
from .loader import Engine
from .programs import SUFFIXES, ProgramError, Runtime, load_program, run_main, sources_of
from .toolkit import ToolkitError, find_cuda_12, find_toolkit
from .xray.profiler import report


class _Profiles:
    """Prints a report of each kernel's first launch with a grid and block."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.seen: set[tuple] = set()

    def begin(self) -> None:
        self.engine.runtime.sg_profile_begin(0)

    def end(self) -> None:
        result = self.engine.runtime.sg_profile_end()
        if not result.kernel:
            return  # nothing was launched
        shape = ffi.string(result.kernel), tuple(result.grid), tuple(result.block)
        if shape not in self.seen:
            self.seen.add(shape)
            print(report(self.engine, result), end="\n\n", file=sys.stderr, flush=True)


def _run_python(words: list[str], sanitize: bool, profile: bool) -> int:
    """Run a script of Python, whose kernels are PyCUDA's, Numba's, Triton's ..."""
    if profile:
        raise ProgramError("in a program of Python, profile a launch by softgpu.xray.profile")
    if not os.path.isfile(words[0]):
        raise ProgramError(f"there is no file {words[0]}")
    install()
    if sanitize:
        Engine.as_driver().findings_fail = False
        Engine.as_driver().sanitize_launches()
    sys.argv = [word for n, word in enumerate(words) if word != "--" or "--" in words[:n]]
    sys.path.insert(0, str(Path(words[0]).resolve().parent))
    runpy.run_path(words[0], run_name="__main__")
    return 0


def _run(words: list[str], sanitize: bool, profile: bool, cuda12: bool) -> int:
    if words and words[0].endswith(".py"):
        return _run_python(words, sanitize, profile)
    split = words.index("--") if "--" in words else len(words)
    sources = sources_of(words[:split])
    if not sources:
        raise ProgramError(f"there is no source to compile, no file {', '.join(SUFFIXES)}")
    for source in sources:
        if not os.path.isfile(source):
            raise ProgramError(f"there is no file {source}")
    toolkit = find_cuda_12() if cuda12 else find_toolkit()
    install(toolkit=toolkit)
    engine, runtime = Engine.as_driver(), Runtime(toolkit)
    if sanitize:
        engine.findings_fail = False
        engine.sanitize_launches()
    if profile:
        profiles = _Profiles(engine)
        runtime.observe_launches(profiles.begin, profiles.end)
    runtime.leave_at_exit()
    runtime.tell_user()
    program = load_program(words[:split], toolkit)
    return run_main(program, [Path(sources[0]).stem, *words[split + 1 :]])


def main(command: str, own: list[str]) -> int:
    """Run a program as `softgpu COMMAND` does, with these words after it."""
    head, _, examples = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=f"softgpu {command}", description=head, epilog=examples,
        usage="%(prog)s [--sanitize | --profile] FILE.cu ... [options of nvcc] [-- ARGUMENT ...]",
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
    end = own.index("--") if "--" in own else len(own)
    way = [] if command == "run" else [f"--{command}"]
    asked, words = parser.parse_known_args([*way, *own[:end]])
    try:
        return _run([*words, *own[end:]], asked.sanitize, asked.profile, asked.cuda12)
    except (BuildError, ProgramError, ToolkitError) as error:
        print(f"softgpu: {error}", file=sys.stderr)
        return 2
