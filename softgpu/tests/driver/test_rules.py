"""The rules by which an H200 counts, one access of a warp at a time: rules.c, without a launch."""

import ctypes
import subprocess

import pytest

from softgpu import build, contract

LANES = 32
ALL = 0xFFFFFFFF
LANE = range(LANES)
As = contract.flags("AtomicForm", "AS_")


class Wavefronts(ctypes.Structure):
    _fields_ = (("taken", ctypes.c_uint32), ("least", ctypes.c_uint32))


class Traffic(ctypes.Structure):
    _fields_ = (("requests", ctypes.c_uint32), ("sectors", ctypes.c_uint32))


class Sectors(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_uint64 * LANES),
        ("bytes", ctypes.c_uint32 * LANES),
        ("count", ctypes.c_uint32),
    )


@pytest.fixture(scope="module")
def rules(tmp_path_factory):
    """The functions of rules.c, compiled as the driver is but linked with nothing."""
    library = tmp_path_factory.mktemp("rules") / "rules.so"
    options = ["-fvisibility=default", "-shared", "-Wl,-z,defs"]
    source = str(build.DRIVER / "count/rules.c")
    command = [*build.compiling("count"), *options, source, "-o", str(library)]
    subprocess.run(command, check=True)
    found = ctypes.CDLL(str(library))
    found.rules_sectors.restype = Sectors
    found.rules_wavefronts.restype = found.rules_shared_loop.restype = Wavefronts
    found.rules_half_loop.restype = Traffic
    return found


def words(values):
    return (ctypes.c_uint32 * LANES)(*values)


def wide(values):
    return (ctypes.c_uint64 * LANES)(*values)


def wavefronts(rules, offsets, size, mask=ALL, load=True):
    found = rules.rules_wavefronts(words(offsets), mask, size, load)
    return found.taken, found.least


@pytest.mark.parametrize(
    ("stride", "taken"), [(0, 1), (1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1)]
)
def test_words_of_one_bank_take_turns(rules, stride, taken):
    assert wavefronts(rules, [4 * stride * lane for lane in LANE], 4) == (taken, 1)


def test_inactive_lanes_take_no_turn(rules):
    assert wavefronts(rules, [128 * lane for lane in LANE], 4, mask=0b1011) == (3, 1)


def test_one_word_is_read_once_however_many_lanes_want_it(rules):
    assert wavefronts(rules, [128 * (lane // 8) for lane in LANE], 4) == (4, 1)


@pytest.mark.parametrize(("size", "groups"), [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)])
def test_wide_accesses_come_in_groups_of_lanes(rules, size, groups):
    assert wavefronts(rules, [size * lane for lane in LANE], size) == (groups, groups)


@pytest.mark.parametrize("bit", [1, 2])
def test_loads_of_pairs_that_agree_come_in_groups_of_twice_the_size(rules, bit):
    places = [8 * (lane & ~bit) for lane in LANE]
    assert wavefronts(rules, places, 8, load=True)[1] == 1
    assert wavefronts(rules, places, 8, load=False)[1] == 2


@pytest.mark.parametrize(
    ("begin", "stride", "count", "ideal"),
    [(0, 4, 4, 4), (16, 4, 5, 4), (0, 32, 32, 4), (0, 0, 1, 1)],
)
def test_sectors_are_distinct_pieces_of_32_bytes(rules, begin, stride, count, ideal):
    found = rules.rules_sectors(wide(1024 + begin + stride * lane for lane in LANE), ALL, 4)
    assert found.count == count
    assert rules.rules_ideal_sectors(ctypes.byref(found)) == ideal


@pytest.mark.parametrize(("size", "sectors"), [(4, 4), (8, 8), (1, 4)])
def test_local_memory_lies_word_by_word_beside_the_other_lanes(rules, size, sectors):
    assert rules.rules_local_sectors(wide([0] * LANES), ALL, size) == sectors


def test_atomics_go_through_a_sector_once_per_lane_of_its_most_wanted_address(rules):
    def sectors(addresses):
        return rules.rules_atomic_sectors(wide(addresses), ALL)

    assert sectors([64] * LANES) == 32
    assert sectors(4 * lane for lane in LANE) == 4
    assert sectors(32 * (lane % 2) + 4 * (lane % 8) for lane in LANE) == 8


def test_copies_fetch_a_sector_anew_for_each_line_of_shared_memory(rules):
    def sectors(origin, to):
        return rules.rules_copy_sectors(wide(origin), words(to), ALL)

    assert sectors([16 * lane for lane in LANE], [16 * lane for lane in LANE]) == 16
    assert sectors([64] * LANES, [128 * lane for lane in LANE]) == 32
    assert sectors([16 * lane for lane in LANE], [0] * LANES) == 1  # the last lane's


@pytest.mark.parametrize(("stride", "taken", "least"), [(0, 32, 32), (4, 1, 1), (128, 528, 32)])
def test_a_loop_lets_one_lane_of_each_bank_through_at_a_time(rules, stride, taken, least):
    places = words(stride * lane for lane in LANE)
    loads = rules.rules_shared_loop(places, ALL, 4, As.loop, None, None)
    assert (loads.taken, loads.least) == (taken, least)


def test_a_loop_ends_for_lanes_whose_minimum_changes_nothing(rules):
    now, operands = wide([5] * LANES), wide([9] * 31 + [1])
    how = As.loop | As.loop_min
    loads = rules.rules_shared_loop(words([0] * LANES), ALL, 8, how, now, operands)
    assert (loads.taken, loads.least) == (1, 1)


def test_halves_of_one_word_swap_one_after_the_other(rules):
    addresses, now = wide([0, 2, *[0] * 30]), words([7] * LANES)
    traffic = rules.rules_half_loop(addresses, 0b11, As.loop_half, now, None, None)
    assert (traffic.requests, traffic.sectors) == (2, 3)


def test_lines_of_an_access(rules):
    def lines(addresses):
        return rules.rules_lines(ctypes.byref(rules.rules_sectors(wide(list(addresses)), ALL, 4)))

    assert lines(4 * lane for lane in LANE) == 1
    assert lines(100 + 4 * lane for lane in LANE) == 2
    assert lines(128 * lane for lane in LANE) == 32
    assert lines(128 * (lane % 2) + 32 * (lane % 4) for lane in LANE) == 2


def test_turns_of_the_l1_are_those_of_its_banks_and_of_its_tags(rules):
    def turns(addresses, size=4):
        addresses = wide(list(addresses))
        sectors = rules.rules_sectors(addresses, ALL, size)
        return rules.rules_near(addresses, ALL, size, ctypes.byref(sectors))

    assert turns(4 * lane for lane in LANE) == turns([64] * LANES) == 1
    assert turns(100 + 4 * lane for lane in LANE) == 1  # two lines, whose banks differ
    assert turns(12 * lane for lane in LANE) == 1  # three lines, too
    assert turns(128 * lane for lane in LANE) == 32  # one bank
    assert turns(132 * lane for lane in LANE) == 8  # all banks, but of tags four at a time
    assert turns((16 * lane for lane in LANE), 16) == 4


def test_turns_of_an_atomic_are_those_of_each_sectors_most_wanted_word(rules):
    turns = (ctypes.c_uint32 * LANES)()
    rules.rules_atomic_turns.restype = Sectors
    wanted = wide([4 * (lane % 16) if lane else 4 for lane in LANE])
    found = rules.rules_atomic_turns(wanted, ALL, turns)
    assert list(found.id[: found.count]) == [0, 1] and list(turns[:2]) == [3, 2]


@pytest.mark.parametrize(("stride", "most"), [(0, 32), (1, 1), (2, 2), (33, 1), (32, 32)])
def test_atomics_in_shared_memory_take_turns_by_bank(rules, stride, most):
    offsets = words([4 * stride * lane for lane in LANE])
    assert rules.rules_atomic_wavefronts(offsets, ALL) == most
