"""Where the bits of a NaN matter, so that programs see the hardware's NaNs.

On the GPU, arithmetic on float, half and bfloat16 returns one canonical NaN, 0x7fffffff or 0x7fff.
A CPU returns a different one, or propagates an operand's. Correcting this after every instruction
would slow down all arithmetic, and most results only feed more arithmetic. So results stay as the
CPU computed them until an instruction looks at their bits: a store, a cast, a shuffle. If the value
looked at may come either from arithmetic or from elsewhere (a load, whose NaN keeps its bits), that
arithmetic is corrected at once. double needs none of this: the CPU's NaNs are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...ptx.program import Immediate, Instruction, Register
from ..facts.opcodes import Nans, opcode_of
from .flow import EXIT, Block, registers_of

__all__ = ["FORMATS", "NanPlan", "plan_nans"]

# per format: the exponent of infinity, the canonical NaN, and the number of bits
FORMATS = {
    "f32": (0x7F800000, 0x7FFFFFFF, 32),
    "f16": (0x7C00, 0x7FFF, 16),
    "bf16": (0x7F80, 0x7FFF, 16),
}
_KINDS = (*FORMATS, "f16x2", "bf16x2")
# What a register may hold, as bit masks over formats: a result of arithmetic (the lower bits), or a
# NaN whose bits must be kept (the upper bits).
_MADE = {kind: 1 << n for n, kind in enumerate(_KINDS)}
_KEPT = {kind: bit << len(_KINDS) for kind, bit in _MADE.items()}
_ALL_MADE, _ALL_KEPT = sum(_MADE.values()), sum(_KEPT.values())


@dataclass
class NanPlan:
    """What to correct: operands, by instruction and register; and results, by instruction."""

    reads: dict[tuple[Instruction, str], str] = field(default_factory=dict)
    results: dict[Instruction, str] = field(default_factory=dict)


def _types(item: Instruction) -> list[str]:
    return [m for m in item.modifiers if m not in ("relu", "sat")][-2:]


def _made(item: Instruction) -> str | None:
    """Return the format of a result whose NaNs must be corrected, or None."""
    kind = _types(item)[-1:]
    if opcode_of(item).nans is Nans.MADE:
        return kind[0] if kind and kind[0] in _KINDS else None
    if item.opcode != "cvt" or _moves(item):
        return None
    to, of = (_types(item) + [""])[:2]
    if to == "f32":
        return to if of in ("f32", "f16") else None
    short = to in ("f16", "f16x2") and of in ("f32", "f16", "bf16", "e4m3x2", "e5m2x2")
    return to if short else None


def _moves(item: Instruction) -> bool:
    """Whether the result is a bitwise copy of one of the operands."""
    if item.opcode == "mov":
        return all(isinstance(o, (Register, Immediate)) for o in item.operands)
    return item.opcode == "selp" or (item.opcode, *item.modifiers) == ("cvt", "f32", "f32")


def _blind_to(item: Instruction, kind: str) -> bool:
    """Whether the result does not depend on which NaN of this format an operand is."""
    *to, of = _types(item) or [""]
    if of != kind:
        return False
    if item.opcode == "cvt":
        return to[0] not in ("f64", "tf32") and (to[0], of) != ("f32", "bf16")
    return opcode_of(item).nans is not Nans.CARRIED


def _is_nan(constant: int, kind: str) -> bool:
    if kind.endswith("x2"):
        return any(_is_nan(half, kind[:-2]) for half in (constant & 0xFFFF, constant >> 16))
    infinity, largest, _ = FORMATS[kind]
    return constant & largest > infinity


def _held(operand, state: dict[str, int]) -> int:
    """Return what an operand may hold."""
    if isinstance(operand, Register):
        return state.get(operand.name, 0)
    if not isinstance(operand, Immediate):
        return _ALL_KEPT
    if operand.kind == "f64":  # a decimal fraction
        return 0
    return sum(bit for kind, bit in _KEPT.items() if _is_nan(operand.value & 0xFFFFFFFF, kind))


@dataclass
class _Step:
    """An instruction as the analysis sees it."""

    item: Instruction
    written: list[Register]
    read: list[Register]
    made: str | None
    sources: tuple  # of a move: the operands that it may copy
    cancels: Instruction | None = None  # the negation that this one undoes


def _steps(block: Block) -> list[_Step]:
    steps = []
    latest: dict[str, Instruction] = {}
    for item in block.instructions:
        written, read = registers_of(item)
        if item.predicate:  # the other lanes keep their values, which does not count as a use
            read = read[: len(read) - len(written)]
        sources = item.operands[1 : 3 if item.opcode == "selp" else 2] if _moves(item) else ()
        step = _Step(item, written, read, _made(item), sources)
        if step.made and item.opcode == "neg" and read:
            before = latest.get(read[0].name)
            if before and before.modifiers == item.modifiers and not before.predicate:
                step.cancels = before if before.opcode == "neg" else None
        steps.append(step)
        latest |= {register.name: item for register in written}
    return steps


class _Analysis:
    def __init__(self, blocks: list[Block], live: list[set[str]]):
        self.blocks, self.live = blocks, live
        self.steps = [_steps(block) for block in blocks]
        self.all_steps = [step for block in self.steps for step in block]
        self.negated: dict[Instruction, int] = {}  # what each negation was given
        self.plan = NanPlan()

    def run(self) -> NanPlan:
        while any(step.made and step.item not in self.plan.results for step in self.all_steps):
            self.plan.reads.clear()
            late: set[str] = set()
            for index, state in enumerate(self._entries()):
                self._through(index, state, late)
            if not late:
                break
            self._correct_at_once(late)
        return self.plan

    def _entries(self) -> list[dict[str, int]]:
        """Return what each register may hold at the start of each block."""
        entries: list[dict[str, int]] = [{} for _ in self.blocks]
        todo = set(range(len(self.blocks)))
        while todo:
            index = min(todo)
            todo.remove(index)
            state = dict(entries[index])
            self._through(index, state)
            for target in {t for t in self.blocks[index].targets if t != EXIT}:
                known = entries[target]
                for name in self.live[target] & state.keys():
                    merged = known.get(name, 0) | state[name]
                    if merged != known.get(name):
                        known[name] = merged
                        todo.add(target)
        return entries

    def _through(self, index: int, state: dict[str, int], late: set[str] | None = None) -> None:
        """Propagate the state through a block; with `late`, plan corrections of its reads and
        collect registers that are looked at too late."""
        for step in self.steps[index]:
            if late is not None:
                self._look(step, state, late)
            result = self._result(step, state)
            for register in step.written:
                kept = state.get(register.name, 0) if step.item.predicate else 0
                state[register.name] = result | kept

    def _result(self, step: _Step, state: dict[str, int]) -> int:
        if step.sources:
            result = 0
            for source in step.sources:
                result |= _held(source, state)
            return result
        if not step.made or step.item in self.plan.results:
            return _ALL_KEPT
        if taken_back := self._taken_back(step):  # as ptxas has it
            return self.negated[taken_back]
        if step.item.opcode == "neg":
            self.negated[step.item] = _held(step.item.operands[1], state)
        return _MADE[step.made]

    def _taken_back(self, step: _Step) -> Instruction | None:
        """Return the negation that a step undoes, if it has not been corrected."""
        return None if step.cancels in self.plan.results else step.cancels

    def _look(self, step: _Step, state: dict[str, int], late: set[str]) -> None:
        for register in () if step.sources else step.read:
            held = state.get(register.name, 0)
            kinds = [kind for kind, bit in _MADE.items() if held & bit]
            if all(_blind_to(step.item, kind) for kind in kinds):
                continue
            if len(kinds) > 1 or held & _KEPT[kinds[0]]:
                late.add(register.name)
            else:
                self.plan.reads[step.item, register.name] = kinds[0]

    def _correct_at_once(self, late: set[str]) -> None:
        """Correct the results that arithmetic writes to these registers, or to others copied to
        them."""
        makers: dict[str, list[_Step]] = {}
        origins: dict[str, set[str]] = {}
        for step in self.all_steps:
            sources = step.sources
            if taken_back := self._taken_back(step):
                sources = taken_back.operands[1:2]
            for register in step.written:
                names = {source.name for source in sources if isinstance(source, Register)}
                origins.setdefault(register.name, set()).update(names)
                if step.made and not sources:
                    makers.setdefault(register.name, []).append(step)
        todo, seen = list(late), set(late)
        while todo:
            name = todo.pop()
            self.plan.results |= {s.item: s.made for s in makers.get(name, ()) if s.made}
            todo += origins.get(name, set()) - seen
            seen |= origins.get(name, set())


def plan_nans(blocks: list[Block], live: list[set[str]]) -> NanPlan:
    """Return what to correct in the blocks; `live`: names of the registers live on entry to
    each."""
    return _Analysis(blocks, live).run()
