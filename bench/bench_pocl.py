"""The same kernels on the software GPU and on pocl, which compiles OpenCL for CPUs, side by side.

Kernels are written once; a few macros make CUDA or OpenCL of them. Both keep their arrays on the
device, run on as many threads as there are cores, and take turns, so that both meet the same noise.
bench_triton.py has them once more, for Triton's interpreter.

    python bench/bench_pocl.py
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["CUDA", "KERNELS", "WIDTH", "Case", "Row", "cases", "measured", "table"]

CUDA = """
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define SHARED __shared__
#define barrier_of_block() __syncthreads()
#define increment(p) atomicAdd(p, 1)
#define local_x threadIdx.x
#define local_y threadIdx.y
#define block_x blockIdx.x
#define block_y blockIdx.y
#define size_x blockDim.x
#define size_y blockDim.y
"""

OPENCL = """
#define KERNEL __kernel void
#define GLOBAL __global
#define SHARED __local
#define barrier_of_block() barrier(CLK_LOCAL_MEM_FENCE)
#define increment(p) atomic_inc(p)
#define sinf sin
#define expf exp
#define local_x ((int)get_local_id(0))
#define local_y ((int)get_local_id(1))
#define block_x ((int)get_group_id(0))
#define block_y ((int)get_group_id(1))
#define size_x ((int)get_local_size(0))
#define size_y ((int)get_local_size(1))
"""

KERNELS = """
KERNEL wave(GLOBAL const float *x, GLOBAL float *y, int n)
{
    int i = block_x * size_x + local_x;
    if (i < n) y[i] = sinf(x[i]) * expf(x[i]);
}

KERNEL reduce(GLOBAL const float *x, GLOBAL float *sums, int n)
{
    SHARED float s[256];
    int t = local_x, i = block_x * size_x + t;
    s[t] = i < n ? x[i] : 0.0f;
    barrier_of_block();
    for (int k = size_x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        barrier_of_block();
    }
    if (t == 0) sums[block_x] = s[0];
}

KERNEL histogram(GLOBAL const unsigned char *x, GLOBAL int *counts, int n)
{
    int i = block_x * size_x + local_x;
    if (i < n) increment(&counts[x[i]]);
}

KERNEL add4(GLOBAL const float4 *x, GLOBAL const float4 *y, GLOBAL float4 *z, int n)
{
    int i = block_x * size_x + local_x;
    if (i >= n) return;
    float4 a = x[i], b = y[i];
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
    a.w += b.w;
    z[i] = a;
}

KERNEL saxpy(GLOBAL const float *x, GLOBAL const float *y, GLOBAL float *z, int n)
{
    int i = block_x * size_x + local_x;
    if (i < n) z[i] = 2.0f * x[i] + y[i];
}

KERNEL transpose(GLOBAL const float *a, GLOBAL float *b, int n)
{
    SHARED float tile[32][33];
    int row = block_y * 32 + local_y, column = block_x * 32 + local_x;
    for (int k = 0; k < 32; k += 8) tile[local_y + k][local_x] = a[(row + k) * n + column];
    barrier_of_block();
    row = block_x * 32 + local_y, column = block_y * 32 + local_x;
    for (int k = 0; k < 32; k += 8) b[(row + k) * n + column] = tile[local_x][local_y + k];
}

KERNEL multiply(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, int n)
{
    int row = block_y * size_y + local_y, column = block_x * size_x + local_x;
    if (row >= n || column >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

KERNEL multiply_tiles(GLOBAL const float *a, GLOBAL const float *b, GLOBAL float *c, int n)
{
    SHARED float of_a[16][16], of_b[16][16];
    int row = block_y * 16 + local_y, column = block_x * 16 + local_x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        of_a[local_y][local_x] = a[row * n + k + local_x];
        of_b[local_y][local_x] = b[(k + local_y) * n + column];
        barrier_of_block();
        for (int i = 0; i < 16; i++) sum += of_a[local_y][i] * of_b[i][local_x];
        barrier_of_block();
    }
    c[row * n + column] = sum;
}
"""


ABOUT = """\
Eight more kernels, each written for all (`bench/bench_pocl.py`, `bench/bench_triton.py`), here, on
pocl, which compiles OpenCL for CPUs, and on Triton's interpreter: milliseconds of all cores,
without compiling. Triton's products are calculated from matrices a quarter as wide."""
WIDTH = 512
"""Of the matrices of products."""


@dataclass(frozen=True)
class Row:
    """Seconds of the processor, of all its cores, that a case takes; None: it is not installed."""

    case: "Case"
    ours: float
    pocl: float | None
    triton: float | None

    def line(self) -> str:
        cells = [f"{s * 1e3:,.1f}" if s else "" for s in (self.ours, self.pocl, self.triton)]
        return f"| {self.case.title} | {' | '.join(cells)} |"


@dataclass(frozen=True)
class Case:
    """A kernel with its input arrays, the result to expect, and how exact it has to be."""

    title: str
    kernel: str
    inputs: tuple[np.ndarray, ...]
    expected: np.ndarray
    n: int
    grid: tuple[int, int]
    block: tuple[int, int] = (256, 1)
    tolerance: float = 0.0  # absolute
    limit: float = 1.0  # of software GPU / pocl

    def empty_result(self) -> np.ndarray:
        whole = self.expected.dtype == np.int32
        return np.zeros(self.expected.shape, np.int32 if whole else np.float32)

    def check(self, result: np.ndarray) -> None:
        error = np.abs(result - self.expected).max()
        assert error <= self.tolerance, f"{self.title}: off by {error:g}"


def cases(width: int = WIDTH) -> list[Case]:
    """Tolerances: the roundings that a result goes through, each of the largest value there.

    OpenCL allows sin 4 units in the last place and exp 3, more than CUDA does.
    """
    random = np.random.default_rng(0)
    n, side = 1 << 22, 2048
    x, y = random.uniform(-1, 1, (2, n)).astype(np.float32)
    letters = random.integers(0, 256, n, dtype=np.uint8)
    a, b = random.uniform(-1, 1, (2, width, width)).astype(np.float32)
    wide = x.astype(np.float64)
    counts = np.bincount(letters, minlength=256).astype(np.int32)
    tile = x.reshape(side, side)
    ulp, lines = 2.0**-23, (n // 256, 1)

    def product(title: str, kernel: str) -> Case:
        expected, grid = a.astype(np.float64) @ b, (width // 16, width // 16)
        exact = {"tolerance": width * ulp * width, "limit": 0.5}
        return Case(title, kernel, (a, b), expected, width, grid, (16, 16), **exact)

    return [
        Case("sin * exp", "wave", (x,), np.sin(wide) * np.exp(wide), n, lines, tolerance=16 * ulp),
        Case(
            "sum in shared memory", "reduce", (x,), wide.reshape(-1, 256).sum(1), n, lines,
            tolerance=8 * ulp * 256,
        ),
        Case("histogram by atomics", "histogram", (letters,), counts, n, lines),
        Case("sum of float4", "add4", (x, y), x + y, n // 4, (n // 1024, 1)),
        Case("saxpy", "saxpy", (x, y), 2 * wide + y, n, lines, tolerance=2 * ulp * 3),
        Case(
            "transpose, padded 32 x 32 tiles", "transpose", (tile,), tile.T, side,
            (side // 32, side // 32), (32, 8),
        ),
        product("matrix product 512^3, naive", "multiply"),
        product("matrix product 512^3, 16 x 16 tiles", "multiply_tiles"),
    ]  # fmt: skip


def _on_software_gpu(case: Case):
    """(launch, fetch): to run the kernel once, to its end; to copy its result into an array."""
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    kernel = SourceModule(CUDA + KERNELS, no_extern_c=True).get_function(case.kernel)
    arrays = [cuda.to_device(np.ascontiguousarray(a)) for a in (*case.inputs, case.empty_result())]
    arguments = (*arrays, np.int32(case.n))

    def launch():
        kernel(*arguments, grid=case.grid, block=(*case.block, 1))

    return launch, lambda result: cuda.memcpy_dtoh(result, arrays[-1])


def _pocl():
    """The OpenCL context of pocl; None where it, or PyOpenCL, is not installed."""
    try:
        import pyopencl as cl

        platforms = cl.get_platforms()
    except (ImportError, RuntimeError):  # the latter: no platform at all
        return None
    found = [p for p in platforms if p.name == "Portable Computing Language"]
    return cl.Context(found[0].get_devices()) if found else None


def _on_pocl(context, case: Case):
    """The same with OpenCL."""
    import pyopencl as cl

    queue = cl.CommandQueue(context)
    kernel = cl.Kernel(cl.Program(context, OPENCL + KERNELS).build(), case.kernel)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    arrays = [
        cl.Buffer(context, flags, hostbuf=np.ascontiguousarray(a))
        for a in (*case.inputs, case.empty_result())
    ]
    kernel.set_args(*arrays, np.int32(case.n))
    threads = tuple(np.multiply(case.grid, case.block).tolist())

    def launch():
        cl.enqueue_nd_range_kernel(queue, kernel, threads, case.block)
        queue.finish()

    return launch, lambda result: cl.enqueue_copy(queue, result, arrays[-1])


def _in_triton() -> dict[str, float]:
    """Seconds by kernel of Triton's interpreter; nothing where TRITON_PYTHON has no Triton."""
    python = os.environ.get("TRITON_PYTHON", sys.executable)
    script = Path(__file__).with_name("bench_triton.py")
    done = subprocess.run([python, script], capture_output=True, text=True)
    if not done.returncode:
        return json.loads(done.stdout)
    if "ModuleNotFoundError" not in done.stderr:
        sys.exit(done.stderr)
    print("     Triton, or PyTorch, is not installed: not compared with it")
    return {}


def measured(repeats: int = 7) -> list[Row]:
    """A Row for each kernel, in code in full, with what is installed of the others."""
    from softgpu.loader import Engine

    context, by_triton = _pocl(), _in_triton()
    if context is None:
        print("     pocl, or PyOpenCL, is not installed: not compared with it")
    rows = []
    for case in cases():
        launches = [_on_software_gpu(case), *([_on_pocl(context, case)] if context else [])]
        with Engine.as_driver().tier("full"):
            ours, *others = _best(case, launches, repeats)
        rows.append(Row(case, ours, *(others or [None]), by_triton.get(case.kernel)))
    return rows


def _best(case: Case, launches: list, repeats: int) -> list[float]:
    """The best of several runs of each, checked once."""
    times: list[list[float]] = [[] for _ in launches]
    for launch, fetch in launches:
        launch()
        result = case.empty_result()
        fetch(result)
        case.check(result)
    for _ in range(repeats):
        for (launch, _), taken in zip(launches, times, strict=True):
            start = time.process_time()
            launch()
            taken.append(time.process_time() - start)
    return [min(taken) for taken in times]


def table(rows: list[Row]) -> str:
    """What is known of all, for a page."""
    head = (
        "| kernel | software GPU, ms | pocl, ms | Triton's interpreter, ms |\n|---|---|---|---|\n"
    )
    return head + "\n".join(row.line() for row in rows)


if __name__ == "__main__":
    import helpers.autoinit as gpu

    assert gpu.is_software, "this measures the software GPU: HELPERS_DEVICE=software"
    print(table(measured()))
