"""The build that records what each warp does, line by line; with driver/watch/record.c.

It is the sanitizer's, and tells besides: a warp is at a line, these lanes access memory, a variable
gets a value. The notes say what the numbers in it stand for: "steps" are [file, line, function],
"variables" are [name, kind, bytes, function], "types" what PTX calls each site's elements. nvcc
tells of variables only without optimisation.
"""

from __future__ import annotations

from ...ptx.debug import variables
from ...ptx.program import Instruction, Register
from ..analysis.found import Found
from ..emit.module_text import ModuleText
from .sanitize import SanitizedEmitter, Watcher

__all__ = ["RecordedEmitter"]


class Recorder(Watcher):
    """Also tells which lanes exchange what, and which are at a barrier."""

    e: RecordedEmitter

    def call(self, before: bool) -> None:
        self.e.told_at = None  # somewhere else meanwhile

    def shuffle(self, site, members, mode, b, c) -> None:
        super().shuffle(site, members, mode, b, c)
        lanes = self.e.spill_all(self.e.read(b, "u32"), self.e.read(c, "u32"))
        where = f"i32 {site}", f"i32 {mode}"
        self.e.call_void("sg_record_shuffle", "ptr %w", *where, *lanes, self.e.active)

    def barrier(self, site, number, threads, waits) -> None:
        self.e.call_void("sg_record_barrier", "ptr %w", f"i32 {site}", self.e.active)


class RecordedEmitter(SanitizedEmitter):
    """Emits functions that tell what they do."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text, found)
        self.observer = Recorder(self)
        function = self.function
        self._steps = text.notes.setdefault("steps", [])
        known = text.notes.setdefault("variables", [])
        self._line = function.source
        self.told_at: tuple[str, int] | None = None  # where the warp was last told to be
        self._held: dict[str, list[int]] = {}  # the variables that a register holds, by number
        for variable, registers in variables(text.module.text).get(function.name, {}).items():
            for register in registers:
                self._held.setdefault(register, []).append(len(known))
            known.append([variable.name, variable.kind, variable.bytes, function.name])

    # --- lines ------------------------------------------------------------------------------

    def begin_block(self, index, block) -> None:
        self.told_at = None

    def emit_instruction(self, item: Instruction) -> None:
        self._step(item)
        super().emit_instruction(item)

    def _emit_choice(self, index, block) -> None:
        if isinstance(block.choice, Instruction):
            self._step(block.choice)
        super()._emit_choice(index, block)

    def _step(self, item: Instruction) -> None:
        """The warp gets to an instruction, with the lanes of its block."""
        if item.user_line.line:  # else the compiler's own: it counts with what is before it
            self._line = item.user_line
        place = self._line.file, self._line.line
        if place == self.told_at:
            return
        self.told_at = place
        number = len(self._steps)
        self._steps.append([*place, self.function.name])
        self.call_void("sg_record_step", "ptr %w", f"i32 {number}", f"i32 {self.mask}")

    # --- values -----------------------------------------------------------------------------

    def write(self, operand, value, signed: bool = False) -> None:
        super().write(operand, value, signed)
        if isinstance(operand, Register) and operand.name in self._held:
            bits = max(int(operand.type[1:]), 8)
            held = f"ptr {self.spill(self.read(operand, f'b{bits}'), 'recorded')}"
            for number in self._held[operand.name]:
                what = f"i32 {number}", self.active, f"i32 {bits // 8}", held
                self.call_void("sg_record_value", "ptr %w", *what)

    def moves_into(self, register, element) -> bool:
        return super().moves_into(register, element) and register.name not in self._held

    def call_checked(self, result: str, name: str, *arguments: str) -> str:
        if name == "store":
            self._record_access(*arguments)
        elif name == "atomic":
            _, site, _, _, address, lanes, operand, *_ = arguments
            self._record_access("ptr %w", site, address, lanes, operand)
        found = super().call_checked(result, name, *arguments)
        if name == "load":
            self._record_access(*arguments)
        return found

    def _record_access(self, *arguments: str) -> None:
        number = int(arguments[1].split()[1])
        self._note("types", number, self.item.modifiers[-1], "")
        self.call_void("sg_record_access", *arguments)
