"""Judging on other machines: workers of a Dask cluster, each with this course and its sandboxes.

A kernel travels as text, and its verdict back as words. Whoever reaches the scheduler can run
Python on all machines, so keep it to a network of your own, or give it Dask's TLS."""

import atexit
import hashlib
from functools import cache

from .. import texts
from . import sandbox
from .rooms import RoomError, Rooms

__all__ = ["Machines"]

MOST_S = 60  # to find the scheduler, and a worker


def course():
    """A digest of what verdicts depend on: machines with another course would judge otherwise."""
    made = hashlib.sha256()
    for folder in sandbox.COURSE:
        for path in sorted((texts.ROOT.parent / folder).rglob("*")):
            if path.suffix in {".py", ".cu", ".cuh", ".c", ".h", ".json", ".csv"}:
                made.update(path.read_bytes())
    return made.hexdigest()


@cache
def rooms(seconds, megabytes, predicts):
    """This worker's rooms, kept until it ends."""
    kept = Rooms(seconds, megabytes, predicts=predicts)
    atexit.register(kept.close)
    return kept


def judged(limits, *kernel):
    """A row's verdict, on a worker."""
    return rooms(*limits).judged(*kernel)


class Machines:
    """What Rooms is, on a cluster's workers: as many kernels at a time as these have threads."""

    def __init__(self, address, seconds, megabytes, predicts=False):
        try:
            from distributed import Client
        except ImportError:
            raise RoomError('--dask needs Dask: .venv/bin/pip install "distributed"') from None
        self.limits = seconds, megabytes, predicts
        try:
            self.client = Client(address, timeout=MOST_S)
            self.client.wait_for_workers(1, timeout=MOST_S)
        except OSError as error:
            raise RoomError(f"no scheduler with workers at {address}: {error}") from None
        workers = self.client.run(course)
        if others := [where for where, digest in workers.items() if digest != course()]:
            self.client.close()
            raise RoomError(f"another version of the course on {', '.join(sorted(others))}")
        self.jobs = sum(self.client.nthreads().values())
        self.said = f"by {len(workers)} workers of {address}, in their sandboxes"

    def judged(self, *kernel):
        """The verdict on one kernel, with what goes with it."""
        return self.client.submit(judged, self.limits, *kernel, pure=False).result()

    def close(self):
        self.client.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
