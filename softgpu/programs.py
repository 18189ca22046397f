"""Whole CUDA programs: compiled for a CUDA runtime of ours, their main() run by this process."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import build, cache, contract, libraries, removed
from .objects import ProgramError, objects, run
from .toolkit import Toolkit

__all__ = ["SUFFIXES", "ProgramError", "Runtime", "load_program", "run_main", "sources_of"]

SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c")

_SOURCES = Path(__file__).parent / "cudart"
_ARCHITECTURES = (
    *("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code"),
)
_EMPTY = ("-lcuda", "-lnvToolsExt")  # NVTX was a library once, and is a header now
_LINKED = (".o", ".a", ".so")
_NAMES_FILE = ("-include", "--pre-include")
_RELOCATABLE = ("-rdc", "--relocatable-device-code", "-dc", "--device-c")


def _target_of(words: Sequence[str]) -> tuple[str, list[str]]:
    """The architecture that a program is compiled for, and its words without those that ask for
    any: Hopper's own instructions, of compute_90a, are for who names it."""
    left, asked = [], []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _ARCHITECTURES:
            asked.append(value if equals else next(rest, ""))
        else:
            left.append(word)
    own = any("90a" in one for one in asked)
    return f"compute_{contract.DEVICE['architecture']}{'a' * own}", left


def sources_of(words: Sequence[str]) -> list[str]:
    """The files among words for nvcc that it compiles."""
    pairs = zip(["", *words], words)
    return [word for before, word in pairs if word.endswith(SUFFIXES) and before not in _NAMES_FILE]


def _without_empty(words: Sequence[str]) -> list[str]:
    """Words for nvcc without libraries that need not be linked: this process has the driver, and
    loads the ones of ours that a program calls."""
    joined = "\0".join(words).replace("-l\0", "-l")
    empty = {*_EMPTY, *(f"-l{name}" for name in libraries.LIBRARIES)}
    return [word for word in joined.split("\0") if word and word not in empty]


def _compile(words: Sequence[str], toolkit: Toolkit, out: Path) -> None:
    """Makes a shared library of a program, whose kernels are PTX that knows its source lines.

    words: sources and options, as nvcc takes them."""
    for word in words:
        if word.startswith(_RELOCATABLE) and not word.endswith("=false"):
            raise ProgramError(
                f"{word}: relocatable device code, which dynamic parallelism needs, is not"
                " supported: what a kernel calls has to be in its own source, and is no kernel"
            )
    target, words = _target_of(words)
    sources = sources_of(words)
    linked = [word for word in words if word.endswith(_LINKED)]
    options = [word for word in words if word not in sources and word not in linked]
    command = [toolkit.nvcc, "-gencode", f"arch={target},code={target}", "-lineinfo"]
    command += ["--no-compress", *([f"-I{toolkit.older}"] if toolkit.older else [])]
    command += [f"-isystem={folder}" for folder in libraries.include_folders(toolkit)]
    command += ["-include", str(_SOURCES / "before_13.h"), *_without_empty(options)]
    command += ["-Xcompiler", "-fPIC"]
    (out.parent / "libcudart.so").symlink_to(runtime_library(toolkit))
    try:
        made = objects(command, sources, out.parent)
        run([
            *_without_language(command), "-shared", "-nodlink", "-o", out, *made, *linked,
            "-cudart", "none", "-L", out.parent, "-lcudart", "-Xlinker", "--wrap=malloc",
        ])  # fmt: skip
    except ProgramError as error:
        said = str(error)
        more_lines = libraries.missing_header(said) + removed.advice(said)
        raise ProgramError(said + more_lines) from None
    libraries.serve(libraries.called_by(out))


def _without_language(words: Sequence[str]) -> list[str]:
    """Words for nvcc without those that say in what language files are, as objects are in none."""
    joined = re.sub(r"\0(?:-x|--x)[\0=][\w+-]+", "", "\0".join(words))
    return joined.split("\0")


def runtime_library(toolkit: Toolkit) -> Path:
    """The CUDA runtime for a toolkit's programs, compiled with that toolkit's headers."""
    name = f"libcudart.so.{toolkit.version[0]}"
    sources = sorted([*_SOURCES.glob("*.c"), *_SOURCES.glob("*.h")])
    digest = hashlib.sha256(repr((toolkit.version, build.flags())).encode())
    for path in sources:
        digest.update(path.read_bytes())
    kept = f"{digest.hexdigest()[:32]}-{name}"
    return cache.made_once(kept, lambda made: _make_runtime(toolkit, made, name))


def _make_runtime(toolkit: Toolkit, made: Path, name: str) -> None:
    (made.parent / "exports").write_text(f"{name} {{ global: *; }};\n")
    run([
        *compiling(toolkit, made.parent), "-shared", *_SOURCES.glob("*.c"), "-o", made,
        f"-Wl,-soname,{name}", f"-Wl,--version-script={made.parent / 'exports'}", "-Wl,-z,now",
        build.build(),
    ])  # fmt: skip


def compiling(toolkit: Toolkit, folder: Path) -> list[str]:
    """The command that compiles the runtime's files; lists that they include go to a folder."""
    headers = {
        header: next(
            path.read_text()
            for include in toolkit.include
            if (path := Path(include, header)).exists()
        )
        for header in ("cuda_runtime_api.h", "driver_types.h")
    }
    errors = headers["driver_types.h"].partition("cudaError\n")[2].partition("};")[0]
    named = dict.fromkeys(re.findall(r"^\s*(cuda\w+)\s*=", errors, re.MULTILINE))
    (folder / "error_names.inc").write_text("".join(f"NAME({error})\n" for error in named))
    written = "".join(path.read_text() for path in _SOURCES.glob("*.c"))
    ours = set(re.findall(r"^(?:CUDART |FORWARD\()(\w+)", written, re.MULTILINE))
    text = re.sub(r"__dv\(\w+\)", "", headers["cuda_runtime_api.h"])
    theirs = dict(re.findall(r"cudaError_t CUDARTAPI (\w+)\(([^()]*)\);", text))
    missing = sorted(theirs.keys() - ours)
    waiting = [name for name in missing if f"{name}Async" in ours]
    refused = (f"REFUSED({name})\n" for name in missing if name not in waiting)
    (folder / "waiting.inc").write_text("".join(f"WAITS({name})\n" for name in waiting))
    (folder / "unsupported.inc").write_text("".join(refused))
    with (folder / "declared.inc").open("w") as declared:
        for name, parameters in theirs.items():
            names = re.findall(r"(\w+)\s*(?:,|$)", parameters) if parameters != "void" else []
            declared.write(f"#define DECLARED_{name} {' '.join(parameters.split())}\n")
            declared.write(f"#define NAMED_{name} {', '.join(names)}\n")
    system = (f"-isystem{include}" for include in toolkit.include)
    return [build.find_compiler(), *build.flags(), f"-I{folder}", *system]


class Runtime:
    """The runtime library, loaded for programs that come after it."""

    def __init__(self, toolkit: Toolkit):
        path = str(runtime_library(toolkit))
        self._library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_GLOBAL)

    def leave_at_exit(self) -> None:
        """Let the exit() of a program that is loaded after this end the process at once."""
        self._library.sg_leave_at_exit()

    def tell_user(self) -> None:
        """Let the driver say on stderr what a program would not hear of."""
        self._library.sg_tell_user()


def load_program(words: Sequence[str], toolkit: Toolkit) -> ctypes.CDLL:
    """Compiles a program and loads it, with nothing left on disk."""
    with tempfile.TemporaryDirectory(prefix="softgpu-") as folder:
        library = Path(folder, "program.so")
        _compile(words, toolkit, library)
        try:
            return ctypes.CDLL(str(library), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
        except OSError as error:
            raise ProgramError(f"the program cannot be loaded: {error}") from None


def run_main(program: ctypes.CDLL, arguments: Sequence[str]) -> int:
    """Runs a program's main(); what it returns. Ctrl-C ends it as it does any program."""
    if not hasattr(program, "main"):
        raise ProgramError("the program has no main()")
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    words = [os.fsencode(word) for word in arguments]
    status = program.main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None))
    ctypes.CDLL(None).fflush(None)
    return status & 0xFF
