"""Where a NaN's bits matter, so that programs see the hardware's.

Arithmetic on float, half and bfloat16 answers with one NaN, 0x7fffffff or 0x7fff, on the hardware;
the processor makes another one, or passes on an operand. To correct this after every instruction
would slow all arithmetic down, and most results only go into more arithmetic. So they stay as the
processor made them until something looks at their bits: a store, a cast, a shuffle. Where what is
looked at may come from arithmetic or from elsewhere (a load, whose NaN keeps its bits), the results
of that arithmetic are corrected at once. Double needs none of this: its NaNs are the processor's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..ptx.program import Immediate, Instruction, Register
from .flow import EXIT, Block, registers_of

__all__ = ["NanPlan", "canonical", "plan_nans"]

# what arithmetic makes: the exponent of infinity, the NaN, and the bits of a number
_FORMATS = {
    "f32": (0x7F800000, 0x7FFFFFFF, 32),
    "f16": (0x7C00, 0x7FFF, 16),
    "bf16": (0x7F80, 0x7FFF, 16),
}
_KINDS = (*_FORMATS, "f16x2", "bf16x2")
_ARITHMETIC = set(
    "add sub mul fma mad div min max abs neg sqrt rcp rsqrt sin cos lg2 ex2 tanh".split()
)
_BLIND = _ARITHMETIC | {"setp", "set", "testp"}
"""Opcodes to which every NaN is the same."""

_GIVEN = "given"
"""In a state: bits that are right already."""

# What a register may hold: _GIVEN, constants, and numbers of instructions whose result it is.
State = frozenset


@dataclass
class NanPlan:
    """What to correct: by instruction (its id) and register read; by instruction, its result."""

    reads: dict[tuple[int, str], str] = field(default_factory=dict)
    results: dict[int, str] = field(default_factory=dict)


def canonical(e, value, kind: str):
    """A value of the emitter `e` in which every NaN is the one that arithmetic makes."""
    bits = e.integer(value)
    if kind.endswith("x2"):
        from .integer import halves, join

        return join(e, *(canonical(e, half, kind[:-2]) for half in halves(e, bits)))
    infinity, nan, width = _FORMATS[kind]
    # in integers: LLVM takes a comparison of floats to mean that one NaN is as good as another
    size = e.op("and", bits, e.constant(nan, f"i{width}"))
    is_nan = e.compare("icmp sgt", size, e.constant(infinity, f"i{width}"))
    return e.bitcast(e.select(is_nan, e.constant(nan, f"i{width}"), bits), value.element)


def _types(item: Instruction) -> list[str]:
    return [m for m in item.modifiers if m not in ("relu", "sat")][-2:]


def _made(item: Instruction) -> str | None:
    """The format of a result whose NaNs are to be corrected."""
    kind = _types(item)[-1:]
    if item.opcode in _ARITHMETIC:
        return kind[0] if kind and kind[0] in _KINDS else None
    if item.opcode != "cvt" or _moves(item):
        return None
    to, of = (_types(item) + [""])[:2]
    if to == "f32":
        return to if of in ("f32", "f16") else None
    short = to in ("f16", "f16x2") and of in ("f32", "f16", "bf16", "e4m3x2", "e5m2x2")
    return to if short else None


def _moves(item: Instruction) -> bool:
    """Whether the result is one of the operands, bit by bit."""
    if item.opcode == "mov":
        return all(isinstance(o, (Register, Immediate)) for o in item.operands)
    return item.opcode == "selp" or (item.opcode, *item.modifiers) == ("cvt", "f32", "f32")


def _blind_to(item: Instruction, kind: str) -> bool:
    """Whether the result is the same for every NaN of a format among the operands."""
    *to, of = _types(item) or [""]
    if of != kind:
        return False
    if item.opcode == "cvt":
        return to[0] not in ("f64", "tf32") and (to[0], of) != ("f32", "bf16")
    return item.opcode in _BLIND


def _is_nan(constant: int, kind: str) -> bool:
    if kind.endswith("x2"):
        return any(_is_nan(half, kind[:-2]) for half in (constant & 0xFFFF, constant >> 16))
    infinity, largest, _ = _FORMATS[kind]
    return constant & largest > infinity


def _constant(operand: Immediate) -> int:
    """Its bits; a decimal fraction is no NaN."""
    return 0 if operand.kind == "f64" else operand.value & 0xFFFFFFFF


def _step(item: Instruction) -> tuple[Instruction, list[Register], list[Register]]:
    """(instruction, registers that it writes, registers that it looks at)."""
    written, read = registers_of(item)
    if item.predicate:  # the other lanes keep what they have, which is no look at it
        read = read[: len(read) - len(written)]
    return item, written, read


class _Analysis:
    def __init__(self, blocks: list[Block], live: list[set[str]]):
        self.blocks, self.live = blocks, live
        items = [item for block in blocks for item in block.instructions]
        self.made = {id(item): kind for item in items if (kind := _made(item))}
        self.steps = [[_step(item) for item in block.instructions] for block in blocks]
        self.negated: dict[int, State] = {}  # what each `neg` was given
        self.plan = NanPlan()

    def run(self) -> NanPlan:
        while self.made:
            before = len(self.plan.results)
            self.plan.reads.clear()
            self.negated.clear()
            for index, state in enumerate(self._entries()):
                self._through(index, state, self._look)
            if len(self.plan.results) == before:
                break
        return self.plan

    def _entries(self) -> list[dict[str, State]]:
        """What each register may hold at the start of each block."""
        entries: list[dict[str, State]] = [{} for _ in self.blocks]
        todo = set(range(len(self.blocks)))
        while todo:
            index = min(todo)
            todo.remove(index)
            state = dict(entries[index])
            self._through(index, state)
            for target in {t for t in self.blocks[index].targets if t != EXIT}:
                known = entries[target]
                for name in self.live[target] & state.keys():
                    merged = known.get(name, State()) | state[name]
                    if merged != known.get(name):
                        known[name] = merged
                        todo.add(target)
        return entries

    def _through(self, index: int, state: dict[str, State], look=None) -> None:
        for item, written, read in self.steps[index]:
            if look:
                look(item, read, state)
            result = self._result(item, state)
            for register in written:
                if item.predicate:
                    result |= state.get(register.name, State())
                state[register.name] = result

    def _result(self, item: Instruction, state: dict[str, State]) -> State:
        if id(item) in self.made and id(item) not in self.plan.results:
            return self._negation(item, state) if item.opcode == "neg" else State([id(item)])
        if not _moves(item):
            return State([_GIVEN])
        sources = item.operands[1:3] if item.opcode == "selp" else item.operands[1:2]
        return State().union(*(self._held(source, state) for source in sources))

    def _negation(self, item: Instruction, state: dict[str, State]) -> State:
        """A negation of a negation is the value itself, as ptxas has it."""
        held = State(self._held(item.operands[1], state))
        if len(held) == 1:
            (source,) = held
            if source in self.negated and self.made[source] == self.made[id(item)]:
                return self.negated[source]
        self.negated[id(item)] = self.negated.get(id(item), State()) | held
        return State([id(item)])

    @staticmethod
    def _held(operand, state: dict[str, State]) -> Iterable:
        if isinstance(operand, Register):
            return state.get(operand.name, State())
        return [("constant", _constant(operand)) if isinstance(operand, Immediate) else _GIVEN]

    def _look(self, item: Instruction, read: list[Register], state: dict[str, State]) -> None:
        if _moves(item):
            return
        for register in read:
            held = state.get(register.name, State())
            makers = {source for source in held if source in self.made}
            kinds = {self.made[maker] for maker in makers}
            if all(_blind_to(item, kind) for kind in kinds):
                continue
            kind = min(kinds)
            if len(kinds) == 1 and not any(self._spoils(s, kind) for s in held - makers):
                self.plan.reads[id(item), register.name] = kind
            else:
                self.plan.results |= {maker: self.made[maker] for maker in makers}

    @staticmethod
    def _spoils(source, kind: str) -> bool:
        """Whether a source that is no arithmetic may be a NaN to keep."""
        return source == _GIVEN or _is_nan(source[1], kind)


def plan_nans(blocks: list[Block], live: list[set[str]]) -> NanPlan:
    """What is to be corrected in the blocks; `live`: names of registers wanted on entry to each."""
    return _Analysis(blocks, live).run()
