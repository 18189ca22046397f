"""The build whose every access, barrier, shuffle and fence goes through driver/watch/sanitize.c.

Beside the code it notes where each site's addresses come from: from which pointers among the
kernel's parameters, from which variables in shared memory. So an access that runs from one array
into the next is seen, although there is memory. And it notes how control flows between sites, for
advice on where a barrier belongs.
"""

from __future__ import annotations

from functools import reduce

from ... import contract
from ...advice import BLOCK, WARP
from ...ptx.program import Address, Instruction, Vector
from ..analysis.flow import Block, gathers
from ..analysis.found import Found
from ..analysis.undefined import reads_of, results_of
from ..emit.module_text import ModuleText
from ..emit.observer import Observer
from ..emit.sharing import SharingEmitter
from ..facts.opcodes import Does, Trait, does, has, sites_of
from ..facts.types import bits_of

__all__ = ["SanitizedEmitter"]

_HINTS = contract.flags("AccessHint", "HINT_")
_FENCE = contract.flags("FenceHint", "HINT_")
_PLACES = {"store": 0, "red": 0, "load": 1, "atomic": -1}  # of a copy: to, from, its mbarrier
_BARRIER = contract.flags("BarrierHint", "HINT_")


class Watcher(Observer):
    """Lets the sanitizer see what happens."""

    def __init__(self, e: SanitizedEmitter):
        self.e = e

    def fence(self) -> None:
        modifiers = set(self.e.item.modifiers)
        wide = 0 if "cta" in modifiers else _FENCE.device
        self.e.call_void("sg_sanitize_fence", "ptr %w", self.e.active, f"i32 {wide}")

    def copy(self, site, to) -> None:
        where = f"ptr {self.e.spill(to, 'addresses')}"
        self.e.call_void("sg_sanitize_copy", "ptr %w", f"i32 {site}", where, self.e.active)

    def copies_committed(self) -> None:
        self.e.call_void("sg_sanitize_copy_commit", "ptr %w", self.e.active)

    def copies_awaited(self, groups) -> None:
        self.e.call_void("sg_sanitize_copy_wait", "ptr %w", self.e.active, f"i32 {groups}")

    def bulk_committed(self) -> None:
        self.e.call_void("sg_sanitize_bulk_commit", "ptr %w", self.e.active)

    def bulk_awaited(self, groups) -> None:
        self.e.call_void("sg_sanitize_bulk_wait", "ptr %w", self.e.active, f"i32 {groups}")

    def proxy_fence(self) -> None:
        self.e.call_void("sg_sanitize_proxy_fence", "ptr %w", self.e.active)

    def mbarriers_shown(self) -> None:
        self.e.call_void("sg_sanitize_mbarriers_shown", "ptr %w", self.e.active)

    def products_fence(self) -> None:
        self.e.call_void("sg_sanitize_products_fence", "ptr %w")

    def products_committed(self) -> None:
        self.e.call_void("sg_sanitize_products_commit", "ptr %w")

    def products_awaited(self, groups) -> None:
        self.e.call_void("sg_sanitize_products_wait", "ptr %w", f"i32 {groups}")

    def shuffle(self, site, members, mode, b, c) -> None:
        operands = ((b, "u32"), (c, "u32"), (members, "b32"))
        lanes = self.e.spill_all(*(self.e.read(operand, kind) for operand, kind in operands))
        active = self.e.active
        chosen = self.e.found.uses.only_chosen(self.e.item.operands[0])
        what = f"i32 {site}", f"i32 {mode}"
        self.e.call_void(
            "sg_sanitize_shuffle", "ptr %w", *what, *lanes, active, f"i32 {int(chosen)}"
        )

    def vote(self, site, members) -> None:
        self._meet(site, members, 1)

    def warp_barrier(self, site, members) -> None:
        self._meet(site, members, 0)

    def _meet(self, site, members, votes: int) -> None:
        lanes = f"ptr {self.e.spill(self.e.read(members, 'b32'))}"
        active = self.e.active
        self.e.call_void("sg_sanitize_meet", "ptr %w", f"i32 {site}", lanes, active, f"i32 {votes}")


class SanitizedEmitter(SharingEmitter):
    """Emits functions that let the sanitizer see, and decide on, what they do to memory."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text, found)
        self.observer = Watcher(self)
        self._has_products = any(i.opcode == "wgmma" for i in self.function.instructions)
        self._shared = {
            name: (offset, offset + size if size else 0xFFFFFFFF)
            for offset, size, name in self.layout.shared_variables()
        }
        name, is_entry = self.function.name, self.function.is_entry
        text.notes.setdefault("flow", {})[name] = [block.targets for block in self.blocks]
        for register in found.undefined.first:
            self.entry += [f'%"u{register}" = alloca i32', f'store i32 0, ptr %"u{register}"']
        if is_entry:
            self.entry.append(self._void_call_text("sg_sanitize_start", "ptr %w"))

    # --- sites ------------------------------------------------------------------------------

    def site(self, item, kind, space="generic", size=0, elements=1) -> int:
        number = super().site(item, kind, space, size, elements)
        meets = WARP if item and gathers(item) else 0
        if kind == "barrier" or (item and item.opcode == "mbarrier"):
            meets = BLOCK
        self._note("origins", number, self._origin(item, kind), (0, 0, 0, 0, 0))
        if item and item.opcode == "ld" and self._is_begun(item):
            self.text.notes.setdefault("begun", []).append(number)
        self._note("places", number, (self.function.name, self.index, meets), ("", 0, 0))
        return number

    def _note(self, what: str, number: int, fact, otherwise) -> None:
        """Something about a site."""
        self.text.notes.setdefault(what, [otherwise] * len(self.text.sites))[number] = fact

    def _is_begun(self, item: Instruction) -> bool:
        """Whether what is loaded is only for sums of a wgmma, which need not read them, or has bits
        of it set in place."""
        target, place = item.operands[:2]
        if isinstance(target, Vector):
            return False
        uses, bits = self.found.uses, bits_of(item.modifiers[-1])
        is_for_sums = self._has_products and uses.only_begun(target)
        return is_for_sums or uses.only_moves(target, place, bits, in_place=True)

    def _moves(self, item: Instruction, address: Address) -> int:
        """Bits: the components of a load that are only copied."""
        if item.opcode != "ld":
            return 0
        target = item.operands[0]
        parts = target.elements if isinstance(target, Vector) else (target,)
        bits = bits_of(item.modifiers[-1])
        moved = (p is None or self.found.uses.only_moves(p, address, bits) for p in parts)
        return sum(1 << number for number, only in enumerate(moved) if only)

    def _origin(self, item: Instruction | None, kind: str) -> tuple[int, int, int, int, int]:
        """The fields of struct Origin in driver/runtime.h."""
        addresses = [o for o in item.operands if isinstance(o, Address)] if item else []
        if item is None or not addresses or kind not in ("load", "store", "atomic", "red"):
            return 0, 0, 0, 0, 0
        if item.opcode == "cp" and "tensor" in item.modifiers:  # a map says where in memory
            return 0, 0, 0, 0, 0
        address = addresses[_PLACES[kind] if len(addresses) > 1 else 0]
        facts = int(address in self.found.updated), self._moves(item, address)
        found = self.found.origins.origins_of(address)
        words = {word for word in found if isinstance(word, int)}
        if found and found == words:
            return sum(1 << word for word in words), 0, 0, *facts
        if not found or words:
            return 0, 0, 0, *facts
        begin, end = zip(*(self._shared[name] for name in found), strict=True)
        return 0, min(begin), max(end), *facts

    # --- what goes through the driver -------------------------------------------------------

    def _hints(self, name: str) -> int:
        """What the driver gets to know about the instruction at hand."""
        modifiers = set(self.item.modifiers)
        if name.startswith("barrier"):
            return _BARRIER.aligned if self.item.opcode == "bar" or "aligned" in modifiers else 0
        if name.startswith("cluster"):
            return 0 if "relaxed" in modifiers else _HINTS.release
        if name.startswith("mbarrier"):
            if self.item.opcode != "mbarrier":  # what copies and st.async say of their bytes
                own = (
                    self.item.opcode == "cp" and not self.item.caller
                )  # libcu++ knows its mbarriers
                copy = _HINTS.copy if own else 0
                return _HINTS.atomic | _HINTS.release | copy
            quiet = "relaxed" in modifiers or self.item.modifiers[0] == "expect_tx"
            plain = self.item.modifiers[0] in ("init", "inval")
            return 0 if plain else _HINTS.atomic | (0 if quiet else _HINTS.release)
        hints = 0
        ordered = bool(modifiers & {"relaxed", "acquire", "release"})
        if self.item.opcode in ("atom", "red") or ordered:
            hints |= _HINTS.atomic
        if self.item.opcode in ("ld", "st") and ordered:
            hints |= _HINTS.polls
        if "volatile" in modifiers:
            hints |= _HINTS.volatile
        if self.item.opcode in ("atom", "red") and "sys" in modifiers:
            hints |= _HINTS.polls  # as strong as volatile accesses are, which reach as far
        if self.item in self.found.polling:
            hints |= _HINTS.atomic | _HINTS.polls
        target = self.item.operands[0]
        if self.item.opcode == "ld" and getattr(target, "name", None) in self.found.expected:
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

    def emit_instruction(self, item: Instruction) -> None:
        for writer in self.found.unfenced.get(item, ()):
            places = self.text.first_site[item], self.text.first_site[writer]
            given = [f"i32 {place}" for place in places]
            self.call_void("sg_sanitize_product_unfenced", "ptr %w", *given, f"i32 {self.mask}")
        for product, writes in self.found.unfinished.get(item, ()):
            sites = self.text.first_site[item], self.text.first_site[product]
            numbers = [f"i32 {n}" for n in (*sites, int(writes))]
            self.call_void("sg_sanitize_product_touch", "ptr %w", *numbers, f"i32 {self.mask}")
        super().emit_instruction(item)
        if "aligned" in item.modifiers and not has(item, Trait.MEETS) and sites_of(item):
            site = self.text.first_site[self.found.copies.get(item, item)]
            lanes = f"i32 {self._active}"
            self.call_void("sg_sanitize_whole_warp", "ptr %w", f"i32 {site}", lanes)
        if self.found.undefined.first:
            self._follow_values(item)

    def _emit_choice(self, index: int, block: Block) -> None:
        if self.found.undefined.first and isinstance(block.choice, Instruction):
            self._active = self.mask
            self._follow_values(block.choice)
        super()._emit_choice(index, block)

    # --- values that nothing has made: see analysis/undefined.py -----------------------------

    def _follow_values(self, item: Instruction) -> None:
        """Tell where a value is missing; note for which lanes an instruction makes some."""
        sums = results_of(item) if item.opcode == "wgmma" else []
        for names in self.found.undefined.matters(item):
            lanes = self._active
            if names[0] in sums:  # which the product may be told to begin anew
                adds = self.bits(self.read(item.operands[4], "pred")).text
                lanes = self.assign(f"and i32 {lanes}, {adds}")
            self._want_one(item, names, lanes)
        followed = [name for name in results_of(item) if name in self.found.undefined.first]
        made = self._having(item) if followed else ""
        for name in followed:
            before = self._has(name)
            kept = self.assign(f"and i32 {before}, {self.assign(f'xor i32 {self._active}, -1')}")
            new = self.assign(f"and i32 {made}, {self._active}")
            self.line(f'store i32 {self.assign(f"or i32 {kept}, {new}")}, ptr %"u{name}"')

    def _has(self, name: str) -> str:
        """The lanes that have a value in a register, as bits."""
        if name not in self.found.undefined.first:
            return "-1"
        return self.assign(f'load i32, ptr %"u{name}"')

    def _having(self, item: Instruction) -> str:
        """The lanes for which an instruction makes a value, as bits."""
        names = [register.name for register in reads_of(item)]
        if not names or not does(item, Does.COMPUTES):
            return "-1"
        if item.opcode == "selp":
            one, other = (self._has(getattr(o, "name", "")) for o in item.operands[1:3])
            chosen = self.bits(self.splat(self.read(item.operands[3], "pred"))).text
            differ = self.assign(f"xor i32 {one}, {other}")
            return self.assign(f"xor i32 {other}, {self.assign(f'and i32 {chosen}, {differ}')}")
        how = "or" if self.found.undefined.joined(item) else "and"
        lanes = [self._has(name) for name in names]
        return reduce(lambda some, more: self.assign(f"{how} i32 {some}, {more}"), lanes)

    def _want_one(self, item: Instruction, names: list[str], lanes: str) -> None:
        """These lanes run an instruction to which a value in one of some registers matters."""
        having = reduce(
            lambda some, more: self.assign(f"or i32 {some}, {more}"), map(self._has, names)
        )
        missing = self.assign(f"and i32 {lanes}, {self.assign(f'xor i32 {having}, -1')}")
        first = self.found.undefined.first[names[0]] or item
        places = [f"i32 {self._place(at)}" for at in (first, item)]
        self.call_void("sg_sanitize_undefined", "ptr %w", *places, f"i32 {missing}")

    def _place(self, item: Instruction) -> int:
        """A number for an instruction's line, beyond the numbers of all sites."""
        line = item.user_line
        places = self.text.notes.setdefault("beyond", [])
        if [line.file, line.line] not in places:
            places.append([line.file, line.line])
        return len(self.text.sites) + places.index([line.file, line.line])
