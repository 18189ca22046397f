"""The launches that the clock is checked against: the course's, and kernels that people write."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from math import ceil
from pathlib import Path

import numpy as np

from helpers import sources
from softgpu.contract import DEVICE
from softgpu.xray.chip import MODELLED

__all__ = [
    "CASES",
    "MIDDLING",
    "Call",
    "Case",
    "below",
    "cases_of",
    "floats",
    "module",
    "power",
    "zeros",
]

HERE = Path(__file__).parent
INT32, INT64 = np.int32, np.int64
SMS = DEVICE["multiprocessors"]
STATIC_SHARED = 48 << 10  # more must be asked for


@dataclass(frozen=True)
class Case:
    """One launch. arguments: numbers are passed, functions make what goes to the GPU."""

    name: str
    set: str  # as validate.py names them
    job: str  # cases of one job and size do the same work
    kernel: str
    file: str  # of cuda_src, or beside this one
    grid: tuple
    block: tuple
    arguments: list
    shared: int = 0
    choices: dict = field(default_factory=dict)

    def function(self):
        """The compiled kernel."""
        if "/" not in self.file:
            return module(self.file).get_function(self.kernel)
        kernel = sources.kernel(self.file, **self.choices)
        if self.shared > STATIC_SHARED:
            from pycuda.driver import function_attribute

            kernel.set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, self.shared)
        return kernel

    def compile(self):
        """Leaves it in PyCUDA's cache."""
        self.function()

    def passed(self):
        """Arguments for one launch, arrays copied to the GPU."""
        import pycuda.driver as cuda

        return [cuda.to_device(a()) if callable(a) else a for a in self.arguments]

    @property
    def shape(self):
        """grid and block as PyCUDA takes them."""
        return tuple((*v, 1, 1)[:3] for v in (self.grid, self.block))

    def launch(self, arguments):
        """What launches it on what was passed."""
        grid, block = self.shape
        return partial(self.function(), *arguments, grid=grid, block=block, shared=self.shared)

    def profiled(self, chip=MODELLED):
        """Launches it in the profile build: its Report."""
        from helpers import xray

        grid, block = self.shape
        return xray.profile(
            self.function(), *self.passed(), grid=grid, block=block, shared=self.shared, chip=chip
        )


def cases_of(wanted, file):
    """What makes the cases of a set whose kernels are in one file: each a job of its own."""

    def case(kernel, told, grid, block, *arguments, shared=0):
        name = f"{kernel} {power(told) if isinstance(told, int) else told}"
        return Case(name, wanted, name, kernel, file, _tuple(grid), _tuple(block),
                    list(arguments), shared)  # fmt: skip

    return case


@dataclass(frozen=True)
class Call:
    """A launch by Python: prepare(*arrays) says what launches it, once."""

    name: str
    set: str
    job: str
    prepare: Callable
    arrays: list

    def passed(self):
        """Its arrays, copied to the GPU."""
        from pycuda import gpuarray

        return [gpuarray.to_gpu(make()) for make in self.arrays]

    def launch(self, arrays):
        """What launches it on what was passed."""
        return self.prepare(*arrays)

    def compile(self):
        """Leaves it in PyCUDA's cache."""
        arrays = self.passed()
        self.launch(arrays)()

    def profiled(self, chip=MODELLED):
        """As Case's."""
        from softgpu.xray import profiler

        arrays = self.passed()
        return profiler.profile_call(self.launch(arrays), chip)


@cache
def module(name):
    """The compiled kernels of a file beside this one."""
    from pycuda.compiler import SourceModule

    source = HERE / name
    text = f'#line 1 "{source}"\n{source.read_text()}'
    return SourceModule(text, no_extern_c=True, arch=sources.architecture(text),
                        include_dirs=[str(sources.ROOT)])  # fmt: skip


@lru_cache(maxsize=3)
def _floats(n, kind):
    return (np.random.default_rng(n).random(n, np.float32) - np.float32(0.5)).astype(kind)


def floats(n, kind=np.float32):
    return partial(_floats, n, kind)


@lru_cache(maxsize=3)
def _below(limit, n, kind):
    return np.random.default_rng((limit, n)).integers(0, limit, n, kind)


def below(limit, n, kind=INT32):
    return partial(_below, limit, n, kind)


def zeros(n, kind=np.float32):
    return partial(np.zeros, n, kind)


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


def power(n):
    """2^20, or the number itself."""
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


# --- the course -----------------------------------------------------------------------------------


def _course():
    def case(file, told, job, grid, block, *arguments, shared=0, **choices):
        name = f"{file.removesuffix('.cu')} {told}"
        kernel = Path(file).stem
        grid, block = _tuple(grid), _tuple(block)
        return Case(
            name, "course", f"{job} {told}", kernel, file, grid, block, list(arguments), shared,
            choices,
        )  # fmt: skip

    for exponent in (10, 14, 18, 20, 22, 24, 26):
        yield from _sums(case, 1 << exponent)
    for hidden in (32, 512, 8192, 131072):
        n = 1 << 24
        batch = n // hidden
        told = f"{batch} rows of {hidden}"
        rows = floats(n), zeros(batch), INT64(batch), INT64(hidden)
        yield case("rowreduce/warp_per_row.cu", told, "rows", ceil(batch / 8), 256, *rows)
        yield case("rowreduce/block_per_row.cu", told, "rows", batch, 256, *rows)
        yield case("rowreduce/warp_packed.cu", told, "rows", ceil(batch / 8), 256, *rows)
        yield case("rowreduce/block_packed.cu", told, "rows", batch, 256, *rows)
        if hidden == 32:
            yield case("rowreduce/lanes.cu", told, "rows", ceil(batch / 256), 256, *rows)
        whole = floats(n), zeros(n), INT64(batch), INT64(hidden)
        for name in ("three_pass", "online"):
            yield case(f"softmax/{name}.cu", told, "softmax", batch, 256, *whole)
        if hidden == 512:
            yield case("softmax/registers.cu", told, "softmax", ceil(batch / 4), 128, *whole)
    for outer, reduce, inner in ((1, 4096, 4096), (4096, 64, 64), (64, 4096, 64)):
        told = f"{outer}x{reduce}x{inner}"
        sizes = INT64(outer), INT64(reduce), INT64(inner)
        x, out = floats(outer * reduce * inner), zeros(outer * inner)
        blocks = ceil(inner / 64), outer
        yield case("higherdim/columns.cu", told, "columns", blocks, 64, x, out, *sizes)
        chunks = ceil(reduce / 64)
        partial_sums = zeros(outer * chunks * inner)
        yield case("higherdim/chunks.cu", told, "chunks", (ceil(inner / 64), chunks, outer), 64, x,
                   partial_sums, *sizes, INT64(64))  # fmt: skip
    for n in (1 << 16, 1 << 20, 1 << 24):
        told, op = power(n), np.int8(0)
        vectors = floats(n), floats(n), zeros(n), INT64(n)
        yield case("elementwise/same.cu", told, "elementwise", n // 128, 128, *vectors, op)
        yield case("elementwise/packed.cu", told, "elementwise", n // 512, 128, *vectors, op)
        halves = floats(n, np.float16), floats(n, np.float16), zeros(n, np.float16), INT64(n)
        yield case("elementwise/packed.cu", f"{told} halves", "halves", n // 1024, 128, *halves, op,
                   T="half", Out="half", PACK=8)  # fmt: skip
        yield case("elementwise/one_dimension.cu", told, "broadcast", n // 128, 128, floats(n),
                   floats(512), zeros(n), INT64(n), INT64(512), INT32(0), op)  # fmt: skip


def _sums(case, n):
    """The steps of a sum of n numbers."""
    told, blocks = power(n), ceil(n / 256)
    x, length = floats(n), INT64(n)

    def step(name, out=1, grid=blocks, *more, shared=0, **choices):
        return case(f"reduce/{name}.cu", told, "sum", grid, 256, x, zeros(out), length, *more,
                    shared=shared, **choices)  # fmt: skip

    yield case("first/add.cu", told, "add", blocks, 256, x, floats(n), zeros(n), length)
    if n <= 1 << 18:
        yield case("reduce/one_thread.cu", told, "sum", 1, 1, x, zeros(1), length)
    if n <= 1 << 24:
        yield step("atomic")
    for name in ("shared_modulo", "shared_strided", "shared", "shuffle_down", "shuffle_xor"):
        yield step(name, blocks, shared=1024)
    yield step("halving", blocks)
    yield step("atomic_finish", shared=1024)
    yield step("unrolled", BLOCK=256)
    yield step("warp_totals")
    few = min(blocks, 8 * SMS)
    yield step("grid_stride", 1, few)
    yield step("packed", 1, few)
    yield step("two_pass", few, few)
    yield step("last_block", 1, few, zeros(few), zeros(1, np.uint32))


# --- what people write ----------------------------------------------------------------------------


def _people():
    def case(kernel, n, job, grid, block, *arguments, shared=0, more=""):
        grid, block = _tuple(grid), _tuple(block)
        name = f"{kernel} {power(n)}{more}"
        return Case(
            name, "people", f"{job} {power(n)}{more}", kernel, "kernels.cu", grid, block,
            list(arguments), shared,
        )  # fmt: skip

    def i32(value):
        return INT32(value)

    f, z = floats, zeros
    for n in (1 << 20, 1 << 24):
        b = n // 256
        x, ints = f(n), below(1 << 30, n)
        yield case("saxpy", n, "saxpy", b, 256, x, f(n), np.float32(2), i32(n))
        yield case("triad", n, "triad", b, 256, f(n, float), f(n, float), z(n, float),
                   np.float64(3), i32(n))  # fmt: skip
        yield case(
            "copy_bytes", n, "copy bytes", b, 256, below(99, n, np.int8), z(n, np.int8), i32(n)
        )
        yield case("scale_half2", n, "halves", b // 2, 256, f(n, np.float16), z(n, np.float16),
                   i32(n // 2))  # fmt: skip
        yield case("add_float4", n, "add", b // 4, 256, x, f(n), z(n), i32(n // 4))
        yield case("stride_loop", n, "line", 4 * SMS, 256, x, z(n), i32(n))
        yield case("gray", n, "gray", b, 256, below(255, 3 * n, np.uint8), z(n, np.uint8), i32(n))
        yield case("fill", n, "fill", b, 256, z(n), i32(n))
        for kernel in ("polynomial", "waves", "exact_waves", "quotient"):
            job = "waves" if "waves" in kernel else kernel
            yield case(kernel, n, job, b, 256, x, z(n), i32(n))
        yield case("double_exp", n, "double exp", b, 256, f(n, float), z(n, float), i32(n))
        yield case(
            "hashes", n, "hashes", b, 256, below(1 << 30, n, np.uint32), z(n, np.uint32), i32(n)
        )
        yield case("remainders", n, "remainders", b, 256, ints, z(n, INT32), i32(7), i32(n))
        yield case("random_pi", n, "pi", b // 64, 256, z(n // 64, np.uint32), i32(64))
        yield case("shifted", n, "shift", b, 256, x, z(n), i32(3), i32(n))
        for stride in (2, 8, 32):
            yield case("every", n, "every", b // stride, 256, x, z(n // stride), i32(stride),
                       i32(n // stride), more=f" / {stride}")  # fmt: skip
        yield case("fields", n, "fields", b, 256, f(3 * n), z(n), i32(n))
        yield case("gather", n, "gather", b, 256, x, below(n, n), z(n), i32(n))
        yield case("scatter", n, "scatter", b, 256, x, below(n, n), z(n), i32(n))
        yield case("search", n, "search", b // 4, 256, partial(_sorted, n),
                   below(1 << 30, n // 4), z(n // 4, INT32), i32(n), i32(n // 4))  # fmt: skip
        yield case("table", n, "table", b, 256, below(256, n, np.uint8), f(256), z(n), i32(n))
        side = int(n**0.5)
        tiles = side // 32, side // 32
        yield case(
            "transpose_naive", n, "transpose", (side // 32, side // 8), (32, 8), x, z(n), i32(side)
        )
        for kernel in ("transpose_conflicts", "transpose_padded"):
            yield case(kernel, n, "transpose", tiles, (32, 8), x, z(n), i32(side))
        yield case("blur_line", n, "blur", b, 256, x, z(n), i32(n))
        yield case("blur_line_shared", n, "blur", b, 256, x, z(n), i32(n))
        for kernel in ("heat", "heat_shared"):
            yield case(kernel, n, "heat", (side // 32, side // 8), (32, 8), x, z(n), i32(side))
        yield case(
            "convolve", n, "convolve", (side // 32, side // 8), (32, 8), x, f(25), z(n), i32(side)
        )
        yield case("scan_blocks", n, "scan", n // 512, 512, below(9, n), z(n, INT32))
        yield case("scan_shuffles", n, "scan", n // 512, 512, below(9, n), z(n, INT32))
        yield case("sort_blocks", n, "sort", n // 1024, 1024, ints)
        yield case("sort_step", n, "sort step", b, 256, ints, i32(1 << 14), i32(1 << 20))
        rows = n // 1024
        yield case(
            "matvec_warps", n, "matvec", rows // 8, 256, x, f(1024), z(rows), i32(rows), i32(1024)
        )
        yield case("matvec_threads", n, "matvec", ceil(rows / 128), 128, x, f(1024), z(rows),
                   i32(rows), i32(1024))  # fmt: skip
        yield case(
            "row_prefixes", n, "prefixes", ceil(rows / 128), 128, x, z(n), i32(rows), i32(1024)
        )
        yield case("greatest_of_rows", n, "greatest", rows, 256, x, z(rows, INT32), i32(1024))
        yield case("normalise_rows", n, "normalise", rows, 256, x, z(n), i32(1024))
        yield case("dot", n, "dot", 4 * SMS, 256, x, f(n), z(1), i32(n))
        bytes_ = below(256, n, np.uint8)
        yield case("histogram_global", n, "histogram", b, 256, bytes_, z(256, np.uint32), i32(n))
        yield case(
            "histogram_shared", n, "histogram", 4 * SMS, 256, bytes_, z(256, np.uint32), i32(n)
        )
        yield case(
            "add_anywhere", n, "add anywhere", b, 256, below(n // 4, n), x, z(n // 4), i32(n)
        )
        yield case("relax", n, "relax", b, 256, below(n // 16, n), below(n // 16, n),
                   below(1 << 20, n // 16), i32(n))  # fmt: skip
        yield case("keep_positive", n, "compact", b, 256, x, z(n + 32), z(1, INT32), i32(n))
        count = n // 16  # rows of 16 entries on average
        begins = partial(_begins, count, n)
        matrix = begins, below(count, n), x, f(count), z(count), i32(count)
        yield case("sparse_threads", n, "sparse", ceil(count / 256), 256, *matrix)
        yield case("sparse_warps", n, "sparse", ceil(count / 8), 256, *matrix)
        yield case("sparse_columns", n, "sparse columns", ceil(count / 256), 256, below(count, n),
                   x, f(count), z(count), i32(16), i32(count))  # fmt: skip
    for side in (512, 1024):
        n = side * side
        square = f(n), f(n), z(n), i32(side)
        yield case("product_naive", n, "product", (side // 32, side // 8), (32, 8), *square)
        for width in (16, 32):
            yield case(
                f"product_{width}", n, "product", (side // width,) * 2, (width,) * 2, *square
            )
        yield case("product_registers", n, "product", (side // 64,) * 2, 256, *square)
        yield case(
            "mandelbrot",
            n,
            "mandelbrot",
            (side // 128, side),
            128,
            z(n, INT32),
            i32(side),
            i32(256),
        )
    for n in (8192, 16384):
        yield case("bodies", n, "bodies", n // 256, 256, f(4 * n), z(4 * n), i32(n))
    for side in (128, 256):
        yield case("heat_3d", side**3, "heat 3d", (side // 32, side // 8, side), (32, 8),
                   f(side**3), z(side**3), i32(side))  # fmt: skip


def _sorted(n):
    return np.sort(_below(1 << 30, n, INT32))


def _begins(rows, entries):
    """Where each sparse row begins: lengths from 0 to 32."""
    cuts = np.sort(_below(entries, rows + 1, INT32))
    cuts[0], cuts[-1] = 0, entries
    return cuts


CASES = [*_course(), *_people()]
# Only its wavefronts are counted.
MIDDLING = Case(
    "transpose_padded 2^22", "wavefronts", "transpose 2^22", "transpose_padded", "kernels.cu",
    (64, 64), (32, 8), [floats(1 << 22), zeros(1 << 22), INT32(1 << 11)],
)  # fmt: skip
