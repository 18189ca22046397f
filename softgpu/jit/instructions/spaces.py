"""State spaces: which one an instruction names, its host addresses, conversions."""

from __future__ import annotations

from functools import partial, reduce

from ... import contract
from ...ptx.program import Address
from ..emit.addresses import operand_address, shared_address
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from ..facts.types import element_of

_SPACES = ("global", "shared", "local", "const", "param")

_CLUSTER = contract.values("ClusterAddress")
_OFFSET = (1 << _CLUSTER["cluster_rank_bit"]) - 1


def space_of(item) -> str:
    """Return the state space of an access; `shared::cta` is shared, `shared::cluster` is
    cluster."""
    return next((space for m in item.modifiers if (space := space_named(m))), "generic")


def space_named(modifier: str) -> str:
    """Return the state space that a modifier names, or an empty string."""
    space, _, whose = modifier.partition("::")
    if space not in _SPACES:
        return ""
    return "cluster" if whose == "cluster" else space


def pointer_value(e: FunctionEmitter, field: str) -> Value:
    """Return a pointer field of the Warp as an i64."""
    return Value(e.assign(f"ptrtoint {e.warp_value(field, 'ptr')} to i64"), "i64", True)


def own_address(e: FunctionEmitter, operand: Address, space: str) -> Value:
    """Return an access's addresses: offsets in shared memory, else host addresses."""
    if space == "shared":
        return shared_address(e, operand)
    if space == "cluster":
        return in_cluster(e, operand_address(e, operand, "i32"))
    address = operand_address(e, operand)
    return e.op("add", _base(e, space), address) if space in ("local", "param") else address


def _base(e: FunctionEmitter, space: str) -> Value:
    """Return the generic address of a space's address 0."""
    if space == "local":
        return local_base(e)
    return pointer_value(e, "params" if space == "param" else "cluster_shared")


def in_cluster(e: FunctionEmitter, address: Value) -> Value:
    """Convert 32-bit addresses in any block of the cluster to host addresses: see
    ClusterAddress."""
    return e.op("add", pointer_value(e, "cluster_shared"), e.resize(address, "i64"))


def in_block(e: FunctionEmitter, rank: Value, address: Value) -> Value:
    """Map host addresses of one block's shared memory to the same offsets in another block's."""
    window = e.op("shl", e.resize(rank, "i64"), _CLUSTER["cluster_rank_bit"])
    offset = e.op("and", address, _OFFSET)
    return e.op("add", pointer_value(e, "cluster_shared"), e.op("or", window, offset))


def rank_of(e: FunctionEmitter, address: Value) -> Value:
    """Return the cluster rank of the block whose shared memory contains the host addresses."""
    past = e.op("sub", address, pointer_value(e, "cluster_shared"))
    return e.op("lshr", past, _CLUSTER["cluster_rank_bit"])


def to_host(e: FunctionEmitter, address: Value, space: str) -> Value:
    """Convert addresses in their own space to host addresses (i64)."""
    if space != "shared":
        return address
    return e.op("add", e.resize(address, "i64"), pointer_value(e, "shared"))


def host_address(e: FunctionEmitter, operand: Address, space: str) -> Value:
    return to_host(e, own_address(e, operand, space), space)


def local_base(e: FunctionEmitter) -> Value:
    """Return the start of each lane's local memory."""
    stride = e.warp_value("local_stride", "i64")
    own = e.op("mul", e.lanes(range(LANES), "i64"), stride)
    return e.op("add", pointer_value(e, "local"), own)


@instruction("cvta")
def _cvta(e, item):
    space = space_of(item)
    value = e.read(item.operands[1], item.modifiers[-1])
    if space in ("shared", "cluster", "local", "param"):
        converted = "sub" if "to" in item.modifiers else "add"
        value = e.op(converted, e.resize(value, "i64"), _base(e, space))
    e.write(item.operands[0], e.resize(value, element_of(item.modifiers[-1])))


@instruction("mapa")
def _mapa(e, item):
    """mapa: map an address of this block to the same address in another block of the cluster."""
    result, address, rank = item.operands
    kind = item.modifiers[-1]
    ranks = e.read(rank, "u32")
    if space_of(item) == "cluster":
        offset = e.op("and", e.resize(e.read(address, kind), "i32"), _OFFSET)
        windows = e.op("shl", ranks, _CLUSTER["cluster_rank_bit"])
        e.write(result, e.resize(e.op("or", windows, offset), element_of(kind)))
        return
    e.write(result, in_block(e, ranks, e.read(address, "u64")))


@instruction("getctarank")
def _getctarank(e, item):
    result, address = item.operands
    host = e.read(address, item.modifiers[-1])
    if space_of(item) == "cluster":
        host = in_cluster(e, e.resize(host, "i32"))
    e.write(result, e.resize(rank_of(e, host), "i32"))


@instruction("isspacep")
def _isspacep(e, item):
    space = space_of(item)
    address = e.read(item.operands[1], "u64")

    def within(base: Value, size: int) -> Value:
        return e.compare("icmp ult", e.op("sub", address, base), size)

    def window(space: str) -> Value:
        if space in (
            "shared",
            "local",
        ):  # for all lanes: their memory follows lane 0's, within the window
            return within(pointer_value(e, space), _CLUSTER["cluster_step"])
        if space == "cluster":
            return within(pointer_value(e, "cluster_shared"), 1 << 32)
        start, size = e.layout.image.constants
        return within(e.op("add", pointer_value(e, "module"), start), size)

    if space == "global":
        elsewhere = reduce(partial(e.op, "or"), map(window, ("cluster", "local", "const")))
        e.write(item.operands[0], e.invert(elsewhere))
    elif space in ("shared", "cluster", "local", "const"):
        e.write(item.operands[0], window(space))
    else:
        e.write(item.operands[0], e.constant(0, "i1"))
