"""What the software GPU makes of a kernel, stage by stage.

    softgpu show kernel.cu                           # its only kernel, or which there are
    softgpu show kernel.cu scale                     # its PTX, and its blocks
    softgpu show kernel.ptx scale assembly           # one stage
    softgpu show kernel.cu scale passes              # what each pass finds, and its time
    softgpu show kernel.cu scale all --build sanitize --arch sm_80

SOFTGPU_DUMP=FOLDER leaves the same of every kernel that a program launches.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from . import contract, settings
from .declarations import short_name
from .jit.facts.layout import Image, Layout
from .jit.stages import STAGES, stages
from .mistakes import own_mistake
from .ptx import Module, PtxError, parse
from .toolkit import ToolkitError, find_toolkit


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


def kernel_in(module: Module, asked: str) -> str:
    """The name, as PTX has it, of the one kernel that is meant by a name or a part of one."""
    names = [kernel.name for kernel in module.kernels]
    exact = [name for name in names if asked in (name, short_name(name))]
    found = exact or [name for name in names if asked in name or asked in short_name(name)]
    if len(found) != 1:
        listed = "\n".join(f"    {short_name(name)}" for name in found or names) or "    none"
        said = f"{len(found)} kernels are called {asked!r};" if asked else "which kernel?"
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
    parser.add_argument("stages", nargs="*", help=f"all, or of: {', '.join(STAGES)}")
    builds = contract.names("Build", "BUILD_")
    parser.add_argument("--build", choices=builds, default="plain")
    parser.add_argument("--arch", default=f"sm_{contract.DEVICE['architecture']}", help="for nvcc")
    parser.add_argument("-I", action="append", default=[], metavar="FOLDER", help="for nvcc")
    asked = parser.parse_args(words)
    by_stem = {name.partition(".")[0]: name for name in STAGES}
    wanted = [by_stem.get(name, name) for name in asked.stages] or STAGES[:2]
    if unknown := set(wanted) - {"all", *STAGES}:
        parser.error(
            f"no stage is called {', '.join(sorted(unknown))}; there are: {', '.join(STAGES)}"
        )
    try:
        module = parse(ptx_of(asked.file, asked.arch, [f"-I{folder}" for folder in asked.I]))
        kernel = kernel_in(module, asked.kernel)
        made = stages(Layout(module, Image(module), kernel), kernel, asked.build)
    except Exception as error:
        if settings.debugged():
            raise
        refused = isinstance(error, (OSError, PtxError, ToolkitError, _Unusable))
        sys.exit(f"{error}" if refused else own_mistake(error))
    for name in STAGES if "all" in wanted else wanted:
        print(f"==== {name}, {made.seconds[name] * 1e3:.1f} ms\n{made.texts[name]}")
    return 0


if __name__ == "__main__":
    main()
