"""What nvcc makes of a program's files, each kept by what it is made of: its options, the file and
all that it includes, as ccache's direct mode keeps them. Files of a program compile side by side.

Not noticed is a new header that would be found before another of its name."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from . import cache

__all__ = ["ProgramError", "objects", "run"]

_HEARD = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH")
"""Variables that compilers look at."""

_CLOCK_S = 0.05
"""A file's time may be so much older than the moment when it was written."""


class ProgramError(Exception):
    """A program that could not be compiled or loaded; the message says why."""


def run(command: Sequence[str | Path]) -> None:
    """Run a compiler; what it says where it fails is the error's message."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise ProgramError((result.stderr + result.stdout).strip())


def objects(command: Sequence[str], sources: Sequence[str], folder: Path) -> list[Path]:
    """An object in a folder for each source; command: nvcc and its options."""
    made = [folder / f"{number}.o" for number in range(len(sources))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda source, out: _object(command, source, out), sources, made))
    return made


def _object(command: Sequence[str], source: str, out: Path) -> None:
    about = [*command, source, os.getcwd(), *(os.environ.get(name, "") for name in _HEARD)]
    about += [_digest(word) for word in command if os.path.isfile(word)]  # files with options
    list_name = f"{cache.key(about)}.files"
    with suppress(OSError, zlib.error):
        files = cache.read(list_name).decode().split("\0")
        out.write_bytes(zlib.decompress(cache.read(_object_name(about, files))))
        return
    begun = time.time() - _CLOCK_S
    listed = out.with_suffix(".d")
    run([*command, "-c", "-MD", "-MF", str(listed), "-o", str(out), source])
    files = _prerequisites(listed.read_text())
    if all(os.stat(file).st_mtime < begun for file in files):  # none has changed meanwhile
        cache.write(list_name, "\0".join(files).encode())
        cache.write(_object_name(about, files), zlib.compress(out.read_bytes(), 1))


def _object_name(about: Sequence[str], files: Sequence[str]) -> str:
    return f"{cache.key([*about, *files, *map(_digest, files)])}.o.z"


def _digest(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _prerequisites(rule: str) -> list[str]:
    """The files after the colon of a rule for make."""
    after = rule.replace("\\\n", " ").partition(" : ")[2]
    return [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|\S)+", after)]
