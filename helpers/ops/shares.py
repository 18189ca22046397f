"""How a collective operation is divided between devices or processes: shares of the elements,
which cuda_src/ranks adds up."""

from itertools import pairwise

from .arrays import check, is_contiguous
from .launch import Kept, KernelCall, ceil_divide, context
from .reduce import WIDE

__all__ = ["check_share", "queue_sum", "share_of", "share_of_rows", "shares"]

ONE_SHOT_BYTES = 1 << 18  # longer arrays go over the links twice in parts, not as often as ranks
BLOCK, MOST_BLOCKS = 256, 1024
LINE = 128

prepared = Kept()


def check_share(x, name="x", types=None):
    """Raise unless x is a contiguous, non-empty array of one of these types (None: any)."""
    check(x, types or (getattr(x, "dtype", None) and x.dtype.name,), name)
    if not is_contiguous(x) or not x.size:
        raise ValueError(f"{name} of shape {x.shape}: expected a contiguous array with elements")


def shares(x, ranks):
    """Return the range of elements that each rank adds: all of a short array, a part of a long
    one."""
    if x.nbytes <= ONE_SHOT_BYTES:
        return [(0, x.size)] * ranks
    share = share_of(x, ranks)
    return list(pairwise(min(number * share, x.size) for number in range(ranks + 1)))


def share_of(x, ranks):
    """Return the elements per rank, in whole lines of memory; the last share may be shorter."""
    line = LINE // x.dtype.itemsize
    return ceil_divide(x.size, ranks * line) * line


def share_of_rows(x, ranks):
    """Return the shape of each rank's part of the rows."""
    rows, *rest = x.shape or (1,)
    if rows % ranks:
        raise ValueError(f"reduce_scatter: {rows} rows are not to be divided by {ranks}")
    return rows // ranks, *rest


def queue_sum(starts, dtype, out, count, stream=None):
    """Queue the sum of arrays at these addresses, in the current context."""
    if not count:
        return
    pack = 1 if any(start % 16 for start in (out, *starts)) else 16 // dtype.itemsize
    key = context(), dtype.name, len(starts), pack, count
    call = prepared.get(key)
    if call is None:
        choices = {"T": dtype, "Acc": WIDE[dtype.name], "RANKS": len(starts), "PACK": pack}
        grid = (min(ceil_divide(count, BLOCK * pack), MOST_BLOCKS),)
        call = KernelCall("ranks/one_shot.cu", choices, grid, (BLOCK,), count)
        prepared[key] = call
    call(stream, (*starts, out))
