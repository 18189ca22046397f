"""Pictures of tensor cores: lanes hold what they are drawn with, and bits are cut where drawn."""

from itertools import islice

import numpy as np
import pytest

from softgpu import xray
from softgpu.tests import autoinit
from softgpu.tests.facts import missing, refused
from softgpu.tests.xray.nsight import matrices
from softgpu.xray.fragments import holders

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

pytestmark = pytest.mark.skipif(not autoinit.is_software, reason="the software GPU counts")
cuda = autoinit.cuda

FORMS = [  # shape, type as PTX has it, NumPy's of a and b, and of sums
    ("m16n8k16", "f16", "f2", "f4"),
    ("m16n8k8", "f16", "f2", "f4"),
    ("m16n8k8", "tf32", "f4", "f4"),
    ("m16n8k4", "tf32", "f4", "f4"),
    ("m16n8k32", "s8", "i1", "i4"),
    ("m8n8k16", "s8", "i1", "i4"),
    ("m16n8k8", "f64", "f8", "f8"),
    ("m8n8k4", "f64", "f8", "f8"),
]


def kernel_of(text, name):
    return SourceModule(text, no_extern_c=True).get_function(name)


IN_CUDA = {"f4": ("float", "f32", "f"), "i4": ("int", "s32", "r"), "f8": ("double", "f64", "d")}


def multiply(shape, kind, dtype, of_sums):
    """A kernel of one product by mma.sync, each lane's elements side by side in a, b and c."""
    (sums, in_ptx, sum_held), counts = IN_CUDA[of_sums], {}
    for part in "cab":
        size = 1 if part == "c" else max(4 // np.dtype(dtype).itemsize, 1)
        counts[part] = (holders(shape, kind, part)[1].max() + 1) // size
    word, held = ("double", "d") if kind == "f64" else ("unsigned", "r")
    names = iter(f"%{n}" for n in range(sum(counts.values())))
    packs = {part: "{" + ", ".join(islice(names, counts[part])) + "}" for part in "cab"}
    outs = ", ".join(f'"+{sum_held}"(d[{n}])' for n in range(counts["c"]))
    ins = [f'"{held}"({p}[t * {counts[p]} + {n}])' for p in "ab" for n in range(counts[p])]
    name = f"mma.sync.aligned.{shape}.row.col.{in_ptx}.{kind}.{kind}.{in_ptx}"
    return f"""extern "C" __global__ void multiply(const {word} *a, const {word} *b, {sums} *c)
    {{
        int t = threadIdx.x;
        {sums} d[{counts["c"]}] = {{}};
        asm("{name} {packs["c"]}, {packs["a"]}, {packs["b"]}, {packs["c"]};"
            : {outs} : {", ".join(ins)});
        for (int n = 0; n < {counts["c"]}; ++n) c[t * {counts["c"]} + n] = d[n];
    }}"""


@pytest.mark.parametrize("shape, kind, dtype, of_sums", FORMS)
def test_lanes_hold_what_is_drawn(shape, kind, dtype, of_sums):
    """A product of fragments that are filled, and read, as the picture says."""
    rng, tables = np.random.default_rng(seed=1), {p: holders(shape, kind, p) for p in "abc"}
    a, b = (rng.integers(-9, 9, tables[part][0].shape).astype(dtype) for part in "ab")
    held = {}
    for part, matrix in ("a", a), ("b", b):
        held[part] = np.zeros((32, tables[part][1].max() + 1), dtype)
        held[part][tables[part]] = matrix
    words = "u4" if of_sums != "f8" else "f8"
    out = gpuarray.zeros((32, tables["c"][1].max() + 1), of_sums)
    kernel = kernel_of(multiply(shape, kind, dtype, of_sums), "multiply")
    given = (gpuarray.to_gpu(held[part].view(words)) for part in "ab")
    kernel(*given, out, grid=(1, 1), block=(32, 1, 1))
    assert (out.get()[tables["c"]] == a.astype("f8") @ b.astype("f8")).all()


def test_every_element_has_one_holder():
    for shape, kind in ("m16n8k64", "s4"), ("m16n8k256", "b1"), ("m16n8k16", "bf16"):
        for part in "abc":
            lanes, numbers = holders(shape, kind, part)
            assert len({*zip(lanes.flat, numbers.flat)}) == lanes.size


def test_what_has_no_fragment():
    for shape, kind in ("m16n8k15", "f16"), ("m8n8k4", "f16"), ("m16n16k16", "f16"), ("x", "f32"):
        with refused(ValueError, "mma.sync", kind, shape):
            xray.draw_fragment(shape, kind)
    with refused(ValueError, "a, b, c", "'d'"):
        xray.draw_fragment(parts="d")


def test_a_fragment_is_drawn(axes_of):
    axes, alt = axes_of(xray.draw_fragment)
    texts = [text.get_text() for text in axes.texts]
    assert len(axes.patches) == 32 * (4 + 2 + 2) and texts.count("31") == 4 + 2 + 2
    assert {"a: 16 × 16 f16", "b: 16 × 8 f16", "c: 16 × 8"} <= {*texts}
    assert not missing(alt, 0, "[0, 0], [0, 1], [8, 0], [8, 1]")


def test_one_lane_is_named(axes_of):
    axes, alt = axes_of(xray.draw_fragment, "m16n8k32", "s8", lane=5, parts="a")
    named = [text.get_text() for text in axes.texts if "–" in text.get_text()]
    assert named == ["0–3", "8–11", "4–7", "12–15"]
    assert not missing(alt, 5, "[1, 4], [1, 5], [1, 6], [1, 7], [9, 4]")


@pytest.mark.parametrize("kernel", ["matrix_x1", "matrix_x2", "matrix_x4", "matrix_x4t"])
def test_rows_of_matrices_are_drawn_on_banks_as_they_are_counted(kernel, axes_of):
    """The picture's wavefronts come from Python, the counts from an H200."""
    cases = [*matrices.matrices().items()]
    cases = [(case, expected) for case, expected in cases if case.kernel == kernel][::9]
    for case, expected in cases:
        report = case.profiled()
        waves, _, conflicts, _ = (expected[metric] for metric in matrices.METRICS)
        line = next(p for p, n in report.lines.items() if n["lds.wavefronts"] == waves)
        _, alt = axes_of(xray.draw_banks, report, line, operation="load")
        assert not missing(alt, waves, conflicts), case.loads
    assert cases


SUM = """
extern "C" __global__ void add(const unsigned *a, const unsigned *b, float *c)
{
    float d[4] = {*c};
    unsigned p = threadIdx.x ? 0 : a[0], q = threadIdx.x ? 0 : a[1];
    unsigned r = threadIdx.x ? 0 : b[0], s = threadIdx.x ? 0 : b[1];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %5},"
        " {%7, %8}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(p), "r"(0), "r"(q), "r"(r), "r"(s));
    if (!threadIdx.x) *c = d[0];
}"""
SUMS = [
    [(8192, 8192), (-8192, 8192), (3, 1)],
    [(8192, 8192), (-8192, 8192), (-3, 1)],
    [(1.5, 1.5), (8192, 4096), (-8192, 4096), (0.75, 3)],
    [(1, 1), (2.0**-14, 2.0**-12), (2.0**-14, 2.0**-11), 4],
    [(0.1, 0.3), (-0.1, 0.3), (0, 5)],
]


@pytest.mark.parametrize("terms", SUMS)
def test_a_sum_is_drawn_as_the_tensor_core_adds(terms, axes_of):
    factors = np.zeros((2, 4), np.float16)
    pairs = [term for term in terms if isinstance(term, tuple)]
    factors[:, : len(pairs)] = np.array(pairs, np.float16).T
    c = gpuarray.to_gpu(np.array([t for t in [*terms, 0] if not isinstance(t, tuple)][:1], "f4"))
    given = (gpuarray.to_gpu(line.view(np.uint32)) for line in factors)
    kernel_of(SUM, "add")(*given, c, grid=(1, 1), block=(32, 1, 1))
    rounded = [tuple(np.float16(t).tolist()) if isinstance(t, tuple) else t for t in terms]
    _, alt = axes_of(xray.draw_sum, rounded)
    assert f": {c.get()[0]:g}," in alt


def test_bits_that_are_cut_are_red(axes_of):
    axes, _ = axes_of(xray.draw_sum, [(8192, 8192), (-8192, 8192), (3, 1)])
    full = [box for box in axes.patches if box.get_fill()]
    assert len(full) == 5 and len({tuple(box.get_facecolor()) for box in full}) == 3
    (edge,) = (line for line in axes.lines if line.get_xdata()[0] == line.get_xdata()[1])
    assert edge.get_xdata()[0] == 26
