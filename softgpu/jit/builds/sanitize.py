"""The build whose every access, barrier, shuffle and fence goes through driver/watch/sanitize.c.

Beside the code it notes where each site's addresses come from: from which pointers among the
kernel's parameters, from which variables in shared memory. So an access that runs from one array
into the next is seen, although there is memory. And it notes how control flows between sites, for
advice on where a barrier belongs.
"""

from __future__ import annotations

from ... import contract
from ...advice import BLOCK, WARP
from ...ptx.program import Address, Instruction, Vector
from ..analysis.flow import gathers
from ..analysis.found import Found
from ..emit.function import FunctionEmitter
from ..emit.module_text import ModuleText
from ..facts.types import bits_of

__all__ = ["SanitizedEmitter"]

_HINTS = contract.flags("AccessHint", "HINT_")
_FENCE = contract.flags("FenceHint", "HINT_")
_PLACES = {"store": 0, "red": 0, "load": 1, "atomic": -1}  # of a copy: to, from, its mbarrier
_BARRIER = contract.flags("BarrierHint", "HINT_")


class SanitizedEmitter(FunctionEmitter):
    """Emits functions that let the sanitizer see, and decide on, what they do to memory."""

    def __init__(self, text: ModuleText, found: Found):
        super().__init__(text, found)
        self._shared = {
            name: (offset, offset + size if size else 0xFFFFFFFF)
            for offset, size, name in self.layout.shared_variables()
        }
        name, is_entry = self.function.name, self.function.is_entry
        text.notes.setdefault("flow", {})[name] = [block.targets for block in self.blocks]
        if is_entry:
            self.entry.append(self._void_call_text("sg_sanitize_start", "ptr %w"))

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
        """What the driver is told of the instruction at hand."""
        modifiers = set(self.item.modifiers)
        if name.startswith("barrier"):
            return _BARRIER.aligned if self.item.opcode == "bar" or "aligned" in modifiers else 0
        if name.startswith("cluster"):
            return 0 if "relaxed" in modifiers else _HINTS.release
        if name.startswith("mbarrier"):
            if self.item.opcode != "mbarrier":  # what copies and st.async say of their bytes
                return _HINTS.atomic | _HINTS.release
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

    def observe_fence(self) -> None:
        modifiers = set(self.item.modifiers)
        wide = 0 if "cta" in modifiers else _FENCE.device
        self.call_void("sg_sanitize_fence", "ptr %w", self.active, f"i32 {wide}")

    def observe_copy(self, site, to) -> None:
        where = f"ptr {self.spill(to, 'addresses')}"
        self.call_void("sg_sanitize_copy", "ptr %w", f"i32 {site}", where, self.active)

    def observe_copies_committed(self) -> None:
        self.call_void("sg_sanitize_copy_commit", "ptr %w", self.active)

    def observe_copies_awaited(self, groups) -> None:
        self.call_void("sg_sanitize_copy_wait", "ptr %w", self.active, f"i32 {groups}")

    def observe_bulk_committed(self) -> None:
        self.call_void("sg_sanitize_bulk_commit", "ptr %w", self.active)

    def observe_bulk_awaited(self, groups) -> None:
        self.call_void("sg_sanitize_bulk_wait", "ptr %w", self.active, f"i32 {groups}")

    def observe_proxy_fence(self) -> None:
        self.call_void("sg_sanitize_proxy_fence", "ptr %w", self.active)

    def observe_products_committed(self) -> None:
        self.call_void("sg_sanitize_products_commit", "ptr %w")

    def observe_products_awaited(self, groups) -> None:
        self.call_void("sg_sanitize_products_wait", "ptr %w", f"i32 {groups}")

    def emit_instruction(self, item: Instruction) -> None:
        for product, writes in self.found.unfinished.get(item, ()):
            sites = self.text.first_site[item], self.text.first_site[product]
            numbers = [f"i32 {n}" for n in (*sites, int(writes))]
            self.call_void("sg_sanitize_product_touch", "ptr %w", *numbers, f"i32 {self.mask}")
        super().emit_instruction(item)

    def observe_shuffle(self, site, members, mode, b, c) -> None:
        operands = ((b, "u32"), (c, "u32"), (members, "b32"))
        lanes = self.spill_all(*(self.read(operand, kind) for operand, kind in operands))
        active = self.active
        chosen = self.found.uses.only_chosen(self.item.operands[0])
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
