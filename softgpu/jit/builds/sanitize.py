"""The build whose every access, barrier, shuffle and fence goes through driver/watch/sanitize.c.

Beside the code it notes where each site's addresses come from: from which pointers among the
kernel's parameters, from which variables in shared memory. So an access that runs from one array
into the next is seen, although there is memory. And it notes how control flows between sites, for
advice on where a barrier belongs.
"""

from __future__ import annotations

from ... import contract
from ...advice import BLOCK, WARP
from ...ptx.program import Address, Function, Immediate, Instruction, Register, Symbol, Vector
from ..analysis.flow import gathers, registers_of
from ..emit.function import FunctionEmitter
from ..emit.module_text import ModuleText
from ..facts.opcodes import Does, Pointer, does, opcode_of

__all__ = ["SanitizedEmitter"]

_HINTS = contract.flags("AccessHint", "HINT_")
_FENCE = contract.flags("FenceHint", "HINT_")
_BARRIER = contract.flags("BarrierHint", "HINT_")

_UNKNOWN = "?"
_MOVES = ("mov", "cvt", "selp", "shfl", "prmt")
_COMPUTES = ("mov", "cvt", "add", "sub", "mul", "fma", "min", "max", "and", "or", "xor")


def _acts(item: Instruction) -> bool:
    """Whether an instruction that is no atomic does more than to look and wait."""
    meets = gathers(item) and does(item, Does.ORDERS)
    return meets or item.opcode == "red" or does(item, Does.WRITES, Does.CALLS)


def _symbols(operand):
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from _symbols(element)


class _Origins:
    """For each register of a function, what its value may point into.

    That is a set of numbers (8-byte words of the kernel's parameters), of names of shared
    variables, and _UNKNOWN.
    """

    def __init__(self, function: Function, shared_names: set[str]):
        self.function = function
        self.shared = shared_names
        self.of: dict[str, set] = {}
        items = function.instructions
        changed = True
        while changed:
            changed = False
            for item in items:
                written, _ = registers_of(item)
                for register in written:
                    known = self.of.setdefault(register.name, set())
                    more = self._result(item, register) - known
                    known |= more
                    changed = changed or bool(more)

    def _result(self, item: Instruction, register: Register) -> set:
        pointer = opcode_of(item).pointer
        if pointer is Pointer.KEPT:
            return self._sources(item.operands[1:])
        if pointer is Pointer.OF_SUMMAND:
            return self._sources(item.operands[3:4])
        if pointer is Pointer.LOST or not register.type.endswith("64"):
            return set()
        if item.opcode == "ld" and "param" in item.modifiers:
            return self._parameter(item, register)
        return {_UNKNOWN}

    def _parameter(self, item: Instruction, register: Register) -> set:
        address = item.operands[1]
        offsets = self.function.param_offsets if self.function.is_entry else {}
        if address.base not in offsets:
            return {_UNKNOWN}
        at = offsets[address.base] + address.offset
        if isinstance(item.operands[0], Vector):
            at += 8 * item.operands[0].elements.index(register)
        return {at // 8} if at % 8 == 0 and at < 8 * 64 else {_UNKNOWN}

    def _sources(self, operands) -> set:
        found: set = set()
        for operand in operands:
            if isinstance(operand, Register):
                found |= self.of.get(operand.name, set())
            elif isinstance(operand, Vector):
                found |= self._sources(operand.elements)
            for name in _symbols(operand):
                found.add(name if name in self.shared else _UNKNOWN)
        return found

    def origins_of(self, address: Address) -> set:
        """What an address may point into; empty: unknown."""
        if address.base is None:
            return set()
        if isinstance(address.base, str):
            return {address.base} & self.shared
        found = self.of.get(address.base.name, set())
        return set() if _UNKNOWN in found else found


class _Uses:
    """Which instructions of a function read a register."""

    def __init__(self, items: list[Instruction]):
        self.of: dict[str, list[Instruction]] = {}
        for item in items:
            for register in registers_of(item)[1]:
                self.of.setdefault(register.name, []).append(item)

    def only_moves(self, register: Register, place: Address) -> bool:
        """Whether a value loaded from a place is only copied, or has bits of it set there."""
        seen, left = set(), [(register.name, False)]
        while left:
            step = left.pop()
            if step in seen:
                continue
            seen.add(step)
            name, masked = step
            for item in self.of.get(name, ()):
                if item.opcode == "st" and getattr(item.operands[0].base, "name", None) != name:
                    if masked and item.operands[0] != place:
                        return False
                    continue
                constant = any(isinstance(operand, Immediate) for operand in item.operands)
                cuts = item.opcode == "bfi" or (item.opcode == "and" and constant)
                if not (item.opcode in _MOVES or cuts or (masked and item.opcode == "or")):
                    return False
                left += [(r.name, masked or cuts) for r in registers_of(item)[0]]
        return True

    def only_chosen(self, register: Register) -> bool:
        """Whether a value, and all that is computed from it, can only get on by being chosen."""
        seen, left = set(), [register.name]
        while left:
            name = left.pop()
            if name in seen:
                continue
            seen.add(name)
            for item in self.of.get(name, ()):
                if item.opcode == "selp" and item.operands[-1].name != name:
                    continue
                if item.opcode not in _COMPUTES:
                    return False
                left += [written.name for written in registers_of(item)[0]]
        return len(seen) > 1


class SanitizedEmitter(FunctionEmitter):
    """Emits functions that let the sanitizer see, and decide on, what they do to memory."""

    through_driver = True
    instrumented = True
    malloc = "sg_sanitize_malloc"

    def __init__(self, text: ModuleText, function: Function):
        super().__init__(text, function)
        self._shared = {
            name: (offset, offset + size if size else 0xFFFFFFFF)
            for offset, size, name in self.layout.shared_variables()
        }
        self._origins = _Origins(function, set(self._shared))
        self._expected = self._expected_by_swaps()
        self._constants = self._find_constants()
        self._polling = self._waits_in_loops() | self._takes_locks()
        self._updated = self._addresses("ld", 1) & self._addresses("st", 0)
        self._uses = _Uses(self.function.instructions)
        text.notes.setdefault("flow", {})[function.name] = [block.targets for block in self.blocks]
        if function.is_entry:
            self.entry.append(self._void_call_text("sg_sanitize_start", "ptr %w"))

    def _addresses(self, opcode: str, place: int) -> set:
        return {
            item.operands[place] for item in self.function.instructions if item.opcode == opcode
        }

    def _expected_by_swaps(self) -> set[str]:
        """The registers that a compare-and-swap compares with: reading them early does no harm."""
        items = self.function.instructions
        swaps = (i for i in items if i.opcode == "atom" and "cas" in i.modifiers)
        found = {o.name for i in swaps for o in i.operands[2:3] if isinstance(o, Register)}
        moves = [i for i in items if i.opcode in ("mov", "cvt", "selp")]
        before = 0
        while before < len(found):
            before = len(found)
            for item in moves:
                written, read = registers_of(item)
                if any(register.name in found for register in written):
                    found |= {register.name for register in read if register.type != "pred"}
        return found

    def _waits_in_loops(self) -> set[Instruction]:
        """The volatile loads and atomics that loops wait on, doing nothing else."""
        found = set()
        for last, block in enumerate(self.blocks):
            for first in block.targets:
                if not 0 <= first <= last:
                    continue
                loop = [i for b in self.blocks[first : last + 1] for i in b.instructions]
                atoms = [i for i in loop if i.opcode == "atom"]
                if len(atoms) > 1 or any(_acts(i) for i in loop):
                    continue
                deciding = self._deciding(first, last, loop)
                changed = {r.name for i in loop for r in registers_of(i)[0]} - self._constants
                for item in atoms or [i for i in loop if "volatile" in i.modifiers]:
                    results, _ = registers_of(item)
                    given = {getattr(o, "name", None) for o in item.operands[2:]}
                    if {r.name for r in results} & deciding and not given & changed:
                        found.add(item)
        return found

    def _deciding(self, first: int, last: int, loop: list[Instruction]) -> set[str]:
        """The registers that decide whether a loop of blocks goes on."""
        found = set()
        repeats = {first} if self.blocks[last].instructions else {first, last}
        inside = set(range(first, last + 1)) - repeats
        for block in self.blocks[first : last + 1]:
            if not inside.issuperset(block.targets) and isinstance(block.choice, Instruction):
                found |= {register.name for register in registers_of(block.choice)[1]}
        before = -1
        while before < len(found):
            before = len(found)
            for item in loop:
                written, read = registers_of(item)
                if any(register.name in found for register in written):
                    found |= {register.name for register in read}
        return found

    def _takes_locks(self) -> set[Instruction]:
        """The swaps of one constant for another, and those that may be such.

        Without optimisation, an atomic stands in a function of its own."""
        swaps = (
            i
            for i in self.function.instructions
            if i.opcode == "atom" and {"cas", "exch"} & {*i.modifiers}
        )
        if self.function.name.startswith("__i"):
            return set(swaps)
        swaps = (i for i in swaps if "cas" in i.modifiers)
        return {i for i in swaps if all(self._is_constant(o) for o in i.operands[2:])}

    def _is_constant(self, operand) -> bool:
        return isinstance(operand, Immediate) or getattr(operand, "name", None) in self._constants

    def _find_constants(self) -> set[str]:
        """The registers that only ever get constants."""
        found: set[str] = set()
        others: set[str] = set()
        for item in self.function.instructions:
            sets = item.opcode == "mov" and isinstance(item.operands[1], Immediate)
            (found if sets else others).update(r.name for r in registers_of(item)[0])
        return found - others

    # --- sites ------------------------------------------------------------------------------

    def site(self, item, kind, space="generic", size=0, elements=1) -> int:
        number = super().site(item, kind, space, size, elements)
        meets = WARP if item and gathers(item) else 0
        if kind == "barrier" or (item and item.opcode == "mbarrier"):
            meets = BLOCK
        self._note("origins", number, self._origin(item, kind), (0, 0, 0, 0, 0))
        self._note("places", number, (self.function.name, self.index, meets), ("", 0, 0))
        return number

    def _note(self, what: str, number: int, fact, otherwise) -> None:
        """Something about a site."""
        self.text.notes.setdefault(what, [otherwise] * len(self.text.sites))[number] = fact

    def _moves(self, item: Instruction, address: Address) -> int:
        """Bits: the components of a load that are only copied."""
        if item.opcode != "ld":
            return 0
        target = item.operands[0]
        parts = target.elements if isinstance(target, Vector) else (target,)
        moved = (p is None or self._uses.only_moves(p, address) for p in parts)
        return sum(1 << number for number, only in enumerate(moved) if only)

    def _origin(self, item: Instruction | None, kind: str) -> tuple[int, int, int, int, int]:
        """The fields of struct Origin in driver/runtime.h."""
        addresses = [o for o in item.operands if isinstance(o, Address)] if item else []
        if item is None or not addresses or kind not in ("load", "store", "atomic", "red"):
            return 0, 0, 0, 0, 0
        address = addresses[("store", "load", "atomic").index(kind) if len(addresses) > 1 else 0]
        facts = int(address in self._updated), self._moves(item, address)
        found = self._origins.origins_of(address)
        words = {word for word in found if isinstance(word, int)}
        if found and found == words:
            return sum(1 << word for word in words), 0, 0, *facts
        if not found or words:
            return 0, 0, 0, *facts
        begin, end = zip(*(self._shared[name] for name in found), strict=True)
        return 0, min(begin), max(end), *facts

    # --- what goes through the driver -------------------------------------------------------

    def _hints(self, name: str) -> int:
        """What the driver is told of the instruction at hand."""
        modifiers = set(self.item.modifiers)
        if name.startswith("barrier"):
            return _BARRIER.aligned if self.item.opcode == "bar" or "aligned" in modifiers else 0
        if name.startswith("mbarrier"):
            quiet = "relaxed" in modifiers or self.item.modifiers[0] == "expect_tx"
            plain = self.item.modifiers[0] in ("init", "inval")
            return (
                0 if plain else _HINTS.atomic | _HINTS.in_block | (0 if quiet else _HINTS.release)
            )
        hints = 0
        ordered = bool(modifiers & {"relaxed", "acquire", "release"})
        if self.item.opcode in ("atom", "red") or ordered:
            hints |= _HINTS.atomic
        if self.item.opcode in ("ld", "st") and ordered:
            hints |= _HINTS.polls
        if "volatile" in modifiers:
            hints |= _HINTS.volatile
        if self.item in self._polling:
            hints |= _HINTS.atomic | _HINTS.polls
        target = self.item.operands[0]
        if self.item.opcode == "ld" and getattr(target, "name", None) in self._expected:
            hints |= _HINTS.atomic
        if "cta" in modifiers:
            hints |= _HINTS.in_block
        if "nc" in modifiers:
            hints |= _HINTS.read_only
        if modifiers & {"release", "acq_rel"}:
            hints |= _HINTS.release
        return hints

    def call_checked(self, result: str, name: str, *arguments: str) -> str:
        hints = f"i32 {self._hints(name)}"
        return super().call_checked(result, f"sanitize_{name}", *arguments, hints)

    def observe_fence(self) -> None:
        modifiers = set(self.item.modifiers)
        wide = 0 if "cta" in modifiers else _FENCE.device
        self.call_void("sg_sanitize_fence", "ptr %w", self.active, f"i32 {wide}")

    def observe_shuffle(self, site, members, mode, b, c) -> None:
        operands = ((b, "u32"), (c, "u32"), (members, "b32"))
        lanes = self.spill_all(*(self.read(operand, kind) for operand, kind in operands))
        active = self.active
        chosen = self._uses.only_chosen(self.item.operands[0])
        what = f"i32 {site}", f"i32 {mode}"
        self.call_void("sg_sanitize_shuffle", "ptr %w", *what, *lanes, active, f"i32 {int(chosen)}")

    def observe_vote(self, site, members) -> None:
        self._meet(site, members, 1)

    def observe_warp_barrier(self, site, members) -> None:
        self._meet(site, members, 0)

    def _meet(self, site, members, votes: int) -> None:
        lanes = f"ptr {self.spill(self.read(members, 'b32'))}"
        active = self.active
        self.call_void("sg_sanitize_meet", "ptr %w", f"i32 {site}", lanes, active, f"i32 {votes}")
