"""The LLVM text of one kernel and of all functions that it calls."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from ...ptx.forms import refusal
from ...ptx.program import Function, Instruction
from ..analysis.flow import find_meeters, find_watchers, forget_registers
from ..analysis.found import Found, Hook, run_pass, run_passes
from ..facts.layout import Layout, Site
from ..facts.opcodes import OPCODES, sites_of
from .build import Build
from .values import Value

__all__ = ["ModuleText", "symbol"]

_METADATA = (
    "!0 = !{}",
    '!1 = !{!"branch_weights", i32 1000, i32 1}',
    "!2 = !{i32 1}",
)
"""Metadata that LLVM text refers to: !0 marks an invariant load, !1 a likely branch, !2 a
non-temporal store."""


def symbol(name: str) -> str:
    """Return the LLVM name of a PTX function, distinct from the driver's functions."""
    return f"ptx.{name}"


_EMPTY = Site("", 0, 0, "generic", "other", 1)


def _number_sites(layout: Layout) -> tuple[dict[Instruction | str, int], list[Site]]:
    """Return the first site of each instruction and of each function by name, the same in all
    builds, and the table of sites, with only lines so far. In kernels with wgmma, any
    instruction may access its registers."""
    first: dict[Instruction | str, int] = {}
    sites: list[Site] = []
    for name in layout.calls:
        function = layout.module.functions[name]
        first[name] = len(sites)
        sites.append(_EMPTY)
        least = any(item.opcode == "wgmma" for item in function.instructions)
        for item in function.instructions:
            if item.opcode not in OPCODES:
                raise refusal(layout.module, function, item)
            first[item], line = len(sites), item.user_line
            empty = replace(_EMPTY, file=line.file, line=line.line) if least else _EMPTY
            sites += [empty] * max(sites_of(item), least)
    return first, sites


class Routine(NamedTuple):
    """A routine that all instructions of one kind call, in quick code: see sharing.py."""

    text: str
    wants_warp: bool  # among its arguments
    wants_mask: bool
    sites: list[tuple]  # arguments for FunctionEmitter.site at each instruction


class ModuleText:
    """The LLVM text of one kernel with the device functions it needs, and its table of sites.

    `quick`: optimise for compile time, not speed; sites and notes are the same. `annotated`:
    comment each line with its PTX instruction and the Python line that emitted it. `after`: called
    after each pass.
    """

    def __init__(
        self,
        layout: Layout,
        build: Build,
        quick: bool = False,
        annotated: bool = False,
        after: Hook | None = None,
    ):
        self.module = module = layout.module
        self.layout = layout
        self.build = build
        self.mode = replace(build.mode, quick=quick)
        self.annotated = annotated
        self.after = after
        self.first_site, self.sites = _number_sites(layout)
        # stored with the code, as JSON; "loops": as in turns.py, with each function's loops nested
        # in its caller's, except the last item, which is the kernel's own
        self.notes: dict = {"loops": [0, 0, False]}
        self.declared: dict[str, str] = {}
        self.definitions: dict[str, str] = {}
        self.routines: dict[str, tuple[list[Value], str]] = {}  # results and text by name
        self.shared: dict[str, Routine] = {}  # by name
        self._wanted: list[str] = []
        called = [function for function in module.functions.values() if not function.is_entry]
        self._watchers = find_watchers(called)
        self._meeters = find_meeters(called)
        self.has_exits = any(  # lanes may exit inside a device function
            item.opcode == "exit" for function in called for item in function.instructions
        )

    def declare(self, name: str, text: str) -> None:
        self.declared.setdefault(name, text)

    def want(self, name: str) -> None:
        """Queue a device function for compilation."""
        if name not in self.definitions:
            self.definitions[name] = ""
            self._wanted.append(name)

    def known(self, function: Function) -> dict[str, Any]:
        """Return the results of all passes before the last, computed once for all builds and
        tiers."""
        given = {
            "function": function,
            "layout": self.layout,
            "calls_may_exit": self.has_exits,
            "watchers": self._watchers,
            "meeters": self._meeters,
        }
        if not self.build.rewrites:
            given["copies"] = {}
        known = self.layout.known.setdefault((function.name, self.build.rewrites), given)
        run_passes(self.build.passes[:-1], known, self.mode.by_driver, self.after)
        return known

    def emit(self, kernel: str) -> str:
        self.kernel = kernel
        self.want(kernel)
        while self._wanted:
            name = self._wanted.pop()
            known = self.known(self.module.functions[name])
            last = self.build.passes[-1]
            found = Found(**{need: known[need] for need in last.needs if need in known})
            self.definitions[name] = run_pass(last, (self, found), name, self.after)
            depth, most, few = known["turns"]
            so_far = self.notes["loops"]
            few = few if name == kernel else so_far[2]
            self.notes["loops"] = [so_far[0] + depth, max(so_far[1], most), few]
        forget_registers()
        routines = (text for _, text in self.routines.values())
        shared = (routine.text for routine in self.shared.values())
        texts = self.declared.values(), routines, shared, self.definitions.values(), _METADATA
        return "\n".join([*chain(*texts), ""])
