"""Kernels with a bug each, and its correct twin (BUG 1 and 0), drawn from bugs seen in the wild.

Above a kernel stands how it is launched, `// launch: grid 4, block 256, shared 1024; arguments`
(`cooperative 1`: all blocks at once);
`// launch if BUG:` replaces it for the one with the bug. Arguments: `in T n` (random),
`index T n m` (random below m), `zero T n`, `new T n` (never written), `int v`, `long v`.
Lines marked `// caught: kind` are those that a finding of that kind must name, all of them.
`// missed: kind` stands where a bug is known not to be found.

`scor.csv` says for each micro-benchmark of ScoR (github.com/csl-iisc/ScoR) which of these kernels
has its pattern, and what the sanitizer answers."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["FILES", "Planted", "architecture", "module", "planted"]

FILES = sorted(path.name for path in Path(__file__).parent.glob("*.cu"))
TYPES = {
    "char": np.int8,
    "uchar": np.uint8,
    "half": np.float16,
    "int": np.int32,
    "uint": np.uint32,
    "float": np.float32,
    "double": np.float64,
}


def architecture(source):
    """What a text of these is to be compiled for."""
    return "sm_90a" if "wgmma" in source else "sm_90"


@dataclass(frozen=True)
class Planted:
    """One kernel of a file."""

    file: str
    name: str
    launches: tuple[str, str]  # of the twin, of the bug
    kind: str
    lines: frozenset[int]
    missed: bool

    def launch(self, bug):
        """What xray.sanitize takes: (arguments, options, arguments that nobody has written)."""
        shape, _, arguments = self.launches[bug].partition(";")
        options = {"shared": 0}
        for part in shape.split(","):
            name, value = part.split()
            options[name] = tuple(int(n) for n in value.split("x"))
        options["shared"] = options["shared"] and options["shared"][0]
        options["cooperative"] = "cooperative" in options
        random = np.random.default_rng(len(self.name))
        kinds = [words.split() for words in arguments.split(",")]
        made = [argument(words, random) for words in kinds]
        unwritten = [a for a, words in zip(made, kinds, strict=True) if words[0] == "new"]
        return made, options, unwritten


def argument(words, random):
    """One argument of a launch."""
    from pycuda import gpuarray

    kind, *rest = words
    if kind in ("int", "long"):
        return np.int32(rest[0]) if kind == "int" else np.int64(rest[0])
    dtype, count = TYPES[rest[0]], int(rest[1])
    if kind == "new":
        return gpuarray.empty(count, dtype)
    if kind == "zero":
        return gpuarray.to_gpu(np.zeros(count, dtype))
    if kind == "index":
        most = int(rest[2])
        values = random.permutation(most) if most == count else random.integers(0, most, count)
        values[-1] = most - 1
        return gpuarray.to_gpu(values.astype(dtype))
    if np.dtype(dtype).kind == "f":
        return gpuarray.to_gpu(random.standard_normal(count).astype(dtype))
    return gpuarray.to_gpu(random.integers(0, 100, count).astype(dtype))


@cache
def planted(file):
    """The kernels of a file."""
    lines = (Path(__file__).parent / file).read_text().splitlines()
    found, caught = [], {}
    for number, line in enumerate(lines, 1):
        if match := re.match(r'extern "C" __global__ void (?:__\w+__\(.*\) )?(\w+)\(', line):
            head = "\n".join(lines[max(0, number - 6) : number])
            twin = re.findall(r"// launch: (.*)", head)[-1]
            bug = re.findall(r"// launch if BUG: (.*)", head.rpartition(f"// launch: {twin}")[2])
            found.append((match[1], (twin, bug[0] if bug else twin)))
        if match := re.search(r"// (caught|missed)(?: in (\w+))?: (.*)", line):
            caught.setdefault(match[2] or found[-1][0], []).append((number, match[3], match[1]))
    return [
        Planted(
            file, name, launches, kind=marks[0][1],
            lines=frozenset(n for n, *_ in marks), missed=marks[0][2] == "missed",
        )
        for name, launches in found
        if (marks := caught.get(name))
    ]  # fmt: skip


@cache
def module(file, bug):
    """The kernels of a file, each with its bug or without."""
    from pycuda.compiler import compile
    from pycuda.driver import module_from_buffer

    source = f'#line 1 "{file}"\n{(Path(__file__).parent / file).read_text()}'
    options = [f"-DBUG={int(bug)}"]
    arch = architecture(source)
    return module_from_buffer(compile(source, no_extern_c=True, options=options, arch=arch))
