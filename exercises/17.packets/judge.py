"""A value and its turn's number in one store, so that nothing need be ordered."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers, planted

SIZES = (1, 1), (31, 2), (257, 3), (1009, 4)


def drawn(rng):
    return (int(rng.integers(34, 600)), 5), (int(rng.integers(2600, 4000)), 3)


def packets(values, turn):
    return np.uint64(turn) << np.uint64(32) | values.view(np.uint32)


def launch(rng, size):
    n, ranks = size
    turn = int(rng.integers(2**31, 2**32))  # the last one's packets are still there
    alike = np.array([turn, turn - 1], np.uint32).view(np.float32)
    x = planted(rng, numbers(rng, ranks, n), 0, -0.0, np.inf, np.nan, *alike)
    before, left = numbers(rng, ranks, n), np.roll(x, 1, axis=0)
    before[:, ::7] = left[:, ::7]  # the same value as before
    inbox = Out(packets(left, turn), dtype=np.uint64, initial=packets(before, turn - 1))
    arguments = [In(x), inbox, Out(x + left), np.int32(n), np.uint32(turn)]
    return Launch(arguments, (blocks_for(n), ranks), 256, what=f"{ranks} ranks of {n}")


LARGE = ((9000, 9),)
COUNTED = 2048, 4
BUDGET = {"st.sectors": (3072, 3072)}
EVEN = False
WAITS = True
LIMITS = dict.fromkeys(["instructions", "ld.sectors", "atomics", "atomics.sectors"])  # of who waits
WHOLE = (
    "Two stores may become visible in either order, and two loads may be answered so. Let value and"
    " number travel in one store of 8 bytes, and come in one load."
)
WITHOUT = {
    r"^\s*(@\S+ )?(?P<what>(st|ld)\.(volatile|relaxed|release|acquire|mmio)(?!\S*\.v[24])\S*\.[bfsu](8|16|32)\b)": WHOLE,
    r"^\s*(@\S+ )?(?P<what>(atom|red)\.\S*\.[bfsu](16|32)\b)": WHOLE,
    r"(?P<what>(ld|st|atom|red)\.\S*\.(cta|cluster|gpu)\.\S*)": (
        "Ranks are devices, and this order is for one device alone: take the scope of the system, `.sys`."
    ),
}
ADVICE = dict.fromkeys(
    ["race", "double write"],
    "Store each packet by one volatile store of 8 bytes, and take the value from the very packet that"
    " had this turn's number: a plain load may be answered before.",
)
ADVICE["time"] = (
    "Is the packet read anew in each turn of the loop, through a pointer that is volatile? And does each"
    " thread send before it waits?"
)


def may_read(launch):
    n = int(launch.arguments[-2])
    advice = "Read your own row of x only: what the left neighbour has comes by your inbox."
    return [(0, [range(n)], advice)]


SEND = "packets[right * n + i] = (unsigned long long)turn << 32 | __float_as_uint(mine);"
LOOP, LOOK = "    while (packet >> 32 != turn);\n", "do packet = packets[rank * n + i];"
PLAIN = {
    "    volatile unsigned long long *packets = inbox;\n": "    unsigned long long *packets = inbox;\n"
}
HALVES = "volatile unsigned *halves = (volatile unsigned *)inbox, *to = halves + 2 * (right * n + i);\n    "
WRONG = {
    "the value, then the number": Wrong("volatile", {SEND: f"{HALVES}to[0] = __float_as_uint(mine), to[1] = turn;"}),
    "the number, then the value": Wrong("volatile", {SEND: f"{HALVES}to[1] = turn, to[0] = __float_as_uint(mine);"}),
    "halves by atomics": Wrong("atom", {SEND: f"{HALVES}atomicExch((unsigned *)to, __float_as_uint(mine)), atomicExch((unsigned *)to + 1, turn);"}),
    "the number as a flag, after a fence": Wrong("volatile", {SEND: f"{HALVES}inbox[right * n + i] = __float_as_uint(mine), __threadfence_system(), to[1] = turn;"}),
    "looks at the number, then loads the value": Wrong(
        "volatile", {LOOK: "volatile unsigned *halves = (volatile unsigned *)inbox; do packet = (unsigned long long)halves[2 * (rank * n + i) + 1] << 32 | halves[2 * (rank * n + i)];"}
    ),
    "a plain load after the wait": Wrong("race", {"__uint_as_float(packet)": "__uint_as_float(inbox[rank * n + i])"}),
    "a plain store": Wrong("race|time", {SEND: SEND.replace("packets", "inbox", 1)}),
    "nothing is volatile": Wrong("time|race", PLAIN),
    "any packet will do": Wrong("values|race", {"packet >> 32 != turn": "packet == 0"}),
    "any number but 0": Wrong("values|race", {"packet >> 32 != turn": "packet >> 32 == 0"}),
    "any number up to this one": Wrong("values|race", {"packet >> 32 != turn": "packet >> 32 > turn"}),
    "waits for another value": Wrong("time|values", {LOOP: LOOP.replace("packet >> 32 != turn", "unsigned(packet) == old"), "    unsigned long long packet;\n": "    unsigned old = packets[rank * n + i];\n    unsigned long long packet;\n"}),
    "the value says that it is there": Wrong("time", {LOOP: "    while (packet >> 32 != turn || unsigned(packet) == 0);\n"}),
    "NaN for nothing": Wrong("time", {LOOP: "    while (packet >> 32 != turn || isnan(__uint_as_float(packet)));\n"}),
    "nobody waits": Wrong("values|race", {LOOP: "    while (false);\n"}),
    "looks only so often": Wrong("time|values", {LOOP: LOOP.replace("packet >>", "++looks < 100000 && packet >>"), "    unsigned long long packet;\n": "    unsigned long long packet;\n    int looks = 0;\n"}),
    "the next turn's number": Wrong("values|time", {SEND: SEND.replace("turn <<", "(turn + 1) <<"), "!= turn": "!= turn + 1"}),
    "1 for every turn": Wrong("values|time", {SEND: SEND.replace("turn <<", "1 <<"), "!= turn": "!= 1"}),
    "the halves change places": Wrong("values", {SEND: "packets[right * n + i] = (unsigned long long)__float_as_uint(mine) << 32 | turn;", "packet >> 32 != turn": "unsigned(packet) != turn", "__uint_as_float(packet)": "__uint_as_float(packet >> 32)"}),
    "the value as a number": Wrong("values", {"__float_as_uint(mine)": "unsigned(mine)", "__uint_as_float(packet)": "float(unsigned(packet))"}),
    "to the left": Wrong("values|time", {"(rank + 1) %": "(rank + gridDim.y - 1) %"}),
    "straight from the neighbour's x": Wrong("reads", {"__uint_as_float(packet)": "x[(rank + gridDim.y - 1) % gridDim.y * n + i]"}),
    "no guard": Wrong("out of bounds|race|double|time|values", {"    if (i >= n) return;\n": ""}),
}  # fmt: skip
