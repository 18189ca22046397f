"""A process that has imported all that judging takes, and forks one for each kernel, under limits.

The kernel's process says its verdict over a pipe of its own. What kernels and compilers print goes
nowhere, except the end of what comes on stderr. Whatever ended a kernel: its processes are killed,
and its folder for temporary files is removed."""

import ctypes
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
import traceback
from contextlib import suppress

from .. import texts

__all__ = ["main", "receive", "send"]

LOOK_EVERY_S = 0.03
MOST_LETTERS = 2048  # of a text in a verdict: the table has room for fewer
MOST_SAID_BYTES = 256 << 10  # of a verdict whose letters are all escapes, or of stderr
MOST_PROCESSES = 64
MOST_TEMPORARY_BYTES = 256 << 20  # of one kernel, in all
MOST_FILE_BYTES = 64 << 20
LINE = re.compile(r"\bkernel\.cu[:(](\d+)")
DIE_WITH_PARENT, DUMPABLE, SUBREAPER = 1, 4, 36  # of prctl
TICKS, PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def send(link, message):
    """A message over a socket."""
    data = json.dumps(message).encode()
    link.sendall(struct.pack("!I", len(data)) + data)


def receive(link):
    """The next message; None where the other side is gone."""
    head = _received(link, 4)
    data = head and _received(link, *struct.unpack("!I", head))
    return json.loads(data) if data else None


def _received(link, length):
    """So many bytes, in as many pieces as they come in; b"" where the other side is gone."""
    data = b""
    while len(data) < length:
        if not (piece := link.recv(length - len(data))):
            return b""
        data += piece
    return data


def _control(option, value):
    """prctl."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == -1:
        raise OSError(ctypes.get_errno(), "prctl")


def main(handle, kind):
    """Judge what comes over a socket, kernel by kernel, until the other side is gone."""
    link = socket.socket(fileno=handle)
    _control(SUBREAPER, 1)
    _control(DUMPABLE, 0)  # so that no kernel's process may look into this one
    from .. import judging  # noqa: F401  (takes a while; the processes of kernels have it then)

    place = tempfile.gettempdir()
    before = {*os.listdir(place)}  # where the course is in /tmp, it is there
    send(link, "ready")
    try:
        while {*os.listdir(place)} == before and (request := receive(link)):
            folder = tempfile.mkdtemp(prefix="kernel-")
            outcome = _Kernel(link, folder, **request).outcome()
            _clear(place, before)
            send(link, outcome)
    except (_Gone, OSError):
        pass  # nobody waits for a verdict any more
    if kind == "none":
        shutil.rmtree(place, ignore_errors=True)


def _clear(folder, kept):
    """Remove what is in a folder; if that fails, this process is not used any more."""
    for name in {*os.listdir(folder)} - kept:
        path = os.path.join(folder, name)
        with suppress(OSError):
            is_folder = os.path.isdir(path) and not os.path.islink(path)
            shutil.rmtree(path) if is_folder else os.unlink(path)


class _Gone(Exception):
    """The other side is gone."""


class _Kernel:
    """A kernel that is judged: its process, and what comes of it."""

    def __init__(
        self, link, folder, exercise, text, choices, seed, seconds, megabytes, predicts=False
    ):
        self.link, self.seconds, self.megabytes = link, seconds, megabytes
        verdict, said = os.pipe(), os.pipe()
        self.child = os.fork()
        if not self.child:
            os.dup2(said[1], 2)
            _become(verdict[1], folder, seconds)
            _judge(verdict[1], exercise, text, choices, seed, predicts)
        self.pipes = {verdict[0]: b"", said[0]: b""}
        self.open = {*self.pipes}
        for pipe in verdict, said:
            os.close(pipe[1])
            os.set_blocking(pipe[0], False)

    def outcome(self):
        """What it said, and how it ended."""
        try:
            stopped = self._watch()
            status = None if stopped else os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
            self._listen()
        finally:
            _kill_all()
            for pipe in self.pipes:
                os.close(pipe)
        verdict, said = (pipe.decode(errors="replace") for pipe in self.pipes.values())
        return {"verdict": verdict, "said": said, "status": status, "stopped": stopped}

    def _watch(self):
        """Wait for the process to end; the limit that it has passed, or ""."""
        now = time.monotonic()
        deadline, look = now + self.seconds, now
        poll, ended = select.poll(), os.pidfd_open(self.child)
        for handle in (*self.pipes, self.link, ended):
            poll.register(handle, select.POLLIN)
        try:
            while now < deadline:
                ready = {handle for handle, _ in poll.poll(1000 * LOOK_EVERY_S)}
                if self.link.fileno() in ready:
                    raise _Gone
                for pipe in self._listen():
                    poll.unregister(pipe)
                if ended in ready:
                    return ""
                now = time.monotonic()
                if now > look:
                    look = now + LOOK_EVERY_S
                    if passed := self._passed():
                        return passed
        finally:
            os.close(ended)
        return f"took more than {self.seconds:g} s"

    def _listen(self):
        """Take what has come; the pipes that have just come to their end."""
        at_end = []
        for pipe in self.open:
            with suppress(BlockingIOError):
                data = os.read(pipe, MOST_SAID_BYTES)
                self.pipes[pipe] = (self.pipes[pipe] + data)[-MOST_SAID_BYTES:]
                at_end += [pipe] * (not data)
        self.open -= {*at_end}
        return at_end

    def _passed(self):
        """The limit that has been passed, in words."""
        processes = _below(os.getpid())
        if sum(process["bytes"] for process in processes) > self.megabytes << 20:
            return f"took more than {self.megabytes} MB of memory"
        if sum(process["seconds"] for process in processes) > self.seconds:
            return f"took more than {self.seconds:g} s of the processor"
        if len(processes) > MOST_PROCESSES:
            return f"started more than {MOST_PROCESSES} processes"
        if _bytes_in(tempfile.gettempdir()) > MOST_TEMPORARY_BYTES:
            return f"wrote more than {MOST_TEMPORARY_BYTES >> 20} MB of temporary files"
        return ""


def _below(ancestor):
    """The processes that come from one, children first: what each has taken so far."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat") as file:
            values = file.read().rpartition(")")[2].split()
            taken = {"seconds": sum(map(int, values[11:15])) / TICKS}
            taken["bytes"] = int(values[21]) * PAGE_BYTES
            found.append({"process": int(name), "parent": int(values[1]), **taken})
    family = {ancestor}
    below = []
    while more := [one for one in found if one["parent"] in family]:
        family = {one["process"] for one in more}
        below += more
    return below


def _bytes_in(folder):
    if os.path.ismount(folder):  # what has no name any more counts
        status = os.statvfs(folder)
        return (status.f_blocks - status.f_bfree) * status.f_frsize
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total


def _kill_all():
    """End all that comes from this process: orphans have become its children."""
    while True:
        for one in _below(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(one["process"], signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(0.002)
            continue
        return


# --- in the kernel's process ----------------------------------------------------------------------


def _become(verdict, folder, seconds):
    """A process of its own session, under limits, which has nothing open but its pipes."""
    os.setsid()
    _control(DUMPABLE, 1)
    _control(DIE_WITH_PARENT, signal.SIGKILL)
    null = os.open(os.devnull, os.O_RDWR)
    for handle in 0, 1:
        os.dup2(null, handle)
    os.closerange(3, verdict)
    os.closerange(verdict + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # the first to go where memory runs out
    limits = {"CORE": 0, "FSIZE": MOST_FILE_BYTES, "CPU": int(seconds) + 2}
    for name, most in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    places = {"TMPDIR": folder, "HOME": folder, "SOFTGPU_CACHE": f"{folder}/cache"}
    os.environ.update(places, PYCUDA_DISABLE_CACHE="1")
    tempfile.tempdir = None
    os.chdir(folder)


def _judge(verdict, *kernel):
    """Say the verdict, and end."""
    try:
        with open(verdict, "w") as pipe:
            json.dump(_words(*kernel), pipe)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _words(*kernel):
    """A verdict as texts, none so long that there is no room for the others."""
    return {name: words[:MOST_LETTERS] for name, words in _verdict(*kernel).items()}


def _verdict(exercise, text, choices, seed, predicts):
    """A verdict as texts."""
    from ... import sources
    from .. import judging
    from . import league, reports

    try:
        text = sources.text(text, **choices) if choices else text
    except TypeError as error:
        return {"verdict": "tried", "reasons": f"choices: {error}"}
    if texts.find(exercise).is_stub(text):  # of a hunt, too
        return {"verdict": "open"}
    verdict = judging.judge(texts.find(exercise), text, seed=seed)
    counters = (f"{c.key} {c.value} (best {c.best})" for c in verdict.counts)
    words = {"verdict": verdict.state, "counters": "; ".join(counters)}
    if verdict and (predicts or texts.find(exercise).judge.rate):
        words["predicted"] = league.predicted(verdict.times)
    words["ptx"] = reports.fingerprint(verdict.instructions) if verdict.instructions else ""
    if verdict.reasons:
        first = verdict.reasons[0]
        line = LINE.search(f"{first}\n{first.case}")
        words |= {"reasons": "; ".join(map(str, verdict.reasons)), "advice": first.advice}
        words |= {"line": line[1] if line else "", "case": first.case.replace(first.advice, "")}
    return words


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
