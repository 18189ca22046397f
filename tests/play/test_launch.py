"""xray.play: a launch that can be stepped through."""

import numpy as np
import pytest

from helpers import autoinit, sources, xray
from helpers.play.trace import record
from softgpu.tests.facts import numbers

from pycuda import gpuarray  # isort: skip

RACE = """
__global__ void turned(const float *x, float *y, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    int from = 63 - t;
    if (t < n) {
        s[t] = x[t];
    }
    y[t] = s[from];
}
"""


@pytest.fixture(scope="module")
def tree():
    return sources.kernel("reduce/shared.cu")


def launched(tree, show):
    x = gpuarray.to_gpu(np.arange(100, dtype=np.float32))
    out = gpuarray.zeros(2, np.float32)
    done = show(tree, x, out, np.int64(100), grid=2, block=64, shared=256)
    assert (out.get() == 0).all()
    return done


def test_each_warp_does_line_after_line_with_its_lanes_and_variables(tree):
    done = launched(tree, record)
    first = [step for step in done.steps if step.warp == 0]
    texts = [done.lines[step.line].strip() for step in first[:5]]
    assert [text.split("(")[0].split(" ")[0] for text in texts[1:]] == [
        "int", "long", "s[tid]", "__syncthreads",
    ]  # fmt: skip
    names = [name for name, _ in done.variables]
    mask, tid = first[1].values[names.index("tid")]
    assert mask == 2**32 - 1 and tid.tolist() == list(range(32))
    halves = [s.values[names.index("half")][1][0] for s in first if names.index("half") in s.values]
    assert halves == [32, 16, 8, 4, 2, 1, 0]
    active = [step.mask.bit_count() for step in first if "op(" in done.lines[step.line]]
    assert active == [32, 32, 16, 32, 8, 32, 4, 32, 2, 32, 1]


def test_loads_and_stores_have_elements_and_values(tree):
    done = launched(tree, record)
    ((step, result),) = [a for a in done.accesses("store", 1) if a[0].warp == 0]
    assert result.index.tolist() == [0] and result.value.tolist() == [sum(range(64))]
    assert step.mask == 1
    read = [place for _, access in done.accesses("load", 0) for place in access.index]
    assert sorted(read) == list(range(100))
    assert not done.findings and not done.incomplete


MANY = """
__global__ void many(const float4 *x, int *sum, double *out)
{
    unsigned high = 0xffffffffu - threadIdx.x;
    bool even = threadIdx.x % 2 == 0;
    double half = 0.5 * threadIdx.x;
    char letter = even ? -1 : 1;
    float4 four = x[threadIdx.x];
    int other = __shfl_down_sync(0xffffffff, (int)threadIdx.x, 1);
    atomicAdd(sum, other);
    if (even) out[threadIdx.x] = half + letter + four.w + high;
}
"""


def test_variables_have_their_types_and_accesses_their_kinds():
    x = gpuarray.to_gpu(np.arange(128, dtype=np.float32))
    sums, out = gpuarray.zeros(1, np.int32), gpuarray.zeros(32, np.float64)
    done = record(MANY, x, sums, out, grid=1, block=32)
    last = {}
    for step in done.steps:
        last |= {done.variables[n][0]: values for n, (_, values) in step.values.items()}
    assert last["high"][:2].tolist() == [2**32 - 1, 2**32 - 2]
    assert last["half"][:3].tolist() == [0, 0.5, 1]
    assert last["letter"][:2].tolist() == [-1, 1] and last["other"][:2].tolist() == [1, 2]
    parts = [access for _, access in done.accesses("load", 0)]
    assert [part.index[:2].tolist() for part in parts] == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert parts[3].value[:2].tolist() == [3, 7]
    ((_, added),) = done.accesses("atomic", 1)
    assert added.index.tolist() == [0] * 32
    ((_, moved),) = done.accesses("shuffle", -2)
    assert moved.index.tolist() == [*range(1, 32), 31]
    ((_, stored),) = done.accesses("store", 2)
    assert stored.mask == 0x55555555 and stored.bytes == 8


@pytest.mark.skipif(not autoinit.is_software, reason="the real GPU is PyCUDA's driver")
def test_a_plain_function_is_recorded_too(tree):
    from pycuda.compiler import SourceModule

    kernel = SourceModule(RACE.replace("__global__", 'extern "C" __global__'), no_extern_c=True)
    x, y = gpuarray.zeros(64, np.float32), gpuarray.zeros(64, np.float32)
    function = kernel.get_function("turned")
    done = record(function, x, y, np.int32(64), grid=1, block=64)
    assert done.variables == [] and len(list(done.accesses("store", 1))) == 2


def test_what_does_not_fit_is_left_out_and_said(opened):
    text = "__global__ void long_loop(int *y) { for (int i = 0; i < 9000; i++) y[0] = i * i % 77; }"
    page = xray.play(text, gpuarray.zeros(1, np.int32), grid=1, block=1)
    assert len(page._repr_html_()) < 60_000 and page.data["incomplete"]
    assert "Only the first" in opened(page).text(".alarm")
    many = "__global__ void all(float *y) { float a = threadIdx.x; y[threadIdx.x] = a * a / 7; }"
    page = xray.play(many, gpuarray.zeros(1024, np.float32), grid=64, block=1024)
    assert len(page._repr_html_()) < 60_000 and page.data["left"] > 0


def test_wrong_arguments_are_refused_as_ever(tree):
    with pytest.raises(TypeError):
        xray.play(tree, 1, 2, 3, grid=1, block=32)


def waits(b, page):
    """Whether the step that is shown waits at a barrier."""
    step = page.data["steps"][int(numbers(b.text("#where"))[0]) - 1]
    return any(what == 4 for what, *_ in step[4])


def test_clicks_step_through_it(tree, opened):
    page = launched(tree, xray.play)
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
    assert numbers(b.text("#where")) == [1, len(page.data["steps"])]
    for _ in range(3):
        b.click("#step")
    assert "s[tid] = i < n" in b.text(".here")
    assert "x[0 to 31]" in b.text("#said") and b.text("#said").count("[0 to 31]") == 2
    assert b.all("[data-array=x] .read")[:4] == ["0", "1", "2", "3"]
    assert b.all("#memory .write")[:4] == ["0", "1", "2", "3"]
    assert b.all("td[data-variable=i]")[-1] == "31"
    b.click("#barrier")
    assert waits(b, page)
    b.click("[data-warp='1']")
    assert numbers(b.text("#said"))[:3] == [0, 1, 9]
    b.press("ArrowRight", 2)
    assert b.all("td[data-variable=tid]")[:2] == ["32", "33"]
    b.press("ArrowLeft")
    assert numbers(b.text("#where"))[0] == 7


SIZES = """
__global__ void sizes(double *x)
{
    __shared__ double wide[2];
    __shared__ int narrow[32];
    narrow[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 2) wide[threadIdx.x] = 0.5;
    __syncthreads();
    x[threadIdx.x] = narrow[31 - threadIdx.x] + wide[threadIdx.x % 2];
}
"""


def test_elements_of_several_sizes_lie_side_by_side_in_shared_memory(opened):
    page = xray.play(SIZES, gpuarray.zeros(32, np.float64), grid=1, block=32)
    b = opened(page)
    b.js("document.querySelector('#seek').focus()")
    b.press("Home")
    while not waits(b, page):
        b.click("#step")
    cells = b.all("[data-array^=shared] .cell")
    assert len(cells) == 34 and cells.count("0.5") == 2 and {*map(str, range(32))} < {*cells}


BROKEN = {
    "a trap": ("x[threadIdx.x] = 1; if (threadIdx.x == 3) __trap();", "fault"),
    "a barrier for some": ("if (threadIdx.x < 16) __syncthreads(); x[0] = 1;", "divergent barrier"),
    "a barrier for nobody": ('asm volatile("bar.sync 1, 64;"); x[0] = 1;', "fault"),
}


@pytest.mark.parametrize("body, kind", BROKEN.values(), ids=BROKEN)
def test_what_ends_badly_is_played_so_far(body, kind):
    x = gpuarray.zeros(32, np.int32)
    page = xray.play(f"__global__ void broken(int *x) {{ {body} }}", x, grid=1, block=32)
    assert page.data["steps"] and [found[2] for found in page.data["findings"]] == [kind]


def test_the_last_lane_alone_is_lit(tree, opened):
    b = opened(launched(tree, xray.play))
    b.press("ArrowDown", 27)
    while len(b.all("#lanes td.on[data-lane]")) != 1:
        b.press("ArrowDown")
    assert b.all("#lanes td.on[data-lane]") == ["0"]


def test_a_race_is_told_at_its_line(opened):
    x, y = gpuarray.to_gpu(np.arange(64, dtype=np.float32)), gpuarray.zeros(64, np.float32)
    page = xray.play(RACE, x, y, np.int32(64), grid=1, block=64)
    b = opened(page)
    assert len(b.all(".wrong")) == 2
    while "y[t] = s[from]" not in b.text(".here"):
        b.click("#step")
    assert "race" in b.text("#said") and "__syncthreads()" in b.text("#said")


def test_numbers_stay_in_their_cells(opened):
    x = gpuarray.to_gpu(np.random.default_rng(0).standard_normal(40).astype(np.float32))
    text = (
        "__global__ void copied(float *x, int *y) { y[threadIdx.x] = 7 - 1e9f * x[threadIdx.x]; }"
    )
    b = opened(xray.play(text, x, gpuarray.zeros(40, np.int32), grid=1, block=40))
    b.press("ArrowRight", 9)
    wide = (
        "[...document.querySelectorAll('.cell')].filter(e => e.scrollWidth > e.clientWidth).length"
    )
    assert len(b.all(".cell")) == 80 and b.js(wide) == 0
    assert "0.1257" in b.all("[data-array=x] .cell")
    assert b.all("[data-array=x] .cell", "title")[0].startswith("x[0] = 0.12573")


def test_an_index_outside_is_shown_as_such(opened):
    text = "__global__ void past(int *y) { y[threadIdx.x] = 7; }"
    b = opened(xray.play(text, gpuarray.zeros(30, np.int32), grid=1, block=32))
    while "y[0 to 31]" not in b.text("#said"):
        b.press("ArrowRight")
    assert b.all(".cell.bad") == ["[30]", "[31]"]
