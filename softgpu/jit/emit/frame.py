"""A function's frame: its head, its registers, its local memory."""

from __future__ import annotations

from collections.abc import Iterator

from ...contract import LANES, WARP
from ...ptx.program import Register
from ..analysis.flow import CARRY
from .module_text import symbol
from .values import BITS

__all__ = ["define"]


def define(e) -> str:
    """Return the text of a whole function around the lines of its blocks."""
    if e.function.is_entry:
        head = f'define void @"{symbol(e.function.name)}"(ptr %w)'
        existing = "load i32, ptr %w.existing"
    else:
        formal = "".join(f", ptr %p{n}" for n in range(len(e.formals())))
        head = f'define internal void @"{symbol(e.function.name)}"(ptr %w, i32 %mask{formal})'
        existing = "add i32 %mask, 0"
    prologue = [
        f"%w.existing = getelementptr i8, ptr %w, i64 {WARP['existing']}",
        f"%w.stop = getelementptr i8, ptr %w, i64 {WARP['stop']}",
        "%stop = load ptr, ptr %w.stop, !invariant.load !0",
    ]
    registers = [*e.function.registers.values(), CARRY, Register("%entry", "b32")]
    slots = [slot for register in registers for slot in e.slots(register) if slot[0] in e.loaded]
    prologue += _in_one_piece(e, slots) if e.mode.quick else _apart(slots)
    prologue += _waiting(e)
    prologue += ["%turn = alloca i32", "store i32 0, ptr %turn"]
    prologue += e.entry
    prologue += _enter(e)
    prologue += [f"%first = {existing}", "store i32 %first, ptr %wait0", "br label %b0"]
    pointers = [f'{value} = freeze ptr @"{name}"' for name, value in e.pointers.items()]
    head += " noinline optnone {" if e.mode.large else " {"
    return "\n".join([head, "entry:", *pointers, *prologue, *e.lines, "}"])


def _apart(slots: list[tuple[str, str]]) -> Iterator[str]:
    """Yield separate stack slots for registers, which LLVM's passes can promote."""
    for slot, kind in slots:
        yield f"{slot} = alloca {kind}"
        yield f"store {kind} zeroinitializer, ptr {slot}"


def _in_one_piece(e, slots: list[tuple[str, str]]) -> Iterator[str]:
    """Yield registers as one stack slot, largest first, each aligned to its size."""
    sizes = {slot: _bytes(kind) for slot, kind in slots}
    total = sum(sizes.values())
    yield f"%registers = alloca [{total} x i8], align {max(sizes.values(), default=1)}"
    yield _zeroes(e, "%registers", total)
    at = 0
    for slot in sorted(sizes, key=sizes.__getitem__, reverse=True):
        yield f"{slot} = getelementptr i8, ptr %registers, i64 {at}"
        at += sizes[slot]


def _bytes(kind: str) -> int:
    """Return the size of a register's LLVM type."""
    lanes = LANES if kind[0] == "<" else 1
    return max(lanes * BITS[kind.rpartition(" ")[2].rstrip(">")] // 8, 1)


def _zeroes(e, place: str, size: int) -> str:
    e.text.declare("memset", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    return f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {size}, i1 false)"


def _waiting(e) -> list[str]:
    """Return %wait0, ...: masks of the lanes waiting at each block, consecutive for the driver."""
    blocks = range(len(e.blocks))
    if not e.tables:
        return [
            line
            for n in blocks
            for line in (f"%wait{n} = alloca i32", f"store i32 0, ptr %wait{n}")
        ]
    return [
        "%chosen = alloca i32",
        f"%waits = alloca [{len(blocks)} x i32]",
        _zeroes(e, "%waits", 4 * len(blocks)),
        *(f"%wait{n} = getelementptr i32, ptr %waits, i32 {n}" for n in blocks),
    ]


def _enter(e) -> list[str]:
    """Return %frame: the offset of this call's local variables in each lane's local memory."""
    top = f"getelementptr i8, ptr %w, i64 {WARP['local_top']}"
    lines = [f"%w.top = {top}", "%frame = load i32, ptr %w.top"]
    if e.frame.bytes or not e.function.is_entry:
        lines += [
            f"%frame.end = add i32 %frame, {e.frame.bytes}",
            "store i32 %frame.end, ptr %w.top",
        ]
    if not e.function.is_entry:
        e.text.declare("frameaddress", "declare ptr @llvm.frameaddress.p0(i32)")
        lines += [
            "%stack = call ptr @llvm.frameaddress.p0(i32 0)",
            f"%w.limit = getelementptr i8, ptr %w, i64 {WARP['stack_limit']}",
            "%limit = load ptr, ptr %w.limit, !invariant.load !0",
            f"%w.stride = getelementptr i8, ptr %w, i64 {WARP['local_stride']}",
            "%stride = load i64, ptr %w.stride, !invariant.load !0",
            "%frame.end64 = zext i32 %frame.end to i64",
            "%no.stack = icmp ult ptr %stack, %limit",
            "%no.local = icmp ugt i64 %frame.end64, %stride",
            "%overflow = or i1 %no.stack, %no.local",
            "%stopped = load volatile i32, ptr %stop",
            "%stopping = icmp ne i32 %stopped, 0",
            "br i1 %stopping, label %abandoned, label %wanted",
            "abandoned:",
            e._void_call_text("sg_stop", "ptr %w", "i32 0"),
            "unreachable",
            "wanted:",
            "br i1 %overflow, label %overflowing, label %fitting",
            "overflowing:",
            e._void_call_text(
                "sg_stack_overflow", "ptr %w", f"i32 {e.site(None, 'other')}", "i32 %mask"
            ),
            "unreachable",
            "fitting:",
        ]
    return lines
