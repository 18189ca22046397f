"""Launch any step of decode/, between guards."""

from math import ceil

import numpy as np

from helpers import checks, sources
from helpers.ops.decode import FORMATS

LONG = np.int64


def launch(run, grid, block, *arguments):
    """Launch a kernel on a grid of one or two dimensions, in blocks of one."""
    run(*arguments, grid=(*grid, 1)[:2], block=(block, 1, 1))


def guarded(*arrays):
    """Arrays on the GPU, between guards."""
    return [checks.Guarded(x.shape, x.dtype).set(x) for x in arrays]


def rms_norm(x, weight, epsilon, added=None, pack=1, block=32):
    """What the kernel makes of rows, and what it leaves in x."""
    rows, hidden = x.shape
    of_x, of_weight, of_added = guarded(x, weight, x if added is None else added)
    y = checks.Guarded(x.shape, x.dtype)
    packs = ceil(hidden / pack / block)
    choices = {"T": x.dtype, "PACK": pack, "PACKS": packs, "ADDED": int(added is not None)}
    run = sources.kernel("decode/rms_norm.cu", **choices)
    told = LONG(rows), LONG(hidden), np.float32(epsilon), of_weight.array, of_added.array
    launch(run, (rows,), block, of_x.array, y.array, *told)
    return y.get(), of_x.get()


def embed(table, scales, token):
    """A token's row of a table in int8."""
    of_table, of_scales, of_token = guarded(table, scales, np.array([token, 0], np.int32))
    x = checks.Guarded(table.shape[1], "float32")
    told = LONG(table.shape[1]), of_scales.array, of_token.array
    launch(sources.kernel("decode/embed.cu"), (2,), 32, of_table.array, x.array, *told)
    return x.get()


def paged(cache, table, page):
    """A cache[heads, slots, head] as pages of so many slots: slot s is in page table[s // page].
    What no slot is in is NaN."""
    heads, slots, head = cache.shape
    pages = np.full((max(table) + 1, heads, page, head), np.nan, cache.dtype)
    for slot in range(slots):
        pages[table[slot // page], :, slot % page] = cache[:, slot]
    return pages


def from_pages(pages, table, slots):
    """The cache[heads, slots, head] that lies in pages."""
    return np.concatenate(pages[np.array(table)], 1)[:, :slots]


def rotary(made, heads, key_heads, position, keys, values, turns, table, page):
    """A token's queries, and the cache with its keys and values."""
    head, capacity = made.shape[-1], keys.shape[1]
    at, of_table = (np.array(a, np.int32) for a in ([position], table))
    of_made, of_turns, of_position, of_table = guarded(made, turns, at, of_table)
    of_keys, of_values = guarded(*(paged(side, table, page) for side in (keys, values)))
    q = checks.Guarded((heads, head), "float32")
    run = sources.kernel("decode/rotary.cu", T=keys.dtype, HEAD=head, PAGE=page)
    sizes = LONG(heads), LONG(key_heads), LONG(capacity)
    told = *sizes, of_keys.array, of_values.array, of_table.array, of_turns.array
    launch(run, (len(made),), head // 2, of_made.array, q.array, *told, of_position.array)
    return q.get(), *(from_pages(side.get(), table, capacity) for side in (of_keys, of_values))


def attend(q, keys, values, position, scale, table, page, splits=1, pack=4):
    """What one query of each head makes of the cache, and the logarithms of its sums."""
    (heads, head), (key_heads, capacity, _) = q.shape, keys.shape
    pages = (paged(side, table, page) for side in (keys, values))
    of_q, of_keys, of_values = guarded(q, *pages)
    at, of_table = guarded(*(np.array(a, np.int32) for a in ([position], table)))
    parts = checks.Guarded((splits, heads, head), "float32")
    logs = checks.Guarded((splits, heads), "float32")
    choices = {"T": keys.dtype, "HEAD": head, "FOLD": heads // key_heads, "PACK": pack,
               "PAGE": page}  # fmt: skip
    sizes = LONG(heads), LONG(capacity), np.float32(scale)
    told = *sizes, of_keys.array, of_values.array, of_table.array, at.array, logs.array
    run = sources.kernel("decode/attend.cu", **choices)
    launch(run, (key_heads, splits), 128, of_q.array, parts.array, *told)
    parts, logs = guarded(parts.get(), logs.get())
    out, all_logs = checks.Guarded((heads, head), "float32"), checks.Guarded(heads, "float32")
    merge = sources.kernel("attention/merge.cu", Out="float")
    told = LONG(heads), LONG(head), LONG(splits), all_logs.array
    launch(merge, (heads,), 32, parts.array, logs.array, out.array, *told)
    return out.get(), all_logs.get()


def swiglu(made, pack):
    """SwiGLU of gates and what passes them."""
    (of_made,) = guarded(made)
    y = checks.Guarded(made.shape[1], made.dtype)
    run = sources.kernel("decode/swiglu.cu", T=made.dtype, PACK=pack)
    launch(run, (ceil(made.shape[1] / 64),), 64, of_made.array, y.array, LONG(made.shape[1]))
    return y.get()


def thin(weights, x, scales=None, kind=None, blocks=None, **choices):
    """The product of weights and each row of x."""
    n, (rows, k) = len(weights), x.shape
    of_weights, of_x = guarded(weights, x)
    (of_scales,) = guarded(np.ones(n, np.float32) if scales is None else scales)
    y = checks.Guarded((rows, n), x.dtype)
    choices = {"Format": FORMATS[kind or weights.dtype.name], "X": x.dtype, "Out": x.dtype,
               "WARPS": 2, "X_PACK": 1, "SCALED": int(scales is not None)} | choices  # fmt: skip
    run = sources.kernel("decode/thin.cu", **choices)
    (of_blocks,) = guarded(np.zeros(1, np.uint8) if blocks is None else blocks)
    told = LONG(n), LONG(k), of_x.array, of_scales.array, of_blocks.array
    launch(run, (ceil(n / 2 / choices.get("ROWS", 2)), rows), 64, of_weights.array, y.array, *told)
    return y.get()


def sample(logits, temperature, most, seed, position, each=4):
    """The token that is drawn, the state after it, and the list of tokens."""
    tokens = np.full(position + 2, -1, np.int32)
    of_logits, state, listed = guarded(logits, np.array([7, position], np.int32), tokens)
    told = LONG(len(logits)), np.float32(temperature), np.int32(most), np.uint32(seed)
    run = sources.kernel("decode/sample.cu", BLOCK=64, EACH=each)
    launch(run, (1,), 64, of_logits.array, state.array, *told, listed.array)
    return *map(int, state.get()), listed.get()
