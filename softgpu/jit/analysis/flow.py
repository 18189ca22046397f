"""Control flow for 32 lanes at once: an order of blocks in which diverged lanes always reconverge.

A warp runs one block at a time, always the first in order at which lanes wait. For this to bring
lanes together where their paths join, every loop must be contiguous, be entered only at its first
block and be repeated only from its last block; `blocks_in_order` arranges a function so.

Terms: reconvergence (Diamos et al. 2011; docs/terms.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ...ptx.forms import result_count
from ...ptx.program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Label,
    Not,
    PtxError,
    Register,
    Special,
    Symbol,
    Vector,
)
from ..facts.opcodes import OPCODES, Does, Trait, does, has

__all__ = [
    "CARRY",
    "EXIT",
    "Block",
    "blocks_in_order",
    "constants",
    "find_meeters",
    "find_watchers",
    "live_registers",
    "loops_of",
    "protected_registers",
    "registers_of",
    "released",
    "spinning_loops",
    "waiting_blocks",
    "waits_for_nothing_else",
]

EXIT = -1
"""The target of lanes that return."""


@dataclass
class Block:
    """A basic block: straight-line instructions, and where its lanes go next.

    `choice` is None (all lanes go to targets[0]), a predicated branch (targets: taken, not taken),
    a `brx.idx` (targets by index), or "entry": the lane's entry number (see `selects`) chooses.
    """

    instructions: list[Instruction]
    targets: list[int]
    choice: Instruction | str | None = None
    selects: dict[int, int] = field(default_factory=dict)  # target position -> entry number it sets
    exits: bool = False  # EXIT is the end of the thread, not of the function
    loses_lanes: bool = False  # threads may exit in a function that it calls
    watches: bool = False  # in a loop: it may be polling memory
    meets: bool = False  # several lanes execute part of it together


def gathers(item: Instruction) -> bool:
    """Whether several lanes execute the instruction together."""
    return has(item, Trait.MEETS) or "sync" in item.modifiers


def _waits_at_mbarrier(item: Instruction) -> bool:
    return item.opcode == "mbarrier" and item.modifiers[0] in ("test_wait", "try_wait")


def find_watchers(functions: Iterable[Function]) -> frozenset[str]:
    """Return the functions that may poll memory on behalf of callers waiting for it to change."""
    return _functions_with(functions, lambda item: item.opcode == "atom" or _watches(item))


def find_meeters(functions: Iterable[Function]) -> frozenset[str]:
    """Return the functions in which several lanes execute something together. An instruction that
    cannot run is refused in its own kernel; the module's other kernels run."""
    return _functions_with(functions, lambda item: item.opcode in OPCODES and gathers(item))


def _functions_with(
    functions: Iterable[Function], is_one: Callable[[Instruction], bool]
) -> frozenset[str]:
    """Return the functions that execute such an instruction, or call one that does."""
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for function in functions:
        items = function.instructions
        named = (item.operands[1] for item in items if item.opcode == "call")
        calls[function.name] = {called.name for called in named if isinstance(called, Symbol)}
        if any(map(is_one, items)):
            found.add(function.name)
    before = -1
    while before < len(found):
        before = len(found)
        found |= {name for name, called in calls.items() if called & found}
    return frozenset(found)


def constants(function: Function, wanted: Iterable[str]) -> dict[str, int]:
    """Return the wanted registers that a single move sets to a number, with its low 32
    bits."""
    set_by: dict[str, list[Instruction]] = {name: [] for name in wanted}
    for item in function.instructions if set_by else ():
        for register in registers_of(item)[0]:
            if register.name in set_by:
                set_by[register.name].append(item)
    moves = {name: items[0] for name, items in set_by.items() if len(items) == 1}
    return {
        name: move.operands[1].value & 0xFFFFFFFF
        for name, move in moves.items()
        if move.opcode == "mov" and not move.predicate and isinstance(move.operands[1], Immediate)
    }


def _watchers_of(function: Function, watchers: frozenset[str]) -> set[Instruction]:
    """Return the instructions that may be polling memory in a loop."""
    atoms = [item for item in function.instructions if item.opcode == "atom"]
    named = {o.name for item in atoms for o in item.operands if isinstance(o, Register)}
    known = constants(function, named) if named else {}

    def looks(item: Instruction) -> bool:  # an atomic that adds 0 or the like
        values = [
            known.get(o.name) if isinstance(o, Register) else getattr(o, "value", None)
            for o in item.operands
        ]
        return any(value in (0, -1, 0xFFFFFFFF) for value in values)

    waiting = {item for item in atoms if looks(item)}
    return waiting | {item for item in function.instructions if _watches(item, watchers)}


def _watches(item: Instruction, watchers: frozenset[str] = frozenset()) -> bool:
    """Whether the instruction, whatever its operands, may be polling memory."""
    modifiers = set(item.modifiers)
    if item.opcode == "call":
        return _called(item) in watchers
    if item.opcode == "atom":
        return bool({"cas", "exch"} & modifiers)
    if _waits_at_mbarrier(item):
        return True
    watching = {"volatile", "acquire", "relaxed", "mmio", "cv", "cg"}
    return item.opcode == "ld" and bool(watching & modifiers)


def _called(item: Instruction) -> str:
    """Return the name of the function that an instruction calls, if it names one."""
    return getattr(item.operands[1], "name", "") if item.opcode == "call" else ""


def _split(
    function: Function, calls_may_exit: bool, watchers: frozenset[str], meeters: frozenset[str]
) -> list[Block]:
    """Split a function into basic blocks in textual order; targets are indices into the list."""

    def meets(item: Instruction) -> bool:
        return gathers(item) or _called(item) in meeters

    starts: list[list[Instruction]] = [[]]
    labels: dict[str, int] = {}
    watching = _watchers_of(function, watchers)
    for item in function.body:
        if isinstance(item, Label):
            if starts[-1]:
                starts.append([])
            labels[item.name] = len(starts) - 1
        else:
            if watching and meets(item) and starts[-1]:
                starts.append([])
            starts[-1].append(item)
            if does(item, Does.JUMPS) or (calls_may_exit and does(item, Does.CALLS)):
                starts.append([])
    blocks = []
    for index, instructions in enumerate(starts):
        following = index + 1 if index + 1 < len(starts) else EXIT
        last = instructions[-1] if instructions else None
        if last is None or not does(last, Does.JUMPS):
            calls = last is not None and does(last, Does.CALLS)
            blocks.append(Block(instructions, [following], loses_lanes=calls_may_exit and calls))
            continue
        if last.opcode == "brx":
            names = function.branch_targets[last.operands[1].name]
            blocks.append(Block(instructions[:-1], [labels[name] for name in names], last))
            continue
        target = labels[last.operands[0].name] if last.opcode == "bra" else EXIT
        if last.predicate and target != following:
            blocks.append(Block(instructions[:-1], [target, following], last))
        else:
            blocks.append(Block(instructions[:-1], [target]))
        blocks[-1].exits = last.opcode == "exit"
    for block in blocks:
        block.watches = any(item in watching for item in block.instructions)
        block.meets = any(map(meets, block.instructions))
    if function.is_entry:  # threads that have finished have exited and do not wait for others
        done = {
            index
            for index, block in enumerate(blocks)
            if not block.instructions and block.choice is None and block.targets == [EXIT]
        }
        for block in blocks:
            block.targets = [EXIT if target in done else target for target in block.targets]
    return blocks


def _components(nodes: list[int], successors) -> list[list[int]]:
    """Return the strongly connected components in topological order (Tarjan, without recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found = []
    for root in nodes:
        if root in number:
            continue
        work = [(root, iter(successors(root)))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in number:
                    number[target] = low[target] = len(number)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(successors(target))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(component)
    return found[::-1]


def _reachable(blocks: list[Block], entry: int) -> list[int]:
    """Return the blocks that can be reached, the entry first."""
    seen, todo = {entry}, [entry]
    while todo:
        for target in blocks[todo.pop()].targets:
            if target != EXIT and target not in seen:
                seen.add(target)
                todo.append(target)
    return [entry, *sorted(seen - {entry})]


def _arrange(
    blocks: list[Block], nodes: list[int], entry: set[int], cut: set[tuple[int, int]]
) -> list[int]:
    """Order `nodes` (a region whose edges in `cut` are ignored); may append blocks to `blocks`.

    A block comes after all its predecessors. The blocks of a loop are contiguous, the header first,
    then the others, arranged in the same way without the back edge. A loop with several back edges
    gets a new last block L that joins them. A loop with several entries gets a new header E that
    sends each lane on by its entry number:

        b1 -> b2 or b3            b1
        b2 -> b1                  b2 -> L
        b3 -> b1 or out           b3 -> L or out
                                  L  -> b1

        b0 -> b1 or b2            b0 -> E (entry 0 or 1)
        b1 -> b2                  E  -> b1 or b2 by entry
        b2 -> b1 or out           b1 -> L (entry 1)
                                  b2 -> L (entry 0) or out
                                  L  -> E
    """
    inside = set(nodes)
    order: list[int] = []

    def successors(node):
        return [t for t in blocks[node].targets if t in inside and (node, t) not in cut]

    for component in _components(nodes, successors):
        members = set(component)
        if len(component) == 1 and component[0] not in successors(component[0]):
            order += component
            continue
        entered = {
            target for node in inside - members for target in successors(node) if target in members
        } | (entry & members)
        header = _header(blocks, sorted(entered))
        members.add(header)
        latch = _latch(blocks, members, header)
        members.add(latch)
        inside |= members
        rest = sorted(members - {header})
        after = {t for t in blocks[header].targets if t in members and t != header}
        order.append(header)
        if rest:
            order += _arrange(blocks, rest, after, cut | {(latch, header)})
    return order


def _header(blocks: list[Block], entries: list[int]) -> int:
    """Return the block at which a loop is entered; with several entries, a new block before
    them."""
    if len(entries) == 1:
        return entries[0]
    header = len(blocks)
    for block in blocks:
        for position, target in enumerate(block.targets):
            if target in entries:
                block.selects[position] = entries.index(target)
                block.targets[position] = header
    blocks.append(Block([], entries, "entry"))
    return header


def _latch(blocks: list[Block], members: set[int], header: int) -> int:
    """Return the block with the loop's only back edge; make a new last block if there are
    several, or if the back edge leaves from the middle."""
    sources = [node for node in members if header in blocks[node].targets]
    if len(sources) == 1 and {*blocks[sources[0]].targets} & members == {header}:
        return sources[0]
    latch = len(blocks)
    for node in sources:
        block = blocks[node]
        block.targets = [latch if target == header else target for target in block.targets]
    blocks.append(Block([], [header]))
    return latch


def blocks_in_order(
    function: Function,
    calls_may_exit: bool = False,
    watchers: frozenset[str] = frozenset(),
    meeters: frozenset[str] = frozenset(),
) -> list[Block]:
    """Return a function's reachable blocks; an edge to itself or an earlier block repeats a loop.

    watchers, meeters: see find_watchers, find_meeters."""
    blocks = _split(function, calls_may_exit, watchers, meeters)
    blocks.append(Block([], [0]))  # an entry that nothing jumps back to
    order = _arrange(blocks, _reachable(blocks, len(blocks) - 1), set(), set())
    place = {node: index for index, node in enumerate(order)} | {EXIT: EXIT}
    for node in order:
        blocks[node].targets = [place[target] for target in blocks[node].targets]
    return [blocks[node] for node in order]


def loops_of(blocks: list[Block]) -> list[tuple[int, int]]:
    """Return the last and the first block of each loop."""
    ends = ((last, first) for last, block in enumerate(blocks) for first in block.targets)
    return [(last, first) for last, first in ends if EXIT < first <= last]


def spinning_loops(blocks: list[Block]) -> dict[int, int]:
    """Return the loops (last block: first block) that may wait for other lanes or warps to
    change memory."""
    return {
        last: first
        for last, first in loops_of(blocks)
        if any(block.watches for block in blocks[first : last + 1])
    }


def _acts(item: Instruction) -> bool:
    """Whether the instruction has side effects that others can see."""
    acts = does(item, Does.WRITES, Does.UPDATES, Does.COPIES, Does.SAMPLES, Does.CALLS, Does.STOPS)
    return acts or gathers(item) or item.opcode in ("ret", "exit")


def _ends_by_waiting(blocks: list[Block], first: int, last: int) -> bool:
    """Whether a loop only repeats until a wait at an mbarrier succeeds."""
    items = [item for block in blocks[first : last + 1] for item in block.instructions]
    if any(_acts(item) for item in items):
        return False
    decisive: set[str] = set()
    for block in blocks[first : last + 1]:
        if not all(first <= target <= last for target in block.targets):
            if not isinstance(block.choice, Instruction):
                return False
            decisive |= {register.name for register in registers_of(block.choice)[1]}
    before = -1
    while before < len(decisive):
        before = len(decisive)
        for item in items:
            written, read = registers_of(item)
            if _waits_at_mbarrier(item) or not decisive & {r.name for r in written}:
                continue
            if not has(item, Trait.HANDS_ON) or any(isinstance(o, Special) for o in item.operands):
                return False
            decisive |= {register.name for register in read}
    return True


def waits_for_nothing_else(blocks: list[Block]) -> dict[Instruction, tuple[int, int]]:
    """Return the mbarrier waits that alone end their loops, with those loops (last block, first
    block)."""
    return {
        item: (last, first)
        for last, first in spinning_loops(blocks).items()
        if _ends_by_waiting(blocks, first, last)
        for block in blocks[first : last + 1]
        for item in block.instructions
        if _waits_at_mbarrier(item)
    }


def released(blocks: list[Block], waiting: Iterable[int], first: int) -> list[int]:
    """Return the waiting blocks that a spinning loop, which starts at `first`, lets run."""
    return sorted(b for b in waiting if b != first and not blocks[b].meets)


def waiting_blocks(blocks: list[Block], divergent: list[bool]) -> list[frozenset[int]]:
    """Return, for each block, the other blocks at which lanes may be waiting while it runs.

    `divergent[b]`: the lanes of block b may choose different targets. A spinning loop lets waiting
    lanes run a block now and then, since one of them may hold what the loop waits for; but it never
    runs a block that all lanes must execute together.
    """
    during = [0] * len(blocks)  # sets of blocks, as bit masks
    spinning = spinning_loops(blocks)
    free = sum(1 << n for n, block in enumerate(blocks) if not block.meets) if spinning else 0
    changed = True

    def wait(block: int, others: int) -> None:
        nonlocal changed
        if others & ~during[block]:
            during[block] |= others
            changed = True

    while changed:
        changed = False
        for index, block in enumerate(blocks):
            ways = [block.targets] if divergent[index] else [[target] for target in block.targets]
            for targets in ways:
                left = during[index] | sum(1 << t for t in {*targets} - {EXIT})
                certain = len(targets) == 1 and targets[0] != EXIT and not block.loses_lanes
                for target in _bits(left):
                    left ^= 1 << target
                    wait(target, left)
                    if certain and target == targets[0]:
                        break
            if index in spinning:
                first = 1 << spinning[index]
                for other in _bits(during[index] & free & ~first):
                    wait(other, (during[index] | first) & ~(1 << other))
    return [frozenset(_bits(waiting)) for waiting in during]


def _bits(mask: int) -> Iterator[int]:
    """Yield the positions of a number's set bits, lowest first."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def protected_registers(live: list[set[str]], waiting: list[frozenset[int]]) -> list[set[str]]:
    """Return, for each block, the registers still needed by lanes that wait while it runs."""
    return [set().union(*(live[other] for other in others)) for others in waiting]


def _registers(operand) -> list[Register]:
    if isinstance(operand, Register):
        return [operand]
    if isinstance(operand, Not):
        return [operand.register]
    if isinstance(operand, Address):
        return [operand.base] if isinstance(operand.base, Register) else []
    if isinstance(operand, Vector):
        return [register for element in operand.elements for register in _registers(element)]
    return []


CARRY = Register("%carry", "pred")
"""The condition code register that add.cc and its kin write and read."""


_known_registers: dict[Instruction, tuple[list[Register], list[Register]]] = {}


def registers_of(instruction: Instruction) -> tuple[list[Register], list[Register]]:
    """Return the registers written and read. A predicated write also reads: other lanes keep
    theirs."""
    known = _known_registers.get(instruction)
    if known is None:
        known = _known_registers[instruction] = _find_registers(instruction)
    return known


def forget_registers() -> None:
    """Clear the cache of registers_of once a kernel is compiled."""
    _known_registers.clear()


def _find_registers(instruction: Instruction) -> tuple[list[Register], list[Register]]:
    if instruction.opcode == "call":
        returned, function, *passed = instruction.operands
        written = _registers(returned)
        read = [r for operand in (function, *passed) for r in _registers(operand)]
    else:
        count = result_count(instruction)
        written = [r for operand in instruction.operands[:count] for r in _registers(operand)]
        read = [r for operand in instruction.operands[count:] for r in _registers(operand)]
        if any(isinstance(o, Address) for o in instruction.operands[:count]):
            raise PtxError(f"{instruction.name} writes to an address ({instruction.source})")
    if "cc" in instruction.modifiers:
        written = [*written, CARRY]
    if instruction.opcode in ("addc", "subc", "madc"):
        read = [*read, CARRY]
    if instruction.predicate:
        read = [*read, instruction.predicate, *written]
    return written, read


def registers_read(function: Function) -> set[str]:
    """Return the names of the registers that any instruction of a function reads."""
    names: set[str] = set()
    for item in function.instructions:
        written, read = registers_of(item)
        kept = len(written) if item.predicate else 0  # a predicated write is not a read
        names |= {r.name for r in read[: len(read) - kept]}
    return names


def live_registers(blocks: list[Block]) -> list[set[str]]:
    """Return, for each block, the names of the registers that are live on entry."""
    use: list[set[str]] = []
    define: list[set[str]] = []
    for block in blocks:
        used: set[str] = set()
        defined: set[str] = set()
        chooser = [block.choice] if isinstance(block.choice, Instruction) else []
        for instruction in [*block.instructions, *chooser]:
            written, read = registers_of(instruction)
            used |= {r.name for r in read} - defined
            defined |= {r.name for r in written}
        use.append(used)
        define.append(defined)
    live = [set(names) for names in use]
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(blocks))):
            after = set().union(*(live[t] for t in blocks[index].targets if t != EXIT))
            entry = use[index] | (after - define[index])
            if entry != live[index]:
                live[index] = entry
                changed = True
    return live
