"""SOFTGPU_TRACE: every call of the driver on stderr, by a library that stands before it.

It is written from the driver's own sources: whatever is exported there is traced. It bears the
driver's name, so that who opens the driver by name and looks functions up gets these.
"""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

from . import cache
from .build import DRIVER, SONAME, compiling, fingerprint, run_compiler

__all__ = ["load"]

_EXPORTED = re.compile(
    r'visibility\("default"\)\)\) CUresult (cu\w+) ?\(((?:[^()]|\([^()]*\))*)\)\s*{'
)
_COMMA = re.compile(r",(?![^()]*\))")  # between parameters, not inside of a function's type
_PARAMETER = re.compile(r"(.*?)(\w+)(?:\[\d+\]|\)\(.*\))?$")

_HEAD = """
#define _GNU_SOURCE
#include <stdio.h>
#include <dlfcn.h>
#include "driver.h"
static void *driver;
__attribute__((visibility("default"))) void trace(void *handle) { driver = handle; }
#define FORMAT(x) _Generic((x), const char *: "%s", float: "%g", \\
    int: "%d", unsigned: "%u", uint64_t: "%lu", \\
    IpcHandle: "...", default: "%p")
#define SHOW(text, x) (fputs(text "=", stderr), fprintf(stderr, FORMAT(x), (x)))
#define SHOW_AT(text, x) ((x) && !answer ? SHOW("*" text, *(x)) : SHOW(text, x))
static void stand_before(void **address) /* what the driver says a name means */
{
    Dl_info found;
    if (*address && dladdr(*address, &found) && found.dli_sname)
        *address = dlsym(RTLD_DEFAULT, found.dli_sname);
}
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
    CUresult answer = real({arguments});{more}
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
    declared = [] if parameters == "void" else _COMMA.split(parameters)
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
        more="\n    stand_before(address);" if name.startswith("cuGetProcAddress") else "",
        parameters=" ".join(parameters.split()),
        arguments=", ".join(parameter for _, parameter in split),
        shown=' fputs(", ", stderr);\n    '.join(shown),
    )


def _exported(room: Path) -> list[tuple[str, str]]:
    """Name and parameters of every call in a room of the driver."""
    files = sorted(room.glob("*.c"))
    if not files:
        return []
    words = [*compiling(room.name), "-DSOURCES=", "-E", "-P", *files]
    return _EXPORTED.findall(subprocess.run(words, capture_output=True, text=True).stdout)


def load(driver: str) -> None:
    """Put it before the driver, which must not be loaded yet."""
    name = cache.key([fingerprint(), Path(__file__).read_text()])
    library = cache.made_once(f"{name}-trace.so", _make)
    traced = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    traced.trace(ctypes.c_void_p(ctypes.CDLL(driver)._handle))


def _make(library: Path) -> None:
    calls = [found for room in sorted(DRIVER.iterdir()) for found in _exported(room)]
    written = library.with_suffix(".c")
    written.write_text(_HEAD + "".join(_function(*call) for call in calls))
    options = ["-O0", "-shared", "-w", f"-Wl,-soname,{SONAME}", "-o", library, written, "-ldl"]
    run_compiler([*compiling("api"), *options])
