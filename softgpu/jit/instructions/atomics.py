"""Atomics and reductions, which the driver performs lane by lane (driver/run/atomic.c)."""

from __future__ import annotations

from ... import contract
from ...ptx.program import elements_of
from ..emit.function import FunctionEmitter, instruction
from ..facts.types import bits_of, element_of, vector_size
from .memory import Access, store_with_driver, stored
from .spaces import host_address, space_of, to_host

OPERATIONS = contract.values("Operation", "OP_")
TYPES = contract.values("Type", "TY_")


def _operation(item) -> str:
    return next(m for m in item.modifiers if m in OPERATIONS)


@instruction("atom", "red")
def _atomic(e, item):
    space = space_of(item)
    kind = item.modifiers[-1]
    operation = _operation(item)
    if kind not in TYPES:
        raise e.refusal(item)
    has_result = item.opcode == "atom"
    destination = item.operands[0] if has_result else None
    operand, *sources = item.operands[1 if has_result else 0 :]
    if "L2::cache_hint" in item.modifiers:
        sources.pop()
    size = bits_of(kind) // 8
    with e.when_active():
        # Nsight counts an atomic whose result nobody reads as a reduction, as ptxas makes it one,
        # unless it acquires: then the thread waits for it
        results = elements_of(destination) if has_result else ()
        used = any(r is not None and r.name in e.found.read_somewhere for r in results)
        waits = used or {"acquire", "acq_rel"} & set(item.modifiers)
        is_red = not waits and operation not in ("exch", "cas")
        site = e.site(item, "red" if is_red else "atomic", space, size)
        address = host_address(e, operand, space)
        e.observer.access(site, address)
        element = element_of(kind)
        parts = [elements_of(source) for source in sources]
        for place in range(vector_size(item)):  # a vector is that many atomics of its elements
            out = e.temporary(element, 1, "result") if used else "null"
            pointers = e.spill_all(*(stored(e, part[place], kind) for part in parts))
            pointers += ["ptr null"] * (2 - len(pointers))
            own = e.op("add", address, place * size) if place else address
            where = f"ptr {e.spill(own, 'addresses')}"
            lanes = e.active
            arguments = (*_leading(item, site), where, lanes, *pointers, f"ptr {out}")
            e.call_checked("void", "atomic", *arguments)
            if used:
                e.write(elements_of(destination)[place], e.unspill(out, element))


def _leading(item, site: int) -> tuple[str, ...]:
    """Return the driver function's first arguments: warp, site, operation, type."""
    which = OPERATIONS[_operation(item)], TYPES[item.modifiers[-1]]
    return "ptr %w", f"i32 {site}", *(f"i32 {number}" for number in which)


def store_later(e: FunctionEmitter, item) -> int:
    """Perform st.async or red.async at once; return the bytes that each lane stores."""
    place, given, _mbarrier = item.operands
    kind = item.modifiers[-1]
    values = [stored(e, o, kind) for o in elements_of(given)]
    access = Access(e, item, "red" if item.opcode == "red" else "store", place)
    access.observe()
    if item.opcode == "st":
        store_with_driver(e, access, *values)
        return access.bytes
    where = f"ptr {e.spill(to_host(e, access.address, access.space), 'addresses')}"
    pointers = f"ptr {e.spill(values[0])}", "ptr null", "ptr null"
    e.call_checked("void", "atomic", *_leading(item, access.site), where, str(e.active), *pointers)
    return access.bytes
