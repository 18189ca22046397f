"""How many blocks an H200 keeps on a multiprocessor at once, and what limits them."""

from dataclasses import dataclass

__all__ = ["Occupancy", "limits", "occupancy"]

WARPS, BLOCKS = 64, 32  # a multiprocessor holds this many at once
REGISTERS = 65536  # 4-byte registers of a multiprocessor
SHARED_BYTES = 228 << 10
REGISTER_UNIT, WARP_UNIT, SHARED_UNIT = 256, 4, 128  # what is given out at a time
SHARED_OF_SYSTEM = 1 << 10  # bytes of each block


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps on one multiprocessor; `limit` says what there is too little of for more."""

    blocks: int
    warps: int
    limit: str

    @property
    def share(self):
        """Of the warps that a multiprocessor can hold."""
        return self.warps / WARPS


def occupancy(threads, registers, shared_bytes):
    """For blocks of `threads` with so many registers a thread and bytes of shared memory."""
    most_of = limits(threads, registers, shared_bytes)
    blocks = min(most_of.values())
    limit = next(what for what, most in most_of.items() if most == blocks)
    return Occupancy(blocks, blocks * -(-threads // 32), limit)


def limits(threads, registers, shared_bytes):
    """{what there is only so much of: the most blocks that it has room for}."""
    warps = -(-threads // 32)
    registers_a_warp = -(-max(registers, 1) * 32 // REGISTER_UNIT) * REGISTER_UNIT
    warps_by_registers = REGISTERS // registers_a_warp // WARP_UNIT * WARP_UNIT
    shared = -(-(shared_bytes + SHARED_OF_SYSTEM) // SHARED_UNIT) * SHARED_UNIT
    return {
        "warps": WARPS // warps,
        "blocks": BLOCKS,
        "registers": warps_by_registers // warps,
        "shared memory": SHARED_BYTES // shared,
    }
