"""What each opcode of PTX is: one row per kind, for all that analyse and emit instructions.

Its modifiers and operands, and which of these it writes, are its forms: `ptx/forms.py`. An opcode
without a row is refused by name; one with a row has an emitter (`@instruction`) or ends a
block (`JUMPS`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

from ...ptx.program import Instruction, PtxError

__all__ = [
    "OPCODES",
    "ORDERED",
    "Agreement",
    "Does",
    "Nans",
    "Opcode",
    "Pointer",
    "Trait",
    "does",
    "has",
    "opcode_of",
    "sites_of",
]


ORDERED = {"volatile", "relaxed", "acquire", "release", "mmio"}
"""The modifiers of accesses that other threads are meant to see."""


class Does(Enum):
    """What an instruction does beside computing a result."""

    COMPUTES = auto()  # nothing
    READS = auto()
    WRITES = auto()
    UPDATES = auto()  # reads and writes at once
    COPIES = auto()
    SAMPLES = auto()  # textures and surfaces, which no address leads to
    ORDERS = auto()  # barriers and fences
    TALKS = auto()  # with other lanes of the warp
    JUMPS = auto()  # it ends its block
    CALLS = auto()
    STOPS = auto()  # the whole launch
    HINTS = auto()  # what changes no result


class Agreement(Enum):
    """When all lanes that execute an instruction have the same result."""

    OPERANDS = auto()  # if their operands are the same
    MEMBERS = auto()  # if the last operand, the member mask, is
    ALWAYS = auto()
    NEVER = auto()


class Pointer(Enum):
    """Where a 64-bit result points if an operand is a pointer."""

    KEPT = auto()  # into the same memory as the operand
    OF_SUMMAND = auto()  # into the memory of the last operand
    LOST = auto()  # nowhere: it is a number
    UNKNOWN = auto()


class Nans(Enum):
    """What an instruction on floats does with NaN."""

    CARRIED = auto()  # propagates an operand's bits, or depends on them
    MADE = auto()  # returns the hardware's canonical NaN
    ALIKE = auto()  # the result is not a float, and the same for every NaN


class Trait(Enum):
    """Properties of an opcode that analyses use: each is a column of the table."""

    MEETS = auto()  # a synchronisation point for threads of a block
    ADDRESSES = auto()  # address arithmetic, which may be computed early
    KEEPS_STRIDE = auto()  # the result has the stride of the operand that varies
    HANDS_ON = auto()  # derives a condition from others, or copies it
    MOVES = auto()  # passes bits of an operand on, changed or not, without depending on them
    PASSES_ON = auto()  # the result matters only if it is used
    SLOW = auto()  # ptxas compiles it to a subroutine call


@dataclass(frozen=True)
class Opcode:
    """One row. Which operands are written is a matter of their form: `ptx.forms.result_count`."""

    does: Does = Does.COMPUTES
    agreement: Agreement = Agreement.OPERANDS
    pointer: Pointer = Pointer.UNKNOWN
    nans: Nans = Nans.CARRIED
    traits: frozenset[Trait] = frozenset()


OPCODES: dict[str, Opcode] = {}


def _rows(opcodes: str, **facts) -> None:
    OPCODES.update(dict.fromkeys(opcodes.split(), Opcode(**facts)))


# --- arithmetic ----------------------------------------------------------------------------------

_rows("add sub min max", pointer=Pointer.KEPT, nans=Nans.MADE)
_rows("mad fma", pointer=Pointer.OF_SUMMAND, nans=Nans.MADE)
_rows("mad24", pointer=Pointer.OF_SUMMAND)
_rows("mul div neg abs", pointer=Pointer.LOST, nans=Nans.MADE)
_rows("sqrt rcp rsqrt sin cos lg2 ex2 tanh", nans=Nans.MADE)
_rows("setp", pointer=Pointer.LOST, nans=Nans.ALIKE)
_rows("set testp", pointer=Pointer.LOST, nans=Nans.ALIKE)
_rows("and or xor mov cvt selp slct", pointer=Pointer.KEPT)
_rows("mul24 shl shr rem not bfe bfi clz popc brev prmt", pointer=Pointer.LOST)
_rows("addc subc madc sad cnot shf bfind bmsk szext fns copysign dp4a dp2a lop3")
_rows("vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4")
_rows("vset2 vset4")

# --- memory --------------------------------------------------------------------------------------

_rows("ld ldu", does=Does.READS)
_rows("st", does=Does.WRITES)
_rows("atom", does=Does.UPDATES, agreement=Agreement.NEVER)
_rows("red", does=Does.UPDATES)
_rows("cp tensormap", does=Does.COPIES)
_rows("tex tld4 suld sust", does=Does.SAMPLES, agreement=Agreement.NEVER)
_rows("cvta", pointer=Pointer.KEPT)
_rows("isspacep createpolicy getctarank", pointer=Pointer.LOST)
_rows("mapa")

# --- between threads -----------------------------------------------------------------------------

_rows("bar barrier", does=Does.ORDERS, agreement=Agreement.ALWAYS)
_rows("membar fence", does=Does.ORDERS)
_rows("mbarrier", does=Does.ORDERS, agreement=Agreement.NEVER)
_rows("shfl", does=Does.TALKS, agreement=Agreement.NEVER, pointer=Pointer.LOST)
_rows("vote", does=Does.TALKS, agreement=Agreement.MEMBERS, pointer=Pointer.LOST)
_rows("redux", does=Does.TALKS, agreement=Agreement.MEMBERS)
_rows("match", does=Does.TALKS, agreement=Agreement.MEMBERS)
_rows("elect", does=Does.TALKS, agreement=Agreement.NEVER)
_rows("mma movmatrix", does=Does.TALKS, agreement=Agreement.NEVER)
_rows("wgmma setmaxnreg", does=Does.ORDERS, agreement=Agreement.NEVER)
_rows("ldmatrix", does=Does.READS, agreement=Agreement.NEVER)
_rows("stmatrix", does=Does.WRITES, agreement=Agreement.NEVER)
_rows("wmma", does=Does.UPDATES, agreement=Agreement.NEVER)
_rows("activemask", does=Does.TALKS, agreement=Agreement.ALWAYS)

# --- where lanes go ------------------------------------------------------------------------------

_rows("bra brx ret exit", does=Does.JUMPS)
_rows("call", does=Does.CALLS, agreement=Agreement.NEVER)
_rows("trap brkpt", does=Does.STOPS)
_rows(
    "prefetch prefetchu discard applypriority nanosleep pmevent griddepcontrol",
    does=Does.HINTS,
)

# --- what analyses ask ---------------------------------------------------------------------------


def _column(trait: Trait, opcodes: str) -> None:
    for name in opcodes.split():
        OPCODES[name] = replace(OPCODES[name], traits=OPCODES[name].traits | {trait})


_column(Trait.MEETS, "bar barrier")
_column(Trait.ADDRESSES, "add sub mul mad mul24 mov cvta cvt shl shr and or xor neg")
_column(Trait.KEEPS_STRIDE, "mov cvt cvta and rem min max selp")
_column(Trait.HANDS_ON, "mov setp selp and or xor not")
_column(Trait.MOVES, "mov cvt selp shfl prmt")
_column(Trait.PASSES_ON, "mov cvt add sub mul fma min max and or xor")
_column(Trait.SLOW, "div rem")


def opcode_of(item: Instruction) -> Opcode:
    """The row of an instruction."""
    if item.opcode not in OPCODES:
        raise PtxError(
            f"the software GPU does not run the instruction {item.name} ({item.user_line})"
        )
    stores_later = item.opcode in ("st", "red") and "async" in item.modifiers
    return OPCODES["cp" if stores_later else item.opcode]


def does(item: Instruction, *what: Does) -> bool:
    """Whether an instruction does one of these."""
    return opcode_of(item).does in what


def has(item: Instruction, trait: Trait) -> bool:
    """Whether an instruction's opcode has a trait."""
    return trait in opcode_of(item).traits


_SITES = {
    Does.READS: 1,
    Does.WRITES: 1,
    Does.UPDATES: 1,
    Does.COPIES: 3,  # what is read, what is written, the mbarrier that is signalled
    Does.SAMPLES: 1,
    Does.ORDERS: 1,
    Does.TALKS: 1,
    Does.CALLS: 2,  # a pointer that leads nowhere, a failed assertion
    Does.STOPS: 1,
}


def sites_of(item: Instruction | None) -> int:
    """How many rows an instruction has in the table of sites; None: a function itself."""
    return 1 if item is None else _SITES.get(opcode_of(item).does, 0)
