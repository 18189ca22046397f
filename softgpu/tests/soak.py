"""Kernels made, launched, dropped and made again, by several threads, for as long as you like: does
the process stay as large as it was, and does it live?
python -m softgpu.tests.soak SECONDS [KERNELS [THREADS]]
"""

import gc
import random
import sys
import threading
import time
from pathlib import Path

import numpy as np

from softgpu.tests import autoinit

import pycuda.driver as cuda  # isort: skip
from pycuda.compiler import compile as compiled  # isort: skip

N = 1000
SOURCE = """
extern "C" __global__ void scale(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 3.0f;
}
extern "C" __global__ void turn(float *y, const float *x, int n)
{
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x, last = min(n - blockIdx.x * 128, 128) - 1;
    if (i < n) tile[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = tile[last - threadIdx.x];
}
extern "C" __global__ void steps(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float seen[8];
    for (int k = 0; k < 8; k++) seen[k] = x[(i + k) % n];
    float sum = 0.0f;
    for (int k = 0; k <= i % 40; k++) sum += seen[(int)x[i] + k & 7];
    y[i] = sum;
}
extern "C" __global__ void lanes(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(~0u, v, k);
    if (i < n) y[i] = v;
}
extern "C" __global__ void counts(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.0f;
    __syncthreads();
    if (i < n) atomicAdd(&y[i & ~3], x[i]);
}
"""
KERNELS = "scale", "turn", "steps", "lanes", "counts"


def resident_mb():
    """Memory of this process, without its garbage."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


class Soak:
    """What all threads do; `launches`: how many there were; `failed`: what went wrong."""

    def __init__(self, kernels):
        self.text = compiled(SOURCE, no_extern_c=True, cache_dir=False).decode()
        self.kernels = kernels
        self.launches = 0
        self.failed = []
        self.expected = {}
        self.ends = 0.0

    def module(self, number):
        """A module like all others, which nothing knows to be the same."""
        return cuda.module_from_buffer(f"// {number}\n{self.text}".encode())

    def work(self, seed):
        """A thread's part: kernels in an order of its own."""
        autoinit.context.push()
        try:
            self._work(random.Random(seed))
        except Exception as error:
            self.failed.append(error)
        finally:
            autoinit.context.pop()

    def _work(self, rng):
        stream = cuda.Stream()
        x = np.arange(N, dtype=np.float32) % 7
        while time.monotonic() < self.ends and not self.failed:
            name = rng.choice(KERNELS)
            kernel = self.module(rng.randrange(self.kernels)).get_function(name)
            x_gpu, y_gpu = cuda.to_device(x), cuda.mem_alloc(x.nbytes)
            for _ in range(rng.choice((1, 20, 200))):
                kernel(y_gpu, x_gpu, np.int32(N), grid=(8, 1), block=(128, 1, 1), stream=stream)
                self.launches += 1
            stream.synchronize()
            got = cuda.from_device(y_gpu, N, np.float32)
            np.testing.assert_array_equal(got, self.expected.setdefault(name, got), name)


def main(seconds, kernels=200, threads=2):
    """Prints the size of the process ten times; fails where it grows by over 5 % after four."""
    soak, sizes = Soak(kernels), []
    for part in range(10):
        soak.ends = time.monotonic() + seconds / 10
        workers = [
            threading.Thread(target=soak.work, args=(part * 99 + i,)) for i in range(threads)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if soak.failed:
            raise soak.failed[0]
        sizes.append(resident_mb())
        print(f"{soak.launches:9,} launches, {sizes[-1]:6.0f} MB", flush=True)
    growth = sizes[-1] / sizes[3] - 1
    if growth > 0.05:
        raise SystemExit(f"the process grew by {growth:.0%}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
