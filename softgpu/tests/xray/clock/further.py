"""Launches of more kernels such as public programs have, predicted before a GPU had run them."""

from functools import partial

import numpy as np

from .cases import SMS, below, cases_of, floats, zeros

__all__ = ["FURTHER"]

F16, F32, I32, I64, U32 = np.float16, np.float32, np.int32, np.int64, np.uint32
_case = cases_of("further, blind", "further.cu")


def _sorted(n):
    return np.sort(floats(n)())


def _circles(of):
    """Where 7 circles of 150 places lie: their columns, or their rows."""
    angle = 2 * np.pi * np.arange(150) / 150
    return (np.arange(8, 22, 2)[:, None] * of(angle)).astype(I32)


def _angles(of):
    return of(2 * np.pi * np.arange(150) / 150).astype(F32)


def _language():
    n = 1 << 20
    yield _case("gelu_back", "2^22", n // 256, 256, floats(4 * n), floats(4 * n), zeros(4 * n),
                I32(n))  # fmt: skip
    yield _case("softmax_causal", "12x1024x1024", 12 * 1024 // 8, 256, floats(12 * n),
                zeros(12 * n), I32(1024))  # fmt: skip
    yield _case("loss_back", "512 rows of 16384", 512, 256, floats(1 << 23, F16),
                below(16384, 512), F32(1 / 512), I32(16384))  # fmt: skip
    yield _case("norm_of_all", "2^24", 4 * SMS, 512, floats(1 << 24), zeros(1), I64(1 << 24))
    yield _case("rows_by_vector", "4096 by 2048", 4096 // 4, 128, floats(1 << 23, F16),
                floats(2048, F16), zeros(4096), I32(4096), I32(256))  # fmt: skip
    yield _case("two_experts", "2^16 rows", (1 << 16) // 8, 256, floats(1 << 22),
                zeros(1 << 17, I32), zeros(1 << 17), I32(1 << 16))  # fmt: skip
    m = 12 * 512 * 64
    yield _case("attend_rows", "12x512x64", (8, 12), 64, floats(m), floats(m), floats(m), zeros(m),
                I32(512))  # fmt: skip


def _grids():
    side, n = 1024, 1 << 20
    squares = (side // 32, side // 8), (32, 8)
    yield _case("transpose_by_4", "2^22", (2048 // 128, 2048 // 8), (32, 8), floats(1 << 22),
                zeros(1 << 22), I32(2048), I32(2048))  # fmt: skip
    yield _case("dct_8x8", "2^20", (side // 64, side // 8), 64, floats(n), zeros(n), I32(side))
    m = 1 << 18
    yield _case("disparity", "2^18", (512 // 32, 512 // 8), (32, 8), below(1 << 31, m, U32),
                below(1 << 31, m + 1, U32), zeros(m, I32), I32(512), I32(512))  # fmt: skip
    yield _case("zoom", "2^20", *squares, floats(n), zeros(n), I32(side), F32(0.37))
    yield _case("recursive", "2^20", side // 64, 64, floats(n), zeros(n), I32(side), I32(side),
                F32(0.7), F32(0.2))  # fmt: skip
    yield _case("lifting", "1024 rows of 2048", side, 256, floats(1 << 21), zeros(n), zeros(n),
                I32(side), shared=8192)  # fmt: skip
    height, width = 448, 256
    pixels = height * width
    places = (partial(_circles, of) for of in (np.cos, np.sin))
    turned = (partial(_angles, of) for of in (np.cos, np.sin))
    yield _case("rings", "384x192", ((height - 64) // 128, width - 64), 128, floats(pixels),
                floats(pixels + 1), *turned, *places, zeros(pixels), I32(height))  # fmt: skip
    yield _case("rays", "512x512", (16, 64), (32, 8), floats(1 << 21), zeros(m), I32(512), I32(128))


def _searches():
    n = 1 << 20
    yield _case("bisect", "512", 8, 64, floats(512), floats(513), zeros(512), I32(512))
    yield _case("hidden_layer", "65536 by 16", (1, 4096), (16, 16), floats(1 << 16), floats(n),
                zeros(1 << 16), I32(16))  # fmt: skip
    m = 1 << 17
    yield _case("gains", "2^17", m // 256, 256, floats(32 * m), floats(m), below(64, m),
                partial(np.arange, 64, dtype=I32), zeros(64), zeros(m), I32(m), I32(32),
                I32(1))  # fmt: skip
    yield _case("buckets", "2^20", 4 * SMS, 256, floats(n), partial(_sorted, 1024),
                zeros(1024, I32), zeros(n, I32), zeros(n, I32), I32(n))  # fmt: skip
    yield _case("tf32_tiles", "1024", (16, 16), 256, floats(n), floats(n), zeros(n), I32(1024))


FURTHER = [*_language(), *_grids(), *_searches()]
