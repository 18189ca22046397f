"""What each folder proves, and how goldens are recorded again: README.md."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "softgpu"


def sources(*endings):
    """The package's files that end so, without its tests."""
    return sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in endings and PACKAGE / "tests" not in path.parents
    )


def python(*words, cwd=ROOT, timeout=None, **environment):
    """A process of Python that has ended, with what it said; environment: beside this process's."""
    return subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, timeout=timeout, capture_output=True,
        text=True, env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
