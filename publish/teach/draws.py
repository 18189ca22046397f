"""Other numbers for the questions of exam.md, drawn at random.

A function for each question, in their order. It says what stands in place of which piece of the
question, its kernel and its program; what the answer must then be; and why. exam.py has the
software GPU find the answer, and makes no paper where the two differ."""

from dataclasses import dataclass
from math import gcd

__all__ = ["DRAWS", "Drawn"]

REVERSED = """\
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];"""
WRITTEN = """\
    float sum = expf(x[0]) + expf(x[1]);
    out[threadIdx.x] = expf(x[threadIdx.x]) / sum;"""

FILLED = """\
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();"""
HANDED_OVER = """\
        *number = 42;
        *flag = 1;"""


@dataclass(frozen=True)
class Drawn:
    pieces: dict  # {a piece of the question: what stands there now}
    answer: object
    why: str


def idle(rng):
    block, blocks = _one(rng, 64, 128, 256), _between(rng, 3, 9)
    none = _between(rng, 3, block - 1)
    n = blocks * block - none
    pieces = {"1,000": f"{n:,}", "1000": n, "256": block, "(4, 1)": f"({blocks}, 1)"}
    why = f"{blocks} blocks are needed; they have {blocks * block:,} threads for {n:,} elements."
    return Drawn(pieces, none, why)


def guard(rng):
    block, blocks = _one(rng, 64, 128, 256), _between(rng, 3, 9)
    thread = _between(rng, 3, block - 2)
    n = (blocks - 1) * block + thread
    pieces = {"1,000": f"{n:,}", "1000": n, "256": block, "4 blocks": f"{blocks} blocks"}
    pieces["grid=4"] = f"grid={blocks}"
    why = f"The guard lets i = {n} through, and {n} = {blocks - 1} × {block} + {thread}."
    return Drawn(pieces, f"thread {thread} of block {blocks - 1}", why)


def still(rng):
    above = _one(rng, -6, -5, -4, -3, -2, -1, 2, 6, 10)
    times = _between(rng, 2, 5) + max(0, -above)
    end = (above + 2) if above > 0 else 0
    why = "From 2²⁴ on a float has no odd numbers. "
    if end:
        why += (
            f"2²⁴ + {above + 1} is half-way, and goes to 2²⁴ + {end}, whose last bit is 0."
            f" 2²⁴ + {end + 1} is rounded back to it."
        )
    else:
        why += "2²⁴ + 1 is half-way, and is rounded back to 2²⁴, whose last bit is 0."
    return Drawn({"16777215": 2**24 + above, "i < 5": f"i < {times}"}, 2**24 + end, why)


def one_number(rng):
    line, answer, why = _one(
        rng,
        (
            "*total += 1;",
            "race",
            "Reading, adding and writing are three steps. Others come between.",
        ),
        ("atomicAdd(total, 1);", "nothing", "An atomic is one step: no thread comes in between."),
        ("if (threadIdx.x == 0) *total += 1;", "nothing", "Only one thread adds."),
        ("total[threadIdx.x] += 1;", "out of bounds", "Thread 1 and all above have no element."),
    )
    return Drawn({"64": 32 * _between(rng, 3, 16), "*total += 1;": line}, answer, why)


def sectors(rng):
    bits, kind, some = _one(
        rng, (8, "char", "bytes"), (16, "short", "shorts"), (32, "float", "floats"),
        (64, "double", "doubles"),
    )  # fmt: skip
    dtype = f"np.{'float' if bits > 16 else 'int'}{bits}"
    moved = 32 * bits // 8 // 32
    pieces = {
        "32 floats": f"32 {some}",
        "const float *x, float *out": f"const {kind} *x, {kind} *out",
        "zeros(64), zeros(32)": f"zeros(64, {dtype}), zeros(32, {dtype})",
    }
    what = "one sector" if moved == 1 else f"{moved} sectors"
    each = "1 byte" if bits == 8 else f"{bits // 8} bytes"
    return Drawn(pieces, moved, f"32 × {each} are {4 * bits}, which is {what}.")


def further(rng):
    by = _between(rng, 2, 24)
    past = by % 8 * 4
    pieces = {"x + 1": f"x + {by}", "threadIdx.x + 1": f"threadIdx.x + {by}"}
    if past:
        why = f"128 bytes that begin {past} bytes after a boundary reach into a fifth sector."
    else:
        why = f"{by} floats are {by // 8} whole sectors, so the 128 bytes begin at a boundary."
    return Drawn(pieces, 5 if past else 4, why)


def stride(rng):
    by, word = _one(
        rng, (2, "two"), (3, "three"), (4, "four"), (5, "five"), (6, "six"), (7, "seven"),
        (9, "nine"), (16, "sixteen"),
    )  # fmt: skip
    moved = min(32, 4 * by)
    pieces = {
        "eight elements": f"{word} elements",
        "8 * t": f"{by} * t",
        "zeros(256)": f"zeros({32 * by})",
    }
    if by < 8:
        why = f"The lanes span {32 * by} floats, {moved} sectors, and skip none of these."
    else:
        why = f"A sector is eight floats, fewer than {by}: each lane has one of its own."
    return Drawn(pieces, moved, why)


def column(rng):
    return _column(_one(rng, 40, 48, 64, 96))


def padded(rng):
    width = _between(rng, 34, 39)
    drawn = _column(width, 33)
    return Drawn(drawn.pieces | {"rows have 33": f"rows have {width}"}, drawn.answer, drawn.why)


def _column(width, was=32):
    lanes = gcd(width, 32)
    pieces = {f"[32 * {was}]": f"[32 * {width}]", f"{was} * i": f"{width} * i"}
    pieces[f"{was} * threadIdx.x"] = f"{width} * threadIdx.x"
    if lanes == 1:
        why = f"Rows of {width} put the elements of a column into 32 different banks."
    else:
        banks = "bank 0" if lanes == 32 else f"each of {32 // lanes} banks"
        why = f"{width} and 32 share the factor {lanes}, so {lanes} lanes want {banks}."
    return Drawn(pieces, lanes, why)


def barrier(rng):
    block = 32 * _between(rng, 3, 16)
    last, half = block - 1, 32 * (block // 64)
    fill, back = "s[threadIdx.x] = x[threadIdx.x];", f"x[threadIdx.x] = s[{last} - threadIdx.x];"
    wait = "__syncthreads();"
    lines, answer, why = _one(
        rng,
        (
            (fill, back),
            "race",
            f"Thread 0 reads what thread {last}, of another warp, may not have written yet."
            " `__syncthreads()` belongs between the lines.",
        ),
        (
            (fill, wait, back),
            "nothing",
            "All threads pass the barrier after they have written, and before they read.",
        ),
        (
            (fill, f"if (threadIdx.x < {half}) {wait}", "x[threadIdx.x] = s[threadIdx.x];"),
            "divergent barrier",
            f"Threads from {half} on never reach the barrier, which waits for all.",
        ),
        (
            (fill, wait, back.replace(f"{last}", f"{block}")),
            "out of bounds",
            f"Thread 0 reads s[{block}], and the last element is s[{last}].",
        ),
        (
            (f"if (threadIdx.x < {last}) {fill}", wait, back),
            "uninitialised read",
            f"Nobody writes s[{last}], which thread 0 reads.",
        ),
    )
    shown = "\n".join(f"    {line}" for line in lines)
    return Drawn({"64": block, REVERSED: shown}, answer, why)


def tree(rng):
    times, more = _between(rng, 2, 6), _between(rng, 1, 9)
    why = f"{times} times the sum of 0 to 31, which is 496, and 32 times {more}."
    pieces = {"sum = threadIdx.x": f"sum = {times} * threadIdx.x + {more}"}
    return Drawn(pieces, 496 * times + 32 * more, why)


def exchange(rng):
    lane, mask = _between(rng, 1, 31), _between(rng, 1, 31)
    pieces = {"lane 5": f"lane {lane}", ", 3)": f", {mask})", "[5]": f"[{lane}]"}
    why = (
        f"{lane} is {lane:05b} in binary, {mask} is {mask:05b};"
        f" where they differ is {lane ^ mask:05b}."
    )
    return Drawn(pieces, lane ^ mask, why)


def wide(rng):
    warps = _between(rng, 2, 16)
    floats = 128 * warps
    pieces = {
        "One warp.": f"One block of {warps} warps.",
        "does it issue": "do they issue together",
        "128 floats": f"{floats:,} floats",
        "zeros(128), zeros(128)": f"zeros({floats}), zeros({floats})",
        "block=32": f"block={32 * warps}",
    }
    return Drawn(pieces, warps, "Each lane loads four floats at once, so each warp issues one.")


def grid_stride(rng):
    blocks, threads, turns = _between(rng, 2, 5), _one(rng, 64, 128, 256), _between(rng, 2, 5)
    grid = blocks * threads
    own = [grid * turn - 1 for turn in range(1, turns + 2)]
    n = own[-1] - _between(rng, 1, grid - 2)
    pieces = {"2 blocks of 128": f"{blocks} blocks of {threads}", "1,000": f"{n:,}", "1000": n}
    pieces |= {"256": grid, "(2, 1)": f"({blocks}, 1)", "(128, 1, 1)": f"({threads}, 1, 1)"}
    told = ", ".join(f"{place:,}" for place in own[:-2])
    why = f"Elements {told} and {own[-2]:,}; the next would be {own[-1]:,}."
    return Drawn(pieces, turns, why)


def softmax(rng):
    count, word = _one(rng, (2, "two"), (4, "four"))
    value = _one(rng, _between(rng, 95, 125), -_between(rng, 110, 125), _between(rng, 5, 80))
    is_shifted = bool(rng.integers(2))
    is_finite = is_shifted or 0 < value < 88
    if is_shifted:
        why = f"The largest is taken away first: each power is e to the 0, and the sum is {count}."
    elif value > 88:
        why = f"e to the {value} is too large for a float, and ∞ / ∞ is not a number."
    elif value < 0:
        why = f"e to the {value} is too small for a float and becomes 0, and 0 / 0 is not a number."
    else:
        why = f"e to the {value} fits a float. All shares are the same."
    less = " - x[0]" if is_shifted else ""
    powers = " + ".join(f"expf(x[{n}]{less})" for n in range(count))
    pieces = {
        "two numbers, both 100": f"{word} numbers, each of them {value}",
        WRITTEN: f"    float sum = {powers};\n"
        f"    out[threadIdx.x] = expf(x[threadIdx.x]{less}) / sum;",
        "zeros(2) + np.float32(100), zeros(2)": f"zeros({count}) + np.float32({value}),"
        f" zeros({count})",
        "(2, 1, 1)": f"({count}, 1, 1)",
    }
    return Drawn(pieces, 1 / count if is_finite else "nan", why.replace("-", "−"))


def place(rng):
    rows, width = _between(rng, 3, 6), _between(rng, 5, 9)
    row, at = _between(rng, 1, rows - 1), _between(rng, 0, width - 1)
    element = row * width + at
    pieces = {"3 rows of 4": f"{rows} rows of {width}", "element 7": f"element {element}"}
    pieces |= {"i / 4": f"i / {width}", "i % 4": f"i % {width}", "[7]": f"[{element}]"}
    pieces |= {"zeros(12,": f"zeros({rows * width},", "(12, 1, 1)": f"({rows * width}, 1, 1)"}
    why = f"{element} = {row} × {width} + {at}: row {row}, column {at}."
    return Drawn(pieces, 10 * row + at, why)


def half_way(rng):
    whole = _between(rng, 3, 40)
    why = f"−{whole}.5 is half-way between −{whole} and −{whole + 1}, and goes away from zero."
    return Drawn({"2.5f": f"{whole}.5f"}, -(whole + 1), why)


def halves(rng):
    base = 2048 + 2 * _between(rng, 1, 60)
    end = base if base % 4 == 0 else base + 2
    why = (
        f"A half has 11 bits of precision. {base + 1} needs 12: it is half-way between {base} and"
        f" {base + 2}, and goes to {end}, whose last bit is 0."
    )
    return Drawn({"2048.0f": f"{base}.0f"}, end, why)


def patches(rng):
    size, window = _between(rng, 9, 20), _between(rng, 2, 6)
    places = size - window + 1
    pieces = {"8 × 8": f"{size} × {size}", "3 × 3": f"{window} × {window}"}
    pieces |= {"np.int32(8)": f"np.int32({size})", "np.int32(3)": f"np.int32({window})"}
    pieces["(8, 8, 1)"] = f"({size}, {size}, 1)"
    why = f"A patch can begin at {size} − {window} + 1 = {places} rows and {places} columns."
    return Drawn(pieces, places**2, why)


def tiles(rng):
    blocks = _one(rng, 2, 3, 5, 6, 8, 10)
    n = 16 * blocks
    pieces = {
        "of 64": f"of {n}",
        "n = 64": f"n = {n}",
        "zeros(64 * 64": f"zeros({n} * {n}",
        "np.int32(64)": f"np.int32({n})",
    }
    pieces["(4, 4)"] = f"({blocks}, {blocks})"
    why = f"Once by each block of its row, and there are {n} / 16 of them."
    return Drawn(pieces, blocks, why)


def holder(rng):
    row, column = _between(rng, 0, 15), _between(rng, 1, 7)
    pieces = {
        "row 5, column 0": f"row {row}, column 0",
        "row 0, column 6": f"row 0, column {column}",
        "a[5][0]": f"a[{row}][0]",
        "b[6][0]": f"b[{column}][0]",
    }
    why = (
        "Four lanes share a row and its eighth neighbour, two columns each:"
        f" lane 4 × ({row} mod 8) + {column} / 2."
    )
    return Drawn(pieces, row % 8 * 4 + column // 2, why)


def swizzle(rng):
    spread, chunk = _one(rng, 1, 2, 4, 8), _between(rng, 0, 7)
    pieces = {"threadIdx.x % 8": f"threadIdx.x % {spread}", "[0 ^": f"[{chunk} ^"}
    why = (
        f"{spread} of eight lanes in turn load from different chunks, the others from the same"
        f" banks: 32 / {spread} times 128 bytes at most."
    )
    if spread == 1:
        why = "All lanes load from the same four banks, one after the other."
    return Drawn(pieces, 32 // spread, why)


def groups(rng):
    tiles = _between(rng, 3, 7)
    under_way = _between(rng, 0, tiles - 1)
    pieces = {"4 tiles": f"{tiles} tiles", "s[4]": f"s[{tiles}]", "n < 4": f"n < {tiles}"}
    pieces |= {"zeros(4 *": f"zeros({tiles} *", "range(4)": f"range({tiles})"}
    pieces["wait_for_groups<1>"] = f"wait_for_groups<{under_way}>"
    why = f"All groups have come but the last {under_way}." if under_way else "All have come."
    return Drawn(pieces, tiles - under_way, why)


def phase(rng):
    stages, tile = _between(rng, 2, 5), _between(rng, 6, 20)
    turn, stage = divmod(tile, stages)
    pieces = {
        "3 stages": f"{stages} stages",
        "barriers[3]": f"barriers[{stages}]",
        "stage < 3": f"stage < {stages}",
        "tile % 3": f"tile % {stages}",
        "tile 11": f"tile {tile}",
        "np.int32(11)": f"np.int32({tile})",
    }
    why = (
        f"{tile} = {turn} × {stages} + {stage}: stage {stage}, after {turn} whole"
        f" turn{'s' * (turn > 1)}. Phases have parity 0, 1, 0, 1."
    )
    return Drawn(pieces, f"{stage}{turn % 2}", why)


def proxy(rng):
    rows = _one(rng, 2, 3, 4, 6)
    block = 32 * rows
    fill, show, wait = "s[threadIdx.x] = x[threadIdx.x];", "show_stores();", "__syncthreads();"
    lines, answer, why = _one(
        rng,
        (
            (fill, wait),
            "missing proxy fence",
            "The copy does not see what threads have stored, unless each calls `show_stores()`"
            " after it, before the barrier.",
        ),
        (
            (show, fill, wait),
            "missing proxy fence",
            "`show_stores()` shows what was stored before it, and nothing was.",
        ),
        ((fill, show, wait), "nothing", "Each thread shows what it has stored, and all wait."),
        (
            (fill, show),
            "race",
            "Thread 0 begins the copy without waiting for threads of other warps.",
        ),
    )
    shown = "\n".join(f"    {line}" for line in lines)
    pieces = {
        FILLED: shown,
        "64 threads": f"{block} threads",
        "2 × 32": f"{rows} × 32",
        "s[64]": f"s[{block}]",
        "(1, 2, 32)": f"(1, {rows}, 32)",
        "zeros(64)": f"zeros({block})",
        "block=64": f"block={block}",
    }
    return Drawn(pieces, answer, why)


def stays(rng):
    blocks, tiles = _between(rng, 3, 7), _between(rng, 11, 40)
    block = _between(rng, 0, blocks - 1)
    pieces = {
        "5 blocks": f"{blocks} blocks",
        "23 tiles": f"{tiles} tiles",
        "block 2": f"block {block}",
        "zeros(5,": f"zeros({blocks},",
        "np.int32(23)": f"np.int32({tiles})",
        "grid=(5,": f"grid=({blocks},",
        "made.get()[2]": f"made.get()[{block}]",
    }
    made = range(block, tiles, blocks)
    return Drawn(pieces, len(made), f"Tiles {', '.join(map(str, made))}.")


def bands(rng):
    band, across = _between(rng, 2, 4), _between(rng, 3, 6)
    down = _between(rng, band + 1, 9)
    tile = _between(rng, band * across, down * across - 1)
    number, at = divmod(tile, band * across)
    high = min(band, down - number * band)
    column, row = divmod(at, high)
    pieces = {
        "5 rows": f"{down} rows",
        "4 columns": f"{across} columns",
        "bands of 2": f"bands of {band}",
        "BAND = 2": f"BAND = {band}",
        "tile 13": f"tile {tile}",
        "np.int32(13)": f"np.int32({tile})",
        "np.int32(5)": f"np.int32({down})",
        "np.int32(4)": f"np.int32({across})",
    }
    why = (
        f"A band has {band} × {across} tiles, so {tile} is tile {at} of band {number}, which has"
        f" {high} rows: in the band's row {row} and column {column}."
    )
    return Drawn(pieces, f"{number * band + row}{column}", why)


def running(rng):
    scores = [_between(rng, 1, 5) for _ in range(4)]
    peak = max(scores)
    told = ", ".join(map(str, scores))
    shares = " + ".join(f"1/{2 ** (peak - score)}" for score in scores)
    why = f"Whatever the order, each score counts less the highest, {peak}: {shares}."
    answer = sum(2.0 ** (score - peak) for score in scores)
    return Drawn({"1, 3, 2, 5": told}, answer, why.replace("1/1", "1"))


def flag(rng):
    number = _between(rng, 2, 99)
    write, post = f"*number = {number};", "*flag = 1;"
    fence, system = "__threadfence();", "__threadfence_system();"
    lines, answer, why = _one(
        rng,
        ((write, post), "race", "Nothing keeps the flag from being seen before the number."),
        ((fence, write, post), "race", "The fence is before both: it puts them in no order."),
        ((post, fence, write), "race", "The flag says so before the number is there."),
        ((write, fence, post), "nothing", "Who sees the flag, and fences, sees the number."),
        (
            (write, system, post),
            "nothing",
            "A fence of the system reaches the device's other blocks, too.",
        ),
        ((write, "__syncthreads();", fence, post), "nothing", "The fence comes between the two."),
    )
    shown = "\n".join(f"        {line}" for line in lines)
    return Drawn({HANDED_OVER: shown}, answer, why)


def paged(rng):
    table = [_between(rng, 1, 20) for _ in range(3)]
    word = _between(rng, 17, 47)
    page, slot = divmod(word, 16)
    told = ", ".join(map(str, table))
    pieces = {"7, 2, 9": told, "word 37": f"word {word}", "np.int32(37)": f"np.int32({word})"}
    why = (
        f"Word {word} is word {slot} of the text's page {page}, which is page {table[page]} of the"
        f" cache: {table[page]} × 16 + {slot}."
    )
    return Drawn(pieces, table[page] * 16 + slot, why)


def _one(rng, *of):
    return of[int(rng.integers(len(of)))]


def _between(rng, least, most):
    return int(rng.integers(least, most + 1))


DRAWS = (
    idle, guard, still, one_number, sectors, further, stride, column, padded, barrier, tree,
    exchange, wide, grid_stride, softmax, place, half_way, halves, patches, tiles,
    holder, swizzle, groups, phase, proxy, stays, bands, running, flag, paged,
)  # fmt: skip
