"""Launch any step of reduce/, rowreduce/ and higherdim/, between guards."""

from math import ceil

import numpy as np

from helpers import checks, sources

from . import batch

ACCUMULATORS = {
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
    "int32": "int32",
}

# The steps of reduce/ by what they leave: a total a block for the host to fold, or the result.
FOLDS = ["shared_modulo", "shared_strided", "shared", "shuffle_down", "shuffle_xor"]
TREES = ["shared_plain", *FOLDS]
ATOMIC = ["atomic", "atomic_finish", "unrolled", "warp_totals", "grid_stride", "packed"]
STRIDING = ["grid_stride", "packed", "two_pass", "last_block"]
STRIDING_BLOCKS = 40
ROWS = ["warp_per_row", "block_per_row", "warp_packed", "block_packed", "lanes", "split"]
COLUMNS = ["columns", "chunks", "tiles"]

OTHER_TYPES = ["float16", "float64", "int32"]  # than the files have, and so whoever runs these
OPERATORS = ["Prod", "Max", "Min"]
OPERATORS_OF_ROWS = [*OPERATORS, "Mean", "ArgMax", "ArgMin"]


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index or rounding shows."""
    random = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "i":
        return random.integers(-1000, 1000, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def fold_vector(step, x, acc=None, block=256, **choices):
    """What a step of reduce/ makes of x: one value, or a total a block."""
    acc = x.dtype if step == "halving" else np.dtype(acc or ACCUMULATORS[x.dtype.name])
    blocks = ceil(x.size / block)
    if step == "one_thread":
        blocks, block = 1, 1
    if step in STRIDING:
        blocks = min(blocks, STRIDING_BLOCKS)
    run = _vector_kernel(step, x.dtype, acc, block, choices)

    x_gpu = checks.Guarded(x.shape, x.dtype).set(x)
    one = step in ["one_thread", "last_block", *ATOMIC]
    out = checks.Guarded(1 if one else blocks, acc)
    if step in ATOMIC:
        out.set(0)
    arguments = [x_gpu.array, out.array, np.int64(x.size)]
    if step == "last_block":
        totals, arrived = checks.Guarded(blocks, acc), checks.Guarded(1, "int32").set(0)
        arguments += [totals.array, arrived.array]
    shared = block * acc.itemsize if step in [*TREES, "atomic_finish"] else 0
    run(*arguments, grid=(blocks, 1), block=(block, 1, 1), shared=shared)
    if step == "last_block":
        totals.get()
        checks.assert_equal(arrived.get(), [0], "arrived")
    if step != "halving":
        checks.assert_equal(x_gpu.get(), x, "x")
    return out.get()


def _vector_kernel(step, dtype, acc, block, choices):
    """The kernel of a step of reduce/; what only tests ask of it is compiled at once."""

    def of(dtype, acc, **choices):
        choices |= {} if step == "halving" else {"Acc": acc}
        choices |= {"Out": acc} if step == "last_block" else {}
        choices |= {"BLOCK": block} if step == "unrolled" else {}
        return {"T": dtype, **choices}

    among = [of(dtype, ACCUMULATORS[dtype]) for dtype in OTHER_TYPES] + [of("float32", "float64")]
    if step in [*FOLDS, "two_pass", "last_block"]:
        among += [of("float32", "float32", Op=f"{operator}<Acc>") for operator in OPERATORS]
    return batch.variant(f"reduce/{step}.cu", among, **of(dtype, acc, **choices))


def fold_rows(step, x, operator="Sum", offset_bytes=0, **choices):
    """What a step of rowreduce/ makes of x[batch, hidden]: out[batch]."""
    rows, hidden = x.shape
    run = _row_kernel(step, x.dtype.name, operator, choices)
    x_gpu = checks.Guarded(x.shape, x.dtype, offset_bytes).set(x)
    out = checks.Guarded(
        rows, "int64" if operator.startswith("Arg") else ACCUMULATORS[x.dtype.name]
    )
    block, splits, rest = 128, 3, []
    blocks = {"warp_per_row": ceil(rows / 4), "warp_packed": ceil(rows / 4), "lanes": 2}
    if step == "split":
        totals, arrived = (
            checks.Guarded((rows * splits, 2), "int64"),
            checks.Guarded(rows, "int32"),
        )
        room = np.uintp(totals.array.ptr)  # for values of any type
        rest = [np.int32(splits), room, arrived.set(0).array]
    grid = blocks.get(step, rows * splits if step == "split" else rows), 1
    sizes = np.int64(rows), np.int64(hidden)
    run(x_gpu.array, out.array, *sizes, *rest, grid=grid, block=(block, 1, 1))
    if step == "split":
        totals.get()
        checks.assert_equal(arrived.get(), np.zeros(rows), "arrived")
    return out.get()


def _row_kernel(step, dtype, operator, choices):
    """The kernel of a step of rowreduce/; what only tests ask of it is compiled at once."""

    def of(dtype, operator="Sum"):
        value = ACCUMULATORS[dtype]
        if operator.startswith("Arg"):
            c_name = sources.C_NAMES[value]
            types = {"Acc": f"Indexed<{c_name}>", "Out": "int64", "Op": f"{operator}<{c_name}>"}
        else:
            types = {"Acc": value, "Out": value, "Op": f"{operator}<Acc>"}
        return {"T": dtype, **types, **choices}

    among = [of("float32", operator) for operator in OPERATORS_OF_ROWS]
    among = [] if choices or step not in ROWS else [*map(of, OTHER_TYPES), *among]
    return batch.variant(f"rowreduce/{step}.cu", among, **of(dtype, operator))


def fold_columns(step, x, operator="Sum", transform="Identity", rows_a_chunk=10, **choices):
    """What a step of higherdim/ makes of x[outer, reduce, inner]: out[outer, inner]."""
    outer, reduce, inner = x.shape
    value = ACCUMULATORS[x.dtype.name]
    types = {"Acc": value, "Out": value, "Op": f"{operator}<Acc>"}
    x_gpu = checks.Guarded(x.shape, x.dtype).set(x)
    sizes = [np.int64(n) for n in x.shape]
    count = 1 if step == "columns" else ceil(reduce / rows_a_chunk)
    out = checks.Guarded((outer, count if "chunks" in step else 1, inner), value)
    if step == "columns":
        grid, block, rest = (ceil(inner / 64), outer), (64, 1, 1), []
    elif step == "chunks":
        types["Transform"] = f"{transform}<Acc>"
        grid, block, rest = (ceil(inner / 64), count, outer), (64, 1, 1), [np.int64(rows_a_chunk)]
    else:
        pack = choices.setdefault("PACK", 4 if inner % 4 == 0 else 1)
        width, height = (64, 2) if choices.get("SHIFTED") else (8, 16)
        choices["BLOCK"] = width * height
        packs = ceil(choices.get("MERGED", 1) * inner / pack)
        tiles = ceil(packs / (width - width // 32))  # a warp's last lane has no columns
        grid, block = (outer * tiles, count), (width, height, 1)
        totals = checks.Guarded((outer, count, packs * pack), value)
        arrived = checks.Guarded(outer * tiles, "int32").set(0)
        rest = [totals.array, arrived.array]
    run = sources.kernel(f"higherdim/{step}.cu", T=x.dtype, **types, **choices)
    run(x_gpu.array, out.array, *sizes, *rest, grid=grid, block=block)
    if step == "tiles":
        totals.get()
        checks.assert_equal(arrived.get(), np.zeros(arrived.shape), "arrived")
    got = out.get()
    if got.shape[1] > 1:  # partial results: the second pass
        return fold_columns(step, got, operator, rows_a_chunk=count)
    return got[:, 0]
