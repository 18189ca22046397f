"""Control flow: whatever the branches, every lane goes its own way, and lanes meet again."""

import random

import pytest

from softgpu.jit.analysis.flow import EXIT, blocks_in_order, live_registers, waiting_blocks
from softgpu.jit.analysis.uniform import find_varying

from .text import kernel

LANES = 8
STEPS = 60
"""How far endless random programs are followed, in marked blocks."""


def random_kernel(rng: random.Random, blocks: int):
    """Blocks that mark themselves with a move and jump wherever the generator likes."""
    lines = []
    for number in range(blocks):
        lines.append(f"L{number}: mov.u32 %r{number}, {number};")
        kind = rng.random()
        if kind < 0.5:
            lines.append(f"@%p{number} bra L{rng.randrange(blocks)};")
        elif kind < 0.7:
            lines.append(f"bra.uni L{rng.randrange(blocks)};")
        elif kind < 0.8:
            lines.append(f"@%p{number} ret;")
    return kernel("\n".join([*lines, "ret;"]))


def marks(block):
    return [int(item.operands[1].value) for item in block.instructions if item.opcode == "mov"]


def follow(blocks, decide):
    """The blocks one lane passes, by their marks; `decide(mark)`: is the branch taken?"""
    path, at, entry = [], 0, 0
    while len(path) <= STEPS:
        block = blocks[at]
        path += marks(block)
        position = position_of(block, decide, path, entry)
        entry = block.selects.get(position, entry)
        at = block.targets[position]
        if at == EXIT:
            break
    return path


def position_of(block, decide, path, entry):
    if block.choice is None:
        return 0
    if block.choice == "entry":
        return entry
    return 0 if decide(path[-1], len(path)) else 1


@pytest.mark.parametrize("seed", range(300))
def test_lanes_run_in_order_take_the_path_that_each_would_take_alone(seed):
    rng = random.Random(seed)
    function = random_kernel(rng, rng.randrange(2, 12))
    blocks = blocks_in_order(function)
    choices = [[rng.random() < 0.5 for _ in range(997)] for _ in range(LANES)]

    def decide(lane):
        return lambda mark, step: choices[lane][(31 * mark + step) % 997]

    alone = [follow(blocks, decide(lane)) for lane in range(LANES)]

    during = waiting_blocks(blocks, [block.choice is not None for block in blocks])
    paths = [[] for _ in range(LANES)]
    place, entries = [0] * LANES, [0] * LANES
    while max(map(len, paths)) < STEPS and any(at != EXIT for at in place):
        running = min(at for at in place if at != EXIT)
        others = {at for at in place if at not in (EXIT, running)}
        assert others <= during[running], "lanes wait where the analysis does not expect them"
        block = blocks[running]
        for lane in [lane for lane in range(LANES) if place[lane] == running]:
            paths[lane] += marks(block)
            position = position_of(block, decide(lane), paths[lane], entries[lane])
            entries[lane] = block.selects.get(position, entries[lane])
            place[lane] = block.targets[position]
    for lane in range(LANES):
        assert paths[lane] == alone[lane][: len(paths[lane])]


@pytest.mark.parametrize("seed", range(300))
def test_every_loop_stands_in_one_piece_with_one_way_in_and_one_way_back(seed):
    rng = random.Random(1000 + seed)
    blocks = blocks_in_order(random_kernel(rng, rng.randrange(2, 14)))
    repeats = [
        (source, target)
        for source, block in enumerate(blocks)
        for target in block.targets
        if target != EXIT and target <= source
    ]
    for latch, header in repeats:
        assert [s for s, t in repeats if t == header].count(latch) == len(
            [s for s, t in repeats if t == header]
        ), "several ways back"
        inside = range(header, latch + 1)
        for source, block in enumerate(blocks):
            for target in block.targets:
                if source not in inside and target in inside:
                    assert target == header, "a second way in"


def test_lanes_that_part_meet_where_their_paths_join():
    function = kernel("""
        mov.u32 %r1, %tid.x;
        setp.lt.u32 %p1, %r1, 4;
        @%p1 bra THEN;
        mov.u32 %r2, 2;
        bra JOIN;
        THEN: mov.u32 %r2, 1;
        JOIN: mov.u32 %r3, %r2;
        ret;
    """)
    blocks = blocks_in_order(function)
    sides = [
        i for i, b in enumerate(blocks) if [o.operands[0].name for o in b.instructions] == ["%r2"]
    ]
    during = waiting_blocks(blocks, [block.choice is not None for block in blocks])
    assert during[sides[0]] == {sides[1]}  # the first side runs while the others wait for theirs
    assert during[sides[1]] == {len(blocks) - 1}
    assert during[-1] == frozenset()


def test_a_loop_counter_of_all_lanes_is_one_scalar_and_a_lane_s_own_is_not():
    function = kernel("""
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, 16;
        mov.u32 %r4, 0;
        LOOP:
        setp.ge.u32 %p1, %r1, %r2;
        @%p1 bra NEXT;
        add.u32 %r4, %r4, 1;
        NEXT:
        shr.u32 %r2, %r2, 1;
        setp.ne.u32 %p2, %r2, 0;
        @%p2 bra LOOP;
        mov.u32 %r5, %r2;
        ret;
    """)
    blocks = blocks_in_order(function)
    varying = find_varying(function, blocks, live_registers(blocks))
    assert {"%r1", "%p1", "%r4"} <= varying
    assert not {"%r2", "%p2", "%r5"} & varying


def test_a_counter_that_lanes_leave_the_loop_with_at_different_times_varies():
    function = kernel("""
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, 0;
        LOOP:
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p1, %r2, %r1;
        @%p1 bra LOOP;
        mov.u32 %r3, %r2;
        ret;
    """)
    blocks = blocks_in_order(function)
    assert "%r2" in find_varying(function, blocks, live_registers(blocks))
    assert any("%r2" in names for names in live_registers(blocks))
