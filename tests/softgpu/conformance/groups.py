"""Products of warpgroups (wgmma), whose every bit and every address an NVIDIA H200 has told.

    python -m tests.softgpu.conformance.groups [WORD]    what differs, of the forms with that in their names
    python -m tests.softgpu.conformance.groups --record  on an H200

Fragments are drawn in the kernel, as in products.py; of each form's 512 blocks, 64 products each, what
is kept are two words of the first ones and of all. Where a descriptor says that elements lie is asked
of products with ones (groups.cuh)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from helpers import autoinit  # first: it chooses the driver that PyCUDA binds to

# isort: split
import pycuda.driver as cuda
from pycuda.compiler import compile

from . import products

__all__ = ["FORMS", "LAYOUTS", "PREAMBLE", "Group", "Layout", "answers", "golden", "maps"]

BLOCKS = 512
KEPT = 4  # blocks whose words are kept
SAMPLE = 8  # fragments whose sums are kept, of forms of 8 columns
MAPPED = 48 * 1024  # bytes of shared memory that tell their places
MAP_ROOM = MAPPED + 2048  # and the ones

_FOLDER = Path(__file__).parent
PREAMBLE = "#include <cuda_fp16.h>\n" + products.PREAMBLE + (_FOLDER / "groups.cuh").read_text()


@dataclass(frozen=True)
class Group:
    """One form of wgmma: types of d, a and b, columns, and what is told of the operands."""

    kinds: tuple[str, str, str]
    columns: int
    in_shared: bool = False  # a
    tail: str = ""
    adds: bool = True
    signs: tuple[int, int] = (1, 1)
    across: tuple[int, int] = (0, 0)  # lines are not along k

    @property
    def depth(self) -> int:
        return 256 // products.bits_of(self.kinds[1]) if self.kinds[1] != "tf32" else 8

    @property
    def name(self) -> str:
        shape = products.shape_name((64, self.columns, self.depth))
        kinds = ".".join(self.kinds)
        return f"wgmma.mma_async.sync.aligned.{shape}.{kinds}{self.tail}"

    @property
    def label(self) -> str:
        told = ["a in shared memory" if self.in_shared else "a in registers"]
        told += [] if self.adds else ["replaced"]
        told += [f"signs {self.signs}"] if self.signs != (1, 1) else []
        told += [f"across {self.across}"] if any(self.across) else []
        return f"{self.name} {', '.join(told)}"

    @property
    def entry(self) -> str:
        return "".join(c if c.isalnum() else "_" for c in self.label)

    @property
    def words(self) -> int:
        return self.columns // (4 if self.kinds[0] == "f16" else 2)

    @property
    def operands(self) -> str:
        """What follows d, a, b and the predicate."""
        if self.kinds[0] == "s32":
            return ""
        told = [*self.signs]
        if self.kinds[1] in ("f16", "bf16"):
            told += self.across if self.in_shared else self.across[1:]
        return "".join(f", {number}" for number in told)

    def assembly(self, registers: str) -> str:
        """The instruction; registers: of a, in C, unless it lies where `where_a` says."""
        mark = "f" if self.kinds[0] == "f32" else "r"
        places = iter(range(self.words, self.words + 6))
        sums = ", ".join(f"%{n}" for n in range(self.words))
        a = (
            f"%{next(places)}"
            if self.in_shared
            else f"{{{', '.join(f'%{next(places)}' for _ in range(4))}}}"
        )
        given = ['"l"(where_a)'] if self.in_shared else [f'"r"({registers}[{n}])' for n in range(4)]
        b, p = next(places), next(places)
        out = ", ".join(f'"+{mark}"(d[{n}])' for n in range(self.words))
        return (
            f'  asm volatile("{{.reg .pred p; setp.ne.b32 p, %{p}, 0; {self.name} "\n'
            f'    "{{{sums}}}, {a}, %{b}, p{self.operands};}}"\n'
            f'    : {out} : {", ".join(given)}, "l"(where_b), "r"({int(self.adds)}));\n'
        )

    def source(self) -> str:
        draws = ["{}, {}".format(*products._FORMATS[kind]) for kind in self.kinds]
        mark = "float" if self.kinds[0] == "f32" else "unsigned"
        registers = ""
        if not self.in_shared:
            registers = "    unsigned of_a[4];\n    for (int n = 0; n < 4; n++) of_a[n] = a(f, n * 128 + threadIdx.x);\n"
        return (
            f"struct I_{self.entry} {{\n"
            f"  static const int columns = {self.columns}, words = {self.words};\n"
            f"  static __device__ unsigned a(unsigned f, unsigned n) {{ return group_word<{draws[1]}>(f, 0, n); }}\n"
            f"  static __device__ unsigned b(unsigned f, unsigned n) {{ return group_word<{draws[2]}>(f, 1, n); }}\n"
            "  static __device__ void run(unsigned f, unsigned long long where_a, unsigned long long where_b,\n"
            "                             unsigned *out) {\n"
            f"    {mark} d[words];\n{registers}"
            f"    for (int n = 0; n < words; n++) ((unsigned *)d)[n] = group_word<{draws[0]}>(f, 2, n * 128 + threadIdx.x);\n"
            f"    fence_products();\n{self.assembly('of_a')}    finish_products();\n"
            "    for (int n = 0; n < words; n++) out[n] = ((unsigned *)d)[n];\n"
            "  }\n};\n"
            f'extern "C" __global__ void __launch_bounds__(128) {self.entry}(unsigned *out)\n'
            f"{{ group_fragments<I_{self.entry}>(out); }}\n"
        )


FLOATS = [(d, a, a) for d, a in (("f16", "f16"), ("f32", "f16"), ("f32", "bf16"), ("f32", "tf32"))]
FLOATS += [(d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
BYTES = [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
_TYPES = [
    *((kinds, "") for kinds in FLOATS),
    *((kinds, tail) for kinds in BYTES for tail in ("", ".satfinite")),
    (("s32", "b1", "b1"), ".and.popc"),
]
_INTEGER_COLUMNS = [8, 16, 24, *range(32, 257, 16)]


def _forms() -> Iterator[Group]:
    for kinds, tail in _TYPES:
        for columns, in_shared in ((8, False), (8, True), (32, True), (256, False)):
            yield Group(kinds, columns, in_shared, tail)
        yield Group(kinds, 8, False, tail, adds=False)
    for kinds in FLOATS:
        for signs in ((-1, 1), (1, -1), (-1, -1)):
            yield Group(kinds, 8, signs=signs)
    for kinds in FLOATS[:3]:
        for in_shared in (False, True):
            for across in ((0, 1), (1, 0), (1, 1)):
                if in_shared or not across[0]:
                    yield Group(kinds, 16, in_shared, across=across)
    for columns in range(16, 256, 8):
        yield Group(FLOATS[1], columns)
    for columns in _INTEGER_COLUMNS:
        yield Group(BYTES[0], columns)


FORMS = {form.label: form for form in _forms()}


@dataclass(frozen=True)
class Layout:
    """Where an operand lies, as a descriptor says it; bytes."""

    operand: str
    across: int
    swizzle: int  # bytes of a line; 16: not swizzled
    start: int
    leading: int
    stride: int
    base: int = 0

    @property
    def described(self) -> int:
        mode = {16: 0, 128: 1, 64: 2, 32: 3}[self.swizzle]
        return (
            self.start >> 4
            | self.leading >> 4 << 16
            | self.stride >> 4 << 32
            | self.base << 49
            | mode << 62
        )

    @property
    def form(self) -> Group:
        across = (self.across, 0) if self.operand == "a" else (0, self.across)
        columns = 16 if self.operand == "a" else 72
        return Group(FLOATS[1], columns, True, adds=False, across=across)

    @property
    def entry(self) -> str:
        return f"map_{self.operand}{self.across}"

    def source(self) -> str:
        """The kernel of all layouts of this operand and direction."""
        other = "described, ones" if self.operand == "a" else "ones, described"
        first, second = (f"unsigned long long {name}" for name in other.split(", "))
        form = self.form
        body = form.assembly("").replace("where_a", "X").replace("where_b", "Y")
        names = other.split(", ")
        body = body.replace("X", names[0]).replace("Y", names[1])
        del first, second
        return (
            f"struct M_{self.entry} {{\n  static const int words = {form.words};\n"
            "  static __device__ void run(unsigned long long described, unsigned long long ones, float *d) {\n"
            f"    fence_products();\n{body}    finish_products();\n  }}\n}};\n"
            f'extern "C" __global__ void __launch_bounds__(128) {self.entry}(unsigned *out, unsigned long long at, int part)\n'
            f"{{ group_map<M_{self.entry}>(out, at, part); }}\n"
        )


def _layouts() -> Iterator[Layout]:
    for operand, across, swizzle in itertools.product("ab", (0, 1), (16, 32, 64, 128)):
        for leading, stride in (
            (128, 256),
            (256, 128),
            (1024, 2048),
            (2048, 1024),
            (4096, 512),
            (16, 3072),
        ):
            yield Layout(operand, across, swizzle, 0, leading, stride)
        for start in (16, 32, 64, 96, 128, 256, 384, 512, 1024, 1168, 2048):
            yield Layout(operand, across, swizzle, start, 4096, 1024)
        yield Layout(operand, across, swizzle, 0, 0, 1024)
        yield Layout(operand, across, swizzle, 0, 1024, 0)
        for base, start in itertools.product((1, 2, 3, 4, 5, 7), (0, 128, 640, 1024)):
            yield Layout(operand, across, swizzle, start, 4096, 1024, base)


LAYOUTS = list(_layouts())


# --- answers --------------------------------------------------------------------------------------


def _module(sources: list[str]):
    options = ["-fmad=false", "-std=c++17", "-w"]
    image = compile(PREAMBLE + "\n".join(sources), options=options, no_extern_c=True, arch="sm_90a")
    return cuda.module_from_buffer(image)


def answers(forms: list[Group], blocks: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By form, the words of its first blocks, and the sums of the first fragments."""
    module = _module([form.source() for form in forms])
    return {form.label: _answer(module.get_function(form.entry), form, blocks) for form in forms}


def _answer(kernel, form: Group, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    start = (2 * blocks + 63) // 64 * 64
    host = np.zeros(start + SAMPLE * form.words * 128, np.uint32)
    out = cuda.to_device(host)
    kernel(out, grid=(blocks, 1), block=(128, 1, 1))
    cuda.memcpy_dtoh(host, out)
    return host[: 2 * blocks].reshape(blocks, 2), host[start:].reshape(SAMPLE, form.words, 128)
