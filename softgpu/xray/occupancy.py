"""How many blocks a GPU keeps on a multiprocessor at once, and what limits them; for the software
GPU itself, the driver's occupancy.c says the same."""

from dataclasses import dataclass

from ..contract import DEVICE, LANES
from .chip import Chip, chip

__all__ = ["Occupancy", "limits", "occupancy"]


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps on one multiprocessor; `limit` says what there is too little of for more."""

    blocks: int
    warps: int
    limit: str
    of: Chip

    @property
    def share(self) -> float:
        """Of the warps that a multiprocessor can hold."""
        return self.warps / self.of.warps


def occupancy(threads: int, registers: int, shared_bytes: int, of: Chip | None = None) -> Occupancy:
    """For blocks of `threads` with so many registers a thread and bytes of shared memory."""
    of = of or chip()
    most_of = limits(threads, registers, shared_bytes, of)
    blocks = min(most_of.values())
    limit = next(what for what, most in most_of.items() if most == blocks)
    return Occupancy(blocks, blocks * -(-threads // LANES), limit, of)


def limits(threads: int, registers: int, shared_bytes: int, of: Chip) -> dict[str, int]:
    """{what there is only so much of: the most blocks that it has room for}."""
    warps = -(-threads // LANES)
    registers_a_warp = _whole(max(registers, 1) * LANES, DEVICE["register_unit"])
    unit = DEVICE["warp_unit"]
    shared = _whole(shared_bytes + DEVICE["block_system_shared"], DEVICE["shared_unit"])
    return {
        "warps": of.warps // warps,
        "blocks": of.blocks,
        "registers": of.registers // registers_a_warp // unit * unit // warps,
        "shared memory": of.shared_bytes // shared,
    }


def _whole(amount: int, unit: int) -> int:
    """What is given out where so much is asked for."""
    return -(-amount // unit) * unit
