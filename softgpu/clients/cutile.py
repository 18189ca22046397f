"""cuTile: its kernels without TMA, its tuner by predicted times.

Before a launch with TMA, a driver calls machine code of the cubin, by a protocol that no document
describes. Loads and stores without it copy the same tiles.
"""

from __future__ import annotations

from typing import Any

from .calls import rank_us
from .imports import after_import, expect_pytorch

__all__ = ["serve"]


def serve() -> None:
    """Let cuTile, once it is imported, use TMA only where a kernel says allow_tma=True."""
    after_import("cuda.tile", expect_pytorch)
    after_import("cuda.tile._ir2bytecode", _leave_out_tma)
    after_import("cuda.tile.tune._tune", _predict_times)


def _leave_out_tma(compiler: Any) -> None:
    hints = compiler.BytecodeContext.load_store_hints
    compiler.BytecodeContext.load_store_hints = lambda context, latency, allow_tma: hints(
        context, latency, bool(allow_tma)
    )


def _predict_times(tune: Any) -> None:
    """One launch after the warm-up is enough: the next one's predicted time is the same."""
    from cuda.tile import launch

    tune._WARM_UP_REPEATS = tune._BATCH_REPEATS = tune._MIN_REPEATS = 1
    tune._benchmark = lambda stream, grid, kernel, args, _: rank_us(
        lambda: launch(stream, grid, kernel, args)
    )
