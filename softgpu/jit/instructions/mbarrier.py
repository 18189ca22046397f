"""mbarriers: barriers in shared memory (cuda::barrier, cuda::pipeline)."""

from __future__ import annotations

from ... import contract
from ...ptx.program import Address, Immediate
from ..emit.function import FunctionEmitter, Value, instruction
from .spaces import host_address, space_of

__all__ = ["arrive_after_copies", "complete_bytes"]

_Arrival = contract.flags("Arrival", "ARRIVAL_")
_Wait = contract.flags("Wait", "WAIT_")
_PENDING_BIT, _COUNT_BITS = 20, 20

_KINDS = {"init": "store", "inval": "store", "test_wait": "load", "try_wait": "load"}
_ONE = Immediate(1)


def _place(e: FunctionEmitter, item, operand: Address, kind: str) -> tuple[str, ...]:
    """Return the driver function's first arguments: warp, site, addresses, active lanes."""
    space = space_of(item)
    site = e.site(item, kind, space, 8)
    where = e.spill(host_address(e, operand, space), "addresses")
    return "ptr %w", f"i32 {site}", f"ptr {where}", str(e.active)


@instruction("mbarrier")
def _mbarrier(e, item):
    operation = item.modifiers[0]
    if operation == "pending_count":
        state = e.op("lshr", e.read(item.operands[1], "b64"), _PENDING_BIT)
        count = e.op("and", e.resize(state, "i32"), (1 << _COUNT_BITS) - 1)
        e.write(item.operands[0], count)
        return
    at = next(n for n, o in enumerate(item.operands) if isinstance(o, Address))
    result = item.operands[0] if at else None
    rest = item.operands[at + 1 :]
    with e.when_active():
        place = _place(e, item, item.operands[at], _KINDS.get(operation, "atomic"))
        if operation == "init":
            arrivals = e.spill(e.read(rest[0], "u32"))
            e.call_checked("void", "mbarrier_init", *place, f"ptr {arrivals}")
        elif operation == "inval":
            e.call_checked("void", "mbarrier_inval", *place)
        elif operation in ("test_wait", "try_wait"):
            _wait(e, item, result, place, rest[0])
        else:
            _update(e, item, result, place, rest)


def _wait(e: FunctionEmitter, item, result, place: tuple[str, ...], phase) -> None:
    how = _Wait.parity if "parity" in item.modifiers else 0
    if e.waits_only(item):
        how |= _Wait.only_way
    if e.waits_alone(item):
        how |= _Wait.alone
    wanted = e.resize(e.read(phase, "u32" if how & _Wait.parity else "b64"), "i64")
    over = e.call_checked("i32", "mbarrier_wait", *place, f"ptr {e.spill(wanted)}", f"i32 {how}")
    e.write(result, e.from_bits(over))


def _update(e: FunctionEmitter, item, result, place: tuple[str, ...], rest) -> None:
    """Arrive and change the expected bytes, or do only one of these."""
    operation, how = item.modifiers[0], 0
    arrives = operation in ("arrive", "arrive_drop")
    counts = operation in ("expect_tx", "complete_tx") or "expect_tx" in item.modifiers
    if not (arrives or counts):
        raise e.refusal(item)
    if operation == "arrive_drop":
        how |= _Arrival.drops
    if operation == "complete_tx":
        how |= _Arrival.comes
    arrivals = e.constant(int(arrives), "i32")
    if rest and not counts:
        arrivals = e.read(rest[0], "u32")
    moved = e.read(rest[0], "u32") if counts else e.constant(0, "i32")
    state = _call_update(e, place, arrivals, moved, how)
    e.write(result, e.unspill(state, "i64"))


def _call_update(e: FunctionEmitter, place, arrivals: Value, moved: Value, how: int) -> str:
    """Call the driver; return a pointer to the states from before."""
    state = e.temporary("i64", 1, "result")
    numbers = *e.spill_all(arrivals, moved), f"i32 {how}"
    e.call_checked("void", "mbarrier_update", *place, *numbers, f"ptr {state}")
    return state


def arrive_after_copies(e: FunctionEmitter, item) -> None:
    """cp.async.mbarrier.arrive: copies are done at once, so this is an ordinary arrival.

    Without .noinc, the pending count is incremented first, so nothing changes."""
    place = _place(e, item, item.operands[0], "atomic")
    arrivals = e.constant(int("noinc" in item.modifiers), "i32")
    _call_update(e, place, arrivals, e.constant(0, "i32"), 0)


def complete_bytes(e: FunctionEmitter, site: int, where: Value, moved: Value, lanes: Value) -> None:
    """Complete transferred bytes at mbarriers, given by host addresses."""
    place = "ptr %w", f"i32 {site}", f"ptr {e.spill(where, 'addresses')}", str(lanes)
    _call_update(e, place, e.constant(0, "i32"), moved, _Arrival.comes)
