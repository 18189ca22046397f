"""Tests with the driver built for the address and undefined-behaviour sanitizers, or, with
SOFTGPU_BUILD=threads, for the thread sanitizer.

python -m softgpu.tests.driver.under_sanitizers TESTS ...    # what pytest takes
"""

import os
import subprocess
import sys

import cxxfilt

from softgpu import build

__all__ = ["missing", "run"]

PLUGIN = "softgpu.tests.driver.under_sanitizers"
KIND = build.KIND or "sanitized"
# The first must come before Python's own libraries; LLVM throws through the second, which the
# first therefore has to know.
RUNTIMES = ("libtsan.so" if KIND == "threads" else "libasan.so", "libstdc++.so.6")


def runtime(name):
    """The path of a library that comes with the compiler; None if it is not installed."""
    command = [build.find_compiler(), f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return found if os.path.isabs(found) else None


def missing():
    """The libraries that this compiler lacks."""
    return [name for name in (*RUNTIMES, "libubsan.so") if not runtime(name)]


def run(*arguments):
    """Runs pytest in a process of its own; what it says, and what the sanitizers say, in one."""
    environment = {
        **os.environ,
        "SOFTGPU_BUILD": KIND,
        "LD_PRELOAD": " ".join(map(runtime, RUNTIMES)),
        # Python keeps what it has until it ends; LLVM allocates so often that the callers of each
        # malloc, except for the nearest, would take a third of the time
        "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=2",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--capture=sys", "-p", PLUGIN]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:nbval", *arguments],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def pytest_configure():
    """In that process: what it starts, such as nvcc, need not be looked into."""
    asan, cplusplus = os.environ.pop("LD_PRELOAD").split()
    # a name that one library allocates, and that another frees
    cxxfilt.default_demangler = cxxfilt.Demangler(asan, cplusplus)


if __name__ == "__main__":
    done = run(*sys.argv[1:])
    print(done.stdout)
    sys.exit(done.returncode)
