"""A value and its turn's number in one store, so that nothing need be ordered."""

import numpy as np

from helpers.exercises.for_judges import *

STRONG = r"(volatile|relaxed|release|acquire|mmio)"
WHOLE = (
    "Two stores may become visible in either order, and two loads may be served in either order."
    " Let value and number travel in one store of 8 bytes, and arrive in one load."
)

ONE_NUMBER = (
    "By PTX's memory model, the elements of a vector are stored, and loaded, in any order: let"
    " value and number travel in one element of 8 bytes, an `unsigned long long`."
)
NO_FENCE = (
    "Value and number travel together, so nothing need be ordered: leave the fence out, which would"
    " wait until the store has arrived."
)
OLD = "These are sums with the previous turn's packets: wait until the number is this turn's."


def packets(values, turn):
    return np.uint64(turn) << np.uint64(32) | values.view(np.uint32)


def launch(rng, size):
    n, ranks = size
    turn = 0 if n == 31 else int(rng.integers(2**31, 2**32))
    old = (turn - 1 - n % 2) % 2**32  # whose packets are still there: the last turn's, or older
    alike = np.array([turn, old], np.uint32).view(np.float32)
    x = planted(rng, numbers(rng, ranks, n), 0, -0.0, np.inf, np.nan, *alike)
    x[:, 3:4] = -0.0
    before, left = numbers(rng, ranks, n), np.roll(x, 1, axis=0)
    before[:, ::7] = left[:, ::7]  # the same value as before
    inbox = Out(packets(left, turn), dtype=np.uint64, initial=packets(before, old))
    arguments = [In(x), inbox, Out(x + left, bits=True), np.int32(n), np.uint32(turn)]
    return Launch(arguments, (blocks_for(n), ranks), 256, what=several(ranks, "rank", n))


def explain(launch, out, got):
    got = got.reshape(np.shape(out.expected))
    if np.dtype(out.dtype) != np.uint64:
        x = np.asarray(launch.arguments[0].values, np.float32)
        before = (launch.arguments[1].initial & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        with np.errstate(invalid="ignore"):
            wrong = ~np.isclose(got, out.expected, equal_nan=True)
            old = x + before.view(np.float32)
            is_old = np.isclose(got, old, equal_nan=True)[wrong].all()
            is_twice = np.isclose(got, 2 * np.roll(x, 1, axis=0), equal_nan=True)[wrong].all()
        twice = "This is twice the packet's value: add it to your own `x[i]`, once."
        return OLD if is_old else twice if is_twice else None
    turn, place = launch.arguments[-1], np.argwhere(got != out.expected)[0]
    sent, wanted = (int(a[tuple(place)]) for a in (got, out.expected))
    if sent >> 32 != turn:
        return (
            f"The upper half of {sent:#018x} is not the turn's number, {int(turn):#x}: shift it as"
            " a number of 64 bits, and put the value's 32 bits below it, without a sign."
        )
    value, own = (np.uint32(n & 0xFFFFFFFF).view(np.float32) for n in (sent, wanted))
    return (
        f"The packet has this turn's number, and below it the bits of {value:g} in place of"
        f" {own:g}: does each rank send its own x, bit by bit, to its right neighbour?"
    )


def may_read(launch):
    n = int(launch.arguments[-2])
    advice = "Read only your own row of x: the left neighbour's values come through your inbox."
    return [(0, [range(n)], advice)]


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (0, 2), (31, 2), (257, 3), (1009, 4)),
    drawn=lambda rng: ((int(rng.integers(34, 600)), 5), (int(rng.integers(2600, 4000)), 3)),
    large=((9000, 9), (33_003, 1)),
    counted=(2048, 4),
    budget={"st.sectors": (3072, 3072)},
    limits=dict.fromkeys(
        ["instructions", "barriers", "ld.sectors", "atomics", "atomics.sectors"]  # of waits
    ),
    even=False,
    may_read=may_read,
    without={
        rf"^\s*(@\S+ )?(?P<what>(st|ld)\.{STRONG}\S*\.v[24]\S*\.[bfsu](8|16|32)\b)": ONE_NUMBER,
        rf"^\s*(@\S+ )?(?P<what>(st|ld)\.{STRONG}\S*\.[bfsu](8|16|32)\b)": WHOLE,
        r"^\s*(@\S+ )?(?P<what>(atom|red)\.\S*\.[bfsu](16|32)\b)": WHOLE,
        r"^\s*(@\S+ )?(?P<what>(membar|fence)\.\S*\b)": NO_FENCE,
        OF_ONE_DEVICE: USE_SYSTEM,
    },
    checks=[Waits()],
    advice=dict.fromkeys(
        ["race", "double write"],
        "Store each packet by one volatile store of 8 bytes, and take the value from the same"
        " packet that had this turn's number: a plain load may be served earlier.",
    )
    | {
        "time": "Is the packet read again in each turn of the loop, through a volatile pointer?"
        " Does each thread send to the right neighbour before it waits, and do threads past n"
        " return at once? And is the upper half this turn's number for negative values, too?"
    },
    explain=explain,
)
