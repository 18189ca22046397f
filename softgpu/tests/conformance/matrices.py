"""Where wmma.load and wmma.store have the elements of fragments, in registers and in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .case import Case, Kernel, Module
from .inputs import bits
from .products import C_TYPES, PREAMBLE, WARP_SHAPES, bits_of, constraint, shape_name

__all__ = ["MODULES"]

_WORDS = bits("matrices in memory", 4096).astype(np.uint32)


def _moves() -> Iterator[tuple[str, tuple[int, int, int], str, str, str]]:
    """(a, b, c or d; shape; layout; type as PTX spells it, registers) of each load and store."""
    for layout in ("row", "col"):
        for shape in WARP_SHAPES:
            m, n, k = shape
            for kind in ("f16", "bf16", "s8", "u8"):
                for which, elements in (("a", m * k), ("b", k * n)):
                    count = 8 if kind == "f16" else elements * bits_of(kind) // 1024
                    yield which, shape, layout, kind, count
            for kind, count in (("f16", 4), ("f32", 8), ("s32", 8)):
                for which in "cd":
                    yield which, shape, layout, kind, count
        for which in "ab":
            yield which, (16, 16, 8), layout, "tf32", 4
            yield which, (8, 8, 4), layout, "f64", 1
            if layout == ("row" if which == "a" else "col"):
                yield which, (8, 8, 32), layout, "s4", 1
                yield which, (8, 8, 32), layout, "u4", 1
                yield which, (8, 8, 128), layout, "b1", 1
        for which in "cd":
            yield which, (16, 16, 8), layout, "f32", 8
            yield which, (8, 8, 4), layout, "f64", 2
            yield which, (8, 8, 32), layout, "s32", 2
            yield which, (8, 8, 128), layout, "s32", 2


def _move(which, shape, layout, kind, count) -> Kernel:
    """A load of registers, or a store of what was drawn for them, far apart and close together."""
    verb = "store" if which == "d" else "load"
    name = f"wmma.{verb}.{which}.sync.aligned.{layout}.{shape_name(shape)}"
    entry = f"{name}.{kind}".replace(".", "_")
    mark = constraint(kind)
    registers = "{" + ", ".join(f"%{n}" for n in range(count)) + "}"
    leading = {"f64": 34, "s4": 160, "u4": 160, "b1": 384}.get(kind, 48)
    stride, words = f"%{count + 1}", 2 * count if kind == "f64" else count
    if verb == "load":
        out = ", ".join(f'"={mark}"(d[{n}])' for n in range(count))
        each = [
            f'  asm volatile("{name}{space}.{kind} {registers}, [%{count}]{tail};"'
            f' : {out} : "{pointer}"({place}), "r"({leading}));\n'
            f"  for (int n = 0; n < {words}; n++)"
            f" out[({words * turn} + n) * 32 + lane()] = ((unsigned *)d)[n];\n"
            for turn, (space, pointer, place, tail) in enumerate(
                (
                    (".global", "l", "words", f", {stride}"),
                    ("", "l", "words", ""),
                    (".shared", "r", "near", f", {stride}"),
                )
            )
        ]
        body = (
            "  __shared__ __align__(32) unsigned tile[4096];\n"
            "  for (int n = lane(); n < 4096; n += 32) tile[n] = words[n];\n  __syncwarp();\n"
            "  unsigned near = __cvta_generic_to_shared(tile);\n"
            f"  {C_TYPES[mark]} d[{count}];\n" + "".join(each)
        )
        case = Case(f"matrix/{name}.{kind}", "u4", 3 * words * 32)
    else:
        value = "real(5, 0, n)" if kind == "f64" else f"({C_TYPES[mark]})drawn(5, 0, n, 0)"
        given = ", ".join(f'"{mark}"(d[{n}])' for n in range(count))
        places = "{" + ", ".join(f"%{n + 2}" for n in range(count)) + "}"
        size = {"f16": 2, "f64": 8}.get(kind, 4)
        far = 48 * 32 * size // 4
        body = (
            f"  {C_TYPES[mark]} d[{count}];\n"
            f"  for (int n = 0; n < {count}; n++) d[n] = {value};\n"
            f'  asm volatile("{name}.global.{kind} [%0], {places}, %1;"'
            f' :: "l"(out), "r"({leading}), {given} : "memory");\n'
            f'  asm volatile("{name}.{kind} [%0], {places};"'
            f' :: "l"(out + {far}), "r"(0), {given} : "memory");\n'
        )
        case = Case(f"matrix/{name}.{kind}", "u4", far + shape[0] * shape[1] * size // 4)
    source = (
        f'extern "C" __global__ void {entry}(unsigned *out, const unsigned *words) {{\n{body}}}\n'
    )
    return Kernel(entry, source, (_WORDS,), (case,), block=(32, 1, 1))


MODULES = [Module("matrix moves", tuple(_move(*move) for move in _moves()), PREAMBLE)]
