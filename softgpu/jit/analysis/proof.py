"""Blocks whose accesses are all checked by one test at the start of the block.

Most of a block's addresses follow from the registers' values on entry. So one test can check that
all of them are in bounds, and that the lanes of each piece of the warp access consecutive elements
or one element, as expected. If it succeeds, the block runs without further checks; if not, another
version of the block checks each access in turn.

Terms: bounds-check hoisting, loop versioning (Würthinger et al. 2007; docs/terms.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from ...ptx.program import Address, Immediate, Instruction, Register, Special, Symbol
from ..facts.opcodes import ORDERED, Does, Trait, does, has
from ..facts.types import bits_of, vector_size
from .flow import Block, registers_of

__all__ = ["Guess", "Proof", "address_of", "find_proofs"]

_MOST_INSTRUCTIONS = 16
"""Per access. A block that does more gains little, and its code would still double."""

_MOST_ONCE = 16
"""The most accesses outside of loops for which a second version of the code is worthwhile."""

_KNOWN = ("tid.", "ntid.", "ctaid.", "nctaid.", "laneid")


class Guess(Enum):
    """How the lanes' addresses are expected to be laid out."""

    ALL_AT_ONE = "all lanes at one place"
    AT_ONE = "each piece of lanes at one place"
    IN_A_ROW = "each piece of lanes in a row"


@dataclass
class Proof:
    """What to compute and to test at the start of a block, and the accesses that this covers."""

    steps: list[Instruction] = field(default_factory=list)  # address arithmetic and accesses
    guesses: dict[Instruction, Guess] = field(default_factory=dict)  # of the accesses

    def __str__(self) -> str:
        told = ", ".join(f"{item} has {guess.value}" for item, guess in self.guesses.items())
        return f"{len(self.steps)} steps prove that {told}"

    def changed(self) -> list[Register]:
        """Return the registers that the steps write."""
        steps = (item for item in self.steps if item not in self.guesses)
        return list(dict.fromkeys(register for item in steps for register in registers_of(item)[0]))


def address_of(item: Instruction) -> Address:
    """Return the address operand of a load or store."""
    return next(operand for operand in item.operands if isinstance(operand, Address))


def access_bytes(item: Instruction) -> int:
    """Return how many bytes each lane loads or stores."""
    return vector_size(item) * bits_of(item.modifiers[-1]) // 8


def _guess(item: Instruction, varying: set[str], strides: dict[str, int | None]) -> Guess | None:
    """Guess the layout of an access's addresses; None: it needs a test of its own."""
    space = {m.split("::")[0] for m in item.modifiers} & {"global", "shared", "const"}
    if item.opcode not in ("ld", "st") or not space or item.predicate:
        return None
    elsewhere = "shared::cluster" in item.modifiers
    if elsewhere or ORDERED & set(item.modifiers) or item.modifiers[-1] == "b128":
        return None
    base = address_of(item).base
    guess: Guess | None = Guess.ALL_AT_ONE
    if isinstance(base, Register) and base.name in varying:
        stride = strides[base.name]
        in_a_row = Guess.IN_A_ROW if stride == access_bytes(item) else None
        guess = Guess.AT_ONE if stride == 0 else in_a_row
    return guess if item.opcode == "ld" or guess is Guess.IN_A_ROW else None


def _is_address_arithmetic(item: Instruction) -> bool:
    """Whether the instruction may be computed ahead, at the start of the block."""
    if item.opcode == "ld" and "param" in item.modifiers and not item.predicate:
        return isinstance(address_of(item).base, str)
    if not has(item, Trait.ADDRESSES) or item.predicate or "cc" in item.modifiers:
        return False
    if any(m[0] == "f" or m.startswith("bf") or m in ("local", "sat") for m in item.modifiers):
        return False
    specials = (o for o in item.operands if isinstance(o, Special))
    plain = all(isinstance(o, Register | Immediate | Special | Symbol) for o in item.operands)
    return plain and all(special.name.startswith(_KNOWN) for special in specials)


def find_proofs(
    blocks: list[Block], varying: set[str], strides: dict[str, int | None], looping: set[int]
) -> dict[int, Proof]:
    """Return the proofs that pay, by block index; `looping`: the blocks inside loops."""
    proofs = ((n, _find_proof(b.instructions, varying, strides)) for n, b in enumerate(blocks))
    return {
        index: proof
        for index, proof in proofs
        if proof and (index in looping or len(proof.guesses) <= _MOST_ONCE)
    }


def _find_proof(
    items: list[Instruction], varying: set[str], strides: dict[str, int | None]
) -> Proof | None:
    """Return a proof of a block's accesses; None if it does not pay."""
    if any(does(item, Does.CALLS) for item in items):
        return None
    proof = Proof()
    unknown: set[str] = set()  # registers whose value does not follow from the values on entry
    steps: list[Instruction] = []
    for item in items:
        written, read = registers_of(item)
        if _is_address_arithmetic(item) and not any(r.name in unknown for r in read):
            unknown -= {r.name for r in written}
            steps.append(item)
            continue
        guess = _guess(item, varying, strides)
        base = address_of(item).base if guess else None
        if guess and not (isinstance(base, Register) and base.name in unknown):
            proof.guesses[item] = guess
            steps.append(item)
        unknown |= {r.name for r in written}
    if all(guess is Guess.ALL_AT_ONE for guess in proof.guesses.values()):
        return None
    if len(items) > _MOST_INSTRUCTIONS * len(proof.guesses):
        return None
    needed: set[str] = set()
    for item in reversed(steps):
        written, read = registers_of(item)
        if item in proof.guesses:
            base = address_of(item).base
            needed |= {base.name} if isinstance(base, Register) else set()
        elif any(r.name in needed for r in written):
            needed = (needed - {r.name for r in written}) | {r.name for r in read}
        else:
            continue
        proof.steps.insert(0, item)
    return proof
