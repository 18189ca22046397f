"""Special registers, and the addresses of variables and operands; `e` is a FunctionEmitter."""

from __future__ import annotations

from functools import partial, reduce

from ...contract import DEVICE
from ...ptx.program import Address, Register, Symbol, Unsupported
from ..facts.layout import RESERVED_SHARED
from ..facts.types import element_of
from .values import LANES, Value

__all__ = ["operand_address", "operand_sum", "shared_address", "special", "symbol_address"]

_OF_DEVICE = {"nwarpid": DEVICE["sm_warps"], "smid": 0, "nsmid": DEVICE["multiprocessors"]}


def special(e, name: str) -> Value:
    head, _, axis = name.partition(".")
    if "cluster" in name:
        return _of_cluster(e, head, axis)
    if head in ("tid", "ntid", "ctaid", "nctaid"):
        index = "xyz".index(axis) if axis in ("x", "y", "z") else None
        if index is None:
            raise Unsupported(f"%{name} is a vector: name its .x, .y or .z")
        if head == "tid":
            return e.warp_value("tid", "i32", LANES * index, uniform=False)
        return e.warp_value(head, "i32", index)
    if name == "laneid":
        return e.lanes(range(LANES))
    if name.startswith("lanemask_"):
        test = {
            "eq": lambda i: 1 << i,
            "lt": lambda i: (1 << i) - 1,
            "le": lambda i: (2 << i) - 1,
        }
        test["ge"] = lambda i: ~((1 << i) - 1)
        test["gt"] = lambda i: ~((2 << i) - 1)
        masks = [test[name[9:]](lane) & 0xFFFFFFFF for lane in range(LANES)]
        return e.lanes(m - (1 << 32) if m >> 31 else m for m in masks)
    if name == "warpid":
        return e.warp_value("warp_id", "i32")
    if name in _OF_DEVICE:
        return e.constant(_OF_DEVICE[name], "i32")
    if name == "gridid":
        return e.resize(e.warp_value("grid_id", "i32"), "i64")
    if name == "dynamic_smem_size":
        return e.warp_value("dynamic_shared", "i32")
    if name == "total_smem_size":
        unit = DEVICE["shared_unit"]
        return e.op("and", e.op("add", e.warp_value("shared_bytes", "i32"), unit - 1), -unit)
    if name == "aggr_smem_size":
        return e.op("add", e.warp_value("shared_bytes", "i32"), RESERVED_SHARED["cap"])
    if name in ("clock", "clock64", "clock_hi"):
        ticks = Value(e.call("i64", "sg_clock", "ptr %w"), "i64", True)
    elif name in ("globaltimer", "globaltimer_lo", "globaltimer_hi"):
        ticks = Value(e.call("i64", "sg_globaltimer"), "i64", True)
    elif name.startswith("reserved_smem_offset_"):
        return _reserved_shared(e, name.removeprefix("reserved_smem_offset_"))
    elif name in ("envreg1", "envreg2"):  # high and low half
        workspace = e.warp_value("workspace", "i64")
        half = e.constant(32 if name == "envreg1" else 0, "i64")
        return e.resize(e.op("lshr", workspace, half), "i32")
    elif name.startswith("envreg"):
        return e.constant(0, "i32")
    else:
        raise Unsupported(f"there is no register %{name} here")
    if name.endswith("_hi"):
        ticks = e.op("lshr", ticks, 32)
    return ticks if name in ("clock64", "globaltimer") else e.resize(ticks, "i32")


def _of_cluster(e, head: str, axis: str) -> Value:
    """Return a special register about the grid's clusters, most of which have one block each."""
    along = [e.warp_value("cluster", "i32", index) for index in range(3)]
    if head == "is_explicit_cluster":
        return e.compare("icmp ugt", reduce(partial(e.op, "mul"), along), 1)
    if head == "cluster_nctarank":
        return reduce(partial(e.op, "mul"), along)
    within = [e.op("urem", e.warp_value("ctaid", "i32", index), along[index]) for index in range(3)]
    if head == "cluster_ctarank":
        before = e.op("mul", e.op("add", e.op("mul", within[2], along[1]), within[1]), along[0])
        return e.op("add", before, within[0])
    if axis not in ("x", "y", "z"):
        raise Unsupported(f"%{head} is a vector: name its .x, .y or .z")
    index = "xyz".index(axis)
    if head in ("cluster_ctaid", "cluster_nctaid"):
        return within[index] if head == "cluster_ctaid" else along[index]
    blocks = e.warp_value(head.replace("cluster", "cta"), "i32", index)
    return e.op("udiv", blocks, along[index])


def _reserved_shared(e, what: str) -> Value:
    """Return the start or end of the shared memory that each block reserves for libraries."""
    begin = Value(e.call("i32", "sg_reserved_shared", "ptr %w"), "i32", True)
    return e.op("add", begin, RESERVED_SHARED[what])


def symbol_address(e, symbol: Symbol) -> Value:
    """Return a variable's address in its own space; in local, shared and param an offset."""
    space, offset = e.layout.place(e.function.name, symbol.name)
    offset += symbol.offset
    if space in ("shared", "dynamic"):
        own = e.op("add", e.warp_value("window", "i32"), own_offset(e, symbol))
        return e.resize(own, "i64")
    if space == "local":
        frame = e.resize(Value("%frame", "i32", True), "i64")
        return e.op("add", frame, offset)
    if space in ("function", "param"):
        return e.constant(offset, "i64")
    base = Value(e.assign(f"ptrtoint {e.warp_value('module', 'ptr')} to i64"), "i64", True)
    return e.op("add", base, offset)


def own_offset(e, symbol: Symbol) -> Value:
    """Return a variable's offset in the block's shared memory."""
    space, offset = e.layout.place(e.function.name, symbol.name)
    offset += symbol.offset
    if space == "shared":
        return e.constant(offset, "i32")
    return e.op("add", e.warp_value("static_shared", "i32"), offset)


def shared_address(e, operand: Address) -> Value:
    """Return the offset of [base + offset] in the block's shared memory."""
    if isinstance(operand.base, str):
        return own_offset(e, Symbol(operand.base, operand.offset))
    return e.op("sub", operand_address(e, operand, "i32"), e.warp_value("window", "i32"))


def operand_address(e, operand: Address, width: str = "i64") -> Value:
    """Return the value of [base + offset] in the instruction's own space."""
    if operand.base is None:
        return e.constant(operand.offset, width)
    if isinstance(operand.base, str):
        return e.resize(symbol_address(e, Symbol(operand.base, operand.offset)), width)
    base = e.integer(e.load_register(operand.base))
    base = e.resize(base, width)
    return e.op("add", base, operand.offset) if operand.offset else base


def operand_sum(e, operand: Address, width: str) -> tuple[Value, Value]:
    """Return [base + offset] as (base, offsets), if it differs between lanes."""
    base = e.constant(operand.offset, width)
    register = operand.base
    assert isinstance(register, Register)  # all else is the same for all lanes
    if register.name in e.sums and element_of(register.type) == width:
        more, offsets = e._load_sum(register)
        return e.op("add", more, base), offsets
    return base, e.resize(e.integer(e.load_register(register)), width)
