"""Fences, and hints that need no code."""

from __future__ import annotations

from ..emit.function import instruction


@instruction("membar", "fence")
def _fence(e, item):
    modifiers = set(item.modifiers)
    known = {"async", "alias", "async::generic", "tensormap::generic"}
    if "proxy" in modifiers and not known & modifiers:
        raise e.refusal(item)
    if "async" in modifiers and "global" not in modifiers:
        e.observer.proxy_fence()
    else:
        e.observer.fence()
    if "mbarrier_init" in modifiers:
        e.observer.mbarriers_shown()
    e.line("fence seq_cst")


@instruction("createpolicy")
def _createpolicy(e, item):
    """createpolicy: return a value for .L2::cache_hint, which is ignored here."""
    e.write(item.operands[0], e.constant(0, "i64"))


@instruction(
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "nanosleep",
    "pmevent",
    "griddepcontrol",
)  # griddepcontrol: launches never overlap, so there is nothing to wait for
def _no_effect(e, item):
    if item.opcode == "nanosleep":
        e.call_void("sg_yield", "ptr %w", "i32 0")
