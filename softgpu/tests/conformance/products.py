"""A million random fragments for each form of mma and wmma.mma, against what an H200 made of them.

    python -m softgpu.tests.conformance.products [PATTERN]    # all of them; make products
    python -m softgpu.tests.conformance.products --record     # on a real GPU

A kernel draws its fragments itself, from their number, so that nothing is copied, and answers with
two words for each 4,096 fragments, in which every bit of the results has a part, and with the
results of the first eight fragments, one of each kind (`element` in products.cuh)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from softgpu.tests import autoinit  # first: it chooses the driver that PyCUDA binds to

# isort: split
import pycuda.driver as cuda
from pycuda.compiler import compile

__all__ = [
    "CHUNKS",
    "FORMATS",
    "FORMS",
    "PREAMBLE",
    "SOME",
    "Mma",
    "answer",
    "answers",
    "golden",
    "samples",
]

CHUNKS = 245  # blocks of 4,096 fragments each: a million
SAMPLE = 8  # fragments whose results are kept, of some forms

_FOLDER = Path(__file__).parent
PREAMBLE = (_FOLDER / "products.cuh").read_text()

# exponent and mantissa bits of a format; integers: none and all bits
FORMATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 23),
    "f32": (8, 23),
    "f64": (11, 52),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
    **{f"{sign}{bits}": (0, bits) for sign in "us" for bits in (4, 8, 32)},
    "b1": (0, 1),
}
C_TYPES = {"f": "float", "d": "double", "r": "unsigned"}


def bits_of(kind: str) -> int:
    exponent, mantissa = FORMATS[kind]
    return exponent + mantissa + bool(exponent)


def constraint(kind: str) -> str:
    return {"f32": "f", "f64": "d"}.get(kind, "r")


@dataclass(frozen=True)
class Mma:
    """One form of mma: its name in PTX, its shape, the types of its result and operands."""

    name: str
    kinds: tuple[str, str, str, str]  # of d, a, b and c
    registers: tuple[int, int, int, int]
    selector: int | None = None  # of sparse ones

    @property
    def entry(self) -> str:
        return "".join(c if c.isalnum() else "_" for c in f"{self.name}_{self.selector}")

    @property
    def label(self) -> str:
        return self.name if self.selector is None else f"{self.name} {self.selector}"

    @property
    def words(self) -> int:
        """How many words of 32 bits the result has in each lane."""
        return self.registers[0] * (2 if self.kinds[0] == "f64" else 1)

    def source(self) -> str:
        """The device function that does it for fragment f, and the kernel over all fragments."""
        d, a, b, c = self.registers
        lines, given = [], []
        for operand, (kind, count) in enumerate(zip(self.kinds[1:], self.registers[1:])):
            exponent, mantissa = FORMATS[kind]
            for n in range(count):
                name, number = f"{'abc'[operand]}{n}", f"f, {operand}, {n}"
                text = f"word<{exponent}, {mantissa}>({number})"
                if kind == "f64":
                    text = f"real({number})"
                elif kind == "f32":
                    text = f"__uint_as_float({text})"
                mark = constraint(kind)
                lines.append(f"  {C_TYPES[mark]} {name} = {text};")
                given.append(f'"{mark}"({name})')
        mark = constraint(self.kinds[0])
        lines.append(f"  {C_TYPES[mark]} d[{d}];")
        places = iter(range(d + a + b + c))
        lists = ["{" + ", ".join(f"%{next(places)}" for _ in range(n)) + "}" for n in (d, a, b, c)]
        tail = ""
        if self.selector is not None:
            lines.append(f"  unsigned e = metadata<{int(self.kinds[1] == 'tf32')}>(f);")
            given.append('"r"(e)')
            tail = f", %{d + a + b + c}, {self.selector:#x}"
        out = ", ".join(f'"={mark}"(d[{n}])' for n in range(d))
        lines.append(f'  asm volatile("{self.name} {", ".join(lists)}{tail};"')
        lines.append(f"      : {out} : {', '.join(given)});")
        words = self.words
        lines.append(f"  for (int n = 0; n < {words}; n++) out[n] = ((unsigned *)d)[n];")
        body = "\n".join(lines)
        return (
            f"struct I_{self.entry} {{\n  static const int words = {words};\n"
            f"  static __device__ void run(unsigned f, unsigned *out) {{\n{body}\n  }}\n}};\n"
            f'extern "C" __global__ void {self.entry}(unsigned *out)'
            f" {{ fragments<I_{self.entry}>(out); }}\n"
        )


def _counts(shape, kinds, sparse=False, copies=1) -> tuple[int, int, int, int]:
    """How many registers d, a, b and c of a shape have."""
    m, n, k = shape
    elements = m * n, m * k // (1 + sparse), k * n, m * n
    sizes = (32 * (64 if kind == "f64" else 32) for kind in kinds)
    counts = [copies * e * bits_of(k) // size for e, k, size in zip(elements, kinds, sizes)]
    return counts[0], counts[1], counts[2], counts[3]


def shape_name(shape: tuple[int, int, int]) -> str:
    return "m{}n{}k{}".format(*shape)


def _mma(shape, kinds, middle="", layout="row.col", tail="", copies=1) -> Mma:
    name = f"mma.sync.aligned.{shape_name(shape)}.{layout}{middle}.{'.'.join(kinds)}{tail}"
    return Mma(name, kinds, _counts(shape, kinds, copies=copies))


_LAYOUTS = ("row.col", "row.row", "col.row", "col.col")
_SIGNS = ("uu", "us", "su", "ss")
_SATURATED = ("", ".satfinite")
_ROUNDED = ("", ".rz", ".rm", ".rp")


def _floating() -> Iterator[Mma]:
    for layout in _LAYOUTS:
        for d, c in (("f16", "f16"), ("f32", "f32"), ("f32", "f16")):
            yield _mma((8, 8, 4), (d, "f16", "f16", c), layout=layout, copies=4)
    for k in (8, 16):
        yield _mma((16, 8, k), ("f16", "f16", "f16", "f16"))
        yield _mma((16, 8, k), ("f32", "f16", "f16", "f32"))
        yield _mma((16, 8, k), ("f32", "bf16", "bf16", "f32"))
        yield _mma((16, 8, k // 2), ("f32", "tf32", "tf32", "f32"))
    for m, k in ((8, 4), (16, 4), (16, 8), (16, 16)):
        for rounded in _ROUNDED:
            yield _mma((m, 8, k), ("f64", "f64", "f64", "f64"), rounded)
    for k in (16, 32):
        for d in ("f32", "f16"):
            for a in ("e4m3", "e5m2"):
                for b in ("e4m3", "e5m2"):
                    yield _mma((16, 8, k), (d, a, b, d))


def _integer() -> Iterator[Mma]:
    for bits, shapes in ((8, ((8, 16), (16, 16), (16, 32))), (4, ((8, 32), (16, 32), (16, 64)))):
        for m, k in shapes:
            for middle in _SATURATED:
                for a, b in _SIGNS:
                    yield _mma((m, 8, k), ("s32", f"{a}{bits}", f"{b}{bits}", "s32"), middle)
    for m, k in ((8, 128), (16, 128), (16, 256)):
        for how in ("xor", "and"):
            yield _mma((m, 8, k), ("s32", "b1", "b1", "s32"), tail=f".{how}.popc")


def _sparse() -> Iterator[Mma]:
    def mma(k, kinds, selectors, middle="", ordered="::ordered_metadata"):
        shape = 16, 8, k
        name = f"mma.sp{ordered}.sync.aligned.{shape_name(shape)}.row.col{middle}.{'.'.join(kinds)}"
        for selector in range(selectors):
            yield Mma(name, kinds, _counts(shape, kinds, sparse=True), selector)

    for k, selectors in ((16, 4), (32, 2)):
        yield from mma(k, ("f16", "f16", "f16", "f16"), selectors)
        yield from mma(k, ("f32", "f16", "f16", "f32"), selectors)
        yield from mma(k, ("f32", "bf16", "bf16", "f32"), selectors)
        yield from mma(k // 2, ("f32", "tf32", "tf32", "f32"), selectors)
    yield from mma(16, ("f16", "f16", "f16", "f16"), 1, ordered="")
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            yield from mma(64, ("f32", a, b, "f32"), 1)
    for bits, ks in ((8, ((32, 2), (64, 1))), (4, ((64, 2), (128, 1)))):
        for k, selectors in ks:
            for middle in _SATURATED:
                for a, b in _SIGNS:
                    kinds = "s32", f"{a}{bits}", f"{b}{bits}", "s32"
                    yield from mma(k, kinds, selectors, middle)


WARP_SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))


def _warp() -> Iterator[Mma]:
    """wmma.mma, whose fragments of halves have each element twice."""

    def mma(shape, layout, kinds, types, tail="", how=""):
        name = f"wmma.mma{how}.sync.aligned.{layout}.{shape_name(shape)}.{'.'.join(types)}{tail}"
        d, a, b, c = _counts(shape, kinds)
        if kinds[1] == "f16":
            a = b = 8
        return Mma(name, kinds, (d, a, b, c))

    for layout in _LAYOUTS:
        for shape in WARP_SHAPES:
            for d in ("f16", "f32"):
                for c in ("f16", "f32"):
                    yield mma(shape, layout, (d, "f16", "f16", c), (d, c))
            kinds = "f32", "bf16", "bf16", "f32"
            yield mma(shape, layout, kinds, kinds)
            for kind in ("s8", "u8"):
                for tail in _SATURATED:
                    kinds = "s32", kind, kind, "s32"
                    yield mma(shape, layout, kinds, kinds, tail)
        kinds = "f32", "tf32", "tf32", "f32"
        yield mma((16, 16, 8), layout, kinds, kinds)
        kinds = "f64", "f64", "f64", "f64"
        yield mma((8, 8, 4), layout, kinds, kinds)
    for kind in ("s4", "u4"):
        for tail in _SATURATED:
            kinds = "s32", kind, kind, "s32"
            yield mma((8, 8, 32), "row.col", kinds, kinds, tail)
    kinds = "s32", "b1", "b1", "s32"
    for how in (".xor.popc", ".and.popc"):
        yield mma((8, 8, 128), "row.col", kinds, kinds, how=how)


FORMS = {form.label: form for form in (*_floating(), *_integer(), *_sparse(), *_warp())}
SOME = [
    FORMS[name]
    for name in (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
        "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16",
        "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32",
        "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16",
        "mma.sync.aligned.m16n8k8.row.col.rz.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
        "mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 1",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32 0",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 2",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32 0",
        "wmma.mma.sync.aligned.col.row.m16n16k16.f32.f16",
        "wmma.mma.sync.aligned.row.row.m8n32k16.f16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
        "wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32.satfinite",
    )
]
"""Those that stand for the others in `make test`."""

AT_ONCE = 20  # forms that one nvcc compiles


# --- answers --------------------------------------------------------------------------------------


def answers(forms: list[Mma], chunks: int = CHUNKS) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By form, the words of its first chunks, and the results of the first fragments."""
    source = PREAMBLE + "\n".join(form.source() for form in forms)
    arch = "sm_{}{}".format(*autoinit.device.compute_capability())
    options = ["-fmad=false", "-std=c++17", "-w"]
    image = compile(source, options=options, no_extern_c=True, arch=arch)
    module = cuda.module_from_buffer(image)
    return {
        form.label: answer(module.get_function(form.entry), chunks, 256, (form.words, 32))
        for form in forms
    }


def answer(kernel, blocks: int, threads: int, fragment: tuple[int, int]):
    """Two words of each block, and the results of SAMPLE fragments, each [word, lane]."""
    start = (2 * blocks + 63) // 64 * 64
    host = np.zeros(start + SAMPLE * fragment[0] * fragment[1], np.uint32)
    out = cuda.to_device(host)
    kernel(out, grid=(blocks, 1), block=(threads, 1, 1))
    cuda.memcpy_dtoh(host, out)
    return host[: 2 * blocks].reshape(blocks, 2), host[start:].reshape(SAMPLE, *fragment)


_GOLDEN = _FOLDER / "golden" / "products.npz"


def golden() -> dict[str, np.ndarray]:
    """By form, two words for each chunk."""
    with np.load(_GOLDEN) as stored:
        return dict(zip(stored["forms"].tolist(), stored["words"]))


def samples() -> dict[str, np.ndarray]:
    """By form, the results of the first fragments: [fragment, word, lane]."""
    with np.load(_GOLDEN) as stored:
        return {form.label: stored[form.entry] for form in SOME}


def batches(of: ModuleType, forms: list) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """The answers to forms of a module, by label, as many at once as it says."""
    for start in range(0, len(forms), of.AT_ONCE):
        yield from of.answers(forms[start : start + of.AT_ONCE]).items()


def record(found: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    words = np.stack([found[label][0] for label in FORMS])
    kept = {form.entry: found[form.label][1] for form in SOME}
    np.savez_compressed(_GOLDEN, forms=np.array([*FORMS]), words=words, **kept)


def differing(words: np.ndarray, expected: np.ndarray) -> str:
    """How many chunks have other words, "" if none."""
    different = int((words != expected).any(axis=1).sum())
    return f"{different} of {CHUNKS} chunks differ" if different else ""


def main(of: ModuleType, arguments: list[str]) -> int:
    """The command of this module, or of another with the same parts."""
    if arguments == ["--record"]:
        if autoinit.is_software:
            sys.exit("answers are recorded on a real GPU, and this is the software GPU")
        of.record(dict(batches(of, [*of.FORMS.values()])))
        return 0
    pattern = re.compile(arguments[0] if arguments else "")
    expected, wrong = of.golden(), 0
    forms = [form for form in of.FORMS.values() if pattern.search(form.label)]
    for label, (words, _) in batches(of, forms):
        differs = of.differing(words, expected[label])
        wrong += bool(differs)
        print(f"{label}: {differs or 'the same'}", flush=True)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.modules[__name__], sys.argv[1:]))
