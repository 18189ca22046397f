"""Run the own tests of a client of the software GPU on it.

    client_tests.py pycuda | numba | cuda-core | cuda-bindings [ARGUMENT OF PYTEST ...]

tests/softgpu/clients/CLIENT_expected.txt names the tests that do not pass, below each reason. A
test that fails and is not named, or is named and passes, makes this fail. A name with * stands for
all that fit and do not pass.

PyCUDA's tests are in its source package and run in the lab's environment. Those of numba-cuda are
in its wheel, those of cuda.core and cuda.bindings in their repository alone, a checkout of which
CUDA_PYTHON names; both run in build/clients, in an environment of their own.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import xml.etree.ElementTree as ElementTree
from collections import Counter
from functools import partial
from pathlib import Path

import setup
from build_pycuda import fetch

EXPECTED = setup.ROOT / "tests/softgpu/clients"
FOLDER = setup.ROOT / "build/clients"
PYTHON = FOLDER / "venv/bin/python"
HELPERS = [
    "cloudpickle==3.1.2", "cython==3.2.9", "filecheck==1.0.6", "ml_dtypes==0.6.0",
    "psutil==7.2.2", "pytest==9.2.0", "pytest-rerunfailures==16.3", "pytest-timeout==2.4.0",
    "pytest-xdist==3.8.0",
]  # fmt: skip
NOT_RUN = "not run: "  # such a reason begins so: what would take more memory than machines have
# Where cuda.core 1.2.2 has what its tests of July 2026 import from elsewhere.
MOVED = r"from cuda.core._memory import (IPC\w+)", r"from cuda.core._memory._ipc import \1"
INSTALL = "import softgpu\n\nsoftgpu.install()\n"
# What numba-cuda's tests ask of its conftest.py, which is not in the wheel.
NUMBA_CONFTEST = """\
import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
"""
PYTEST_INI = """\
[pytest]
junit_family = xunit1
markers =
    cuda
    agent_authored
    human_reviewed
    human_authored
"""


def make_environment():
    """One for the clients, so that the lab's stays without them. Every process of it begins with
    softgpu.install(), those that tests start, too."""
    key = setup.digest(setup.ROOT / "pyproject.toml", *HELPERS, sys.version)
    stamp = FOLDER / "installed"
    if stamp.exists() and stamp.read_text() == key:
        return
    venv.create(FOLDER / "venv", with_pip=True, clear=True)
    pip("-e", setup.ROOT / "softgpu", "-e", f"{setup.ROOT}[clients]", *HELPERS)
    (site_packages() / "sitecustomize.py").write_text(INSTALL)
    stamp.write_text(key)


def site_packages():
    return next(FOLDER.glob("venv/lib/python3*/site-packages"))


def pip(*words):
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", *words], check=True)


def pycuda():
    """(folder, Python, arguments of pytest) for its tests, beside what makes ours the driver."""
    folder = FOLDER / "pycuda"
    folder.mkdir(parents=True, exist_ok=True)
    sdist = fetch(setup.CACHE / "pycuda", setup.PYCUDA, setup.PYCUDA_SHA256)
    with tarfile.open(sdist) as archive:
        for member in archive:
            parent, _, name = member.name.rpartition("/")
            if parent.endswith("/test") and name.startswith("test_"):
                (folder / name).write_bytes(archive.extractfile(member).read())
    (folder / "conftest.py").write_text(INSTALL)
    return folder, sys.executable, ["-n", "0"]  # side by side they would take too much memory


def numba():
    make_environment()
    folder = FOLDER / "numba"
    folder.mkdir(exist_ok=True)
    (folder / "numba_conftest.py").write_text(NUMBA_CONFTEST)
    words = ["-p", "numba_conftest", "-o", "consider_namespace_packages=true"]
    words += ["--pyargs", "numba.cuda.tests"]
    return folder, PYTHON, [f"--rootdir={FOLDER / 'venv'}", *words]


def cuda_python(package):
    """Copies of its tests, as the package beside them would hide the one that is installed."""
    checkout = Path(os.environ.get("CUDA_PYTHON", ""))
    if not (checkout / package / "tests").is_dir():
        sys.exit("Which tests? CUDA_PYTHON=CHECKOUT_OF_NVIDIA_cuda-python")
    make_environment()
    folder = FOLDER / package
    # What is built by the repository's own build stays behind.
    built = shutil.ignore_patterns("cuda", "cython")
    shutil.copytree(checkout / package, folder, ignore=built, dirs_exist_ok=True)
    for path in folder.glob("tests/**/*.py"):
        path.write_text(re.sub(*MOVED, path.read_text()))
    pip(checkout / "cuda_python_test_helpers")
    for left_out in ("_test_helpers", "_example_helpers"):  # of the wheel
        helpers = Path("cuda/bindings", left_out)
        target = site_packages() / helpers
        shutil.copytree(checkout / "cuda_bindings" / helpers, target, dirs_exist_ok=True)
    return folder, PYTHON, ["--continue-on-collection-errors", "tests"]


SUITES = {
    "pycuda": pycuda,
    "numba": numba,
    "cuda-core": partial(cuda_python, "cuda_core"),
    "cuda-bindings": partial(cuda_python, "cuda_bindings"),
}


def read_expected(path):
    """Test name -> why it does not pass: reasons stand at the margin, names below them."""
    excused, reason = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("    "):
            excused[line.strip()] = reason
        elif line and not line.startswith("#"):
            reason = line
    return excused


def outcomes(report):
    """Test name -> whether it passed, from pytest's report; a skipped test did not."""
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        own = case.get("classname").split(".") if case.get("classname") else []
        parts = [*own, case.get("name")] if own else case.get("name").split(".")  # a whole file
        parts = parts[parts.index("tests") + 1 :] if "tests" in parts else parts
        end = 1 + next((i for i, part in enumerate(parts) if part.startswith("test_")), 0)
        name = "::".join(["/".join(parts[:end]) + ".py", *parts[end:]])
        found[name] = all(case.find(kind) is None for kind in ("failure", "error", "skipped"))
    return found


def compare(found, excused, name):
    """Say what is otherwise than expected, and how many do not pass for which reason."""
    patterns = [
        (re.compile(re.escape(test).replace(r"\*", ".*")), reason)
        for test, reason in excused.items()
        if "*" in test
    ]
    failed = {test for test, good in found.items() if not good}
    reasons, surprises = Counter(), []
    for test in sorted(failed):
        fitting = (reason for pattern, reason in patterns if pattern.fullmatch(test))
        if reason := excused.get(test) or next(fitting, None):
            reasons[reason] += 1
        else:
            surprises.append(f"failed, and {name} does not name it: {test}")
    for test in sorted(excused.keys() & found.keys() - failed):
        surprises.append(f"passed, although {name} names it: {test}")
    print(*surprises, f"{len(found) - len(failed)} passed; not passed:", sep="\n")
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")
    return bool(surprises)


def main(client, *arguments):
    folder, python, words = SUITES[client]()
    path = EXPECTED / f"{client.replace('-', '_')}_expected.txt"
    excused = read_expected(path)
    left_out = [f"--deselect={t}" for t, why in excused.items() if why.startswith(NOT_RUN)]
    (folder / "pytest.ini").write_text(PYTEST_INI)
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    subprocess.run(
        [python, "-m", "pytest", "-q", "-n", "logical", "--dist=loadscope", "--tb=line",
         "--disable-warnings", "-c", folder / "pytest.ini", f"--junitxml={report}", *words,
         *left_out, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    return compare(outcomes(report), excused, path.name)


if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in SUITES:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
