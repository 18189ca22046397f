"""Emits LLVM text line by line: values of a warp's lanes, operations on them, calls.

We write text rather than use llvmlite.ir, which creates an object for each instruction, operand and
type and takes some forty times as long, only to print them as the same text. That text is what LLVM
parses in either case, and what `softgpu show` shows. LLVM verifies it when it parses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

from ...contract import LANES, WARP

__all__ = ["BITS", "LANES", "Value", "ValueEmitter"]

NOTHING: Mapping = MappingProxyType({})


@dataclass(frozen=True)
class Value:
    """An LLVM value: its text, the type of one lane, and whether it is the same for all lanes."""

    text: str
    element: str
    uniform: bool

    @property
    def type(self) -> str:
        return self.element if self.uniform else f"<{LANES} x {self.element}>"

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


BITS = {"i1": 1, "i8": 8, "i16": 16, "half": 16, "i32": 32, "float": 32, "i64": 64, "double": 64}
BITS["i128"] = 128
_MANGLED = {"float": "f32", "double": "f64", "half": "f16"}


class ValueEmitter:
    """Emits straight-line code: the base of all instruction emitters.

    Where several values are operands of one operation, a Python number is a constant of the others'
    type, and uniform values are broadcast to vectors if another operand is one.
    """

    def __init__(self, text):
        self.text = text  # the ModuleText that declarations go into
        self.lines: list[str] = []
        self.entry: list[str] = []  # lines that run when the function begins
        self._count = 0
        self._temporaries: dict[str, str] = {}
        self._known: dict[str, Value] = {}  # values that need not be computed or loaded again

    # --- lines ------------------------------------------------------------------------------

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def assign(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def label(self) -> str:
        self._count += 1
        return f"l{self._count}"

    def start(self, label: str, known: Mapping[str, Value] = NOTHING) -> None:
        """Begin a piece of code. known: the values known on every path to it."""
        self.here = label
        self._known = {**known}
        self.lines.append(f"{label}:")

    def known(self) -> Mapping[str, Value]:
        """Return the values known here; they stay known until registers are written."""
        return {**self._known}

    def _still(self, known: Mapping[str, Value]) -> Mapping[str, Value]:
        """Return the known values that are still valid."""
        return {key: value for key, value in known.items() if self._known.get(key) is value}

    def _once(self, key: str, make: Callable[[], Value]) -> Value:
        """Return the value for a key; call `make` if it is not known yet."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    @contextmanager
    def when(self, condition: Value) -> Iterator[Callable[[], None]]:
        """Emit the block's code under a uniform condition.

        Call the function that `with` returns, within the block, to begin the code for the other
        case."""
        body, other = self.label(), self.label()
        end = other
        before = after = self.known()

        def otherwise() -> None:
            nonlocal end, after
            end, after = self.label(), self._still(before)
            self.line(f"br label %{end}")
            self.start(other, before)

        self.line(f"br {condition}, label %{body}, label %{other}")
        self.start(body, before)
        yield otherwise
        self.line(f"br label %{end}")
        self.start(end, self._still(after))

    # --- values -----------------------------------------------------------------------------

    def constant(self, value: int, element: str, uniform: bool = True) -> Value:
        bits = BITS[element]
        value &= (1 << bits) - 1
        if element == "i1":
            text = "true" if value else "false"
        else:
            text = str(value - (1 << bits) if value >> (bits - 1) else value)
        return Value(text if uniform else f"splat ({element} {text})", element, uniform)

    def lanes(self, values, element: str = "i32") -> Value:
        """Return a constant with one value per lane."""
        return Value("<" + ", ".join(f"{element} {v}" for v in values) + ">", element, False)

    def splat(self, value: Value) -> Value:
        if not value.uniform:
            return value
        if value.text[0] not in "%<":
            return Value(f"splat ({value.element} {value.text})", value.element, False)
        return self._once(f"splat {value.text}", lambda: self._in_all_lanes(value))

    def _in_all_lanes(self, value: Value) -> Value:
        kind = f"<{LANES} x {value.element}>"
        one = self.assign(f"insertelement {kind} poison, {value.element} {value.text}, i64 0")
        text = self.assign(
            f"shufflevector {kind} {one}, {kind} poison, <{LANES} x i32> zeroinitializer"
        )
        return Value(text, value.element, False)

    def alike(self, *values: Value | int) -> list[Value]:
        """Return the values, all scalar or all vector; numbers become constants of the others'
        type."""
        given = self._of_one_type(values)
        if all(value.uniform for value in given):
            return given
        return [self.splat(value) for value in given]

    def _of_one_type(self, values) -> list[Value]:
        element = next(value.element for value in values if isinstance(value, Value))
        return [self.constant(v, element) if isinstance(v, int) else v for v in values]

    def op(self, operation: str, *values: Value | int) -> Value:
        """Emit an LLVM operation on operands of one type: op("add", a, 1)."""
        first, *others = self.alike(*values)
        rest = "".join(f", {value.text}" for value in others)
        return Value(
            self.assign(f"{operation} {first.type} {first.text}{rest}"),
            first.element,
            first.uniform,
        )

    def compare(self, operation: str, a: Value | int, b: Value | int) -> Value:
        a, b = self.alike(a, b)
        return Value(self.assign(f"{operation} {a.type} {a.text}, {b.text}"), "i1", a.uniform)

    def select(self, condition: Value, a: Value | int, b: Value | int) -> Value:
        condition, a, b = self.alike(condition, *self._of_one_type((a, b)))
        return Value(self.assign(f"select {condition}, {a}, {b}"), a.element, a.uniform)

    def convert(self, operation: str, value: Value, element: str) -> Value:
        result = element if value.uniform else f"<{LANES} x {element}>"
        return Value(self.assign(f"{operation} {value} to {result}"), element, value.uniform)

    def bitcast(self, value: Value, element: str) -> Value:
        return value if value.element == element else self.convert("bitcast", value, element)

    def integer(self, value: Value) -> Value:
        """Return a value's bits as an integer."""
        return self.bitcast(value, f"i{BITS[value.element]}")

    def resize(self, value: Value, element: str, signed: bool = False) -> Value:
        """Extend or truncate an integer."""
        have, want = BITS[value.element], BITS[element]
        if have == want:
            return value
        return self.convert(
            "trunc" if want < have else "sext" if signed else "zext", value, element
        )

    def view(self, value: Value, element: str, signed: bool = False) -> Value:
        """Return the low bits of a value as another type; a wider type is zero- or
        sign-extended."""
        if value.element == element:
            return value
        if "i1" in (value.element, element):
            raise ValueError("a predicate among numbers")
        whole = self.resize(self.integer(value), f"i{BITS[element]}", signed)
        return self.bitcast(whole, element)

    def invert(self, value: Value) -> Value:
        return self.op("xor", value, -1)

    def bits(self, value: Value) -> Value:
        """Return a vector of predicates as an i32, one bit per lane."""
        return Value(self.assign(f"bitcast {self.splat(value)} to i32"), "i32", True)

    def from_bits(self, bits: str) -> Value:
        return Value(self.assign(f"bitcast i32 {bits} to <{LANES} x i1>"), "i1", False)

    def halves(self, value: Value) -> list[Value]:
        """Return the two 16-bit halves of 32-bit lanes."""
        high = self.op("lshr", value, 16)
        return [self.resize(value, "i16"), self.resize(high, "i16")]

    def join(self, low: Value, high: Value) -> Value:
        """Combine two 16-bit values into one of 32 bits."""
        raised = self.op("shl", self.resize(high, "i32"), 16)
        return self.op("or", self.resize(low, "i32"), raised)

    def intrinsic(
        self, name: str, *values: Value | int, tail: str = "", element: str | None = None
    ) -> Value:
        """Call an LLVM intrinsic on operands of one type: intrinsic("ctpop", a)."""
        given = self.alike(*values)
        first = given[0]
        mangled = self._mangle(first.element, first.uniform)
        result = first.element
        if element is not None:
            mangled = f"{self._mangle(element, first.uniform)}.{mangled}"
            result = element
        kind = result if first.uniform else f"<{LANES} x {result}>"
        full = f"llvm.{name}.{mangled}"
        tail_type = f", {tail.split()[0]}" if tail else ""
        types = ", ".join(value.type for value in given)
        self.text.declare(full, f"declare {kind} @{full}({types}{tail_type})")
        operands = ", ".join(map(str, given)) + (f", {tail}" if tail else "")
        return Value(self.assign(f"call {kind} @{full}({operands})"), result, first.uniform)

    @staticmethod
    def mangle(element: str) -> str:
        """Return a type's spelling in the names of intrinsics."""
        return _MANGLED.get(element, element)

    def _mangle(self, element: str, uniform: bool) -> str:
        return ("" if uniform else f"v{LANES}") + self.mangle(element)

    def extract(self, value: Value, lane: str) -> Value:
        """Return the value of one lane (an i32)."""
        if value.uniform:
            return value
        return Value(self.assign(f"extractelement {value}, i32 {lane}"), value.element, True)

    # --- the stack and the warp -------------------------------------------------------------

    def temporary(self, element: str, count: int, use: str) -> str:
        """Return a stack slot for `count` x 32 lanes, shared by all that pass the same `use`.

        Its contents last at most until the next instruction, so an instruction must not pass the
        same `use` for two things that it needs at the same time."""
        key = f"t{element}.{count}.{use}"
        if key not in self._temporaries:
            self._temporaries[key] = f'%"{key}"'
            self.entry.append(f'%"{key}" = alloca [{count} x <{LANES} x {element}>], align 64')
        return self._temporaries[key]

    def spill(self, value: Value, use: str = "operand0") -> str:
        """Return a pointer to the 32 lanes of a value."""
        value = self.splat(value)
        slot = self.temporary(value.element, 1, use)
        self.line(f"store {value}, ptr {slot}, align 64")
        return slot

    def spill_all(self, *values: Value) -> list[str]:
        """Return pointers to the lanes of several values, as arguments of a call."""
        return [f"ptr {self.spill(value, f'operand{n}')}" for n, value in enumerate(values)]

    def spill_in_order(self, values: Sequence[Value], element: str, use: str) -> str:
        """Return a pointer to the lanes of several values, consecutive, as an argument of a
        call."""
        slot = self.temporary(element, len(values), use)
        for number, value in enumerate(values):
            at = self.assign(f"getelementptr <{LANES} x {element}>, ptr {slot}, i64 {number}")
            self.line(f"store {self.splat(value)}, ptr {at}, align 64")
        return f"ptr {slot}"

    def unspill(self, slot: str, element: str) -> Value:
        return Value(
            self.assign(f"load <{LANES} x {element}>, ptr {slot}, align 64"), element, False
        )

    def unspill_in_order(self, slot: str, element: str, count: int) -> list[Value]:
        """Return values whose lanes are consecutive in memory; slot: as an argument of a call."""
        kind = f"<{LANES} x {element}>"
        places = (self.assign(f"getelementptr {kind}, {slot}, i64 {n}") for n in range(count))
        return [self.unspill(place, element) for place in places]

    def warp_field(self, field: str, index: int = 0) -> str:
        """Return a pointer to a field of the Warp."""
        return self.assign(f"getelementptr i8, ptr %w, i64 {WARP[field] + 4 * index}")

    def warp_value(self, field: str, element: str, index: int = 0, uniform: bool = True) -> Value:
        """Return a field of the Warp that does not change while the kernel runs."""

        def load() -> Value:
            kind, place = Value("", element, uniform).type, self.warp_field(field, index)
            text = self.assign(f"load {kind}, ptr {place}, !invariant.load !0")
            return Value(text, element, uniform)

        return self._once(f"%w {field} {index} {element}", load)

    # --- calls ------------------------------------------------------------------------------

    def pointer_to(self, name: str) -> str:
        """Return a function or constant of the module as an operand."""
        return f'@"{name}"'

    def _call_text(self, result: str, name: str, arguments) -> str:
        given = [str(argument) for argument in arguments]
        types = ", ".join(argument.split()[0] for argument in given)
        self.text.declare(name, f"declare {result} @{name}({types})")
        return f"call {result} {self.pointer_to(name)}({', '.join(given)})"

    def _void_call_text(self, name: str, *arguments: str | Value) -> str:
        return self._call_text("void", name, arguments)

    def call_void(self, name: str, *arguments: str | Value) -> None:
        self.line(self._void_call_text(name, *arguments))

    def call(self, result: str, name: str, *arguments: str | Value) -> str:
        return self.assign(self._call_text(result, name, arguments))

    def lanewise(self, name: str, *values: Value, element: str) -> Value:
        """Call a function of lanes.c: pointers to input lanes, then one to the output lanes."""
        uniform = all(value.uniform for value in values)
        inputs = self.spill_all(*values)
        out = self.temporary(element, 1, "result")
        self.call_void(name, *inputs, f"ptr {out}")
        result = self.unspill(out, element)
        return self.extract(result, "0") if uniform else result
