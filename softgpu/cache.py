"""The folder of compiled kernels. Whatever is wrong with it costs time, never a launch.

Several processes share it: files appear whole, under names that say what is in them, and one that
another process has removed is made again.

Terms: content addressing (Quinlan, Dorward 2002; docs/terms.md).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from . import settings

__all__ = [
    *(
        "alone",
        "forget_pycudas",
        "guard_pycuda",
        "kept",
        "key",
        "made_once",
        "read",
        "serve_pycuda",
        "write",
    ),
]

_UNFINISHED = ".unfinished-"
_UNFINISHED_S = 3600.0
"""A file that is still unfinished after so many seconds was left by a process that ended."""

_PYCUDA_NEEDS_BYTES = 16 << 20
"""PyCUDA fails, and leaves half a file, where its cache is full: with less it gets no cache."""

_LOOK_EVERY = 16
"""The folder's size is looked at when this part of what it may take has been written since."""

_unseen_bytes: int | None = None  # written by this process since it last looked; None: it has not
_looking = threading.Lock()
_pycuda: Path | None = None
_own: list[tempfile.TemporaryDirectory] = []  # removed when the process ends
_told = False


def read(name: str) -> bytes:
    """What is kept under a name; OSError if there is nothing."""
    path = settings.cache_folder() / name
    content = path.read_bytes()
    with suppress(OSError):
        os.utime(path)  # used: the last to go
    return content


def write(name: str, content: bytes) -> None:
    """Keep something under a name, if that is possible."""
    global _unseen_bytes
    folder = settings.cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(prefix=_UNFINISHED, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(unfinished, folder / name)
        except BaseException:
            os.unlink(unfinished)
            raise
    except OSError as error:
        _tell(error)
        return
    most = settings.cache_bytes()
    with _looking:  # what others write meanwhile counts afterwards
        if _unseen_bytes is None or _unseen_bytes + len(content) > most // _LOOK_EVERY:
            _shrink(folder, most)
            _unseen_bytes = 0
        else:
            _unseen_bytes += len(content)


def key(parts: Iterable[str]) -> str:
    """A name for what these decide."""
    digest = hashlib.sha256()
    for part in (text.encode() for text in parts):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def kept(parts: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """What make() gives, made once for all processes; parts: all that decides what it is."""
    name = f"{key(parts)}.z"
    with suppress(OSError, zlib.error):  # not there, or damaged
        return zlib.decompress(read(name))
    made = make()
    write(name, zlib.compress(made, 1))
    return made


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Where a library is kept under a name; make(path) makes it the first time, elsewhere. Where
    nothing can be kept, it lasts as long as this process."""
    kept = settings.cache_folder() / name
    with suppress(OSError):
        read(name)
        return kept
    with alone(name):
        if kept.is_file():
            return kept
        folder = tempfile.TemporaryDirectory(prefix="softgpu-")
        made = Path(folder.name, name)
        make(made)
        write(name, made.read_bytes())
    if kept.is_file():
        folder.cleanup()
        return kept
    _own.append(folder)
    return made


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Let no other process make what has this name meanwhile, where files can be locked: who waits
    may find it made."""
    lock = settings.cache_folder() / f"{_UNFINISHED}{name}"
    with ExitStack() as stack:
        with suppress(OSError):
            lock.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(lock.open("w")), fcntl.LOCK_EX)
        yield
    with suppress(OSError):
        lock.unlink()


def serve_pycuda() -> None:
    """Give PyCUDA a folder of its own, as it does not know that our nvcc leaves PTX."""
    global _pycuda
    settings.cache_bytes()  # refused now, and not at the first kernel, if it is no number
    _pycuda = settings.cache_folder() / "nvcc"
    os.environ["PYCUDA_CACHE_DIR"] = str(_pycuda)
    guard_pycuda()


def guard_pycuda() -> None:
    """Take that folder away from PyCUDA where it could not write to it."""
    if _pycuda is None:
        return
    try:
        _pycuda.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=_pycuda).close()
        free = shutil.disk_usage(_pycuda).free
        if free < _PYCUDA_NEEDS_BYTES:
            raise OSError(f"only {free >> 10} KB are free in {_pycuda}")
    except OSError as error:
        os.environ["PYCUDA_DISABLE_CACHE"] = "1"
        _tell(error)


def forget_pycudas(image: bytes) -> bool:
    """Remove from PyCUDA's folder what was not written to its end; whether it is from there."""
    found = False
    for path in _pycuda.glob("*.*") if _pycuda else ():
        with suppress(OSError):
            if path.stat().st_size == len(image) and path.read_bytes() == image:
                path.unlink()
                found = True
    return found


def _shrink(folder: Path, most: int) -> None:
    """Remove what has not been used for longest, until a tenth of the room is free."""
    files = []
    for path in folder.rglob("*"):
        with suppress(OSError):
            status = path.stat()
            used = max(status.st_atime, status.st_mtime)
            if path.name.startswith(_UNFINISHED) and time.time() - used > _UNFINISHED_S:
                path.unlink()
            elif path.is_file():
                files.append((used, status.st_size, path))
    total = sum(size for _, size, _ in files)
    if total <= most:
        return
    for _, size, path in sorted(files):
        if total <= most - most // 10:
            return
        with suppress(OSError):
            path.unlink()
            total -= size


def _begin_anew() -> None:
    """In a forked process, nobody is about to let go of what another thread held."""
    global _looking
    _looking = threading.Lock()


os.register_at_fork(after_in_child=_begin_anew)


def _tell(error: OSError) -> None:
    """Say it once, on stderr: a warning could be made an error, and end a launch."""
    global _told
    if not _told:
        _told = True
        print(
            f"softgpu: compiled kernels are not kept for next time: {error}. Set the environment"
            " variable SOFTGPU_CACHE to a folder that can be written.",
            file=sys.stderr,
        )
