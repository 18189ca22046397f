"""Asynchronous copies from global to shared memory."""

from __future__ import annotations

from functools import partial

from ...ptx.program import Register, Unsupported
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from .mbarrier import arrive_after_copies, complete_bytes
from .memory import host_address


@instruction("cp")
def _copy(e, item):
    """cp.async: the copy is done at once, which waiting for it cannot tell from later."""
    modifiers = item.modifiers
    if modifiers[0] != "async" or "reduce" in modifiers:
        raise e.refusal(item)
    if modifiers[1] == "commit_group":
        e.observe_copies_committed()
        return
    if modifiers[1] in ("wait_group", "wait_all"):
        e.observe_copies_awaited(item.operands[0].value if item.operands else -1)
        return
    if modifiers[1] == "mbarrier":
        e.observe_copies_awaited(-1)
        arrive_after_copies(e, item)
        return
    if modifiers[1] == "bulk":
        _copy_bulk(e, item)
        return
    target, source, size, *rest = item.operands
    if "L2::cache_hint" in modifiers:
        rest.pop()
    count = size.value
    if count not in (4, 8, 16):
        raise Unsupported(f"a copy of {count} bytes")
    with e.when_active():
        element = {4: "i32", 8: "i64", 16: "i128"}[count]
        to = host_address(e, target, "shared")
        origin = host_address(e, source, "global")
        data = e.temporary(element, 1, "data")
        e.line(f"store <{LANES} x {element}> zeroinitializer, ptr {data}, align 64")
        read = e.site(item, "load", "global", count)
        written = e.site(item, "store", "shared", count)
        wanted = e.active
        if rest and isinstance(rest[0], Register) and rest[0].type == "pred":
            wanted = e.op("and", wanted, e.bits(e.invert(e.read(rest[0], "pred"))))
            rest = []
        e.observe(read, origin)
        if rest:  # bytes from the source, zeros after
            length = e.read(rest[0], "u32")
            some = e.bits(e.compare("icmp ne", length, 0))
            wanted = e.op("and", wanted, some)
        e.call_checked(
            "void",
            "load",
            "ptr %w",
            f"i32 {read}",
            f"ptr {e.spill(origin, 'addresses')}",
            wanted,
            f"ptr {data}",
        )
        if rest:
            whole = e.unspill(data, element)
            (kept,) = e.routine("low_bytes", partial(_low_bytes, e), whole, length)
            e.line(f"store {kept}, ptr {data}, align 64")
        e.observe(written, to)
        e.call_checked(
            "void",
            "store",
            "ptr %w",
            f"i32 {written}",
            f"ptr {e.spill(to, 'addresses')}",
            e.active,
            f"ptr {data}",
        )
        e.observe_copy(written, to)


def _low_bytes(e: FunctionEmitter, value: Value, length: Value) -> list[Value]:
    """The first `length` bytes of a value; the whole value, of which nothing was read, for 0."""
    bits = e.constant(int(value.element[1:]), "i32")
    spare = e.op("sub", bits, e.op("shl", length, 3))
    none = e.compare("icmp eq", length, 0)
    shift = e.resize(e.select(none, 0, spare), value.element)
    return [e.splat(e.op("lshr", e.op("shl", value, shift), shift))]


_TO_SHARED = ("shared::cluster", "shared::cta")


def _copy_bulk(e: FunctionEmitter, item) -> None:
    """A bulk copy into the block's shared memory, of whose bytes an mbarrier hears at once."""
    to_shared = item.modifiers[2] in _TO_SHARED and item.modifiers[3] == "global"
    if not to_shared or item.modifiers[4:] != ("mbarrier::complete_tx::bytes",):
        raise e.refusal(item)
    target, source, size, barrier = item.operands
    bytes_ = e.read(size, "u32")
    with e.when_active():
        sites = e.site(item, "load", "global", 16), e.site(item, "store", "shared", 16)
        places = host_address(e, target, "shared"), host_address(e, source, "global")
        spilled = e.spill_all(*places, bytes_)
        numbers = [f"i32 {site}" for site in sites]
        e.call_checked("void", "copy_bulk", "ptr %w", *numbers, str(e.active), *spilled)
        complete_bytes(e, item, barrier, bytes_)
