"""Which lane's value stays where several lanes of a warp store to one address: as on an H200."""

from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

from softgpu.loader import Engine
from softgpu.tests import autoinit

import pycuda.driver as cuda  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

TYPES = {
    "unsigned char": 1,
    "ushort1": 2,
    "uchar2": 2,
    "unsigned": 4,
    "ushort2": 4,
    "uint2": 8,
    "unsigned long long": 8,
    "ushort4": 8,
    "uint4": 16,
    "double2": 16,
}
SPACES = ("global", "shared", "one", "one_shared")

STORE = """
__device__ void {kernel}_put({type} &place, unsigned lane)
{{
    unsigned char bytes[{size}];
    for (int i = 0; i < {size}; i++) bytes[i] = lane;
    place = *({type} *)bytes;
}}

extern "C" __global__ void {kernel}_global({type} *out, const int *where, unsigned lanes)
{{
    unsigned lane = threadIdx.x;
    if (lanes >> lane & 1) {kernel}_put(out[where[lane]], lane);
}}

extern "C" __global__ void {kernel}_shared({type} *out, const int *where, unsigned lanes)
{{
    __shared__ {type} s[32];
    unsigned lane = threadIdx.x;
    s[lane] = out[lane];
    __syncwarp();
    if (lanes >> lane & 1) {kernel}_put(s[where[lane]], lane);
    __syncwarp();
    out[lane] = s[lane];
}}

extern "C" __global__ void {kernel}_one({type} *out, const int *where, unsigned lanes)
{{
    if (lanes >> threadIdx.x & 1) {kernel}_put(*out, threadIdx.x);
}}

extern "C" __global__ void {kernel}_one_shared({type} *out, const int *where, unsigned lanes)
{{
    __shared__ {type} s;
    if (lanes >> threadIdx.x & 1) {kernel}_put(s, threadIdx.x);
    __syncwarp();
    if (threadIdx.x == 0) *out = s;
}}
"""

RECORDED = {
    1: {0xFFFFFFFF: 0, 0x92492492: 1},
    2: {0xFFFFFFFF: 0, 0x92492492: 1},
    4: {0xFFFFFFFF: 0, 0x92492492: 1},
    8: {0xFFFFFFFF: 16, 0x92492492: 16, 0x11111111: 16, 0x88888888: 19},
    16: {0xFFFFFFFF: 24, 0x92492492: 25, 0x11111111: 24, 0x88888888: 27},
}
"""By bytes of a store and the lanes that store: the one whose value an H200 leaves."""


def name_of(type_: str) -> str:
    return type_.replace(" ", "_")


def winner(size: int, lanes: list[int]) -> int:
    """Groups of lanes that fill 128 bytes store one after the other; of each the lowest stays."""
    group = min(32, 128 // size)
    return min(lane for lane in lanes if lane // group == max(lanes) // group)


@pytest.fixture(scope="module")
def module():
    text = (STORE.format(kernel=name_of(t), type=t, size=size) for t, size in TYPES.items())
    return SourceModule("\n".join(text), no_extern_c=True)


@contextmanager
def built(how: str):
    """Launches in this block run in code made "quick" or in "full", or are "watched"."""
    engine = Engine.as_driver()
    if how != "watched":
        with engine.tier(how):
            yield
        return
    engine.runtime.sg_sanitize(1)
    yield
    engine.runtime.sg_sanitize(0)


def left(kernel, size: int, where, mask: int) -> list[int]:
    """The lane whose value each of 32 places has after a launch; 255: nobody's."""
    out = np.full((32, size), 255, np.uint8)
    kernel(cuda.InOut(out), cuda.In(where), np.uint32(mask), block=(32, 1, 1))
    assert (out == out[:, :1]).all()
    return out[:, 0].tolist()


def test_the_rule_is_what_was_recorded():
    for size, answers in RECORDED.items():
        for mask, lane in answers.items():
            assert winner(size, [n for n in range(32) if mask >> n & 1]) == lane


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("how", ("quick", "full", "watched") if autoinit.is_software else ("gpu",))
def test_the_lane_that_stays(module, type_, space, how):
    kernel, size = module.get_function(f"{name_of(type_)}_{space}"), TYPES[type_]
    rng = np.random.default_rng(20)
    for mask in (0xFFFFFFFF, 0x92492492, 0x11111111, 0x0000FFFF, *rng.integers(1, 2**32, 8)):
        where = np.zeros(32, np.int32)
        if not space.startswith("one"):
            where[:] = rng.integers(0, rng.choice([1, 3, 8, 32]), 32)
        expected = [255] * 32
        for place in range(32):
            lanes = [n for n in range(32) if int(mask) >> n & 1 and where[n] == place]
            expected[place] = winner(size, lanes) if lanes else 255
        with built(how) if how != "gpu" else nullcontext():
            assert left(kernel, size, where, int(mask)) == expected
