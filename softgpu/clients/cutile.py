"""cuTile: its kernels without TMA.

Before a launch with TMA, a driver calls machine code of the cubin, by a protocol that no document
describes. Loads and stores without it copy the same tiles.
"""

from __future__ import annotations

from typing import Any

from .imports import after_import, expect_pytorch

__all__ = ["serve"]


def serve() -> None:
    """Let cuTile, once it is imported, use TMA only where a kernel says allow_tma=True."""
    after_import("cuda.tile", expect_pytorch)
    after_import("cuda.tile._ir2bytecode", _leave_out_tma)


def _leave_out_tma(compiler: Any) -> None:
    hints = compiler.BytecodeContext.load_store_hints
    compiler.BytecodeContext.load_store_hints = lambda context, latency, allow_tma: hints(
        context, latency, bool(allow_tma)
    )
