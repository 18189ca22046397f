"""Asynchronous copies between global and shared memory."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

from ... import contract
from ...ptx.program import Register, Unsupported, Vector
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from .atomics import OPERATIONS, TYPES, store_later
from .mbarrier import arrive_after_copies, complete_bytes
from .spaces import host_address, in_block, rank_of, space_named, space_of

_How = contract.flags("BoxHow", "BOX_")
_FIELDS = contract.values("MapField", "MAP_")
_Shift = contract.flags("BoxShift", "BOX_")
_PIECE = 16  # bytes: the unit of bulk copies


@instruction("cp")
def _copy(e, item):
    """cp.async: copy at once. A program that waits for the copy cannot tell the difference."""
    modifiers = item.modifiers
    if "bulk" in modifiers:
        _copy_in_bulk(e, item)  # also done at once
        return
    if modifiers[1] == "commit_group":
        e.observer.copies_committed()
        return
    if modifiers[1] in ("wait_group", "wait_all"):
        e.observer.copies_awaited(item.operands[0].value if item.operands else -1)
        return
    if modifiers[1] == "mbarrier":
        e.observer.copies_awaited(-1)
        arrive_after_copies(e, item)
        return
    _copy_elements(e, item)


def _copy_elements(e, item):
    """Copy 4, 8 or 16 bytes."""
    target, source, size, *rest = item.operands
    if "L2::cache_hint" in item.modifiers:
        rest.pop()
    count = size.value
    if count not in (4, 8, 16):
        raise Unsupported(f"a copy of {count} bytes")
    with e.when_active():
        element = {4: "i32", 8: "i64", 16: "i128"}[count]
        to = host_address(e, target, "shared")
        origin = host_address(e, source, "global")
        data = e.temporary(element, 1, "data")
        read = e.site(item, "load", "global", count)
        written = e.site(item, "store", "shared", count)
        wanted = e.active
        if rest and isinstance(rest[0], Register) and rest[0].type == "pred":
            wanted = e.op("and", wanted, e.bits(e.invert(e.read(rest[0], "pred"))))
            rest = []
            e.line(f"store <{LANES} x {element}> zeroinitializer, ptr {data}, align 64")
        e.observer.access(read, origin)
        if rest:  # bytes from the source, zeros after
            length = e.read(rest[0], "u32")
            some = e.bits(e.compare("icmp ne", length, 0))
            wanted = e.op("and", wanted, some)
            e.call_void("sg_shorten", "ptr %w", f"ptr {e.spill(length, 'lengths')}")
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
            e.call_void("sg_cut", "ptr %w", f"i32 {count}", f"ptr {data}")
        e.observer.access(written, to)
        e.call_checked(
            "void",
            "store",
            "ptr %w",
            f"i32 {written}",
            f"ptr {e.spill(to, 'addresses')}",
            e.active,
            f"ptr {data}",
        )
        e.observer.copy(written, to)


def _copy_in_bulk(e: FunctionEmitter, item) -> None:
    modifiers = item.modifiers
    if modifiers[2] == "commit_group":
        e.observer.bulk_committed()
    elif modifiers[2] == "wait_group":
        e.observer.bulk_awaited(item.operands[0].value)
    elif "tensor" in modifiers and "prefetch" not in modifiers:
        _copy_box(e, item)
    elif "prefetch" not in modifiers:
        _copy_bytes(e, item)


def _spaces(item) -> list[str]:
    """Return the destination and source spaces: "global", "shared" or "cluster"."""
    return [space for m in item.modifiers if (space := space_named(m))]


def _reduction(item) -> int:
    """Return the flags of a cp.reduce.async.bulk's reduction; 0: it is a plain copy."""
    if "reduce" not in item.modifiers:
        return 0
    operation = next(m for m in item.modifiers if m in OPERATIONS)
    kind = TYPES.get(item.modifiers[-1], 0)  # a box has the tensor map's type
    return _How.reduces | OPERATIONS[operation] * _Shift.its_operation | kind * _Shift.its_type


def _sites(e: FunctionEmitter, item) -> list[str]:
    """Return the sites of the read and the write."""
    to, origin = _spaces(item)
    sites = e.site(item, "load", origin, _PIECE), e.site(item, _written(item), to, _PIECE)
    return [f"i32 {site}" for site in sites]


def _written(item) -> str:
    return "red" if "reduce" in item.modifiers else "store"


@contextmanager
def _each_block(e: FunctionEmitter, item, site: str, rest):
    """Yield, for each block that a multicast sends to: the lanes that send there, and a function
    that maps an address of this block to the same one in that block. Without multicast, yield
    once, for all lanes. rest: the operands after the mbarrier."""
    if "multicast::cluster" not in item.modifiers:
        yield e.active, lambda address: address
        return
    blocks = e.resize(e.read(rest[0], "u16"), "i32")
    checked = "ptr %w", site, str(e.active), f"ptr {e.spill(blocks)}"
    left, again, end = e.temporary("i32", 1, "left"), e.label(), e.label()
    e.line(f"store i32 {e.call('i32', 'sg_multicast', *checked)}, ptr {left}")
    e.line(f"br label %{again}")
    e.start(again)
    to_come = Value(e.assign(f"load i32, ptr {left}"), "i32", True)
    rank = e.intrinsic("cttz", to_come, tail="i1 true")
    theirs = e.bits(e.compare("icmp ne", e.op("and", blocks, e.op("shl", 1, rank)), 0))
    yield e.op("and", theirs, e.active), partial(in_block, e, rank)
    to_come = e.op("and", to_come, e.op("sub", to_come, 1))
    e.line(f"store {to_come}, ptr {left}")
    e.line(f"br {e.compare('icmp eq', to_come, 0)}, label %{end}, label %{again}")
    e.start(end)


def _copy_bytes(e: FunctionEmitter, item) -> None:
    """A bulk copy of bytes to or from the block's shared memory."""
    target, source, size, *rest = item.operands
    bytes_ = e.read(size, "u32")
    spaces = _spaces(item)
    with e.when_active():
        sites = _sites(e, item)
        if "global" not in spaces:
            _need_clusters(e, sites[1])
        to, origin = host_address(e, target, spaces[0]), host_address(e, source, spaces[1])
        barrier = _Barrier(e, item, rest[0], to) if spaces[0] != "global" else None
        how = f"i32 {_reduction(item)}"
        with _each_block(e, item, sites[0], rest[1:]) as (lanes, there):
            spilled = e.spill_all(there(to), origin, bytes_)
            e.call_checked("void", "copy_bulk", "ptr %w", *sites, str(lanes), how, *spilled)
            if barrier:
                complete_bytes(e, barrier.site, there(barrier.address), bytes_, lanes)


def _need_clusters(e: FunctionEmitter, site: str) -> None:
    """Fault unless the launch has clusters: else copies from block to block are illegal."""
    e.call_void("sg_from_block_to_block", "ptr %w", site, str(e.active))


class _Barrier:
    """The mbarrier that counts a copy's bytes. For a bulk copy it is in the destination block,
    whatever the rank in its address."""

    def __init__(self, e: FunctionEmitter, item, operand, to: Value | None = None):
        self.site = e.site(item, "atomic", space_of(item), 8)
        self.address = host_address(e, operand, space_of(item))
        if to:
            self.address = in_block(e, rank_of(e, to), self.address)


def _copy_box(e: FunctionEmitter, item) -> None:
    """A tensor map copy of a box to or from the block's shared memory."""
    stores = _spaces(item)[0] == "global"
    (map_, *coordinates), shared, barrier, rest = _box_operands(item, stores)
    if f"{len(coordinates)}d" not in item.modifiers:
        raise e.refusal(item)
    windows = "im2col" in item.modifiers
    offsets = rest.pop(0).elements if windows else ()
    how = _reduction(item) | (_How.stores if stores else 0)
    how |= _How.im2col if windows or "im2col_no_offs" in item.modifiers else 0
    with e.when_active():
        given = [
            f"ptr {e.spill(host_address(e, map_, 'generic'), 'map')}",
            _numbers(e, coordinates, "coordinates"),
            _numbers(e, offsets, "offsets") if offsets else "ptr null",
        ]
        place = host_address(e, shared, _spaces(item)[stores])
        bytes_ = e.temporary("i32", 1, "bytes")
        sites = _sites(e, item)
        told = _Barrier(e, item, barrier, place) if barrier else None
        with _each_block(e, item, sites[0], rest) as (lanes, there):
            where = f"ptr {e.spill(there(place), 'addresses')}"
            numbers = str(lanes), f"i32 {len(coordinates)}", f"i32 {how}"
            all_ = *sites, *numbers, *given, where, f"ptr {bytes_}"
            e.call_checked("void", "copy_boxes", "ptr %w", *all_)
            if told:
                moved = e.unspill(bytes_, "i32")
                complete_bytes(e, told.site, there(told.address), moved, lanes)


def _box_operands(item, stores: bool):
    """Return the map with its coordinates, the shared address, the mbarrier, and the remaining
    operands."""
    if stores:
        where, shared, *rest = item.operands
        return _flat(where), shared, None, rest
    shared, where, barrier, *rest = item.operands
    return _flat(where), shared, barrier, rest


def _flat(where: Vector) -> list:
    """Flatten [map, {x, y}] to map, x, y."""
    map_, *rest = where.elements
    return [map_, *(x for part in rest for x in getattr(part, "elements", (part,)))]


def _numbers(e: FunctionEmitter, operands, use: str) -> str:
    """Return a pointer to the consecutive lanes of integers."""
    read = [e.read(operand, "s16" if use == "offsets" else "s32") for operand in operands]
    return e.spill_in_order([e.resize(value, "i32", signed=True) for value in read], "i32", use)


@instruction("st.async", "red.async")
def _store_async(e, item):
    """st.async and red.async: stores and reductions whose bytes an mbarrier counts; done at
    once, too."""
    with e.when_active():
        told = _Barrier(e, item, item.operands[-1])
        _need_clusters(e, f"i32 {told.site}")
        bytes_ = e.constant(store_later(e, item), "i32")
        complete_bytes(e, told.site, told.address, bytes_, e.active)


@instruction("tensormap")
def _tensormap(e, item):
    """Replace a field of a tensor map, or copy a whole map from shared to global memory."""
    if item.modifiers[0] == "cp_fenceproxy":
        _copy_map(e, item)
        return
    field = _FIELDS[item.modifiers[2]]
    map_, *place, value = item.operands
    space = {"global": "global", "shared::cta": "shared"}.get(item.modifiers[3], "generic")
    with e.when_active():
        site = e.site(item, "store", space, _PIECE)
        where = e.spill(host_address(e, map_, space), "map")
        new = e.spill(e.resize(e.read(value, item.modifiers[-1]), "i64"))
        numbers = f"i32 {field}", f"i32 {place[0].value if place else 0}"
        told = str(e.active), *numbers, f"ptr {where}", f"ptr {new}"
        e.call_void("sg_map_replace", "ptr %w", f"i32 {site}", *told)


def _copy_map(e: FunctionEmitter, item) -> None:
    """Copy a tensor map; all lanes copy the same one."""
    target, source, size = item.operands
    with e.when_active():
        first = e.op("and", e.active, e.op("sub", e.constant(0, "i32"), e.active))
        places = host_address(e, target, "global"), host_address(e, source, "shared")
        spilled = e.spill_all(*places, e.read(size, "u32"))
        how = str(first), f"i32 {_How.generic}"
        e.call_checked("void", "copy_bulk", "ptr %w", *_sites(e, item), *how, *spilled)
