"""How long learners wait for a verdict: each exercise's solution judged twice, in seconds of CPU.

    python bench/bench_verdicts.py [PATTERN]

Cold: in a process that has imported the course, with an empty cache, so that nvcc and the software
GPU compile all. Warm: in another process, with what the first one left in the cache.
"""

import os
import re
import resource
import statistics
import sys
import tempfile

from helpers import exercises


def cpu_seconds() -> float:
    """Of this process, and of those it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def seconds_to_judge(name: str) -> float:
    """In a process of its own."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        before = cpu_seconds()
        verdict = exercises.judge(name, exercises.solution(name))
        os.write(there, str(cpu_seconds() - before).encode())
        if not verdict:
            print(verdict, file=sys.stderr, flush=True)
        os._exit(not verdict)
    os.close(there)
    with os.fdopen(here) as answer:
        seconds = float(answer.read())
    _, status = os.waitpid(child, 0)
    assert not status, f"the solution of {name} does not pass"
    return seconds


def main() -> None:
    pattern = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SOFTGPU_CACHE"] = os.environ["PYCUDA_CACHE_DIR"] = folder
        os.environ["HELPERS_WORK"] = folder
        for name in filter(pattern.search, exercises.names()):
            rows.append((name, seconds_to_judge(name), seconds_to_judge(name)))
            print("{:32} cold {:6.2f}  warm {:6.2f}".format(*rows[-1]), flush=True)
    for what, times in zip(("cold", "warm"), list(zip(*rows))[1:]):
        print(f"{what}: median {statistics.median(times):.2f} s, longest {max(times):.2f} s")


if __name__ == "__main__":
    main()
