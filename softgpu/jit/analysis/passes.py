"""The passes over one function of PTX, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass

from ...ptx.program import Function, Instruction
from .flow import (
    Block,
    blocks_in_order,
    live_registers,
    registers_read,
    spinning_loops,
    waiting_blocks,
    waits_for_nothing_else,
)
from .nans import NanPlan, plan_nans
from .uniform import find_varying, is_divergent
from .unrolling import as_ptxas_unrolls

__all__ = ["Analysis", "analyse"]


@dataclass
class Analysis:
    """What an emitter knows of a function; lists have an element per block."""

    function: Function
    copies: dict[Instruction, Instruction | None]  # of unrolled loops: of what; None: added
    blocks: list[Block]
    varying: set[str]  # registers with a value per lane
    divergent: list[bool]  # whether lanes may part at its end
    waiting: list[frozenset[int]]  # the blocks at which lanes may wait while it runs
    spinning: dict[int, int]  # loops that may wait for others: last block, first block
    only_waits: dict[Instruction, tuple[int, int]]
    protected: list[set[str]]  # registers that waiting lanes still need
    nans: NanPlan
    read_somewhere: set[str]


def _blocks(function: Function, calls_may_exit: bool):
    """A function's blocks, the registers that live on entry to each, and those that vary."""
    blocks = blocks_in_order(function, calls_may_exit)
    live = live_registers(blocks)
    return blocks, live, find_varying(function, blocks, live)


def analyse(function: Function, calls_may_exit: bool, unrolled: bool = False) -> Analysis:
    """Run all passes; `unrolled`: over the function with its loops unrolled as ptxas would."""
    copies: dict[Instruction, Instruction | None] = {}
    blocks, live, varying = _blocks(function, calls_may_exit)
    if unrolled:
        function, copies = as_ptxas_unrolls(function, varying)
        if copies:
            blocks, live, varying = _blocks(function, calls_may_exit)
    divergent = [is_divergent(block, varying) for block in blocks]
    waiting = waiting_blocks(blocks, divergent)
    return Analysis(
        function=function,
        copies=copies,
        blocks=blocks,
        varying=varying,
        divergent=divergent,
        waiting=waiting,
        spinning=spinning_loops(blocks),
        only_waits=waits_for_nothing_else(blocks),
        protected=[set().union(*(live[b] for b in others)) for others in waiting],
        nans=plan_nans(blocks, live),
        read_somewhere=registers_read(function),
    )
