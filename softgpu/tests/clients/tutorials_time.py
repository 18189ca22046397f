"""What the sanitizer adds to Triton's tutorials: seconds of the processor, plain and sanitized.

python -m softgpu.tests.clients.tutorials_time TUTORIALS [NAME ...]  # needs Triton and PyTorch

TUTORIALS: a checkout's python/tutorials. Each runs once before, so that Triton's cache has its
kernels and ours has them compiled; what is left is mostly the imports and the launches. Kernels
that are tuned have one configuration.
"""

import re
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import NamedTemporaryFile

from .test_triton_tutorials import CASES, ONE_CONFIGURATION, script_of

HEAD = "| tutorial | plain | sanitized | ratio | findings |\n| --- | --- | --- | --- | --- |"


def cpu_seconds(command: str, script: str) -> tuple[float, str]:
    """What `softgpu COMMAND` takes for a script, its imports included, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "softgpu", command, script],
        capture_output=True, text=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stderr


def main(tutorials: str, *names: str) -> None:
    print(HEAD)
    for name in names or CASES:
        with NamedTemporaryFile("w", suffix=".py") as file:
            script = script_of(name, Path(tutorials), first=ONE_CONFIGURATION)
            print(script, file=file, flush=True)
            for command in ("run", "sanitize"):
                cpu_seconds(command, file.name)
            plain, _ = cpu_seconds("run", file.name)
            watched, said = cpu_seconds("sanitize", file.name)
        found = len(re.findall(r"^\d+\. ", said, re.M))
        print(f"| {name} | {plain:.1f} s | {watched:.1f} s | {watched / plain:.1f} | {found} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
