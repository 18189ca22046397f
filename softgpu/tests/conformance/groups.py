"""Products of warpgroups (wgmma), whose every bit and every address an NVIDIA H200 has told.

    python -m softgpu.tests.conformance.groups [PATTERN]    what differs, of all forms or some
    python -m softgpu.tests.conformance.groups --record     on an H200

Fragments are drawn in the kernel, as in products.py: of each form's 512 blocks, 64 products each,
two words of the first ones and of all are kept. Where a descriptor says that elements lie is asked
of products with ones (groups.cuh)."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from softgpu.tests import autoinit  # noqa: F401  (it chooses the driver that PyCUDA binds to)

# isort: split
import pycuda.driver as cuda
from pycuda.compiler import compile

from . import products

__all__ = ["FORMS", "LAYOUTS", "SOME", "Group", "Layout", "answers", "golden", "places"]

BLOCKS = 512
KEPT = 4  # blocks whose words are kept
MAPPED = 48 * 1024  # bytes of shared memory that tell their places
MAP_ROOM = MAPPED + 2048  # and the ones

_FOLDER = Path(__file__).parent
PREAMBLE = "#include <cuda_fp16.h>\n" + products.PREAMBLE + (_FOLDER / "groups.cuh").read_text()


@dataclass(frozen=True)
class Group:
    """One form of wgmma: types of d, a and b, columns, and how the operands are described."""

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

    def assembly(self, where_a: str, where_b: str) -> str:
        """The instruction; where_a: if it lies in registers, an array of them."""
        mark = "f" if self.kinds[0] == "f32" else "r"
        given = (
            [f'"l"({where_a})'] if self.in_shared else [f'"r"({where_a}[{n}])' for n in range(4)]
        )
        at = self.words + len(given)
        parts = ", ".join(f"%{n}" for n in range(self.words, at))
        a = parts if self.in_shared else f"{{{parts}}}"
        sums = ", ".join(f"%{n}" for n in range(self.words))
        out = ", ".join(f'"+{mark}"(d[{n}])' for n in range(self.words))
        return f"""
    asm volatile("{{.reg .pred p; setp.ne.b32 p, %{at + 1}, 0; {self.name} "
      "{{{sums}}}, {a}, %{at}, p{self.operands};}}"
      : {out} : {", ".join(given)}, "l"({where_b}), "r"({int(self.adds)}));
"""

    def source(self) -> str:
        """The structure that does it for a fragment, and the kernel over all fragments."""
        d, a, b = ("{}, {}".format(*products.FORMATS[kind]) for kind in self.kinds)
        kind = "float" if self.kinds[0] == "f32" else "unsigned"
        where_a = "where_a" if self.in_shared else "of_a"
        return f"""
struct I_{self.entry} {{
  static const int columns = {self.columns}, words = {self.words};
  static __device__ unsigned a(unsigned f, unsigned n) {{ return group_word<{a}>(f, 0, n); }}
  static __device__ unsigned b(unsigned f, unsigned n) {{ return group_word<{b}>(f, 1, n); }}
  static __device__ void run(unsigned f, unsigned long long where_a, unsigned long long where_b,
                             unsigned *out) {{
    {kind} d[words];
    unsigned of_a[4];
    for (int n = 0; n < 4; n++) of_a[n] = a(f, n * 128 + threadIdx.x);
    for (int n = 0; n < words; n++)
      ((unsigned *)d)[n] = group_word<{d}>(f, 2, n * 128 + threadIdx.x);
    fence_products();{self.assembly(where_a, "where_b")}    finish_products();
    for (int n = 0; n < words; n++) out[n] = ((unsigned *)d)[n];
  }}
}};
extern "C" __global__ void __launch_bounds__(128) {self.entry}(unsigned *out)
{{ group_fragments<I_{self.entry}>(out); }}
"""


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
SOME = [form for form in FORMS.values() if form.columns == 8][::9]
"""Those that stand for the others in `make test`."""


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
        names = ("at", "ones") if self.operand == "a" else ("ones", "at")
        return f"""
struct M_{self.entry} {{
  static const int words = {self.form.words};
  static __device__ void run(unsigned long long at, unsigned long long ones, float *d) {{
    fence_products();{self.form.assembly(*names)}    finish_products();
  }}
}};
extern "C" __global__ void __launch_bounds__(128) {self.entry}(unsigned *out,
                                                               unsigned long long at, int part)
{{ group_map<M_{self.entry}>(out, at, part); }}
"""


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
AT_ONCE = 14  # forms that one nvcc compiles


# --- answers --------------------------------------------------------------------------------------


def _module(sources: list[str]):
    options = ["-fmad=false", "-std=c++17", "-w"]
    image = compile(PREAMBLE + "\n".join(sources), options=options, no_extern_c=True, arch="sm_90a")
    return cuda.module_from_buffer(image)


def answers(forms: list[Group], blocks: int = BLOCKS) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By form, the words of its first blocks, and the sums of the first fragments."""
    module = _module([form.source() for form in forms])
    return {
        form.label: products.answer(module.get_function(form.entry), blocks, 128, (form.words, 128))
        for form in forms
    }


def places(layouts: list[Layout]) -> list[np.ndarray]:
    """For each layout, the place (in elements) that each register of d names, by lane: of a in all
    warps, of b in the first one, as all read the same."""
    module = _module([layout.source() for layout in {one.entry: one for one in layouts}.values()])
    found = []
    for layout in layouts:
        kernel = module.get_function(layout.entry)
        kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, MAP_ROOM)
        parts = []
        for part in range(2):
            out = cuda.to_device(np.zeros((layout.form.words, 128), np.uint32))
            at = np.uint64(layout.described), np.int32(part)
            kernel(out, *at, grid=(1, 1), block=(128, 1, 1), shared=MAP_ROOM)
            parts.append(cuda.from_device(out, (layout.form.words, 128), np.uint32))
        place = (parts[0] + 2048 * parts[1]).astype(np.uint16)
        found.append(place if layout.operand == "a" else place[:, :32])
    return found


_GOLDEN = _FOLDER / "golden" / "groups.npz"


def golden() -> dict[str, np.ndarray]:
    """By form, two words for each of the first blocks, and at last the sums of all blocks' words;
    by operand, the places of its layouts; of some forms, by entry, the first fragments' sums."""
    with np.load(_GOLDEN) as stored:
        return {**dict(zip(stored["forms"].tolist(), stored["words"])), **stored}


def kept(words: np.ndarray) -> np.ndarray:
    """What is kept of the words of all blocks."""
    return np.concatenate([words[:KEPT], words.sum(0, keepdims=True, dtype=np.uint32)])


def differing(words: np.ndarray, expected: np.ndarray) -> str:
    return "differs" if (kept(words) != expected).any() else ""


def record(found: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    words = np.stack([kept(found[label][0]) for label in FORMS])
    sums = {form.entry: found[form.label][1] for form in SOME}
    lie = places(LAYOUTS)
    of = {x: np.stack([p for p, one in zip(lie, LAYOUTS) if one.operand == x]) for x in "ab"}
    np.savez_compressed(_GOLDEN, forms=np.array([*FORMS]), words=words, **sums, **of)


if __name__ == "__main__":
    sys.exit(products.main(sys.modules[__name__], sys.argv[1:]))
