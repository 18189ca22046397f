"""SOFTGPU_TRACE: every call of the driver on stderr, by a library that stands before it.

It is written from the driver's own sources: whatever is exported there is traced.
"""

from __future__ import annotations

import ctypes
import re
import tempfile
from pathlib import Path

from .build import compiling, run_compiler, sources

__all__ = ["load"]

_EXPORTED = re.compile(r"^CUAPI (cu\w+)\(([^)]*)\)\s*{", re.MULTILINE)
_PARAMETER = re.compile(r"(.*?)(\w+)(?:\[\d+\])?$")

_HEAD = """
#include <stdio.h>
#include <dlfcn.h>
#include "cuda_abi.h"
static void *driver;
__attribute__((visibility("default"))) void trace(void *handle) { driver = handle; }
CUresult cuGetErrorString(CUresult, const char **);
#define FORMAT(x) _Generic((x), const char *: "%s", float: "%g", \\
    int: "%d", unsigned: "%u", uint64_t: "%lu", \\
    IpcHandle: "...", default: "%p")
#define SHOW(text, x) (fputs(text "=", stderr), fprintf(stderr, FORMAT(x), (x)))
#define SHOW_AT(text, x) ((x) && !answer ? SHOW("*" text, *(x)) : SHOW(text, x))
static CUresult told(CUresult code)
{
    CUresult (*words)(CUresult, const char **) = dlsym(driver, "cuGetErrorString");
    const char *text = "";
    if (code) words(code, &text);
    fprintf(stderr, code ? ") = %d, %s\\n" : ") = %d\\n", code, text);
    return code;
}
"""

_FUNCTION = """
CUAPI {name}({parameters})
{{
    CUresult (*real)({parameters}) = dlsym(driver, "{name}");
    CUresult answer = real({arguments});
    flockfile(stderr);
    fputs("{name}(", stderr);
    {shown}
    told(answer);
    funlockfile(stderr);
    return answer;
}}
"""


def _function(name: str, parameters: str) -> str:
    """A function that calls the driver's of the same name and says so."""
    declared = [] if parameters == "void" else parameters.split(",")
    split = [_PARAMETER.findall(part.strip())[0] for part in declared]
    shown = []
    for kind, parameter in split:
        result = kind.endswith("*") and "const" not in kind and kind not in ("void *", "char *")
        if kind == "void **":
            result = parameter == "out"
        cast = {"CUdeviceptr ": "(void *)", "CUdeviceptr *": "(void **)"}.get(kind, "")
        shown.append(f'SHOW{"_AT" if result else ""}("{parameter}", {cast}{parameter});')
    return _FUNCTION.format(
        name=name,
        parameters=" ".join(parameters.split()),
        arguments=", ".join(parameter for _, parameter in split),
        shown=' fputs(", ", stderr);\n    '.join(shown),
    )


def load(driver: str) -> None:
    """Put it before the driver, which must be loaded already but not yet be bound to."""
    source = _HEAD
    for path in sources():
        for name, parameters in _EXPORTED.findall(path.read_text()):
            if name != "cuGetErrorString":
                source += _function(name, parameters)
    with tempfile.TemporaryDirectory() as folder:
        written, library = Path(folder) / "trace.c", Path(folder) / "libtrace.so"
        written.write_text(source)
        options = ["-shared", "-w", "-o", library, written, "-ldl"]
        run_compiler([*compiling(), *options])
        traced = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    traced.trace(ctypes.c_void_p(ctypes.CDLL(driver)._handle))
