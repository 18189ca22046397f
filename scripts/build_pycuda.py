"""Build a PyCUDA wheel from its source package: without cuRAND, needing no driver, on two cores.

Run by setup.py with the lab's Python: build_pycuda.py VERSION SHA256 WHEEL_FOLDER INCLUDE...
The source package is kept beside the wheel's folder, which appears when the wheel is finished.
"""

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import setuptools  # noqa: F401  before distutils, which it provides

# isort: split
from distutils.ccompiler import CCompiler

# A library without symbols: PyCUDA gets to need a libcuda.so.1, and whichever is loaded first,
# the machine's or the software GPU's, provides the functions.
STUB = ["-shared", "-Wl,-soname,libcuda.so.1", "-x", "c", os.devnull, "-o"]
SETTINGS = """\
CUDA_ROOT = None
CUDA_INC_DIR = {include!r}
CUDADRV_LIBNAME = []
CUDA_ENABLE_CURAND = False
CXXFLAGS = ["-O1", "-g0"]
LDFLAGS = ["-Wl,--no-as-needed", {stub!r}]
"""


def as_two(sources):
    """PyCUDA's sources as two that take about as long: the largest, and one that has all others.

    Apart, its 37 files read Boost's headers 37 times, which takes most of the time."""
    largest = "src/wrapper/wrap_cudadrv.cpp"
    if largest not in sources:
        return sources
    rest = "".join(f'#include "{name}"\n' for name in sources if name != largest)
    Path("rest.cpp").write_text(rest)
    return [largest, "rest.cpp"]


def compile_side_by_side(
    self, sources, output_dir=None, macros=None, include_dirs=None, debug=False,
    extra_preargs=None, extra_postargs=None, depends=None,
):  # fmt: skip
    """CCompiler.compile, which by itself takes one source file after the other."""
    macros, objects, extra, pp_opts, build = self._setup_compile(
        output_dir, macros, [*include_dirs, "."], as_two(sources), depends, extra_postargs
    )
    arguments = self._get_cc_args(pp_opts, debug, extra_preargs)
    with ThreadPoolExecutor() as pool:
        jobs = [
            pool.submit(self._compile, name, *build[name], arguments, extra, pp_opts)
            for name in objects
        ]
        for job in jobs:
            job.result()
    return objects


def fetch(folder, version, sha256):
    """PyCUDA's source package in that folder, downloaded if it is not there yet."""
    sdist = Path(folder, f"pycuda-{version}.tar.gz")
    if not sdist.exists():
        with tempfile.TemporaryDirectory(dir=folder) as work:
            pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
            options = ["--no-deps", "--no-build-isolation", "--no-binary", "pycuda", "-d", work]
            subprocess.run([*pip, "download", *options, "pycuda==" + version], check=True)
            (found,) = Path(work).glob("*.tar.gz")
            if hashlib.sha256(found.read_bytes()).hexdigest() != sha256:
                sys.exit("the source package of PyCUDA is not the one expected")
            found.replace(sdist)
    return sdist


def build(sdist, work, wheels, include):
    """Leave a wheel in the folder of wheels."""
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(work, filter="data")
        else:
            archive.extractall(work)
    (source,) = (path for path in Path(work).iterdir() if path.is_dir())
    stub = str(Path(work, "libcuda.so"))
    subprocess.run([os.environ["CC"], *STUB, stub], check=True)
    Path(source, "siteconf.py").write_text(SETTINGS.format(include=include, stub=stub))
    CCompiler.compile = compile_side_by_side
    os.chdir(source)
    sys.path.insert(0, os.getcwd())
    sys.argv = ["setup.py", "-q", "bdist_wheel", "-d", str(wheels)]
    runpy.run_path("setup.py", run_name="__main__")


def main(version, sha256, wheels, *include):
    wheels = Path(wheels)
    folder = wheels.parent
    folder.mkdir(exist_ok=True)
    for leftover in folder.glob("tmp*"):  # of a call that was killed
        shutil.rmtree(leftover)
    sdist = fetch(folder, version, sha256)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        built = Path(work, "wheel")
        build(sdist, work, built, list(include))
        shutil.rmtree(wheels, ignore_errors=True)
        built.replace(wheels)


if __name__ == "__main__":
    main(*sys.argv[1:])
