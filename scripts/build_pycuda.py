"""Build a PyCUDA wheel from its source package: without cuRAND, needing no driver, on all cores.

Run by setup.py with the lab's Python: build_pycuda.py SDIST WORK_FOLDER WHEEL_FOLDER INCLUDE...
"""

import os
import runpy
import subprocess
import sys
import tarfile
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


def compile_on_all_cores(
    self, sources, output_dir=None, macros=None, include_dirs=None, debug=False,
    extra_preargs=None, extra_postargs=None, depends=None,
):  # fmt: skip
    """CCompiler.compile, which by itself takes one source file after the other."""
    macros, objects, extra, pp_opts, build = self._setup_compile(
        output_dir, macros, include_dirs, sources, depends, extra_postargs
    )
    arguments = self._get_cc_args(pp_opts, debug, extra_preargs)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        jobs = [
            pool.submit(self._compile, name, *build[name], arguments, extra, pp_opts)
            for name in objects
        ]
        for job in jobs:
            job.result()
    return objects


def main(sdist, work, wheels, *include):
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(work, filter="data")
        else:
            archive.extractall(work)
    (source,) = (path for path in Path(work).iterdir() if path.is_dir())
    stub = str(Path(work, "libcuda.so"))
    subprocess.run([os.environ["CC"], *STUB, stub], check=True)
    Path(source, "siteconf.py").write_text(SETTINGS.format(include=list(include), stub=stub))
    CCompiler.compile = compile_on_all_cores
    os.chdir(source)
    sys.path.insert(0, os.getcwd())
    sys.argv = ["setup.py", "-q", "bdist_wheel", "-d", wheels]
    runpy.run_path("setup.py", run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
