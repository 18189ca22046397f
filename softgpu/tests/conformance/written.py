"""Kernels written by hand: every `extern "C" __global__` function in kernels/*.cu is a case.

Its first parameter is the output; each `const T *` parameter gets values of T, other parameters
are passed by value (arguments of more than 8 bytes come first). A comment above it may change the
launch (one block of 64 threads) and the output (one value a thread):
    // launch: grid=2x3 block=32x4 shared=1024 out=48 rule=f32
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from math import prod
from pathlib import Path

import numpy as np

from .case import Case, Kernel, Module
from .inputs import values
from .rules import BITS, Rule

__all__ = ["MODULES"]

_FOLDER = Path(__file__).parent / "kernels"
_VALUES = 256  # elements of an input
_KERNEL = re.compile(r'(?:// launch: (.*)\n)?extern "C" __global__ void (?:__\w+__\(.*\) )?(\w+)\(')
_POINTER = re.compile(r"^(const )?([\w ]+?) \*\w+$")
# element types: NumPy type, input values
_TYPES = {
    "signed char": ("u1", "8"),
    "unsigned char": ("u1", "8"),
    "short": ("u2", "16"),
    "unsigned short": ("u2", "16"),
    "int": ("u4", "32"),
    "unsigned": ("u4", "32"),
    "long long": ("u8", "64"),
    "unsigned long long": ("u8", "64"),
    "float": ("u4", "f32:plain"),
    "double": ("u8", "f64:plain"),
    "__half": ("u2", "f16:plain"),
    "__nv_bfloat16": ("u2", "bf16:plain"),
}
# what is passed for a struct
_STRUCTS = {
    "int4": (np.int32(3), np.int32(-5), np.int32(70000), np.int32(-(2**31))),
    "Settings": (np.int32(12), np.float32(1.5), np.float64(-2.25)),
}


def _dims(text: str) -> tuple[int, int, int]:
    x, y, z = (*map(int, text.split("x")), 1, 1)[:3]
    return x, y, z


def _input(parameter: str, n: int) -> np.ndarray | np.generic:
    match = _POINTER.match(parameter)
    if match:
        return values(_TYPES[match[2]][1], n, 3, _VALUES)
    c = parameter.rpartition(" ")[0].removeprefix("const __grid_constant__ ")
    if c in _STRUCTS:
        return np.void(b"".join(word.tobytes() for word in _STRUCTS[c]))
    dtype, spec = _TYPES[c]
    return values(spec, n % 3, 3, _VALUES)[n].view({"f32": "f4", "f64": "f8"}.get(spec[:3], dtype))


def _kernel(family: str, match: re.Match[str], source: str) -> Kernel:
    launch = dict(word.split("=") for word in (match[1] or "").split())
    grid, block = _dims(launch.get("grid", "1")), _dims(launch.get("block", "64"))
    parameters = match.string[match.end() : match.string.index(")", match.end())]
    out, *inputs = " ".join(parameters.split()).split(", ")
    dtype = _TYPES[_POINTER.match(out)[2]][0]
    count = int(launch.get("out", prod(grid) * prod(block)))
    rule = Rule(launch["rule"]) if "rule" in launch else BITS
    name = f"{family}/{match[2].replace('_', ' ')}"
    return Kernel(
        match[2],
        source,
        tuple(_input(parameter, n) for n, parameter in enumerate(inputs)),
        (Case(name, dtype, count, rule),),
        grid,
        block,
        int(launch.get("shared", 0)),
    )


def _kernels(family: str, text: str) -> Iterator[Kernel]:
    """A kernel's source is its text with what stands between it and the kernel before it."""
    start = 0
    for match in _KERNEL.finditer(text):
        end = text.index("\n}\n", match.end()) + 3
        yield _kernel(family, match, text[start:end])
        start = end


def _module(family: str, files: Iterable[Path]) -> Module:
    texts = [path.read_text() for path in files]
    kernels = tuple(k for text in texts for k in _kernels(family, text))
    return Module(f"written {family}", kernels, whole=True)


def _family(path: Path) -> str:
    return path.stem.partition("_")[0]


MODULES = [_module(*family) for family in groupby(sorted(_FOLDER.glob("*.cu")), key=_family)]
