"""Loads in flight: what a multiprocessor must have under way for memory to be busy."""

import numpy as np

from ..page import Page
from ..tables import recorded

__all__ = ["flight", "table"]

BLOCKS = [1, 2, 4, 8]  # of a multiprocessor
THREADS = 128
LOADS = [1, 2, 4]  # of a thread, before it uses the first
TYPES = {4: "float", 16: "float4"}
LATENCY_NS, GB_PER_S = 600, 4500  # of a busy memory, about: what notebook 05 reckons with
BYTES = 1 << 25  # at least, in whole rounds; what twice as many take longer, so many take
KERNEL = """
constexpr int LOADS = {loads};
__device__ float total(float x) {{ return x; }}
__device__ float total(float4 x) {{ return x.x + x.y + x.z + x.w; }}
__global__ void flight(const {T} *__restrict__ x, float *out, int n)
{{
    int all = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int i = thread; i + (LOADS - 1) * all < n; i += LOADS * all) {{
        {T} loaded[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) loaded[k] = x[i + k * all];
#pragma unroll
        for (int k = 0; k < LOADS; k++) sum += total(loaded[k]);
    }}
    out[thread] = sum;
}}
"""


def flight():
    """Little's law: bytes in flight = bandwidth * latency. Blocks, bytes a load and loads a thread
    change; the speed is what the software GPU predicts for an H200."""
    known = recorded("flight")
    data = {"blocks": BLOCKS, "threads": THREADS, "loads": LOADS, "bytes": list(TYPES)}
    data |= {"idle_ns": known["latency_ns"], "speeds": known["speeds"]}
    data |= {"multiprocessors": known["multiprocessors"]}
    data |= {"latency_ns": LATENCY_NS, "gb_per_s": GB_PER_S}
    words = "loads in flight and the speed of memory; open it as HTML to play it"
    return Page("flight", "Loads in flight", data, words, height=520)


def table():
    """The chip's bandwidth and latency; {blocks bytes loads: GB/s}."""
    from softgpu.xray.chip import chip

    of = chip()
    speeds = {
        f"{blocks} {size} {loads}": _speed(of.multiprocessors * blocks, size, loads)
        for size in TYPES
        for loads in LOADS
        for blocks in BLOCKS
    }
    latency_ns = 1e3 * of.latency["dram"] / of.cycles_per_us
    return {
        "gb_per_s": round(of.read_gb_per_s),
        "latency_ns": round(latency_ns),
        "multiprocessors": of.multiprocessors,
        "speeds": speeds,
    }


def _speed(blocks, size, loads):
    from ... import sources, xray  # isort: skip  (it picks the driver that PyCUDA binds to)
    from pycuda import gpuarray

    kernel = sources.kernel(KERNEL.format(T=TYPES[size], loads=loads), "flight")
    turn = blocks * THREADS * loads  # packs that all threads load in a turn of their loop
    count = -(-BYTES // (turn * size)) * turn
    x = gpuarray.zeros(2 * count * size // 4, np.float32)
    out, shape = gpuarray.zeros(blocks * THREADS, np.float32), {"grid": blocks, "block": THREADS}
    less, more = (
        xray.profile(kernel, x, out, np.int32(n), **shape).predicted_us for n in (count, 2 * count)
    )
    return round(count * size / (more - less) / 1e3)
