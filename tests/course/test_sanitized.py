"""The sanitizer on the course: nothing in its operations, each wrong kernel by its kind. The steps
are watched where they are counted, too (softgpu/tests/xray/test_ways.py)."""

import numpy as np
import pytest

from helpers import checks, ops, sources, windows
from helpers.ops import hopper
from helpers.xray import sanitize
from softgpu.tests.xray.test_sanitizer import COPY, arrays, fresh

from . import steps_elementwise as elementwise
from . import steps_gemm as gemm
from . import steps_reduce as reduce

from pycuda.gpuarray import to_gpu  # isort: skip


@pytest.mark.parametrize("sizes", [(128, 256, 512), (200, 264, 1024)])
def test_products_by_warpgroups_are_clean(sizes, monkeypatch, watched):
    """One thread of a warpgroup says for all of it that a stage is empty."""
    monkeypatch.setattr(hopper, "beside", lambda tilings, by_groups: by_groups)
    m, n, k = sizes
    a, b = (to_gpu(np.ones(shape, np.float16)) for shape in ((m, k), (k, n)))
    assert (ops.matmul(a, b).get() == k).all()


def test_operations_of_the_course_are_clean(watched):
    x = to_gpu(reduce.numbers(40, 301))
    for axis in (None, 0, -1):
        ops.sum(x, axis)
    ops.argmax(x)
    ops.softmax(x)


@pytest.mark.long
def test_elementwise_operations_of_the_course_are_clean(watched):
    for dtype in "float32", "int8":
        a, b = (to_gpu(elementwise.numbers(*n, dtype=dtype)) for n in ((9, 40, 33), (40, 1)))
        across = to_gpu(elementwise.numbers(9, 33, 40, dtype=dtype)).transpose((0, 2, 1))
        ops.add(a, a)
        ops.less(a, b)
        ops.add(a, across)
        ops.add(a[:, ::2], 1)


@pytest.mark.long
def test_convolutions_of_the_course_are_clean(watched):
    x, weight = to_gpu(gemm.numbers(2, 3, 9, 8)), to_gpu(gemm.numbers(5, 3, 3, 3))
    y = ops.conv2d(x, weight, padding=1)
    ops.conv2d_input(x.shape, weight, y, padding=1)
    ops.conv2d_weight(x, weight.shape, y, padding=1)


LONG = np.int64
MADE = {
    "x": lambda: to_gpu(reduce.numbers(1000)),
    "new": lambda: fresh(1000),
    "n": lambda: LONG(1000),
    "op": lambda: elementwise.NO_NUMBERS,
    "window": lambda: windows.argument(*windows.sides((5, 20), 3)),  # 486 elements in 54 columns
}


def of_words(words):
    return [MADE[word]() if word in MADE else LONG(word) for word in words.split()]


BLOCKS = dict(grid=4, block=256)
SHARED = dict(BLOCKS, shared=1024)
WRONG = [
    ("first/wrong_tail.cu", "out of bounds", BLOCKS, "x x new"),
    ("reduce/wrong_tail.cu", "out of bounds", BLOCKS, "x new"),
    ("reduce/wrong_race.cu", "race", SHARED, "x new n"),
    ("reduce/wrong_barrier.cu", "divergent barrier", SHARED, "x new n"),
    ("reduce/wrong_add.cu", "race", BLOCKS, "x new n"),
    ("reduce/wrong_shuffle.cu", "inactive shuffle", SHARED, "x new n"),
    ("reduce/wrong_last_block.cu", "race", BLOCKS, "x new n new"),
    ("rowreduce/wrong_row_guard.cu", "out of bounds", dict(grid=3, block=128), "x new 10 100"),
    ("rowreduce/wrong_packed.cu", "misaligned", dict(grid=8, block=64), "x new 8 125"),
    ("higherdim/wrong_rows.cu", "out of bounds", dict(grid=1, block=100), "x new 1 10 100 10"),
    ("elementwise/wrong_guard.cu", "out of bounds", BLOCKS, "x x new n op"),
    ("col2im/wrong_scatter.cu", "race", dict(grid=4, block=128), "x new 486 window"),
    ("gemm/wrong_barrier.cu", "race", dict(grid=1, block=(32, 32)), "x x new 20 30 33"),
]


@pytest.mark.parametrize("file, kind, options, words", WRONG, ids=lambda value: str(value)[:30])
def test_wrong_kernels_of_the_course_are_caught(file, kind, options, words):
    assert sanitize(sources.kernel(file), *of_words(words), **options).of(kind)


def test_guarded_arrays_end_where_they_do():
    """Exercise 1 of the first notebook without its guard."""
    x, y = (checks.Guarded(1000, np.float32).set(0) for _ in range(2))
    source = COPY.replace("threadIdx.x", "blockIdx.x * 256 + threadIdx.x")
    for given in (y.array, y.array.reshape(10, 100)):
        report = sanitize((source, "copy"), x.array, given, grid=4, block=256)
        assert [(f.place.code, f.count) for f in report] == [
            (f"one_past byte_of named_argument {n} {name} 4000 4000", 24)
            for n, name in enumerate("xy", 1)
        ]
    before = sanitize(
        (COPY.replace("y[", "y[-1 + (int)"), "copy"), x.array, y.array, grid=1, block=64
    )
    assert before[0].place.code == "before byte_of named_argument 2 y -4 bytes 4"
    assert sanitize((COPY, "copy"), x.array, y.array, grid=1, block=64).clean


def test_without_optimisation_a_kernel_may_have_as_much_shared_memory():
    from pycuda.driver import function_attribute

    source = """extern "C" __global__ void large(float *x)
    {
        extern __shared__ float s[];
        s[threadIdx.x * 256] = 1;
        x[threadIdx.x] = s[threadIdx.x * 256];
    }"""
    kernel, room = sources.kernel(source), 64 * 256 * 4
    kernel.set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, room)
    launch = {"grid": 1, "block": 64, "shared": room}
    assert sanitize(kernel, arrays()[0], **launch, debug=True).clean
    assert sanitize((source, "large"), arrays()[0], **launch).clean  # a pair has no attributes
