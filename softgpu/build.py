"""Compiles the driver to driver/libcuda.so.1, when its sources have changed.

python -m softgpu.build
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from . import cache

__all__ = ["BuildError", "build"]

DRIVER = Path(__file__).resolve().parent / "driver"
KINDS = {  # SOFTGPU_BUILD, see docs/debugging.md; each has its own folder
    "": "",
    "debug": "-O0 -g",
    "coverage": "-O1 -g --coverage -fprofile-update=atomic",
    "sanitized": "-O0 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all",
    # whose frames no fiber confuses; what is volatile is meant for several threads
    "threads": "-O1 -g1 -fsanitize=thread --param=tsan-instrument-func-entry-exit=0"
    " --param=tsan-distinguish-volatile=1",
}
KIND = os.environ.get("SOFTGPU_BUILD", "")
LIBRARY = (DRIVER.parents[1] / f"build/driver-{KIND}" if KIND else DRIVER) / "libcuda.so.1"
SONAME = LIBRARY.name
BARE = LIBRARY.with_name("libcuda.bare.so")
"""What is libcuda.so, without a version, for those who open it: empty, and needs the driver."""
COMPILERS = ("gcc", "cc", "clang")
# Contracting a*b+c would change results; the rest lets loops over lanes become vector code.
FLAGS = (
    "-std=gnu11 -O3 -fPIC -fvisibility=hidden -pthread -Wall -Wextra "
    "-Werror=implicit-function-declaration "
    "-ffp-contract=off -fno-math-errno -fno-trapping-math"
).split()
MACHINES = {  # fibers change stacks, which shadow stacks forbid
    "x86_64": "-fcf-protection=none -mcx16 -mpopcnt",
    "aarch64": "-mbranch-protection=none",
}
OLD_LIBC = f"-I{DRIVER}", "-include", "old_libc.h"


class BuildError(Exception):
    """The driver could not be compiled; the message says what to do."""


def find_compiler():
    """The C compiler to use: $CC, or the first that is installed."""
    for name in filter(None, (os.environ.get("CC"), *COMPILERS)):
        if shutil.which(name):
            return name
    raise BuildError("no C compiler found: sudo apt install gcc libc6-dev")


def flags():
    """The compiler's options on this machine."""
    if KIND not in KINDS:
        raise BuildError(f"SOFTGPU_BUILD={KIND}: expected {' or '.join(filter(None, KINDS))}")
    return [*FLAGS, *MACHINES.get(platform.machine(), "").split(), *KINDS[KIND].split()]


def sources():
    """The driver's C files, each of a name of its own."""
    return sorted(DRIVER.rglob("*.c"))


def compiling(room):
    """The command that compiles a room of the driver, without the files' names and the result's."""
    return [find_compiler(), *flags(), *OLD_LIBC, f"-DSOFTGPU_ROOM=ROOM_{room.upper()}"]


def fingerprint():
    """What the library is made from, as bytes that it carries inside."""
    digest = hashlib.sha256(" ".join(flags()).encode())
    for path in [*sources(), *sorted(DRIVER.rglob("*.h"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"softgpu-sources-{digest.hexdigest()}"


def run_compiler(command):
    """Runs it; turns its complaints into one error."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return
    if "fatal error" in result.stderr and ".h: No such file" in result.stderr:
        raise BuildError("the C library's headers are missing: sudo apt install libc6-dev")
    raise BuildError(f"the C compiler failed: {' '.join(map(str, command))}\n{result.stderr}")


def build(force=False):
    """Makes libcuda.so.1 if it is missing or out of date, and returns its path.

    Where the package cannot be written to, it is kept with the compiled kernels."""
    mark = fingerprint()
    there = LIBRARY.exists() and BARE.exists()
    if not force and there and mark.encode() in LIBRARY.read_bytes():
        return LIBRARY
    if not (KIND or os.access(DRIVER, os.W_OK)):
        return cache.made_once(f"{mark}-{SONAME}", lambda made: make(made, mark))
    kept = nullcontext(LIBRARY.parent / "objects")  # gcov's counts go beside the objects
    with kept if KIND else tempfile.TemporaryDirectory(dir=DRIVER, prefix=".build-") as folder:
        linked = Path(folder) / SONAME
        make(linked, mark)
        link, bare = Path(folder) / "libcuda.so", Path(folder) / BARE.name
        link.symlink_to(SONAME)
        make_alias(bare, link.name, linked)
        os.replace(linked, LIBRARY)
        os.replace(link, LIBRARY.with_name(link.name))
        os.replace(bare, BARE)
    return LIBRARY


def make(linked, mark):
    """Compiles the library that carries this mark; its objects lie beside it."""
    folder = linked.parent
    folder.mkdir(parents=True, exist_ok=True)
    objects = {path: folder / f"{path.stem}.o" for path in sources()}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        compiled = [pool.submit(compile_one, *pair, mark) for pair in objects.items()]
        failed = next(filter(None, (one.exception() for one in compiled)), None)
    if failed:  # without what the threads add to its traceback
        raise failed.with_traceback(None)
    link(objects.values(), linked)


def compile_one(source, target, mark):
    """Compiles a source file of the library that carries this mark."""
    words = [f'-DSOURCES="{mark}"', "-c", source, "-o", target]
    run_compiler([*compiling(source.parent.name), *words])


def link(objects, linked):
    """Makes the library of its objects."""
    options = ["-shared", "-pthread", f"-Wl,-soname,{SONAME}", "-Wl,-Bsymbolic,-z,now,-z,defs"]
    options += KINDS[KIND].split()
    run_compiler([find_compiler(), *options, *objects, "-o", linked, "-lm"])


def make_alias(made, name, library):
    """Makes an empty library of this name that needs another one."""
    options = ["-shared", "-x", "c", os.devnull, f"-Wl,-soname,{name}"]
    options += ["-Wl,--no-as-needed", "-x", "none"]
    run_compiler([find_compiler(), *options, library, "-o", made])


def bare_name():
    """The library that leads to the driver by its name without a version, as build() leaves it."""
    if BARE.exists():
        return BARE
    return cache.made_once(BARE.name, lambda made: make_alias(made, "libcuda.so", build()))


if __name__ == "__main__":
    try:
        build(force="--force" in sys.argv[1:])
    except BuildError as error:
        sys.exit(f"softgpu: {error}")
