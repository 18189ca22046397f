"""What the driver needs to know about a kernel, as the structs of driver/runtime.h."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from . import contract
from .contract import ffi
from .jit.compile import KernelCode
from .jit.facts.layout import Site
from .jit.facts.types import bits_of
from .ptx.program import Function, Variable

__all__ = ["facts_of"]

_SPACES = contract.values("Space", "SPACE_")
_KINDS = contract.values("SiteKind", "SITE_")
_BOUNDLESS = 2, (1 << 31) - 1, False  # loops of a recursive kernel, so that it is compiled in full

_pointed_at: WeakKeyDictionary[Any, list] = WeakKeyDictionary()
"""Keeps alive what a C array points at, as long as the array lives."""


def facts_of(function: Function, code: KernelCode) -> dict:
    """Return what the driver needs to know about a kernel, as the fields of KernelFacts."""
    layout = code.layout
    files = sorted({site.file for site in code.sites})
    names = [ffi.new("char[]", Path(name).name.encode()) for name in files]
    named = ffi.new("char *[]", names)
    _pointed_at[named] = names
    places = [(function.param_offsets[p.name], p.bytes, _whole_bytes(p)) for p in function.params]
    depth, constant, few = _BOUNDLESS if layout.may_recurse else code.notes["loops"]
    return {
        "takes": ffi.new("char[]", _sizes(function.params)),
        "params": ffi.new("uint32_t[][3]", places),
        "param_count": len(places),
        "param_bytes": function.param_bytes,
        "param_align": max((p.align for p in function.params), default=1),
        "loop_depth": depth,
        "loop_constant": constant,
        "few_turns": few,
        "static_shared": layout.static_shared_bytes,
        "dynamic_align": layout.dynamic_align,
        "local_bytes": layout.local_bytes,
        "max_threads": function.max_threads or 0,
        "cluster": _dims(function, "reqnctapercluster"),
        "required": _dims(function, "reqntid"),
        "ptx_version": layout.module.architecture,
        "files": named,
        "sites": ffi.new("struct Site[]", [_site(site, files) for site in code.sites]),
        "file_count": len(files),
        "site_count": len(code.sites),
        "follows_pointers": layout.follows_pointers,
        "runs_through": code.runs_through,
        "has_warpgroups": any(item.name.startswith("wgmma") for item in function.body),
    }


def _dims(function: Function, directive: str) -> tuple[int, ...]:
    """Return a directive's numbers along x, y and z; zeros without it."""
    dims = function.directives.get(directive)
    return (*dims, 1, 1, 1)[:3] if dims else (0, 0, 0)


def _sizes(params: list[Variable]) -> bytes:
    """Return the sizes of several parameters as text: " (8 + 4)"."""
    return f" ({' + '.join(str(p.bytes) for p in params)})".encode() if len(params) > 1 else b""


def _whole_bytes(parameter: Variable) -> int:
    """Return the size of the integers that a parameter may hold; 0: it holds none."""
    size = bits_of(parameter.type) // 8
    if parameter.type[0] == "f":
        return 0
    return size if size == parameter.bytes else 4


def _site(site: Site, files: list[str]) -> dict[str, int]:
    """Return a row of the driver's table of sites."""
    return {
        "file": files.index(site.file),
        "line": site.line,
        "bytes": site.bytes,
        "space": _SPACES[site.space],
        "kind": _KINDS[site.kind],
        "elements": site.elements,
        "used": site.used,
    }
