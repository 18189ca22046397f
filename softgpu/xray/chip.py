"""What a GPU can do: constants that bench/chip measured, a file per GPU in chips/."""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..contract import DEVICE
from ..sass import prefixed

__all__ = ["LIMITS", "MODELLED", "Chip", "chip"]

CHIPS = Path(__file__).parent / "chips"
MODELLED = "h200"  # what the software GPU presents itself as
LIMITS = {  # what the file of a chip names only where it is not the software GPU's
    "multiprocessors": DEVICE["multiprocessors"],
    "gpcs": 8,
    "warps": DEVICE["sm_warps"],
    "blocks": DEVICE["sm_blocks"],
    "registers": DEVICE["sm_registers"],
    "shared_bytes": DEVICE["sm_shared"],
    "l1_bytes": DEVICE["sm_cache"],
}


@dataclass(frozen=True)
class Chip:
    """Constants of a GPU; bench/chip/constants.py says what each is measured by."""

    name: str
    multiprocessors: int
    gpcs: int  # clusters of multiprocessors, each with a request coalescer before the L2
    warps: int  # that a multiprocessor holds at once, as the next ones
    blocks: int
    registers: int
    shared_bytes: int
    l1_bytes: int  # with the shared memory
    cycles_per_us: float
    launch_us: float  # of a kernel that does nothing
    first_us: dict[int, float]  # until data is there from memory, by blocks that wait for it
    turn_us: float  # from a block's end to the work of its successor
    blocks_per_us: float  # that the chip can begin
    latency: dict[str, float]  # cycles until a result is there, by what makes it
    barrier: dict[int, float]  # cycles, by threads of the block
    rate: dict[str, float]  # lanes per cycle and multiprocessor, by pipe
    # of tensor cores, by opcode: latency, cycles, and those if the second factor is a new one
    products: dict[str, tuple[float, ...]]
    near_cycles: float  # of a request to the L1, for each 128 bytes
    l2_bytes: int
    l2_read_ns: tuple[float, float]  # of the chip, for a line, and for each sector of it
    l2_write_ns: tuple[float, float]  # the same
    read_gb_per_s: float
    write_gb_per_s: float
    copy_gb_per_s: float  # half read, half written
    read_page_ns: float  # to read from a page of memory that nothing else is read from then
    write_page_ns: float
    atomic_ns: dict[int, float]  # a turn of an atomic, by how many lines they are spread over
    fetch_ns: dict[int, float]  # the same, of one whose old value is asked for
    same_address_ns: dict[str, float]  # by whether it adds numbers with a fraction
    queueing: float  # share by which waiting grows while memory is half busy
    # cycles_per_us while tensor cores work, by whose they are and how many µs they do
    loaded: dict[str, dict[int, float]] = field(default_factory=dict)
    box: tuple[float, ...] = ()  # cycles of a bulk copy from the L2, and of each byte of it

    def product(self, opcode: str) -> tuple[float, ...]:
        """(latency, cycles) of a product of matrices; () where nobody has measured it."""
        return prefixed(self.products, opcode) or ()

    @property
    def words(self) -> str:
        """As a sentence names it: an H200."""
        short = re.sub(r"[ -]\d+GB.*", "", self.name.removeprefix("NVIDIA "))
        return f"{'an' if short[0] in 'AEFHILMNORSX' else 'a'} {short}"


@cache
def chip(name: str = MODELLED) -> Chip:
    """The constants of a GPU by the name of its file: "h200"."""
    known = sorted(path.stem for path in CHIPS.glob("*.json"))
    if name not in known:
        raise ValueError(f"chip={name!r}: nobody has measured it; pass one of {', '.join(known)}")
    found = LIMITS | json.loads((CHIPS / f"{name}.json").read_text())
    for key in ("barrier", "atomic_ns", "fetch_ns"):
        found[key] = {int(n): value for n, value in found[key].items()}
    loaded = found.get("loaded", {})
    found["loaded"] = {kind: {int(us): n for us, n in of.items()} for kind, of in loaded.items()}
    first = found["first_us"]
    found["first_us"] = {1: first["one"], found["multiprocessors"]: first["all"]}
    return Chip(**found)
