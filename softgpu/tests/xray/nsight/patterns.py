"""Which address each lane of a warp touches, in units of the access's width; -1: none."""

import random

__all__ = ["PATTERNS", "SHARING", "few", "pattern"]

LANES = range(32)


def bits(order):
    """Lane numbers with their bits permuted: order[k] is where bit k goes."""
    return [sum((lane >> k & 1) << to for k, to in enumerate(order)) for lane in LANES]


def masked(pattern, active):
    return [value if active(lane) else -1 for lane, value in enumerate(pattern)]


def without(bit):
    """Lanes that differ in one bit only share an address."""
    return [(lane & ((1 << bit) - 1)) | (lane >> (bit + 1) << bit) for lane in LANES]


def _patterns():
    row = list(LANES)
    yield "row", row
    yield "reverse", row[::-1]
    yield "shifted", [lane + 1 for lane in LANES]
    for stride in (2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 32, 33):
        yield f"stride {stride}", [lane * stride for lane in LANES]
    yield "same", [0] * 32
    yield "same, one apart", [0] * 31 + [32]
    for n in (2, 4, 8, 16):
        yield f"every {n} share", [lane // n for lane in LANES]
        yield f"cycle of {n}", [lane % n for lane in LANES]
    for bit in range(5):
        yield f"without bit {bit}", without(bit)
        yield f"without bit {bit}, stride 2", [2 * v for v in without(bit)]
        yield f"without bit {bit}, stride 4", [4 * v for v in without(bit)]
        yield f"without bit {bit}, stride 5", [5 * v for v in without(bit)]
        yield f"without bit {bit}, stride 8", [8 * v for v in without(bit)]
    yield "without bits 0 and 2", [lane >> 1 & 1 | lane >> 3 << 1 for lane in LANES]
    yield "pairs, then pairs of every other", without(0)[:16] + [16 + v for v in without(1)[:16]]
    yield "pairs, then a row", without(0)[:16] + [32 + lane for lane in range(16)]
    yield "a row, then the same", row[:16] + [40] * 16
    yield "a row, then pairs by bit 1", row[:16] + [40 + v for v in without(1)[:16]]
    yield "halves share", [lane % 16 for lane in LANES]
    yield "quarters share", [lane % 8 for lane in LANES]
    yield "pairs except one", without(0)[:31] + [100]
    yield "pairs by bit 1 except one", without(1)[:31] + [100]
    yield "even lanes", masked(row, lambda i: i % 2 == 0)
    yield "odd lanes", masked(row, lambda i: i % 2)
    yield "every fourth lane", masked(row, lambda i: i % 4 == 0)
    yield "lanes without bit 1", masked(row, lambda i: not i & 2)
    yield "lanes without bit 2", masked(row, lambda i: not i & 4)
    yield "lanes without bit 3", masked(row, lambda i: not i & 8)
    yield "lanes without bits 0, stride 8", masked([8 * i for i in LANES], lambda i: i % 2 == 0)
    yield "even lanes, scattered", masked([i * 21 % 64 for i in LANES], lambda i: i % 2 == 0)
    yield "lower half", masked(row, lambda i: i < 16)
    yield "upper half", masked(row, lambda i: i >= 16)
    yield "second quarter", masked(row, lambda i: 8 <= i < 16)
    yield "middle half", masked(row, lambda i: 8 <= i < 24)
    yield "outer quarters", masked(row, lambda i: not 8 <= i < 24)
    for count in (1, 2, 3, 5, 8, 9, 15, 17, 24, 31):
        yield f"first {count}", masked(row, lambda i, count=count: i < count)
    yield "nobody", [-1] * 32
    for n, order in enumerate(
        [
            (4, 3, 2, 1, 0),
            (1, 0, 2, 3, 4),
            (2, 3, 4, 0, 1),
            (3, 4, 0, 1, 2),
            (4, 0, 1, 2, 3),
            (0, 2, 4, 1, 3),
            (1, 3, 0, 4, 2),
            (5, 6, 0, 1, 2),
            (0, 5, 6, 1, 2),
            (5, 0, 6, 1, 7),
            (0, 1, 5, 6, 7),
            (3, 5, 1, 7, 2),
        ]
    ):
        yield f"bits {' '.join(map(str, order))}", bits(order)
        if n % 3 == 0:
            yield (
                f"bits {' '.join(map(str, order))}, first 20",
                masked(bits(order), lambda i: i < 20),
            )
    shuffle = random.Random(1)
    for n in range(3):
        yield f"shuffled {n}", shuffle.sample(row, 32)
    for words in (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 200):
        yield f"any of {words}", [shuffle.randrange(words) for _ in LANES]
        part = [shuffle.randrange(words) for _ in LANES]
        keep = shuffle.getrandbits(32)
        yield f"any of {words}, some lanes", masked(part, lambda i, keep=keep: keep >> i & 1)
    for n in range(4):
        pairs = [shuffle.randrange(64) for _ in range(16)]
        keep = shuffle.getrandbits(32)
        some = masked([pairs[v] for v in without(n % 2)], lambda i, keep=keep: keep >> i & 1)
        yield f"random pairs by bit {n % 2}, {n}", [pairs[v] for v in without(n % 2)]
        yield f"random pairs by bit {n % 2}, {n}, some lanes", some
    for n in range(4):
        one = 1 << shuffle.randrange(32)
        keep = shuffle.getrandbits(32) & (0x55555555, 0x33333333, 0x0F0F0F0F, 0x00FF00FF)[n] | one
        at = [shuffle.randrange(128) for _ in LANES]
        yield f"thinned out {n}", masked(at, lambda i, keep=keep: keep >> i & 1)


def _sharing():
    """Words that some lanes share, in sectors of 8 words that others touch too."""
    for spread in (8, 16, 32, 40, 264):
        apart = [lane * spread for lane in LANES]
        yield f"apart by {spread}, last as first", [*apart[:31], apart[0]]
        yield f"apart by {spread}, last beside first", [*apart[:31], apart[0] + 1]
        yield f"apart by {spread}, two beside, one shared", [*apart[:30], apart[0] + 1, apart[0]]
        yield f"apart by {spread}, one shared, two beside", [*apart[:30], apart[0], apart[0] + 1]
        yield f"apart by {spread}, pairs", [apart[lane // 2] for lane in LANES]
        yield (
            f"apart by {spread}, pairs and neighbours",
            [apart[lane // 4] + (lane % 4 == 3) for lane in LANES],
        )
        yield f"apart by {spread}, halves", [apart[lane % 16] for lane in LANES]
        yield (
            f"apart by {spread}, halves and neighbours",
            [apart[lane % 16] + lane // 16 * (lane % 2) for lane in LANES],
        )


SHARING = dict(_sharing())
PATTERNS = dict(_patterns())


def pattern(name):
    """A pattern by name, also "any of 64, ..." with more after the comma to tell several apart."""
    known = PATTERNS | SHARING
    if name in known:
        return known[name]
    words = int(name.split()[2].rstrip(","))
    chance = random.Random(name)
    return [chance.randrange(words) for _ in LANES]


def few(count):
    """Some of the patterns, spread over all of them."""
    names = list(PATTERNS)
    return [names[i * len(names) // count] for i in range(count)]
