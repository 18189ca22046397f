"""From a function of PTX to LLVM text: registers, masks, control flow.

Every register is a vector of 32 lanes, or one scalar where analysis shows that all lanes agree. A
block runs under a mask: the lanes that wait for it. See flow.py for the order that blocks run in.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass
from itertools import chain

from ..contract import WARP
from ..ptx.forms import refusal
from ..ptx.program import (
    Address,
    Function,
    Immediate,
    Instruction,
    PtxError,
    Register,
    Special,
    Symbol,
)
from .flow import (
    CARRY,
    EXIT,
    Block,
    released,
)
from .layout import RESERVED_SHARED, Layout, Site
from .nans import canonical
from .opcodes import OPCODES, sites_of
from .passes import analyse
from .sums import emit_sum, is_sum

__all__ = [
    "BUILDS",
    "LANES",
    "FunctionEmitter",
    "ModuleText",
    "Value",
    "element_of",
    "instruction",
    "symbol",
]

LANES = 32

_LARGEST_FLOAT = (2 - 2.0**-23) * 2.0**127

_PATIENCE = 64
"""How often a spinning loop repeats before lanes that wait elsewhere run a block; 2^n."""

_LARGE = 1500
_BLOCK_WEIGHT = 4
"""A function is large if its instructions, and so many for each of its blocks, are more than that.

LLVM's time grows with registers times blocks. So registers of a large function stay in memory; it
is not optimised; and accesses of one kind share a routine, which is. It takes a seventh of the time
to compile, and half as long again to run."""

_STRETCH = 32
"""Instructions of a large function's block after which values that were read are read again: LLVM's
time grows with the square of what they live through."""

_METADATA = (
    "!0 = !{}",
    '!1 = !{!"branch_weights", i32 1000, i32 1}',
)
"""What LLVM text refers to: !0 says that a value never changes, !1 that a branch is likely."""

_EMITTERS: dict[str, object] = {}


def instruction(*opcodes: str):
    """Register the function that emits the given PTX opcodes: f(emitter, instruction)."""

    def register(function):
        for opcode in opcodes:
            if opcode not in OPCODES or opcode in _EMITTERS:
                raise ValueError(f"{opcode} has no row in opcodes.py, or two emitters")
            _EMITTERS[opcode] = function
        return function

    return register


@dataclass(frozen=True)
class Value:
    """An LLVM value: its text, the type of one lane, and whether it stands for all lanes alike."""

    text: str
    element: str
    uniform: bool

    @property
    def type(self) -> str:
        return self.element if self.uniform else f"<{LANES} x {self.element}>"

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


_BITS = {"i1": 1, "i8": 8, "i16": 16, "half": 16, "i32": 32, "float": 32, "i64": 64, "double": 64}
_BITS["i128"] = 128
_MANGLED = {"float": "f32", "double": "f64", "half": "f16"}


def symbol(name: str) -> str:
    """What a function of PTX is called in LLVM, where the driver's functions have names too."""
    return f"ptx.{name}"


def element_of(ptx_type: str) -> str:
    """The LLVM type of one lane of a PTX type such as u32, f16 or pred."""
    if ptx_type == "pred":
        return "i1"
    if ptx_type in ("f16x2", "bf16x2", "s16x2", "u16x2", "tf32"):
        return "i32"
    if ptx_type in ("f16", "bf16"):
        return "i16"
    kind, bits = ptx_type[0], ptx_type[1:]
    if not bits.isdigit() or kind not in "subf":
        raise KeyError(ptx_type)
    if kind == "f":
        return {"32": "float", "64": "double"}[bits]
    return f"i{bits}"


def _number_sites(layout: Layout) -> tuple[dict[Instruction | str, int], list[Site]]:
    """The first site of each instruction, and of each function by name, the same in all builds;
    and the table of sites, still empty."""
    first: dict[Instruction | str, int] = {}
    count = 0
    for name in layout.calls:
        function = layout.module.functions[name]
        first[name], count = count, count + 1
        for item in function.body:
            if isinstance(item, Instruction):
                if item.opcode not in OPCODES:
                    raise refusal(layout.module, function, item)
                first[item], count = count, count + sites_of(item)
    return first, [Site("", 0, 0, "generic", "other", 1)] * count


class ModuleText:
    """The LLVM text of one kernel with the device functions it needs, and its table of sites."""

    def __init__(self, layout: Layout, build: str = "plain"):
        self.module = module = layout.module
        self.layout = layout
        self.build = build
        self.first_site, self.sites = _number_sites(layout)
        self.notes: dict = {}  # what an instrumented build wants to remember of this code, as JSON
        self.declared: dict[str, str] = {}
        self.definitions: dict[str, str] = {}
        self.routines: dict[str, tuple[list[Value], str]] = {}  # results and text by name
        self._wanted: list[str] = []
        self.has_exits = any(  # lanes may exit inside a device function
            getattr(item, "opcode", None) == "exit"
            for function in module.functions.values()
            if not function.is_entry
            for item in function.body or ()
        )

    def declare(self, name: str, text: str) -> None:
        self.declared.setdefault(name, text)

    def want(self, name: str) -> None:
        """Ask for a device function to be compiled along."""
        if name not in self.definitions:
            self.definitions[name] = ""
            self._wanted.append(name)

    def emit(self, kernel: str) -> str:
        self.kernel = kernel
        self.want(kernel)
        while self._wanted:
            name = self._wanted.pop()
            emitter = BUILDS[self.build](self, self.module.functions[name])
            self.definitions[name] = emitter.emit()
        routines = (text for _, text in self.routines.values())
        texts = self.declared.values(), routines, self.definitions.values(), _METADATA
        return "\n".join([*chain(*texts), ""])


class FunctionEmitter:
    """Emits one function; the methods are the vocabulary that instruction emitters speak."""

    unrolls = False
    """Whether loops are run in pieces, as ptxas unrolls them."""

    def __init__(self, text: ModuleText, function: Function):
        self.text = text
        self.function = function
        found = analyse(function, text.has_exits, self.unrolls)
        self.function = function = found.function
        self.found = found
        self.blocks = found.blocks
        self.layout = text.layout
        instructions = sum(isinstance(item, Instruction) for item in function.body)
        self.large = instructions + _BLOCK_WEIGHT * len(self.blocks) > _LARGE
        self._sites_used: Counter = Counter()  # by instruction; None: the function itself
        self.sums = set() if self.careful or self.large else found.sums
        self.item: Instruction | None = None  # the one at hand
        self.lines: list[str] = []
        self.entry: list[str] = []
        self._count = 0
        self._temporaries: dict[tuple[str, int], str] = {}
        self._loaded: dict[str, Value] = {}  # registers that the code since the last label has read
        self.frame = self.layout.frames[function.name]

    # --- text -------------------------------------------------------------------------------

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def emit(self) -> str:
        for index, block in enumerate(self.blocks):
            self._emit_block(index, block)
        if self.function.is_entry:
            head = f'define void @"{symbol(self.function.name)}"(ptr %w)'
            existing = "load i32, ptr %w.existing"
        else:
            formal = "".join(f", ptr %p{n}" for n in range(len(self._formals())))
            head = (
                f'define internal void @"{symbol(self.function.name)}"(ptr %w, i32 %mask{formal})'
            )
            existing = "add i32 %mask, 0"
        prologue = [
            "entry:",
            f"%w.existing = getelementptr i8, ptr %w, i64 {WARP['existing']}",
            f"%w.stop = getelementptr i8, ptr %w, i64 {WARP['stop']}",
            "%stop = load ptr, ptr %w.stop, !invariant.load !0",
        ]
        registers = [*self.function.registers.values(), CARRY, Register("%entry", "b32")]
        for register in registers:
            for slot, kind in self.slots(register):
                prologue.append(f"{slot} = alloca {kind}")
                prologue.append(f"store {kind} zeroinitializer, ptr {slot}")
        for index in range(len(self.blocks)):
            prologue.append(f"%wait{index} = alloca i32")
            prologue.append(f"store i32 0, ptr %wait{index}")
        prologue += ["%turn = alloca i32", "store i32 0, ptr %turn"]
        prologue += self.entry
        prologue += self._enter_frame()
        prologue += [f"%first = {existing}", "store i32 %first, ptr %wait0", "br label %b0"]
        head += " noinline optnone {" if self.large else " {"
        return "\n".join([head, *prologue, *self.lines, "}"])

    def line(self, text: str) -> None:
        self.lines.append(text)

    def assign(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def label(self) -> str:
        self._count += 1
        return f"l{self._count}"

    def start(self, label: str) -> None:
        self.here = label
        self._loaded.clear()
        self.lines.append(f"{label}:")

    # --- local memory frames ----------------------------------------------------------------

    def _formals(self) -> list:
        return [*self.function.returns, *self.function.params]

    def _enter_frame(self) -> list[str]:
        """%frame: offset of this call's local variables in each lane's local memory."""
        top = f"getelementptr i8, ptr %w, i64 {WARP['local_top']}"
        lines = [f"%w.top = {top}", "%frame = load i32, ptr %w.top"]
        if self.frame.bytes or not self.function.is_entry:
            lines += [
                f"%frame.end = add i32 %frame, {self.frame.bytes}",
                "store i32 %frame.end, ptr %w.top",
            ]
        if not self.function.is_entry:
            self.text.declare("frameaddress", "declare ptr @llvm.frameaddress.p0(i32)")
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
                self._void_call_text("sg_stop", "ptr %w", "i32 0"),
                "unreachable",
                "wanted:",
                "br i1 %overflow, label %overflowing, label %fitting",
                "overflowing:",
                self._void_call_text(
                    "sg_stack_overflow", "ptr %w", f"i32 {self.site(None, 'other')}", "i32 %mask"
                ),
                "unreachable",
                "fitting:",
            ]
        return lines

    def _leave(self) -> None:
        if self.frame.bytes or not self.function.is_entry:
            self.line("store i32 %frame, ptr %w.top")
        self.line("ret void")

    # --- control flow -----------------------------------------------------------------------

    def _emit_block(self, index: int, block: Block) -> None:
        self.index = index
        self.start(f"b{index}")
        self._set_mask(self.assign(f"load i32, ptr %wait{index}"))
        self.line(f"store i32 0, ptr %wait{index}")
        self.begin_block(index, block)
        self.emit_instructions(index, block)
        self._emit_choice(index, block)

    def emit_instructions(self, index: int, block: Block) -> None:
        """All that a block does before its lanes go elsewhere."""
        for number, item in enumerate(block.instructions, 1):
            self.emit_instruction(item)
            if self.large and number % _STRETCH == 0:
                label = self.label()
                self.line(f"br label %{label}")
                self.start(label)

    def again(self, items: list[Instruction]) -> None:
        """Let instructions that have been emitted be emitted once more."""
        for item in items:
            self._sites_used[item] = 0

    def emit_instruction(self, item: Instruction) -> None:
        function = emit_sum if self._keeps_sum(item) else _EMITTERS[item.opcode]
        self.item = item
        self._active, self._active_vector = self.mask, self._mask_vector
        try:
            if item.predicate:
                chosen = self.bits(self.predicate_vector(item))
                self._active = self.assign(f"and i32 {self.mask}, {chosen}")
                self._active_vector = self.from_bits(self._active)
            function(self, item)
        except PtxError:
            raise
        except ValueError as error:
            raise self.refusal(item, str(error)) from error
        except Exception as error:  # forms.py should have refused it
            raise self.refusal(item, f"{type(error).__name__}: {error}") from error

    def refusal(self, item: Instruction, why: str = "") -> PtxError:
        return refusal(self.text.module, self.function, item, why)

    def _emit_choice(self, index: int, block: Block) -> None:
        choice, targets = block.choice, block.targets
        if choice is None:
            self._send(block, 0, self.mask)
            self._go(index, targets)
        elif not self.found.divergent[index]:
            self._emit_uniform_choice(index, block)
        elif choice == "entry":
            entry = self.assign(
                f"load <{LANES} x i32>, ptr {self._slot(Register('%entry', 'b32'))[0]}"
            )
            self._scatter(block, Value(entry, "i32", False))
            self._go(index, targets)
        elif choice.opcode == "brx":
            self._scatter(block, self.read(choice.operands[0], "u32"))
            self._go(index, targets)
        else:
            taken = self.bits(self.predicate_vector(choice))
            self._send(block, 0, self.assign(f"and i32 {self.mask}, {taken}"))
            untaken = self.assign(f"xor i32 {taken}, -1")
            self._send(block, 1, self.assign(f"and i32 {self.mask}, {untaken}"))
            self._go(index, targets)

    def _emit_uniform_choice(self, index: int, block: Block) -> None:
        choice = block.choice
        labels = [self.label() for _ in block.targets]
        if choice.opcode == "brx":
            value = self.read(choice.operands[0], "u32")
            cases = " ".join(f"i32 {n}, label %{label}" for n, label in enumerate(labels))
            self.line(f"switch {value}, label %{labels[-1]} [{cases}]")
        else:
            value = self.read(choice.predicate, "pred")
            first, second = reversed(labels) if choice.negated else labels
            self.line(f"br {value}, label %{first}, label %{second}")
        for position, label in enumerate(labels):
            self.start(label)
            self._send(block, position, self.mask)
            self._go(index, [block.targets[position]])

    def _scatter(self, block: Block, chosen: Value) -> None:
        for position in range(len(block.targets)):
            same = self.compare("icmp eq", chosen, self.constant(position, "i32"))
            self._send(block, position, self.assign(f"and i32 {self.mask}, {self.bits(same)}"))

    def _send(self, block: Block, position: int, lanes: str) -> None:
        """Let `lanes` wait at a target of the block (or leave the function)."""
        target = block.targets[position]
        if target == EXIT:
            if self.function.is_entry or block.exits:
                live = self.warp_field("live")
                left = self.assign(f"xor i32 {lanes}, -1")
                before = self.assign(f"load i32, ptr {live}")
                self.line(f"store i32 {self.assign(f'and i32 {before}, {left}')}, ptr {live}")
            return
        if position in block.selects:
            slot = self._slot(Register("%entry", "b32"))[0]
            chosen = self.constant(block.selects[position], "i32", uniform=False)
            old = Value(self.assign(f"load <{LANES} x i32>, ptr {slot}"), "i32", False)
            lane_mask = Value(self.assign(f"bitcast i32 {lanes} to <{LANES} x i1>"), "i1", False)
            self.line(f"store {self.select(lane_mask, chosen, old)}, ptr {slot}")
        waiting = self.assign(f"load i32, ptr %wait{target}")
        self.line(f"store i32 {self.assign(f'or i32 {waiting}, {lanes}')}, ptr %wait{target}")

    def _go(self, index: int, targets: list[int]) -> None:
        """Run the first block in order at which lanes wait."""
        candidates = sorted(self.found.waiting[index] | {t for t in targets if t != EXIT})
        certain = EXIT not in targets and not self.blocks[index].loses_lanes
        for position, target in enumerate(candidates):
            last = position + 1 == len(candidates)
            if certain and (last or targets == [target]):
                self._jump(index, target)
                return
            label, other = self.label(), self.label()
            waiting = self.assign(f"load i32, ptr %wait{target}")
            self.line(
                f"br i1 {self.assign(f'icmp ne i32 {waiting}, 0')}, label %{label}, label %{other}"
            )
            self.start(label)
            self._jump(index, target)
            self.start(other)
        self._leave()

    def _jump(self, index: int, target: int) -> None:
        if target <= index:  # a loop repeats: notice here if the launch is being abandoned
            stop = self.assign("load volatile i32, ptr %stop")
            label, other = self.label(), self.label()
            self.line(
                f"br i1 {self.assign(f'icmp eq i32 {stop}, 0')}, label %{other}, label %{label}"
            )
            self.start(label)
            self.call_void("sg_stop", "ptr %w", f"i32 {self._line_of_loop(target, index)}")
            self.line("unreachable")
            self.start(other)
            if self.found.spinning.get(index) == target:
                self._be_patient(index, target)
        self.line(f"br label %b{target}")

    def _line_of_loop(self, first: int, last: int) -> int:
        """The last line of a loop that stands in the kernel's own file; 0: none does.

        An empty loop has no line: then it is the line before it."""
        blocks = self.blocks[last::-1]
        loop = blocks[: last - first + 1]
        choices = [block.choice for block in loop if isinstance(block.choice, Instruction)]
        items = (item for block in blocks for item in reversed(block.instructions))
        file = self.text.module.functions[self.text.kernel].source.file
        lines = (item.user_line for item in chain(choices, items))
        return next((at.line for at in lines if at.line and at.file == file), 0)

    def waits_alone(self, item: Instruction) -> bool:
        """Whether a loop waits for an mbarrier only, and no lanes of the warp can run meanwhile."""
        last, first = self.found.only_waits.get(item, (None, None))
        return last is not None and not released(self.blocks, self.found.waiting[last], first)

    def waits_only(self, item: Instruction) -> bool:
        """Whether a loop does nothing but wait at this mbarrier."""
        return item in self.found.only_waits

    def _be_patient(self, index: int, first: int) -> None:
        """A spinning loop: let other warps run and, every so often, lanes that wait elsewhere."""
        self.call_void("sg_yield", "ptr %w")
        others = released(self.blocks, self.found.waiting[index], first)
        if not others:
            return
        turn = self.assign(f"add i32 {self.assign('load i32, ptr %turn')}, 1")
        self.line(f"store i32 {turn}, ptr %turn")
        low = self.assign(f"and i32 {turn}, {_PATIENCE - 1}")
        label, again = self.label(), self.label()
        self.line(f"br i1 {self.assign(f'icmp eq i32 {low}, 0')}, label %{label}, label %{again}")
        self.start(label)
        for other in others:
            following = self.label()
            waiting = self.assign(f"load i32, ptr %wait{other}")
            some = self.assign(f"icmp ne i32 {waiting}, 0")
            self.line(f"br i1 {some}, label %b{other}, label %{following}")
            self.start(following)
        self.line(f"br label %{again}")
        self.start(again)

    # --- masks ------------------------------------------------------------------------------

    def _set_mask(self, mask: str) -> None:
        self.mask = mask
        self._mask_vector = self.from_bits(mask)

    def predicate_vector(self, item: Instruction) -> Value:
        """The (possibly negated) predicate of an instruction, one bit a lane."""
        return self.splat(self.predicate(item))

    def predicate(self, item: Instruction) -> Value:
        value = self.read(item.predicate, "pred")
        return self.invert(value) if item.negated else value

    def active(self) -> str:
        """i32: the lanes for which the instruction at hand takes effect."""
        return self._active

    def active_vector(self) -> Value:
        return self._active_vector

    def leave_lanes(self, lanes: str) -> None:
        """The block goes on with `lanes` only (others have exited in a function it called)."""
        self._set_mask(self.assign(f"and i32 {self.mask}, {lanes}"))

    def when_active(self):
        """Emit what follows under "if any lane is active"; returns the label to end at, or None."""
        if not self.item.predicate:
            return None
        label, done = self.label(), self.label()
        some = self.assign(f"icmp ne i32 {self.active()}, 0")
        self.line(f"br i1 {some}, label %{label}, label %{done}")
        self.start(label)
        return done

    def finish_active(self, done) -> None:
        if done is not None:
            self.line(f"br label %{done}")
            self.start(done)

    # --- registers --------------------------------------------------------------------------

    def slots(self, register: Register) -> list[tuple[str, str]]:
        """All stack slots that hold a register, and their LLVM types."""
        return [self._slot(register), *([self._base(register)] * (register.name in self.sums))]

    def _slot(self, register: Register) -> tuple[str, str]:
        """The stack slot of a register and its LLVM type."""
        element = element_of(register.type)
        uniform = register.name not in self.found.varying
        return f'%"r{register.name}"', element if uniform else f"<{LANES} x {element}>"

    def _base(self, register: Register) -> tuple[str, str]:
        """The stack slot of the base of a register kept as a sum, and its LLVM type."""
        return f'%"s{register.name}"', element_of(register.type)

    def _keeps_sum(self, item: Instruction) -> bool:
        """Whether an instruction adds up bases and offsets, for all lanes that there are."""
        destination = item.operands[0] if item.operands else None
        return (
            isinstance(destination, Register)
            and destination.name in self.sums
            and destination.name not in self.found.protected[self.index]
            and not item.predicate
            and is_sum(item)
        )

    def is_uniform(self, register: Register) -> bool:
        return register.name not in self.found.varying

    def _load_slot(self, slot: str, element: str, uniform: bool) -> Value:
        value = self._loaded.get(slot)
        if value is None:
            kind = Value("", element, uniform).type
            value = Value(self.assign(f"load {kind}, ptr {slot}"), element, uniform)
            self._loaded[slot] = value
        return value

    def _store_slot(self, slot: str, value: Value) -> None:
        self.line(f"store {value}, ptr {slot}")
        self._loaded[slot] = value

    def load_register(self, register: Register) -> Value:
        if register.name in self.sums:
            value = self.op("add", *self._load_sum(register))
        else:
            element = element_of(register.type)
            value = self._load_slot(self._slot(register)[0], element, self.is_uniform(register))
        made = self.found.nans.reads.get((self.item, register.name))
        return canonical(self, value, made) if made else value

    def _load_sum(self, register: Register) -> tuple[Value, Value]:
        element = element_of(register.type)
        base = self._load_slot(self._base(register)[0], element, True)
        return base, self._load_slot(self._slot(register)[0], element, False)

    def read_sum(self, operand, ptx_type: str) -> tuple[Value, Value]:
        """An operand as (base, offsets)."""
        zero = self.constant(0, element_of(ptx_type))
        if isinstance(operand, Register) and operand.name in self.sums:
            return self._load_sum(operand)
        value = self.read(operand, ptx_type)
        return (value, zero) if value.uniform else (zero, value)

    def write_sum(self, register: Register, base: Value, offsets: Value) -> None:
        """Keep a register as a sum, for the active lanes and all others."""
        self._store_slot(self._base(register)[0], base)
        self._store_slot(self._slot(register)[0], self.splat(offsets))

    def read(self, operand, ptx_type: str) -> Value:
        """An operand, seen as a PTX type: narrower reads of a register take its low bits."""
        element = element_of(ptx_type)
        if isinstance(operand, Register):
            value = self.load_register(operand)
            return self.view(value, element)
        if isinstance(operand, Immediate):
            return self.immediate(operand, element)
        if isinstance(operand, Special):
            return self.view(self.special(operand.name), element)
        if isinstance(operand, Symbol):
            return self.view(self.symbol_address(operand), element)
        raise ValueError(f"operand {operand}")

    def immediate(self, operand: Immediate, element: str) -> Value:
        value = operand.value
        if operand.kind == "f64" and element == "float":  # a decimal fraction in a float's place
            (number,) = struct.unpack("<d", value.to_bytes(8, "little"))
            if abs(number) > _LARGEST_FLOAT:
                raise ValueError(f"{number} is beyond f32")
            value = int.from_bytes(struct.pack("<f", number), "little")
        whole = self.constant(value, f"i{_BITS[element]}" if element != "i1" else "i1")
        return self.bitcast(whole, element)

    def write(self, operand, value: Value, signed: bool = False) -> None:
        """Put a value into the register `operand` (None: nowhere) for the active lanes."""
        if operand is None:
            return
        if not isinstance(operand, Register):
            raise ValueError(f"destination {operand}")
        slot, kind = self._slot(operand)
        if made := self.found.nans.results.get(self.item):
            value = canonical(self, value, made)
        value = self.view(value, element_of(operand.type), signed)
        protected = operand.name in self.found.protected[self.index]
        if self.is_uniform(operand):
            if not value.uniform:
                raise AssertionError(f"{self.item.name}: {operand.name} was taken to be uniform")
            if self.item.predicate:
                value = self.select(self.predicate(self.item), value, self.load_register(operand))
            if not value.uniform:
                raise AssertionError(f"{self.item.name}: {operand.name} differs by its predicate")
        else:
            value = self.splat(value)
            if self.item.predicate or protected:
                chosen = self.active_vector() if protected else self.predicate_vector(self.item)
                value = self.select(chosen, value, self.load_register(operand))
        self._store_slot(slot, value)
        if operand.name in self.sums:
            self._store_slot(self._base(operand)[0], self.constant(0, value.element))

    # --- values -----------------------------------------------------------------------------

    def constant(self, value: int, element: str, uniform: bool = True) -> Value:
        bits = _BITS[element]
        value &= (1 << bits) - 1
        if element == "i1":
            text = "true" if value else "false"
        else:
            text = str(value - (1 << bits) if value >> (bits - 1) else value)
        return Value(text if uniform else f"splat ({element} {text})", element, uniform)

    def lanes(self, values, element: str = "i32") -> Value:
        """A constant with one value a lane."""
        return Value("<" + ", ".join(f"{element} {v}" for v in values) + ">", element, False)

    def splat(self, value: Value) -> Value:
        if not value.uniform:
            return value
        if value.text[0] not in "%<":
            return Value(f"splat ({value.element} {value.text})", value.element, False)
        kind = f"<{LANES} x {value.element}>"
        one = self.assign(f"insertelement {kind} poison, {value.element} {value.text}, i64 0")
        text = self.assign(
            f"shufflevector {kind} {one}, {kind} poison, <{LANES} x i32> zeroinitializer"
        )
        return Value(text, value.element, False)

    def alike(self, *values: Value) -> list[Value]:
        """The values, all scalar or all vector."""
        if all(value.uniform for value in values):
            return list(values)
        return [self.splat(value) for value in values]

    def op(self, operation: str, *values: Value) -> Value:
        """An LLVM operation on operands of one type: op("add", a, b)."""
        values = self.alike(*values)
        first = values[0]
        rest = "".join(f", {value.text}" for value in values[1:])
        return Value(
            self.assign(f"{operation} {first.type} {first.text}{rest}"),
            first.element,
            first.uniform,
        )

    def compare(self, operation: str, a: Value, b: Value) -> Value:
        a, b = self.alike(a, b)
        return Value(self.assign(f"{operation} {a.type} {a.text}, {b.text}"), "i1", a.uniform)

    def select(self, condition: Value, a: Value, b: Value) -> Value:
        condition, a, b = self.alike(condition, a, b)
        return Value(self.assign(f"select {condition}, {a}, {b}"), a.element, a.uniform)

    def convert(self, operation: str, value: Value, element: str) -> Value:
        result = element if value.uniform else f"<{LANES} x {element}>"
        return Value(self.assign(f"{operation} {value} to {result}"), element, value.uniform)

    def bitcast(self, value: Value, element: str) -> Value:
        return value if value.element == element else self.convert("bitcast", value, element)

    def integer(self, value: Value) -> Value:
        """The bits of a value as an integer."""
        return self.bitcast(value, f"i{_BITS[value.element]}")

    def resize(self, value: Value, element: str, signed: bool = False) -> Value:
        """An integer as a wider or narrower integer."""
        have, want = _BITS[value.element], _BITS[element]
        if have == want:
            return value
        return self.convert(
            "trunc" if want < have else "sext" if signed else "zext", value, element
        )

    def view(self, value: Value, element: str, signed: bool = False) -> Value:
        """The low bits of a value as another type; wider: extended by zeros or the sign."""
        if value.element == element:
            return value
        if "i1" in (value.element, element):
            raise ValueError("a predicate among numbers")
        whole = self.resize(self.integer(value), f"i{_BITS[element]}", signed)
        return self.bitcast(whole, element)

    def invert(self, value: Value) -> Value:
        return self.op("xor", value, self.constant(-1, value.element))

    def bits(self, value: Value) -> str:
        """A vector of predicates as an i32, a bit a lane."""
        return self.assign(f"bitcast {self.splat(value)} to i32")

    def from_bits(self, bits: str) -> Value:
        return Value(self.assign(f"bitcast i32 {bits} to <{LANES} x i1>"), "i1", False)

    def intrinsic(
        self, name: str, *values: Value, tail: str = "", element: str | None = None
    ) -> Value:
        """An LLVM intrinsic on operands of one type: intrinsic("ctpop", a)."""
        values = self.alike(*values)
        first = values[0]
        mangled = self._mangle(first.element, first.uniform)
        result = first.element
        if element is not None:
            mangled = f"{self._mangle(element, first.uniform)}.{mangled}"
            result = element
        kind = result if first.uniform else f"<{LANES} x {result}>"
        full = f"llvm.{name}.{mangled}"
        tail_type = f", {tail.split()[0]}" if tail else ""
        types = ", ".join(value.type for value in values)
        self.text.declare(full, f"declare {kind} @{full}({types}{tail_type})")
        operands = ", ".join(str(value) for value in values) + (f", {tail}" if tail else "")
        return Value(self.assign(f"call {kind} @{full}({operands})"), result, first.uniform)

    @staticmethod
    def mangle(element: str) -> str:
        """How intrinsics' names spell a type."""
        return _MANGLED.get(element, element)

    def _mangle(self, element: str, uniform: bool) -> str:
        return ("" if uniform else f"v{LANES}") + self.mangle(element)

    def extract(self, value: Value, lane: str) -> Value:
        """The value of one lane (an i32)."""
        if value.uniform:
            return value
        return Value(self.assign(f"extractelement {value}, i32 {lane}"), value.element, True)

    # --- memory that the emitter itself needs -------------------------------------------------

    def temporary(self, element: str, count: int, number: int = 0) -> str:
        """A stack slot for `count` x 32 lanes, shared by everything that asks for this number."""
        key = (f"{element}.{count}", number)
        if key not in self._temporaries:
            name = f'%"t{element}.{count}.{number}"'
            self.entry.append(f"{name} = alloca [{count} x <{LANES} x {element}>], align 64")
            self._temporaries[key] = name
        return self._temporaries[key]

    def spill(self, value: Value, number: int = 0) -> str:
        """A pointer to the 32 lanes of a value."""
        value = self.splat(value)
        slot = self.temporary(value.element, 1, number)
        self.line(f"store {value}, ptr {slot}, align 64")
        return slot

    def unspill(self, slot: str, element: str) -> Value:
        return Value(
            self.assign(f"load <{LANES} x {element}>, ptr {slot}, align 64"), element, False
        )

    def warp_field(self, field: str, index: int = 0) -> str:
        """A pointer to a field of the Warp."""
        return self.assign(f"getelementptr i8, ptr %w, i64 {WARP[field] + 4 * index}")

    def warp_value(self, field: str, kind: str, index: int = 0) -> str:
        """A field of the Warp that does not change while the kernel runs."""
        return self.assign(f"load {kind}, ptr {self.warp_field(field, index)}, !invariant.load !0")

    def parameter_bytes(self, name: str) -> int:
        """The size of a parameter of a device function or of a call."""
        known = (*self._formals(), *self.function.variables)
        return {variable.name: variable.bytes for variable in known}[name]

    def parameter_words(self, name: str) -> str | None:
        """A pointer to a parameter of a device function or of a call: words of 4 bytes x 32 lanes.

        None for the parameters of a kernel, which all lanes share.
        """
        formals = [variable.name for variable in self._formals()]
        if name in formals and not self.function.is_entry:
            return f"%p{formals.index(name)}"
        for variable in self.function.variables:
            if variable.name == name and variable.space == "param":
                slot = f'%"a{name}"'
                allocation = (
                    f"{slot} = alloca [{-(-variable.bytes // 4)} x <{LANES} x i32>], align 64"
                )
                if allocation not in self.entry:
                    self.entry.append(allocation)
                return slot
        return None

    # --- hooks of the instrumented builds ---------------------------------------------------------

    def begin_block(self, index: int, block: Block) -> None:
        """A block starts."""

    def observe(self, site: int, address: Value) -> None:
        """The active lanes are about to access memory."""

    def observe_row(self, site: int, first: Value, one_place: bool) -> None:
        """A load or store without the driver: active lane l at first + l * bytes, or all at first.

        Those with the driver come by as call_checked("void", "load" or "store", ...)."""

    def observe_shuffle(self, site: int, members, mode: int, b, c) -> None:
        """A shuffle among a member mask; mode as in runtime.h, b and c as in PTX."""

    def observe_vote(self, site: int, members) -> None:
        """Anything else that lanes of a member mask do together."""

    def observe_fence(self) -> None:
        """A memory fence."""

    def observe_warp_barrier(self, site: int, members) -> None:
        """A __syncwarp."""

    def observe_barrier(self, site: int, number: str, threads: str, waits: bool) -> None:
        """The active lanes are about to arrive at a barrier of the block (i32 texts)."""

    def observe_call(self, before: bool) -> None:
        """Right before, and right after, a call of a device function."""

    careful = False
    """Whether every access goes through the driver."""

    instrumented = False
    """Whether the hooks want to see each access, and so none may be left to a shared routine."""

    malloc = "sg_malloc"

    def load_at_once(self, access) -> list[Value] | None:
        """The values of a load that needs no test; None: it needs one."""
        return None

    def expects_scatter(self, access) -> bool:
        """Whether the lanes of a load may well be scattered over shared memory."""
        return False

    def store_at_once(self, access, values: list[Value]) -> bool:
        """Whether a store needed no test and is done."""
        return False

    # --- calls --------------------------------------------------------------------------------

    def _call_text(self, result: str, name: str, arguments) -> str:
        types = ", ".join(a.split()[0] for a in arguments)
        self.text.declare(name, f"declare {result} @{name}({types})")
        return f"call {result} @{name}({', '.join(arguments)})"

    def _void_call_text(self, name: str, *arguments: str) -> str:
        return self._call_text("void", name, arguments)

    def call_void(self, name: str, *arguments: str) -> None:
        self.line(self._void_call_text(name, *arguments))

    def call(self, result: str, name: str, *arguments: str) -> str:
        return self.assign(self._call_text(result, name, arguments))

    def call_checked(self, result: str, name: str, *arguments: str) -> str:
        """Call sg_`name`, which checks what it is asked for; nothing comes back from "void"."""
        if result == "void":
            self.call_void(f"sg_{name}", *arguments)
            return ""
        return self.call(result, f"sg_{name}", *arguments)

    @property
    def has_routines(self) -> bool:
        return self.large and not self.instrumented

    def routine(self, name: str, body, *inputs: Value) -> list[Value]:
        """What `body(*inputs)` gives. Large functions leave it to a routine that all users share.

        The name says what the routine does; it knows the warp, the active lanes and its inputs."""
        if not self.has_routines:
            return body(*inputs)
        name = "_".join([name, *(value.type for value in inputs)])
        if name not in self.text.routines:
            self.text.routines[name] = self._define_routine(name, body, inputs)
        results, _ = self.text.routines[name]
        given = ", ".join(["ptr %w", f"i32 {self.active()}", *map(str, inputs)])
        if not results:
            self.line(f'call void @"{name}"({given})')
            return []
        kind = f"{{ {', '.join(value.type for value in results)} }}"
        every = self.assign(f'call {kind} @"{name}"({given})')
        return [
            Value(self.assign(f"extractvalue {kind} {every}, {n}"), value.element, value.uniform)
            for n, value in enumerate(results)
        ]

    def _define_routine(self, name: str, body, inputs: tuple[Value, ...]):
        """The results, as the routine has them, and its text."""
        ours = self.lines, self.entry, self._temporaries, self._active, self._active_vector
        self.lines, self.entry, self._temporaries = [], [], {}
        self.start("body")
        self._active, self._active_vector = "%active", self.from_bits("%active")
        formal = [Value(f"%in{n}", value.element, value.uniform) for n, value in enumerate(inputs)]
        results = body(*formal)
        kind, every = "void", ""
        if results:
            kind, every = f"{{ {', '.join(value.type for value in results)} }}", "poison"
            for n, value in enumerate(results):
                every = self.assign(f"insertvalue {kind} {every}, {value}, {n}")
        self.line(f"ret {kind} {every}")
        taken = ", ".join(["ptr %w", "i32 %active", *map(str, formal)])
        head = f'define internal {kind} @"{name}"({taken}) noinline {{'
        text = "\n".join([head, *self.entry, "br label %body", *self.lines, "}"])
        self.lines, self.entry, self._temporaries, self._active, self._active_vector = ours
        self._loaded.clear()
        return results, text

    def lanewise(self, name: str, *values: Value, element: str) -> Value:
        """A function of lanes.c: pointers to lanes in, pointer to lanes out (in that order)."""
        uniform = all(value.uniform for value in values)
        inputs = [f"ptr {self.spill(value, number)}" for number, value in enumerate(values)]
        out = self.temporary(element, 1, 9)
        self.call_void(name, *inputs, f"ptr {out}")
        result = self.unspill(out, element)
        return self.extract(result, "0") if uniform else result

    # --- sites --------------------------------------------------------------------------------

    def site(
        self,
        item: Instruction | None,
        kind: str,
        space: str = "generic",
        size: int = 0,
        elements: int = 1,
    ) -> int:
        """The number of the next site of an instruction, or (None) of the function."""
        source = item.user_line if item else self.function.source
        original = self.found.copies.get(item, item) or self.function.name
        nth = self._sites_used[item]
        if nth >= sites_of(item):
            raise ValueError(f"{item.name} has more sites than opcodes.py says")
        self._sites_used[item] += 1
        number = self.text.first_site[original] + nth
        self.text.sites[number] = Site(source.file, source.line, size, space, kind, elements)
        return number

    # --- special registers and addresses ------------------------------------------------------

    def special(self, name: str) -> Value:
        head, _, axis = name.partition(".")
        if head in ("tid", "ntid", "ctaid", "nctaid"):
            index = "xyz".index(axis) if axis in ("x", "y", "z") else None
            if index is None:
                raise ValueError(name)
            if head == "tid":
                text = self.warp_value("tid", f"<{LANES} x i32>", LANES * index)
                return Value(text, "i32", False)
            return Value(self.warp_value(head, "i32", index), "i32", True)
        if name == "laneid":
            return self.lanes(range(LANES))
        if name.startswith("lanemask_"):
            test = {
                "eq": lambda i: 1 << i,
                "lt": lambda i: (1 << i) - 1,
                "le": lambda i: (2 << i) - 1,
            }
            test["ge"] = lambda i: ~((1 << i) - 1)
            test["gt"] = lambda i: ~((2 << i) - 1)
            masks = [test[name[9:]](lane) & 0xFFFFFFFF for lane in range(LANES)]
            return self.lanes(m - (1 << 32) if m >> 31 else m for m in masks)
        if name == "warpid":
            return Value(self.warp_value("warp_id", "i32"), "i32", True)
        if name in ("nwarpid", "smid", "nsmid"):
            return self.constant({"nwarpid": 64, "nsmid": 132}.get(name, 0), "i32")
        if name == "gridid":
            return self.resize(Value(self.warp_value("grid_id", "i32"), "i32", True), "i64")
        if name in ("dynamic_smem_size", "total_smem_size", "aggr_smem_size"):
            field = "dynamic_shared" if name[0] == "d" else "shared_bytes"
            return Value(self.warp_value(field, "i32"), "i32", True)
        if name in ("clock", "clock64", "clock_hi"):
            ticks = Value(self.call("i64", "sg_clock", "ptr %w"), "i64", True)
        elif name in ("globaltimer", "globaltimer_lo", "globaltimer_hi"):
            ticks = Value(self.call("i64", "sg_globaltimer"), "i64", True)
        elif name.startswith("reserved_smem_offset_"):
            return self._reserved_shared(name.removeprefix("reserved_smem_offset_"))
        elif name in ("envreg1", "envreg2"):  # high and low half
            workspace = Value(self.warp_value("workspace", "i64"), "i64", True)
            half = self.constant(32 if name == "envreg1" else 0, "i64")
            return self.resize(self.op("lshr", workspace, half), "i32")
        elif name.startswith("envreg"):
            return self.constant(0, "i32")
        else:
            raise ValueError(name)
        if name.endswith("_hi"):
            ticks = self.op("lshr", ticks, self.constant(32, "i64"))
        return ticks if name in ("clock64", "globaltimer") else self.resize(ticks, "i32")

    def _reserved_shared(self, what: str) -> Value:
        """Where the shared memory begins or ends that each block has for libraries' own use."""
        begin = Value(self.call("i32", "sg_reserved_shared", "ptr %w"), "i32", True)
        return self.op("add", begin, self.constant(RESERVED_SHARED[what], "i32"))

    def symbol_address(self, symbol: Symbol) -> Value:
        """The address of a variable in its own space (shared and local: an offset)."""
        space, offset = self.layout.place(self.function.name, symbol.name)
        offset += symbol.offset
        if space == "shared":
            return self.constant(offset, "i64")
        if space == "dynamic":
            base = Value(self.warp_value("static_shared", "i32"), "i32", True)
            return self.op("add", self.resize(base, "i64"), self.constant(symbol.offset, "i64"))
        if space == "local":
            frame = self.resize(Value("%frame", "i32", True), "i64")
            return self.op("add", frame, self.constant(offset, "i64"))
        if space == "function":
            return self.constant(offset, "i64")
        base = self.warp_value("params" if space == "param" else "module", "ptr")
        base = Value(self.assign(f"ptrtoint ptr {base} to i64"), "i64", True)
        return self.op("add", base, self.constant(offset, "i64"))

    def address(self, operand: Address, width: str = "i64") -> Value:
        """The value of [base + offset] in the instruction's own space."""
        if operand.base is None:
            return self.constant(operand.offset, width)
        if isinstance(operand.base, str):
            return self.resize(self.symbol_address(Symbol(operand.base, operand.offset)), width)
        base = self.integer(self.load_register(operand.base))
        base = self.resize(base, width)
        return (
            self.op("add", base, self.constant(operand.offset, width)) if operand.offset else base
        )

    def address_sum(self, operand: Address, width: str) -> tuple[Value, Value]:
        """The same as (base, offsets), where it differs between lanes."""
        base = self.constant(operand.offset, width)
        register = operand.base
        if register.name in self.sums and element_of(register.type) == width:
            more, offsets = self._load_sum(register)
            return self.op("add", more, base), offsets
        return base, self.resize(self.integer(self.load_register(register)), width)


BUILDS: dict[str, type[FunctionEmitter]] = {"plain": FunctionEmitter}
"""What emits the functions of each build; instrumented builds fill in the hooks."""
