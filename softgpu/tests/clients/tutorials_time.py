"""What the sanitizer adds to Triton's tutorials: seconds of the processor, plain and sanitized.

python -m softgpu.tests.clients.tutorials_time TUTORIALS [NAME ...]  # needs Triton and PyTorch

TUTORIALS: a checkout's python/tutorials. Each runs once before, so that Triton's cache has its
kernels and ours has them compiled; what is left is mostly the imports and the launches.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

from .test_triton_tutorials import CASES, script_of

HEAD = "| tutorial | plain | sanitized | ratio | findings |\n| --- | --- | --- | --- | --- |"


def cpu_seconds(script: str, **environment: str) -> tuple[float, str]:
    """What a script takes, its imports included, and what it says on stderr."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stderr


def main(tutorials: str, *names: str) -> None:
    print(HEAD)
    for name in names or CASES:
        script = script_of(name, Path(tutorials))
        for sanitize in ("0", "1"):
            cpu_seconds(script, SOFTGPU_SANITIZE=sanitize)
        plain, _ = cpu_seconds(script, SOFTGPU_SANITIZE="0")
        watched, said = cpu_seconds(script, SOFTGPU_SANITIZE="1")
        found = said.count(" 1 finding") + said.count(" findings")
        print(f"| {name} | {plain:.1f} s | {watched:.1f} s | {watched / plain:.1f} | {found} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
