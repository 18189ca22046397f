"""Where kernels of strangers are judged: processes in sandboxes, as many as work at a time.

What a kernel's process says is taken for no more than words: known fields, texts of some length."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue

from .. import texts
from . import sandbox, worker

__all__ = ["Rooms", "RoomError"]

WORKER = worker.__name__
MOST_S = 120  # that a room takes to be ready, or to clear up after a kernel
MOST_TRIED_MB = 4096
KEPT = "CUDA_", "HELPERS_", "LD_LIBRARY_PATH", "NVCC_", "PATH", "PYTHONPATH", "SOFTGPU_"
SET = {
    "HELPERS_DEVICE": "software",
    "SOFTGPU_THREADS": "1",  # verdicts of one kernel are the same, and rooms share the cores
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "LC_ALL": "C.UTF-8",
}
STATES = "done", "tried", "open"
FIELDS = "predicted", "counters", "reasons", "advice", "line", "case", "ptx"


class RoomError(RuntimeError):
    """A room that cannot be used."""


class Room:
    """One process that judges, in a sandbox of some kind."""

    def __init__(self, kind, paths, hidden):
        self.folder = tempfile.mkdtemp(prefix="grade-") if kind == "none" else "/tmp"
        self.said = tempfile.TemporaryFile()
        self.link, other = socket.socketpair()
        self.link.settimeout(MOST_S)
        arguments = json.dumps({"handle": other.fileno(), "kind": kind})
        command = [sys.executable, "-m", WORKER, arguments]
        environment = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
        environment |= SET | {"TMPDIR": self.folder}
        try:
            self.process = subprocess.Popen(
                sandbox.command(kind, paths, hidden) + command,
                pass_fds=[other.fileno()], cwd=texts.ROOT.parent, env=environment,
                stdin=subprocess.DEVNULL, stdout=self.said, stderr=self.said,
                start_new_session=True,
            )  # fmt: skip
        finally:
            other.close()
        if self._receive() != "ready":
            self.close()
            raise RoomError(f"the judge does not start: {self._last_words()}")
        self.said.seek(0)
        self.said.truncate()

    def judged(self, exercise, text, choices, seed, seconds, megabytes, predicts=False):
        """A row's verdict and what goes with it."""
        request = {"exercise": exercise, "text": text, "choices": choices, "seed": seed}
        request |= {"seconds": seconds, "megabytes": megabytes, "predicts": predicts}
        self.link.settimeout(seconds + MOST_S)
        with suppress(OSError):
            worker.send(self.link, request)
        outcome = self._receive()
        if outcome is None:
            self.close()
            raise RoomError(f"the judge has ended: {self._last_words()}")
        return _row(**outcome)

    def _receive(self):
        with suppress(OSError, ValueError):
            return worker.receive(self.link)

    def _last_words(self):
        self.said.seek(0)
        lines = self.said.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no word"

    def close(self):
        """End what is in it."""
        with suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)  # which another thread may wait for
        self.link.close()
        try:
            self.process.wait(5)  # it clears up and goes
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.folder != "/tmp":
            shutil.rmtree(self.folder, ignore_errors=True)


def _row(verdict, said, status, stopped):
    if stopped:
        return {"verdict": "stopped", "reasons": stopped}
    with suppress(ValueError, TypeError, RecursionError):
        words = json.loads(verdict)
        if isinstance(words, dict) and words.get("verdict") in STATES:
            known = {name: words[name] for name in FIELDS if isinstance(words.get(name), str)}
            return {"verdict": words["verdict"]} | known
    last = (said.strip().splitlines() or ["no word"])[-1]
    return {"verdict": "crashed", "reasons": f"ended with {status}: {last}"}


class Rooms:
    """Rooms of the first kind that works on this machine, as many as are asked for at a time.

    predicts: each verdict of "done" says how fast the clock takes the kernel to be."""

    jobs = len(os.sched_getaffinity(0))
    known: dict = {}  # the first kind that works, of those that there are

    def __init__(self, seconds, megabytes, hidden=(), predicts=False):
        self.limits = seconds, megabytes, predicts
        self.paths, self.hidden = sandbox.visible(), [os.path.realpath(path) for path in hidden]
        self.all: list = []
        self.free: SimpleQueue = SimpleQueue()
        self.are_closed = False
        _prepare()
        kinds = tuple(sandbox.KINDS)
        if kinds not in self.known:
            self.known[kinds] = self._first_that_works(kinds)
        self.kind = self.known[kinds]

    def _first_that_works(self, kinds):
        for self.kind in kinds:
            try:
                self._try_out()
            except (OSError, RoomError) as error:
                failed = error
            else:
                return self.kind
        raise RoomError(str(failed))

    def _try_out(self):
        """Judge a kernel that is known to be right."""
        first = texts.names()[0]
        text = texts.find(first).solution
        row = self._room().judged(first, text, {}, 0, MOST_S, MOST_TRIED_MB)
        if row["verdict"] != "done":
            self.all.pop().close()
            raise RoomError(f"a right kernel is {row['verdict']}: {row.get('reasons')}")
        self.free.put(self.all[0])

    @property
    def said(self):
        return sandbox.KINDS[self.kind]

    def _room(self):
        self.all.append(room := Room(self.kind, self.paths, self.hidden))
        if self.are_closed:
            self.close()
        return room

    def judged(self, exercise, text, choices, seed):
        """The verdict on one kernel, with what goes with it."""
        for _ in range(2):  # a room may have been ended by the kernel before
            try:
                if self.are_closed:
                    raise RoomError("interrupted")
                room = self._room() if self.free.empty() else self.free.get_nowait()
                row = room.judged(exercise, text, choices, seed, *self.limits)
            except (OSError, RoomError, Empty) as error:
                row = {"verdict": "crashed", "reasons": str(error)}
            else:
                self.free.put(room)
                break
        return row

    def close(self):
        """End them all, and whatever runs in them."""
        self.are_closed = True
        while self.all:
            self.all.pop().close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@cache
def _prepare():
    """Have the driver built and CUDA's headers read: sandboxes can't write what is missing."""
    text = texts.find(texts.names()[0]).solution
    python = f"from helpers import autoinit, sources; sources.kernel({text!r})"
    environment = os.environ | SET | {"PYCUDA_DISABLE_CACHE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", python], cwd=texts.ROOT.parent, env=environment,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
    )  # fmt: skip
    if done.returncode:
        raise RoomError((done.stderr.strip().splitlines() or ["no word"])[-1])
