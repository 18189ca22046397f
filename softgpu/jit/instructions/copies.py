"""Asynchronous copies from global to shared memory."""

from __future__ import annotations

from functools import partial

from ... import contract
from ...ptx.program import Register, Unsupported, Vector
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from .mbarrier import arrive_after_copies, complete_bytes
from .memory import host_address

_How = contract.flags("BoxHow", "BOX_")


@instruction("cp")
def _copy(e, item):
    """cp.async: the copy is done at once, which waiting for it cannot tell from later."""
    modifiers = item.modifiers
    if modifiers[0] != "async" or "reduce" in modifiers:
        raise e.refusal(item)
    if modifiers[1] == "bulk" and modifiers[2] in ("commit_group", "wait_group", "prefetch"):
        return  # bulk copies are done at once, too
    if modifiers[1:3] == ("bulk", "tensor"):
        _copy_box(e, item)
        return
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
    """A bulk copy to the block's shared memory, of whose bytes an mbarrier hears at once, or from
    there."""
    to_shared = item.modifiers[2] in _TO_SHARED and item.modifiers[3] == "global"
    from_shared = item.modifiers[2:4] == ("global", "shared::cta")
    told = {"mbarrier::complete_tx::bytes"} if to_shared else {"bulk_group"}
    if not (to_shared or from_shared) or {*item.modifiers[4:]} - {"L2::cache_hint"} != told:
        raise e.refusal(item)
    target, source, size, *rest = item.operands
    bytes_ = e.read(size, "u32")
    spaces = ("shared", "global") if to_shared else ("global", "shared")
    with e.when_active():
        sites = e.site(item, "load", spaces[1], 16), e.site(item, "store", spaces[0], 16)
        places = host_address(e, target, spaces[0]), host_address(e, source, spaces[1])
        spilled = e.spill_all(*places, bytes_)
        numbers = [f"i32 {site}" for site in sites]
        e.call_checked("void", "copy_bulk", "ptr %w", *numbers, str(e.active), *spilled)
        if to_shared:
            complete_bytes(e, item, rest[0], bytes_)


def _copy_box(e: FunctionEmitter, item) -> None:
    """A copy of a box that a tensor map describes, to the block's shared memory or from there."""
    modifiers = set(item.modifiers)
    stores = item.modifiers[4] == "global"
    if modifiers & {
        "im2col_no_offs",
        "im2col::w",
        "im2col::w::128",
        "tile::gather4",
        "multicast::cluster",
    }:
        raise e.refusal(item)
    (map_, *coordinates), shared, barrier, offsets = _box_operands(item, stores)
    rank, how = len(coordinates), _How.stores if stores else 0
    how |= _How.im2col if "im2col" in modifiers else 0
    kinds = ("shared", "global") if stores else ("global", "shared")
    with e.when_active():
        sites = e.site(item, "load", kinds[0], 16), e.site(item, "store", kinds[1], 16)
        numbers = [f"i32 {n}" for n in (*sites,)]
        given = [
            f"ptr {e.spill(host_address(e, map_, 'generic'), 'map')}",
            _numbers(e, coordinates, "coordinates"),
            _numbers(e, offsets, "offsets") if offsets else "ptr null",
            f"ptr {e.spill(host_address(e, shared, 'shared'), 'addresses')}",
        ]
        bytes_ = e.temporary("i32", 1, "bytes")
        rest = (str(e.active), f"i32 {rank}", f"i32 {how}", *given, f"ptr {bytes_}")
        e.call_checked("void", "copy_boxes", "ptr %w", *numbers, *rest)
        if barrier:
            complete_bytes(e, item, barrier, e.unspill(bytes_, "i32"))


def _box_operands(item, stores: bool):
    """The map with its coordinates, where in shared memory, the mbarrier, offsets of im2col."""
    if stores:
        where, shared = item.operands[:2]
        return _flat(where), shared, None, ()
    shared, where, barrier, *rest = item.operands
    offsets = rest[0].elements if "im2col" in item.modifiers else ()
    return _flat(where), shared, barrier, offsets


def _flat(where: Vector) -> list:
    """[map, {x, y}] as map, x, y."""
    map_, *rest = where.elements
    return [map_, *(x for part in rest for x in getattr(part, "elements", (part,)))]


def _numbers(e: FunctionEmitter, operands, use: str) -> str:
    """A pointer to the lanes of whole numbers, one after the other."""
    read = [e.read(operand, "s16" if use == "offsets" else "s32") for operand in operands]
    return e.spill_in_order([e.resize(value, "i32", signed=True) for value in read], "i32", use)
