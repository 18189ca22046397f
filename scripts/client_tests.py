"""Run the own tests of a client of the software GPU on it.

    client_tests.py CLIENT [ARGUMENT OF PYTEST ...]

softgpu/tests/clients/CLIENT_expected.txt names the tests that do not pass, below each reason. A
test that fails and is not named, or is named and passes, makes this fail. A name with * stands for
all that fit and do not pass.

SUITES, below, says for each client where its tests come from, which of them run, and in what: the
lab's environment or one in build/clients. Where a variable names a checkout, the list of expected
failures says of which commit.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePath

import setup
from build_pycuda import fetch

from softgpu.build import build

EXPECTED = setup.ROOT / "softgpu/tests/clients"
FOLDER = setup.ROOT / "build/clients"
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
TRITON_SLICE = """\
from zlib import crc32


def pytest_collection_modifyitems(items):
    items[:] = [i for i in items if "unit" not in i.nodeid or not crc32(i.nodeid.encode()) % 40]
"""
PYTEST_INI = """\
[pytest]
junit_family = xunit1
markers =
    agent_authored
    cuda
    human_authored
    human_reviewed
    libdevice
    perf
    run_in_serial
    sm70
"""

# Environments by name, so that the lab's stays without these packages.
BASE = [
    "-e", setup.ROOT / "softgpu", "-e", setup.ROOT, "pytest==9.2.0", "pytest-rerunfailures==16.3",
    "pytest-timeout==2.4.0", "pytest-xdist==3.8.0",
]  # fmt: skip
CLIENTS = [
    "-e", f"{setup.ROOT}[clients]", "cloudpickle==3.1.2", "cython==3.2.9", "filecheck==1.0.6",
    "ml_dtypes==0.6.0", "psutil==7.2.2",
]  # fmt: skip
REIKNA = "reikna==0.9.0"
# Without that index, PyPI gives a build for CUDA: 4 GB more, as good. It wants another Triton.
TORCH_FOR_CPUS = [
    "--extra-index-url", os.environ.get("TORCH_INDEX", "https://download.pytorch.org/whl/cpu"),
    "--retries=1", "torch==2.13.0",
]  # fmt: skip
PACKAGES = {
    "cute-dsl": [*TORCH_FOR_CPUS, "-e", f"{setup.ROOT}[toolkit]", "nvidia-cutlass-dsl==4.8.1"],
    "venv": CLIENTS,
    "numba-mlir": [
        *CLIENTS, "cffi==2.1.1", "numba-cuda-mlir==0.5.0", "pytest-benchmark==5.3.1",
        "pytest-subtests==0.15.0",
    ],
    "reikna": [REIKNA, "funcsigs==1.0.2", "mako==1.3.10", "scipy==1.17.1"],
    "taichi": ["taichi==1.7.4", "psutil==7.2.2", "requests==2.34.2"],
    "triton": [
        *TORCH_FOR_CPUS, "pandas==3.1.1", "scipy==1.17.1",
        "tabulate==0.10.0", "cuda-tile[tileiras]==1.7.0", "nvidia-cuda-nvdisasm==13.2.86",
    ],
    "tilelang": [*TORCH_FOR_CPUS, "-e", f"{setup.ROOT}[toolkit]", "tilelang==0.1.15"],
    "tinygrad": ["hypothesis==6.170.17", "torch==2.13.0", "z3-solver==4.15.3"],
}  # fmt: skip
AFTERWARDS = {"triton": ["--no-deps", "triton==3.9.0"]}


@dataclass(frozen=True)
class Suite:
    """Which of a client's tests run, and in what."""

    put: Callable[[Path, Path], None]  # the tests into a folder; its 2nd argument is the Python
    words: Sequence[str | Path]  # for pytest: which tests, and how
    environment: str | None  # its name; None, the lab's
    variables: Mapping[str, str] = field(default_factory=dict)  # unless they are set


def make_environment(name):
    """Its Python. Every process, those that tests start, too, begins with softgpu.install()."""
    folder = FOLDER / name
    python, stamp = folder / "bin/python", folder / "installed"
    packages, afterwards = [*BASE, *PACKAGES[name]], AFTERWARDS.get(name)
    words = map(str, [*packages, *(afterwards or [])])
    key = setup.digest(setup.ROOT / "pyproject.toml", *words, sys.version)
    if not stamp.exists() or stamp.read_text() != key:
        venv.create(folder, with_pip=True, clear=True)
        pip(python, "install", *packages)
        if afterwards:
            pip(python, "install", *afterwards)
        (site_packages(python) / "sitecustomize.py").write_text(INSTALL)
        stamp.write_text(key)
    return python


def site_packages(python):
    return next(python.parent.parent.glob("lib/python3*/site-packages"))


def pip(python, command, *words):
    subprocess.run([python, "-m", "pip", command, "-q", *words], check=True)


def unpack(sdist, folder):
    """The tests of a source package."""
    with tarfile.open(sdist) as archive:
        for member in archive:
            path = PurePath(*PurePath(member.name).parts[1:])
            if path.is_relative_to("test"):
                inside = str(path.relative_to("test"))
                archive.extract(member.replace(name=inside), folder, filter="data")


def checkout(variable, part):
    """A repository's, of which there must be that part."""
    root = Path(os.environ.get(variable, "nowhere"))
    if not (root / part).is_dir():
        sys.exit(f"Which tests? {variable}=CHECKOUT of its repository, where there is {part}")
    return root


def copied(variable, parts, folder, _python):
    """Copies of what the tests need, as the package beside them would hide the one installed."""
    root = checkout(variable, parts[0])
    for part in parts:
        shutil.copytree(root / part, folder / part, dirs_exist_ok=True)


def pycuda(folder, _python):
    """And what makes ours the driver."""
    unpack(fetch(setup.CACHE / "pycuda", setup.PYCUDA, setup.PYCUDA_SHA256), folder)
    (folder / "conftest.py").write_text(INSTALL)


def numba(folder, _python):
    """They are in the wheel; this is what they need besides."""
    (folder / "numba_conftest.py").write_text(NUMBA_CONFTEST)


def reikna(folder, python):
    """They want PyCUDA, too: the lab's."""
    (wheel,) = setup.wheel_folder((setup.STAMPS / "pycuda").read_text()).glob("*.whl")
    pip(python, "install", wheel, f"{setup.ROOT}[toolkit]")
    pip(python, "download", "--no-deps", "--no-binary=:all:", "-d", folder, REIKNA)
    (sdist,) = folder.glob("*.tar.gz")
    unpack(sdist, folder)


def cuda_python(package, folder, python):
    root = checkout("CUDA_PYTHON", f"{package}/tests")
    # What is built by the repository's own build stays behind.
    built = shutil.ignore_patterns("cuda", "cython")
    shutil.copytree(root / package, folder, ignore=built, dirs_exist_ok=True)
    for path in folder.glob("tests/**/*.py"):
        path.write_text(re.sub(*MOVED, path.read_text()))
    pip(python, "install", root / "cuda_python_test_helpers")
    for left_out in ("_test_helpers", "_example_helpers"):  # of the wheel
        helpers = Path("cuda/bindings", left_out)
        target = site_packages(python) / helpers
        shutil.copytree(root / "cuda_bindings" / helpers, target, dirs_exist_ok=True)


TRITON_OURS = "test_triton.py", "test_gluon.py", "test_triton_tutorials.py"


def triton(folder, python):
    """Theirs, our own of Triton, and what chooses a slice of theirs by a hash of their names."""
    parts = "python/test", "python/tutorials", "third_party/nvidia/backend/lib"
    copied("TRITON", parts, folder, python)
    shutil.copy(checkout("TRITON", "python") / "python/conftest.py", folder / "python")
    for name in (*TRITON_OURS, "planted_gluon.py"):
        shutil.copy(EXPECTED / name, folder)
    (folder / "triton_slice.py").write_text(TRITON_SLICE)


def ours(test, folder, python, **samples):
    """A file of our own tests, and folders of samples, by the variables of their checkouts."""
    for variable, part in samples.items():
        copied(variable, [part], folder, python)
    shutil.copy(EXPECTED / test, folder)


TAICHI = [  # of its 200 files: what blocks, warps, atomics, loops and prints do
    "assert", "atomic", "dynamic", "exception", "local_atomics", "loops", "math_module",
    "print", "random", "reduction", "scan", "shared_array", "simt", "struct_for",
]  # fmt: skip
TINYGRAD = [  # of test/: what makes code, launches and graphs, and the operators of each kind
    "test/test_tiny.py",
    "test/opt",
    *(f"test/backend/test_{name}.py" for name in [
        "custom_kernel", "graph", "jit", "linearizer", "softmax_fusion", "transcendental", "uops",
    ]),
    *(f"test/backend/test_ops.py::TestOps::test_{name}" for name in [
        "broadcastdot", "broadcasted_add", "cumsum", "div_rounding_mode", "exp", "gemm", "matmul",
        "max", "mod", "simple_conv2d", "sin", "softmax", "sort", "sum", "topk",
    ]),
]  # fmt: skip
REIKNA_TESTS = [  # all but random numbers, transforms and products: hundreds of kernels to compile
    "test_algorithms", "test_cluda/test_basics.py", "test_cluda/test_functions.py",
    "test_cluda/test_modules.py", "test_cluda/test_struct.py", "test_core",
    "test_fft/test_fftshift.py", "test_linalg/test_norm.py", "test_transformations.py",
]  # fmt: skip
NUMBA_MLIR = [  # of tests/: the driver, and what kernels do beyond arithmetic
    "numba_cuda_tests/cudadrv", "infra/test_cooperative.py", "infra/test_link_libraries.py",
    "memory_management", "test_atomics.py", "test_cluster_launch.py", "test_coop_sync.py",
    "test_dynamic_shared_memory.py", "test_half_precision.py", "test_kernel_exceptions.py",
    "test_large_smem.py", "test_matmul.py", "test_matmul_sharedmem.py", "test_printf.py",
    "test_vector_types.py", "test_warp_ops.py",
]  # fmt: skip
SUITES = {
    "cute-dsl": Suite(
        partial(ours, "test_cute_dsl.py", CUTLASS="examples/python/CuTeDSL"),
        ["test_cute_dsl.py"],
        "cute-dsl",
    ),
    "cutile": Suite(
        partial(ours, "test_cutile.py", CUTILE="samples"),
        ["test_cutile.py", "samples/test_samples.py"],
        "triton",
    ),
    "pycuda": Suite(pycuda, ["-n", "0"], None),  # side by side they would take too much memory
    "numba": Suite(
        numba,
        ["-p", "numba_conftest", "-o", "consider_namespace_packages=true",
         f"--rootdir={FOLDER / 'venv'}", "--pyargs", "numba.cuda.tests"],
        "venv",
    ),
    "cuda-core": Suite(
        partial(cuda_python, "cuda_core"), ["--continue-on-collection-errors", "tests"], "venv"
    ),
    "cuda-bindings": Suite(
        partial(cuda_python, "cuda_bindings"), ["--continue-on-collection-errors", "tests"], "venv"
    ),
    "numba-mlir": Suite(
        partial(copied, "NUMBA_CUDA_MLIR", ["tests"]),
        [f"tests/{name}" for name in NUMBA_MLIR],
        "numba-mlir",
    ),
    "reikna": Suite(
        reikna,
        ["--api=cuda", "-m", "not perf", *REIKNA_TESTS],
        "reikna",
    ),
    "taichi": Suite(
        partial(copied, "TAICHI", ["tests"]),
        [f"tests/python/test_{name}.py" for name in TAICHI],
        "taichi",
        {"TI_WANTED_ARCHS": "cuda", "SOFTGPU_TIER": "quick"},
    ),
    "tilelang": Suite(partial(ours, "test_tilelang.py"), ["test_tilelang.py"], "tilelang"),
    "tinygrad": Suite(
        partial(copied, "TINYGRAD", ["tinygrad", "test", "extra"]),
        [*TINYGRAD, "--hypothesis-seed=0", "--dist=worksteal"],
        "tinygrad",
        {"DEV": "CUDA:PTX", "CUDA_PATH": str(build()), "SOFTGPU_DEVICES": "2"},
    ),
    "triton": Suite(
        triton,
        ["-p", "triton_slice", "--dist=worksteal", *TRITON_OURS,
         "python/test/unit/language/test_core.py"],
        "triton",
        {"TRITON_DEFAULT_FP_FUSION": "1"},
    ),
}  # fmt: skip


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
        own = (case.get("classname") or case.get("name")).split(".")  # or a whole file's
        own = own[own.index("tests") + 1 :] if "tests" in own else own
        end = 1 + max((i for i, part in enumerate(own) if part.startswith("test_")), default=0)
        test = [case.get("name")] if case.get("classname") else []
        name = "::".join(["/".join(own[:end]) + ".py", *own[end:], *test])
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
    suite = SUITES[client]
    path = EXPECTED / f"{client.replace('-', '_')}_expected.txt"
    excused = read_expected(path)
    left_out = [f"--deselect={t}" for t, why in excused.items() if why.startswith(NOT_RUN)]
    folder = FOLDER / f"{client}-tests"
    folder.mkdir(parents=True, exist_ok=True)
    python = make_environment(suite.environment) if suite.environment else sys.executable
    suite.put(folder, Path(python))
    (folder / "pytest.ini").write_text(PYTEST_INI)
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    ours = {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(FOLDER / "cache")}
    subprocess.run(
        [python, "-m", "pytest", "-q", "-n", "logical", "--dist=loadscope", "--tb=line",
         "--disable-warnings", "-c", folder / "pytest.ini", f"--junitxml={report}", *suite.words,
         *left_out, *arguments],
        cwd=folder, env={**suite.variables, **os.environ, **ours},
    )  # fmt: skip
    return compare(outcomes(report), excused, path.name)


if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in SUITES:
        sys.exit(__doc__ + "\n    " + " | ".join(SUITES))
    sys.exit(main(*sys.argv[1:]))
