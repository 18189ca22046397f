"""Launches of kinds that the other sets lack, predicted before a GPU had run them."""

from functools import partial

import numpy as np

from .cases import SMS, below, cases_of, floats, zeros
from .public import _begins, _near

__all__ = ["FRESH"]

F16, F32, F64, I32, U8, U32 = np.float16, np.float32, np.float64, np.int32, np.uint8, np.uint32
_case = cases_of("fresh, blind", "fresh.cu")


def _places(side):
    """The places of an image that is turned a little, from -0.5 to 0.5."""
    row, column = np.mgrid[:side, :side] / F32(side) - F32(0.5)
    turned = 0.8 * column - 0.2 * row, 0.2 * column + 0.8 * row
    return np.stack(turned, -1).astype(F32).ravel()


def _in_order(make):
    return np.sort(make())


def _language():
    n = 1 << 22
    yield _case("dequantise", n, n // 512, 256, below(256, n // 32 * 18, U8), zeros(n), I32(n // 2))
    yield _case("rows_of_bytes", "4096 by 4096", 512, 256, below(1 << 31, n, U32),
                below(1 << 31, 1024, U32), floats(4096), zeros(4096), I32(256))  # fmt: skip
    yield _case("pages", "16 by 32", (32, 16), 256, zeros(4 * n), below(2048, 512),
                zeros(n), I32(128), I32(32))  # fmt: skip
    yield _case("rms_norm", "8192 rows of 2048", 8192, 256, floats(4 * n, F16), floats(2048, F16),
                zeros(4 * n, F16), I32(256))  # fmt: skip
    m = 2048 * 768
    yield _case("norm_back", "2048 rows of 768", 256, 256, floats(m), floats(m + 1), floats(768),
                floats(4096), zeros(m), zeros(768), I32(768), shared=3072)  # fmt: skip


def _images():
    side, n = 1024, 1 << 20
    squares = (side // 32, side // 8), (32, 8)
    yield _case("bilateral", n, *squares, floats(n), zeros(n), I32(side), F32(0.1), F32(9))
    yield _case("filter_rows", 4 * n, (16, 512), (16, 4), floats(4 * n), floats(17), zeros(4 * n),
                I32(2048))  # fmt: skip
    m = 2048 * 56 * 56
    yield _case("depthwise", "32x64x56x56", (1, 14, 2048), (64, 4), floats(m, F16),
                floats(576, F16), zeros(m, F16), I32(56))  # fmt: skip
    yield _case("moments_of_channels", "32x64x56x56", 64, 256, floats(m), zeros(128), I32(32),
                I32(64), I32(56 * 56))  # fmt: skip
    yield _case("sample_grid", "16x512x512", side, 256, floats(4 * n), partial(_places, 512),
                zeros(4 * n), I32(16), I32(512))  # fmt: skip


def _physics():
    n = 1 << 20
    yield _case("boltzmann", n, (4, 1024), 256, floats(9 * n), zeros(9 * n), I32(1024), F32(0.6))
    m = 1 << 15
    yield _case("pair_forces", m, m // 128, 128, floats(4 * m), partial(_near, m, 64),
                zeros(4 * m), I32(64), I32(m))  # fmt: skip
    yield _case("cross_sections", 8 * m, 8 * m // 256, 256,
                partial(_in_order, lambda: floats(8192, F64)() + 0.5), below(510, 12 * 8192),
                floats(12 * 2048 + 8, F64), floats(8 * m, F64), zeros(8 * m, F64), I32(8192),
                I32(12), I32(8 * m))  # fmt: skip
    yield _case("cells", 2 * n, 2 * n // 128, 128, floats(2 * n), below(6, 256, U8),
                zeros(2 * n, I32), F32(0.1), I32(128))  # fmt: skip


def _lists():
    n = 1 << 20
    yield _case("ranks_of_digits", n, n // 256, 256, below(1 << 31, n, U32), zeros(n, I32),
                zeros(n // 16, I32), I32(8))  # fmt: skip
    yield _case("sums_by_key", n, n // 192 + 1, 192, partial(_in_order, below(1 << 16, n)),
                floats(n), zeros(1 << 16), I32(n))  # fmt: skip
    yield _case("encode", n, n // 256, 256, below(256, n, U8), below(1 << 16, 256, U32),
                lambda: below(16, 256, U8)() + U8(1), zeros(n, U32))  # fmt: skip
    yield _case("nearest_eight", 1 << 15, 128, 256, floats(1 << 16), floats(1 << 12),
                zeros(1 << 18, I32), I32(2048))  # fmt: skip
    yield _case("checksums", n, 64, 256, below(1 << 31, n, U32), below(1 << 31, 256, U32),
                zeros(1 << 14, U32), I32(64))  # fmt: skip
    yield _case("rooks", 1 << 13, 1 << 7, 64, below(49, 1 << 13), zeros(1 << 13, I32), I32(7),
                I32(1 << 13))  # fmt: skip


def _arithmetic():
    yield _case("normals", "67584 by 16", 2 * SMS, 256, zeros(2 * 16 * 512 * SMS), U32(123),
                I32(16))  # fmt: skip
    n = 1 << 20
    yield _case("product_ahead", "1024", (16, 16), 256, floats(n), floats(n), zeros(n), I32(1024))
    m = 1 << 15
    yield _case("sparse_blocks", m, m // 64, 256, partial(_begins, m, 8), below(m, 16 * m),
                floats(1 << 23), floats(4 * m), zeros(4 * m), I32(m))  # fmt: skip


FRESH = [*_language(), *_images(), *_physics(), *_lists(), *_arithmetic()]
