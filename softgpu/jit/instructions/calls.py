"""Calls of device functions, through pointers, and of functions that every GPU provides."""

from __future__ import annotations

from ...ptx.program import Register, Symbol, Vector
from ..emit.function import LANES, FunctionEmitter, Value, instruction
from ..emit.module_text import symbol
from .parameters import read_word


@instruction("call")
def _call(e, item):
    returned, target, passed, *_ = item.operands
    callee = e.text.module.functions[target.name] if isinstance(target, Symbol) else None
    with e.when_active():
        results, arguments = (
            [f"ptr {_argument(e, operand)}" for operand in some.elements]
            for some in (returned, passed)
        )
        if callee is None:
            _call_pointer(e, item, target, [*results, *arguments])
        elif not callee.is_defined:
            _call_system(e, item, callee.name, returned, passed)
        else:
            given = results if callee.returns else []
            _call_function(e, callee.name, e.active, [*given, *arguments])
    if e.text.has_exits:
        e.leave_lanes(e.assign(f"load i32, ptr {e.warp_field('live')}"))


def _argument(e: FunctionEmitter, operand: Symbol) -> str:
    words = e.parameter_words(operand.name)
    assert words  # check_forms lets no parameter of a kernel be passed on
    return words


def _call_function(e: FunctionEmitter, name: str, lanes: Value, buffers: list[str]) -> None:
    e.text.want(name)
    e.observer.call(before=True)
    given = ", ".join(["ptr %w", str(lanes), *buffers])
    e.line(f"call void {e.pointer_to(symbol(name))}({given})")
    e.observer.call(before=False)


def _call_pointer(e: FunctionEmitter, item, target: Register, buffers: list[str]) -> None:
    """Call through a pointer: call each target once, for all lanes that want it."""
    numbers = e.spill(e.read(target, "u64"), "targets")
    left = e.temporary("i32", 1, "left")
    e.line(f"store {e.active}, ptr {left}")
    again, end, wrong = e.label(), e.label(), e.label()
    e.line(f"br label %{again}")
    e.start(again)
    rest = Value(e.assign(f"load i32, ptr {left}"), "i32", True)
    lane = e.intrinsic("cttz", rest, tail="i1 true")
    at = e.assign(f"getelementptr i64, ptr {numbers}, i32 {lane.text}")
    wanted = Value(e.assign(f"load i64, ptr {at}"), "i64", True)
    same = e.bits(e.compare("icmp eq", e.unspill(numbers, "i64"), wanted))
    group = e.op("and", same, rest)
    returned, _, passed, *_ = item.operands
    sizes = [e.parameter_bytes(o.name) for o in (*returned.elements, *passed.elements)]
    candidates = [n for n in e.layout.image.taken if _takes(e.text.module.functions[n], sizes)]
    labels = [e.label() for _ in candidates]
    cases = " ".join(
        f"i64 {e.layout.place(e.function.name, name)[1]}, label %{label}"
        for name, label in zip(candidates, labels, strict=True)
    )
    back = e.label()
    e.line(f"switch {wanted}, label %{wrong} [{cases}]")
    for name, label in zip(candidates, labels, strict=True):
        e.start(label)
        _call_function(e, name, group, buffers)
        e.line(f"br label %{back}")
    e.start(wrong)
    e.call_void("sg_trap", "ptr %w", f"i32 {e.site(item, 'trap')}", f"i32 {group.text}")
    e.line("unreachable")
    e.start(back)
    rest = e.op("and", rest, e.invert(group))
    e.line(f"store {rest}, ptr {left}")
    e.line(f"br {e.compare('icmp eq', rest, 0)}, label %{end}, label %{again}")
    e.start(end)


def _takes(function, sizes: list[int]) -> bool:
    """Whether a function's results and parameters have these sizes in bytes."""
    return [variable.bytes for variable in (*function.returns, *function.params)] == sizes


def _call_system(e: FunctionEmitter, item, name: str, returned: Vector, passed: Vector) -> None:
    """Call a function that every GPU provides."""

    def argument(number: int, bits: int) -> str:
        words = _argument(e, passed.elements[number])
        if bits == 32:
            return f"ptr {words}"
        low, high = (read_word(e, words, number)[1] for number in (0, 1))
        wide = e.op("shl", e.resize(high, "i64"), 32)
        return f"ptr {e.spill(e.op('or', wide, e.resize(low, 'i64')), f'argument{number}')}"

    active = e.active
    out = _argument(e, returned.elements[0]) if returned.elements else None
    if name == "vprintf":
        out = out or e.temporary("i32", 1, "result")
        e.call_void("sg_printf", "ptr %w", active, argument(0, 64), argument(1, 64), f"ptr {out}")
    elif name == "__assertfail":
        site = f"i32 {e.site(item, 'trap')}"
        message, file, line, function = (argument(n, 32 if n == 2 else 64) for n in range(4))
        e.call_void("sg_assert", "ptr %w", site, active, message, file, line, function)
    elif name == "cudaGraphSetConditional":
        site = f"i32 {e.site(item, 'trap')}"
        e.call_void("sg_set_condition", "ptr %w", site, active, argument(0, 64), argument(1, 32))
    elif name == "malloc":
        made = e.temporary("i64", 1, "result")
        e.call_void(e.mode.malloc, "ptr %w", active, argument(0, 64), f"ptr {made}")
        address = e.unspill(made, "i64")
        for number in (0, 1) if out else ():
            part = e.resize(e.op("lshr", address, 32 * number), "i32")
            at = e.assign(f"getelementptr <{LANES} x i32>, ptr {out}, i64 {number}")
            e.line(f"store {part}, ptr {at}, align 64")
    else:
        e.call_void("sg_free", "ptr %w", active, argument(0, 64))
