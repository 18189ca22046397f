"""What the names of PTX types say: u32, f16x2, pred."""

from __future__ import annotations

import functools

__all__ = ["bits_of", "element_of", "is_float", "is_signed", "kind_of", "vector_size", "wide_of"]

_FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "tf32")


def is_float(ptx_type: str) -> bool:
    return ptx_type in _FLOATS


def is_signed(ptx_type: str) -> bool:
    return ptx_type[0] == "s"


def bits_of(ptx_type: str) -> int:
    return {"pred": 1, "f16x2": 32, "bf16x2": 32, "s16x2": 32, "u16x2": 32}.get(ptx_type) or int(
        ptx_type.lstrip("subft")
    )


def wide_of(ptx_type: str) -> str:
    """The LLVM type of a product of two integers."""
    return f"i{2 * bits_of(ptx_type)}"


def kind_of(item) -> str:
    """The (last) type of an instruction; `.relu` and the like may follow it."""
    return next(m for m in reversed(item.modifiers) if m not in ("relu", "add", "sat"))


def vector_size(item) -> int:
    """How many elements a lane loads or stores."""
    return next((int(m[1:]) for m in item.modifiers if m in ("v2", "v4", "v8")), 1)


@functools.cache
def element_of(ptx_type: str) -> str:
    """The LLVM type of one lane of a PTX type such as u32, f16 or pred."""
    if ptx_type == "pred":
        return "i1"
    if ptx_type in ("f16x2", "bf16x2", "s16x2", "u16x2", "tf32"):
        return "i32"
    if ptx_type in ("f16", "bf16"):
        return "i16"
    kind, bits = ptx_type[0], ptx_type[1:]
    if not bits.isdigit() or kind not in "subf":
        raise KeyError(ptx_type)
    if kind == "f":
        return {"32": "float", "64": "double"}[bits]
    return f"i{bits}"
