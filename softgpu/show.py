"""What the software GPU makes of a kernel, stage by stage.

    softgpu show kernel.cu                           # its only kernel, or which there are
    softgpu show kernel.cu scale                     # its PTX, and its blocks
    softgpu show kernel.ptx scale assembly           # one stage
    softgpu show kernel.cu scale passes              # what each pass finds, and its time
    softgpu show kernel.cu scale machine             # a GPU's machine code, by ptxas and nvdisasm
    softgpu show kernel.cu scale all --build sanitize --arch sm_80

SOFTGPU_DUMP=FOLDER leaves the same of every kernel that a program launches.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import contract, sass, settings
from .declarations import short_name
from .jit.facts.layout import Image, Layout
from .jit.stages import STAGES, Stages, stages
from .mistakes import own_mistake
from .ptx import Module, PtxError, parse
from .toolkit import ToolkitError, find_toolkit

MACHINE = "machine.sass"  # beside STAGES: it is not on the way of this GPU


class _Unusable(Exception):
    """What was asked for cannot be shown; the message says why."""


def ptx_of(path: Path, arch: str, options: list[str]) -> str:
    """The text of a PTX file, or what nvcc makes of a CUDA file."""
    if not path.is_file():
        raise _Unusable(f"there is no file {path}")
    if path.suffix != ".cu":
        return path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "kernel.ptx"
        command = [
            find_toolkit().nvcc,
            "--ptx",
            "-lineinfo",
            f"-arch={arch}",
            *options,
            "-o",
            str(out),
            str(path),
        ]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise _Unusable(result.stderr.strip())
        return out.read_text()


def machine_code(module: Module, kernel: str) -> str:
    """A kernel's machine instructions, each line of PTX before those that it becomes."""
    nvcc = find_toolkit().nvcc
    ptxas = shutil.which("ptxas", path=os.path.dirname(nvcc)) or "ptxas"
    nvdisasm = sass.find_nvdisasm(nvcc)
    if nvdisasm is None:
        raise _Unusable("no nvdisasm: pip install nvidia-cuda-nvdisasm")
    rows = sass.listing(sass.disassembly(module.text, module.target, ptxas, nvdisasm))[kernel]
    ptx = module.text.splitlines()
    indents = {"label": "", "instruction": "    "}
    return "\n".join(
        f"// {ptx[int(text) - 1].strip()}" if what == "line" else indents[what] + text
        for what, text in rows
        if text != "NOP"  # what pads the end
    )


def kernel_in(module: Module, asked: str) -> str:
    """The name, as PTX has it, of the one kernel that is meant by a name or a part of one."""
    names = [kernel.name for kernel in module.kernels]
    exact = [name for name in names if asked in (name, short_name(name))]
    found = exact or [name for name in names if asked in name or asked in short_name(name)]
    if len(found) != 1:
        listed = "\n".join(f"    {short_name(name)}" for name in found or names) or "    none"
        count = f"{len(found)} kernels have" if found else "no kernel has"
        said = f"{count} {asked!r} in its name;" if asked else "which kernel?"
        raise _Unusable(f"{said} there are:\n{listed}")
    return found[0]


def main(command: str = "show", words: list[str] | None = None) -> int:
    """Print what is asked for, as `softgpu show` does with these words."""
    head, _, examples = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=f"softgpu {command}",
        description=head,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help=".cu or .ptx")
    parser.add_argument("kernel", nargs="?", default="", help="its name or a part of it")
    parser.add_argument("stages", nargs="*", help=f"all, or of: {', '.join([*STAGES, MACHINE])}")
    builds = contract.names("Build", "BUILD_")
    parser.add_argument("--build", choices=builds, default="plain")
    parser.add_argument("--arch", default=f"sm_{contract.DEVICE['architecture']}", help="for nvcc")
    parser.add_argument("-I", action="append", default=[], metavar="FOLDER", help="for nvcc")
    asked = parser.parse_args(words)
    by_stem = {name.partition(".")[0]: name for name in [*STAGES, MACHINE]}
    wanted = [by_stem.get(name, name) for name in asked.stages] or STAGES[:2]
    if unknown := set(wanted) - {"all", *by_stem.values()}:
        there = ", ".join(by_stem.values())
        parser.error(f"no stage is called {', '.join(sorted(unknown))}; there are: {there}")
    try:
        module = parse(ptx_of(asked.file, asked.arch, [f"-I{folder}" for folder in asked.I]))
        kernel = kernel_in(module, asked.kernel)
        made = Stages(kernel, asked.build)
        if {*wanted} != {MACHINE}:  # which may be of what this GPU cannot run
            made = stages(Layout(module, Image(module), kernel), kernel, asked.build)
        if MACHINE in wanted:
            made.add(MACHINE, lambda: machine_code(module, kernel))
    except Exception as error:
        if settings.debugged():
            raise
        refused = isinstance(error, (OSError, PtxError, ToolkitError, sass.Refused, _Unusable))
        sys.exit(f"{error}" if refused else own_mistake(error))
    for name in STAGES if "all" in wanted else wanted:
        print(f"==== {name}, {made.seconds[name] * 1e3:.1f} ms\n{made.texts[name]}")
    return 0


if __name__ == "__main__":
    main()
