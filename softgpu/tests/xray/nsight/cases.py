"""The launches whose counts are recorded with Nsight Compute: probes, kernels, the course."""

from math import gcd
from pathlib import Path
from unittest import mock

import numpy as np

from helpers import shapes, windows

from .calls import CALLS
from .case import BUSY, INT8, INT32, INT64, OWN, SCATTERED, UINT32, Case, below, floats, i32, zeros
from .patterns import PATTERNS, SHARING, few, pattern

__all__ = ["BUSY", "CASES", "OWN", "SCATTERED", "Case"]


def _times(shape):
    return "x".join(map(str, shape))


# --- probes ---------------------------------------------------------------------------------------


def _table(names, width):
    rows = [pattern(name) for name in names]
    return np.array([v * width if v >= 0 else -1 for row in rows for v in row], INT32)


def _probe(kernel, width, names, others=None, extra=(), shared=16384):
    tables = [_table(n, width) for n in (names, others) if n is not None]
    name = f"{kernel}: {' + '.join(names)}" + (f" / {' + '.join(others)}" if others else "")
    block = min(len(tables[0]), 96)
    return Case(
        name, "probes.cu", kernel, (len(tables[0]) // block,), (block,), [*tables, *extra], shared
    )


def _probes():
    def out(names, width=4):
        return np.zeros(32 * len(names) * width, np.uint8)

    several = [few(9)[i : i + 3] for i in (0, 3, 6)] + [few(48)[i : i + 6] for i in (5, 20, 40)]
    every = [[name] for name in PATTERNS]
    memory = np.zeros(1 << 15, np.uint8)
    for width, count in ((16, len(every)), (8, len(every)), (4, 45), (2, 45), (1, 45)):
        chosen = [[name] for name in few(count)]
        for a, b in zip(chosen + several, chosen[::-1] + several[::-1]):
            if len(a) == len(b):
                yield _probe(f"shared_{width}", width, a, b, [out(a)])
    conflicts = [
        "row", "shifted", "stride 2", "stride 8", "stride 33", "same", "same, one apart",
        "every 2 share", "cycle of 4", "cycle of 16", "without bit 3", "odd lanes", "first 9",
        "any of 3", "any of 8, some lanes", "any of 64", "shuffled 1", "any of 16",
    ]  # fmt: skip
    forms = dict.fromkeys("add_u32 max_s32 inc_u32 f16x2 bf16x2 f32 exch_b32 cas_b32".split(), 4)
    forms |= dict.fromkeys("f64 add_u64 min_s64 or_b64 exch_b64 cas_b64".split(), 8)
    forms |= {"generic_u32": 4, "generic_f32": 4, "f16": 2, "cas_b16": 2}
    for n, (form, width) in enumerate(forms.items()):
        for i in range(n % 2, len(conflicts), 1 if form in ("add_u32", "add_u64", "f16") else 2):
            a, b = [conflicts[i]], [conflicts[(i + 7) % len(conflicts)]]
            yield _probe(f"atomic_{form}", width, a, b, [memory, out(a, width)], shared=0)
    for form, width in (("add_u32", 4), ("add_u64", 8), ("max_s32", 4)):
        for words in (64, 100, 128, 192, 256, 512, 2000):
            for n in range(3 if form == "add_u32" else 1):
                names = [[f"any of {words}, {n}{part}"] for part in ("a", "b")]
                yield _probe(f"atomic_{form}", width, *names, [memory, out(names[0], width)], 0)
    for name in SHARING:
        yield _probe("atomic_add_u32", 4, [name], [name], [memory, out([name])], 0)
    forms = dict.fromkeys(
        "atom_add_u32 red_add_u32 red_add_one atom_max_s32 red_or_b32 atom_inc_u32 exch_b32"
        " cas_b32 atom_f32 red_f16x2".split(),
        4,
    )
    forms |= dict.fromkeys(
        "exch_b64 cas_b64 atom_f64 atom_add_u64 red_max_u64 red_min_u64".split(), 8
    )
    forms |= {"atom_f16": 2, "cas_b16": 2}
    for n, (form, width) in enumerate(forms.items()):
        for i in range(n % 2, len(conflicts), 1 if form.endswith(("u32", "one", "f32")) else 2):
            name = [conflicts[i]]
            yield _probe(f"shared_{form}", width, name, None, [out(name, width)], shared=8192)
    for kind, width in (("4", 4), ("8", 8), ("16", 16), ("16_cg", 16)):
        chosen = [[name] for name in few(10)]
        for a, b in zip(chosen, chosen[::-1]):
            yield _probe(f"copy_{kind}", width, a, b, [memory, out(a)])
    for kind, width, count in (
        *((str(width), width, 30) for width in (16, 8, 4, 2, 1)),
        ("nc", 8, 10),
        ("generic", 4, 10),
    ):
        chosen = [[name] for name in few(count)]
        for a, b in zip(chosen + several[:2], chosen[::-1] + several[:2]):
            yield _probe(f"global_{kind}", width, a, b, [memory], shared=0)


# --- kernels --------------------------------------------------------------------------------------


def _kernels():
    def case(kernel, grid, block, *arguments, shared=0, more=""):
        grid, block = (v if isinstance(v, tuple) else (v,) for v in (grid, block))
        name = f"{kernel} {_times(grid)} of {_times(block)}{more}"
        return Case(name, "kernels.cu", kernel, grid, block, list(arguments), shared)

    n = 1000
    yield case("copy_float", 4, 256, floats(n), zeros(n), i32(n))
    yield case("copy_shifted", 8, 128, floats(n), zeros(n), i32(n))
    yield case("copy_strided", 2, 192, floats(n), zeros(n), i32(n), i32(7))
    yield case("structs_of_32", 4, 256, floats(8 * n), zeros(n), i32(n))
    square = floats(1024, np.float64)
    yield case("transpose_swizzled", 1, (32, 8), square, zeros(1024, np.float64), i32(32))
    yield case("matmul_float4", 1, 256, floats(1024), floats(1024), zeros(1024))
    yield case("bitonic_sort", 1, 256, below(10000, 512))
    yield case("bytes_in_shared", 1, 256, below(256, 1024, np.uint8), zeros(1024, np.uint8))
    yield case("complex_in_shared", 1, 256, floats(512), zeros(512))
    yield case("rows_of_float4", 1, 32, floats(1024), zeros(32))
    data = below(256, 5000, np.uint8)
    yield case("histogram_global", 20, 256, data, zeros(256, UINT32), i32(5000))
    yield case("sum_one_address", 4, 256, below(9, n), zeros(1, INT32), i32(n))
    yield case("sum_floats_one_address", 4, 256, floats(n), zeros(1), i32(n))
    yield case("count_positive", 4, 256, floats(n), zeros(1, UINT32), i32(n))
    yield case("greatest", 4, 256, below(n, n), zeros(1, INT32), i32(n))
    yield case("tickets", 4, 256, zeros(1, INT32), zeros(n, INT32), i32(n))
    lengths = below(9, n)
    yield case("tickets_of_length", 4, 256, lengths, zeros(1, INT32), zeros(n, INT32), i32(n))
    yield case("compact", 1, 32, floats(n), zeros(n), zeros(1, INT32), i32(n))
    longs = below(1000, n, np.uint64)
    yield case("sum_longs", 4, 256, longs, zeros(3, np.uint64), i32(n))
    yield case("lock_free_lists", 4, 256, zeros(37, INT32), zeros(n, INT32), i32(37), i32(n))
    yield case("half_adds", 4, 256, floats(2 * n, np.float16), zeros(64, np.float16), i32(n))
    yield case("single_half_adds", 1, 32, floats(32, np.float16), zeros(64, np.float16))
    yield case("shared_counter", 2, 128, below(7, n) - 3, zeros(3, INT32), i32(n))
    yield case("shared_slots", 1, 96, zeros(96, INT32), i32(96))
    yield case("uneven_loops", 4, 256, below(20, n), floats(20 * n), zeros(n), i32(n))
    shorts = below(99, 12 * 9 * 10, np.int16)
    yield case("block_3d", 4, (12, 9, 3), shorts, zeros(1080, np.int16), i32(12), i32(9), i32(10))
    yield case("constant_weights", 4, 256, floats(n), zeros(n), i32(n))
    yield case("read_only", 4, 256, floats(n), below(n, n), zeros(n), i32(n))
    yield case("through_volatile", 4, 256, below(9, n), zeros(n, INT32), i32(n))
    yield case("local_array", 4, 256, floats(16 * n), below(256, n), zeros(n), i32(n))
    yield case("calls", 4, 256, floats(n), zeros(n), i32(n))
    yield case("either_memory", 4, 256, floats(1024), zeros(1024), i32(2))
    yield case("mixed_memory", 4, 256, floats(1024), zeros(1024))
    square = [floats(128 * 128) for _ in range(3)]
    yield case("matmul_registers", (2, 2), 256, *square, i32(128))
    yield case("private_histograms", 1, 128, data, zeros(64, UINT32), i32(5000))
    for bins in (40, 100, 300, 3000):
        where = below(bins, n)
        more = f", {bins} bins"
        yield case("weighted_histogram", 3, 160, where, floats(n), zeros(bins), i32(n), more=more)
        values = floats(n, float), zeros(bins, float)
        yield case("scatter_doubles", 4, 256, where, *values, i32(n), more=more)
        extremes = below(n, n), zeros(bins, INT32), zeros(bins, np.uint64)
        yield case("least_and_greatest", 4, 256, where, *extremes, i32(n), more=more)
        yield case("union_find", 4, 256, where, zeros(bins, INT32), i32(n), more=more)
        yield case("histogram_global", 4, 256, below(min(bins, 256), n, np.uint8),
                   zeros(256, UINT32), i32(n), more=more)  # fmt: skip
    yield case("warp_synchronous", 3, 64, floats(192), zeros(3))
    yield case("list_ranks", 4, 256, below(n, n) * np.arange(n) // n, zeros(n, INT32), i32(n))
    signs = floats(128 * 40) + np.float32(1.5)
    yield case("first_negative", 2, 64, signs, zeros(128, INT32), i32(40))
    yield case("triangle", 4, 64, floats(256), zeros(256))
    yield case("uneven_stores", 4, 64, below(30, 256), zeros(256 * 30), i32(256))
    for kernel in "fence_of_system", "fence_by_two", "two_lines_volatile":
        yield case(kernel, 3, 64, zeros(192 * 64, INT32))


# --- the course -----------------------------------------------------------------------------------


def _course():
    def case(file, grid, block, *arguments, shared=0, **choices):
        grid, block = (v if isinstance(v, tuple) else (v,) for v in (grid, block))
        told = "".join(f" {key}={value}" for key, value in choices.items())
        name = f"{file}{told} {_times(grid)} of {_times(block)}"
        stem = Path(file).stem
        return Case(name, file, stem, grid, block, list(arguments), shared, choices)

    def reduction(step, *more, grid=8, block=128, n=1000, out=None, shared=None, **choices):
        kind = {"half": np.float16, "double": np.float64}.get(choices.get("T"), np.float32)
        wide = 8 if choices.get("Acc") == "double" else 4
        return case(
            f"reduce/{step}.cu", grid, block, floats(n, kind), zeros(out or 64, float), INT64(n),
            *more, shared=block * wide if shared is None else shared, **choices,
        )  # fmt: skip

    # What is not here, and why: tests/course/test_launched.py. Wrong ones get arrays that they stay
    # inside.
    yield case("first/empty.cu", 2, 64)
    yield case("first/wrong_tail.cu", 4, 256, floats(1024), floats(1024), zeros(1024))
    yield case("first/add.cu", 4, 256, floats(1000), floats(1000), zeros(1000), INT64(1000))
    yield case("first/numbers.cu", 4, 100, zeros(400, INT32), zeros(400, INT32))
    yield case("bench/read.cu", 2, 256, floats(4 * 3000), zeros(1), INT64(3000))
    for step in ("shared_modulo", "shared_strided", "shared", "shuffle_down", "shuffle_xor"):
        yield reduction(step)
        yield reduction(step, grid=4, block=256)
    yield reduction("one_thread", grid=1, block=1, n=100, shared=0)
    yield reduction("shared_plain")
    yield reduction("atomic", shared=0)
    yield reduction("halving", shared=0)
    yield reduction("atomic_finish")
    yield reduction("unrolled", BLOCK=128, shared=0)
    yield reduction("warp_totals", shared=0)
    yield reduction("grid_stride", grid=3, shared=0, n=5003)
    yield reduction("packed", grid=3, shared=0, n=5003)
    yield reduction("packed", grid=2, shared=0, n=5003, T="half")
    yield reduction("two_pass", grid=3, shared=0, n=5003)
    yield reduction("two_pass", grid=2, shared=0, n=5003, T="double", Acc="double")
    yield reduction("shared", T="double", Acc="double", Op="Sum<double>")
    yield reduction("wrong_zero_fill")
    yield reduction("wrong_race")
    yield reduction("wrong_shuffle")
    yield reduction("wrong_last_block", zeros(64), grid=5, shared=0, n=5003)
    yield case("reduce/wrong_tail.cu", 8, 128, floats(1024), zeros(8))
    yield reduction("wrong_add", shared=0)
    arrived = zeros(64, UINT32)
    yield reduction("last_block", zeros(64), arrived, grid=5, shared=0, n=5003)
    batch, hidden = 13, 203
    rows = floats(batch * hidden), zeros(batch), INT64(batch), INT64(hidden)
    yield case("rowreduce/warp_per_row.cu", 4, 128, *rows)
    yield case("rowreduce/wrong_row_guard.cu", 4, 128, floats(16 * hidden), zeros(16), *rows[2:])
    yield case("rowreduce/block_per_row.cu", batch, 96, *rows)
    yield case("rowreduce/cub_per_row.cu", batch, 128, *rows)
    yield case("rowreduce/warp_packed.cu", 4, 128, *rows)
    yield case("rowreduce/block_packed.cu", batch, 128, *rows)
    yield case("rowreduce/split.cu", 3 * batch, 64, *rows, i32(3), zeros(39), arrived)
    short = floats(50 * 32), zeros(50), INT64(50), INT64(32)
    yield case("rowreduce/lanes.cu", 2, 64, *short)
    yield case("softmax/three_pass.cu", batch, 64, rows[0], zeros(batch * hidden), *rows[2:])
    yield case("softmax/online.cu", batch, 64, rows[0], zeros(batch * hidden), *rows[2:])
    yield case("softmax/wrong_online.cu", batch, 64, rows[0], zeros(batch * hidden), *rows[2:])
    packed = floats(13 * 204), zeros(13 * 204), INT64(13), INT64(204)
    yield case("rowreduce/wrong_packed.cu", 13, 64, *packed)
    yield case("softmax/registers.cu", 4, 128, *packed)
    yield case("softmax/wrong_overflow.cu", batch, 64, rows[0], zeros(batch * hidden), *rows[2:])
    long, stats = (floats(2 * 40000), INT64(2), INT64(40000), i32(5)), zeros(20)
    yield case("softmax/measure.cu", 10, 128, long[0], stats, *long[1:])
    yield case("softmax/write.cu", 10, 128, long[0], zeros(80000), *long[1:], stats)
    known = np.tile(np.array([1.5, 40], np.float32), 10)  # so that no block of trailing waits
    yield case("softmax/write.cu", 10, 64, long[0], zeros(80000), *long[1:], known)
    trailing = long[0], zeros(80000), *long[1:], i32(5), known, zeros(1, UINT32)
    yield case("softmax/trailing.cu", 15, 256, *trailing)
    whole = floats(2 * 16384), zeros(2 * 16384), INT64(2), INT64(16384), i32(2), i32(3)
    yield case("softmax/trailing.cu", 7, 256, *whole, known, zeros(1, UINT32), WHOLE=1)
    clusters = floats(13 * 1000), zeros(13 * 1000), INT64(13), INT64(1000)
    yield case("softmax/cluster.cu", 39, 64, *clusters, BLOCKS=3, THREADS=64, PACK=4, PACKS=2)
    q, k, v = (floats(2 * n * 64) for n in (70, 90, 91))
    three = INT64(70), INT64(90), INT64(64), np.float32(0.125)
    yield case("attention/scores.cu", (6, 5, 2), (16, 16), q, k, zeros(2 * 70 * 90), *three)
    yield case("attention/fused.cu", (70, 2), 64, q, k, v, zeros(2 * 70 * 64), *three, shared=360)
    cube = floats(6 * 37 * 50), zeros(8 * 6 * 50), INT64(6), INT64(37), INT64(50)
    yield case("higherdim/columns.cu", (2, 6), 32, *cube)
    yield case("higherdim/chunks.cu", (2, 3, 6), 32, *cube, INT64(13))
    room = floats(6 * 37 * 50 + 4 * 50), *cube[1:], INT64(13)
    yield case("higherdim/wrong_rows.cu", (2, 3, 6), 32, *room)
    tile = floats(6 * 37 * 48), zeros(6 * 48), INT64(6), INT64(37), INT64(48)
    yield case("higherdim/tiles.cu", (6, 2), (16, 16), *tile, zeros(6 * 2 * 48), arrived)
    short = floats(90 * 5 * 7), zeros(90 * 7), INT64(90), INT64(5), INT64(7), i32(40)
    yield case("higherdim/slices.cu", 3, 256, *short)


def _by_value(values, kind=INT64):
    """Numbers as a struct that is passed, not sent to the GPU."""
    return np.void(np.array(values, kind).tobytes())


def _strides(shape, *walks):
    """The struct Strides of elementwise/strides.cuh, of the result, a and b."""
    rows = [[*walk, *[0] * (shapes.MOST_DIMENSIONS - len(walk))] for walk in walks]
    return _by_value([len(shape), *sum(rows, [])])


def _dividers(*sizes):
    """The struct Sizes of elementwise/strided_fast.cu."""
    known = [word for size in sizes for word in (size, *shapes.magic(size))]
    return _by_value([*known, *[0] * (3 * shapes.MOST_DIMENSIONS - len(known))], UINT32)


NO_NUMBERS = INT8(0)  # an operator that holds none is one byte


def _elementwise():
    def case(step, threads, *arguments, block=128, op=NO_NUMBERS, **choices):
        grid, file = -(-threads // block), f"elementwise/{step}.cu"
        told = "".join(f" {key}={value}" for key, value in choices.items())
        name = f"{file}{told} {grid} of {block}"
        return Case(name, file, step, (grid,), (block,), [*arguments, op], 0, choices)

    n = 2 * 3 * 40  # in four dimensions: 2, 3, 5, 8
    a, b, out, size, long = floats(n), floats(n + 1)[:n], zeros(n), INT64(n), INT64
    halves = floats(n, np.float16), floats(n + 8, np.float16)[:n], zeros(n, np.float16), size
    scales = _by_value([0.5, 0.7], np.float32)
    eights = below(100, n, INT8), below(90, n, INT8), zeros(n, INT8), size
    scaled = dict(T="int8", Out="int8", Op="Scaled<Add>", op=scales)
    yield case("same", n, a, b, out, size)
    yield case("same", n, *halves[:2], zeros(n, np.uint8), size, T="half", Out="bool", Op="Less")
    yield case("same", n, *eights, **scaled)
    yield case("one_scalar", n, a, b[:1], out, size, i32(0))
    yield case("one_dimension", n, a, b[:40], out, size, long(40), i32(0))
    yield case("one_not_broadcast", n, a, b[:3], out, size, long(40), long(3), i32(0))
    yield case("one_broadcast", n, a, b[:80], out, size, long(120), long(40), i32(0))
    walks = (120, 40, 8, 1), (120, 40, 8, 1), (0, 8, 0, 1)
    table = _strides(walks[0], *walks)
    yield case("strided", n, a, b, out, size, table)
    yield case("strided_fast", n, a, b, out, size, table, _dividers(2, 3, 5, 8))
    yield case("packed_strided", n // 8, *halves, table, T="half", Out="half", PACK=8)
    logical, memory = (120, 40, 8, 1), (120, 1, 24, 3)
    yield case("nhwc", n, a, b, out, size, _strides(logical, logical, logical, logical),
               _strides(memory, memory, memory, memory))  # fmt: skip
    yield case("packed", n // 4, a, b, out, size)
    yield case("packed", n // 8, *halves, T="half", Out="half", PACK=8)
    yield case("staged", n // 8, *halves, block=256)
    yield case("wrong_guard", n, a, b, out, size - 1)
    yield Case("elementwise/half2_add.cu 1 of 64", "elementwise/half2_add.cu", "half2_add",
                 (1,), (64,), list(halves))  # fmt: skip
    yield from _any_strides()


def _room(walk, shape, kind):
    """An array of random numbers that strides of this shape stay inside."""
    count = 1 + sum(step * (size - 1) for step, size in zip(walk, shape))
    return below(100, count, kind) if kind.kind == "i" else floats(count, kind)


def _passed(argument):
    return argument if isinstance(argument, np.generic) else np.void(argument.tobytes())


def _any_strides():
    """The kernels that helpers.ops picks for arrays of any strides."""
    from helpers.ops import layout

    scales = _by_value([0.5, 0.7], np.float32)
    for name, dtype, op, shape, *strides in (
        ("same", "float32", NO_NUMBERS, (1003,), (1,), (1,)),
        ("a row", "float32", NO_NUMBERS, (10, 128), (128, 1), (0, 1)),
        ("channels", "float16", NO_NUMBERS, (4, 6, 64), (384, 64, 1), (0, 1, 0)),
        ("images", "int8", scales, (4, 6, 64), (384, 64, 1), (64, 0, 1)),
        ("every other", "float32", NO_NUMBERS, (10, 50), (100, 2), (50, 1)),
        ("transposed", "float32", NO_NUMBERS, (70, 132), (132, 1), (1, 70)),
        ("transposed", "float16", NO_NUMBERS, (72, 136), (136, 1), (1, 72)),
        ("transposed", "int8", NO_NUMBERS, (144, 160), (160, 1), (1, 144)),
        ("transposed, odd", "float32", NO_NUMBERS, (33, 65), (65, 1), (1, 33)),
    ):
        kind, out = np.dtype(dtype), shapes.contiguous_strides(shape)
        operands = [layout.Operand(walk, kind.itemsize, 0) for walk in (*strides, out)]
        choices = {"T": dtype, "Out": dtype, "Op": "Add" if op is NO_NUMBERS else "Scaled<Add>"}
        with mock.patch.object(layout, "SMALL", 0):  # tiles at any size
            chosen = layout.choose(shape, *operands, choices, op, many=0)
        file, choices, grid, block, *rest = chosen
        yield Case(
            f"{file} {name} {dtype}", file, Path(file).stem, grid, block,
            [*(_room(walk, shape, kind) for walk in (*strides, out)), *map(_passed, rest)], 0,
            {key: str(value) for key, value in choices.items()},
        )  # fmt: skip


def _images():
    """im2col and col2im, of two channels."""
    for size, kernel, stride, padding, dilation, pack, type_ in (
        ((13, 40), 3, 1, 1, 1, 4, "float"),
        ((20, 38), 3, (2, 1), (0, 3), (2, 1), 2, "half"),
    ):
        h, w = windows.sides(size, kernel, stride, padding, dilation)
        dtype, told = np.float16 if type_ == "half" else np.float32, windows.argument(h, w)
        x, columns = floats(2 * h.image * w.image, dtype), 2 * h.places * w.places
        result = floats(columns * h.kernel * w.kernel, dtype)
        common, known = [i32(gcd(s.stride, s.dilation)) for s in (h, w)], windows.known(h, w)

        def case(file, threads, source, target, *rest, dtype=dtype, type_=type_, **choices):
            name = f"{file} {type_} {-(-threads // 128)} of 128"
            return Case(name, file, Path(file).stem, (-(-threads // 128),), (128,),
                        [source, zeros(target.size, dtype), INT64(threads), *rest], 0,
                        {"T": type_, **choices})  # fmt: skip

        def by(width, height, h=h, w=w):
            return windows.dividers(width, height, w.kernel, h.kernel)

        packs, by_packs = columns // pack, by(w.places // pack, h.places)
        yield case("im2col/columns.cu", columns, x, result, told)
        yield case("im2col/elements.cu", result.size, x, result, told)
        yield case("im2col/fast.cu", result.size, x, result, told, by(w.places, h.places))
        yield case("im2col/packed.cu", result.size // pack, x, result, told, by_packs, PACK=pack)
        yield case("im2col/column_packs.cu", packs, x, result, told, by_packs, PACK=pack)
        for file in "im2col/unrolled.cu", "im2col/wide.cu":
            yield case(file, packs, x, result, told, by_packs, PACK=pack, **known)
        yield case("im2col/wrong_edge.cu", result.size, x, result, told)
        if type_ == "float":
            yield case("col2im/scatter.cu", result.size, result, x, told)
            yield case("col2im/wrong_scatter.cu", result.size, result, x, told)
        yield case("col2im/gather.cu", x.size, result, x, told)
        yield case("col2im/wrong_extent.cu", x.size, result, x, told)
        by_pixel = by(w.image, h.image)
        yield case("col2im/skip.cu", x.size, result, x, told, *common, by_pixel)
        pack = 2
        by_pixel = by(w.image // pack, h.image)
        packs = x.size // pack
        for file in "col2im/unrolled.cu", "col2im/wide.cu":
            yield case(file, packs, result, x, told, by_pixel, PACK=pack, **known)
        covered = [7 * h.stride + h.extent, 31 * w.stride + w.extent]
        name = f"im2col/tiles.cu {type_} (2, 2, 2) of (32, 8)"
        yield Case(name, "im2col/tiles.cu", "tiles", (2, 2, 2), (32, 8),
                   [x, zeros(result.size, dtype), INT64(2), told],
                   covered[0] * covered[1] * x.itemsize, {"T": type_})  # fmt: skip


def _gemm():
    m, n, k = 70, 130, 40
    arrays = floats(m * k), floats(k * n), zeros(m * n)
    for step, side, block in (
        ("naive", 16, (16, 16)), ("shared", 32, (32, 32)), ("registers", 128, (16, 16)),
        ("wrong_barrier", 32, (32, 32)),
    ):  # fmt: skip
        grid, file = (-(-n // side), -(-m // side)), f"gemm/{step}.cu"
        sizes = INT64(m), INT64(n), INT64(k)
        yield Case(f"{file} {m}x{n}x{k}", file, step, grid, block, [*arrays, *sizes], 0, {})
    for a_along_k, b_along_k in (1, 0), (0, 0), (1, 1):
        m, n, k = 72, 132, 40
        arrays = floats(m * k), floats(k * n), zeros(2 * m * n)
        strides = _by_value([k if a_along_k else m, k if b_along_k else n, 0, 0])
        choices = {"A_ALONG_K": str(a_along_k), "B_ALONG_K": str(b_along_k)}
        told = " ".join(f"{key}={value}" for key, value in choices.items())
        arguments = [*arrays, INT64(m), INT64(n), INT64(k), strides]
        yield Case(f"gemm/packed.cu {told} {m}x{n}x{k}", "gemm/packed.cu", "packed", (2, 2), (256,),
                   arguments, 0, choices)  # fmt: skip
    yield from _by_tensor_cores()


def _by_tensor_cores():
    tiles = [floats(3 * 64 * 64, np.float16) for _ in range(2)]
    yield Case("gemm/transposed.cu 3 of 128", "gemm/transposed.cu", "transposed", (3,), (128,),
               [*tiles, zeros(3 * 64 * 64)])  # fmt: skip
    m, n, k = 72, 136, 40
    lengths = m * k, k * n, m * n
    arrays = [floats(size, np.float16) for size in lengths]
    sizes = INT64(m), INT64(n), INT64(k)
    grid = -(-n // 64), -(-m // 64)
    for file, across in ("fragments", 16), ("fragments_shared", 64):
        yield Case(f"gemm/{file}.cu {m}x{n}x{k}", f"gemm/{file}.cu", file, (-(-n // across), 2),
                   (128,), [*arrays, *sizes])  # fmt: skip
    for choices in {}, {"PADDING": "16"}, {"SWIZZLED": "1"}:
        told = " ".join(f"{key}={value} " for key, value in choices.items())
        yield Case(f"gemm/mma.cu {told}{m}x{n}x{k}", "gemm/mma.cu", "mma", grid, (128,),
                   [*arrays, *sizes], 0, choices)  # fmt: skip


def _convolutions():
    """Of 2 images of 3 channels to 5, in two splits."""
    h, w = windows.sides((9, 16), 3, 1, 1)
    window = windows.argument(h, w), windows.dividers(w.places, h.places, 1, 1)
    window += (windows.elements(3, h, w),)
    x, weight, y = floats(2 * 3 * 9 * 16), floats(5 * 3 * 9), floats(2 * 5 * 9 * 16)
    sizes, tile = [i32(n) for n in (2, 1, 3, 5)], {"ROWS": "64", "COLUMNS": "64", "DEEP": "16"}
    forward = [x, weight, zeros(2 * y.size), *sizes, *window, INT64(0)]
    yield Case("convolution/forward.cu 2x3x9x16 to 5", "convolution/forward.cu", "forward", (5, 2),
               (256,), forward, 0, {**tile, "W_PACK": "1"})  # fmt: skip
    by_weight = [x, y, zeros(2 * weight.size), *sizes, *window]
    yield Case("convolution/weight.cu 2x3x9x16 to 5", "convolution/weight.cu", "weight", (1, 2),
               (256,), by_weight, 0, {**tile, "W_PACK": "1"})  # fmt: skip


CASES = [
    *_kernels(), *_course(), *_elementwise(), *_images(), *_gemm(), *_convolutions(), *CALLS,
    *_probes(),
]  # fmt: skip
