"""X-ray's profile: the counts of Nsight Compute, the report by source line, the pictures."""

import re
import shutil

import numpy as np
import pytest

from helpers import autoinit, sources, xray
from softgpu import build
from softgpu.jit.analysis.flow import blocks_in_order
from softgpu.jit.analysis.merging import merged_accesses
from softgpu.jit.facts.layout import Image, Layout
from softgpu.loader import Engine
from softgpu.ptx import parse
from softgpu.tests.facts import contrast, missing, refused
from softgpu.tests.xray.nsight.cases import BUSY, CASES, OWN, SCATTERED
from softgpu.tests.xray.nsight.record import METRICS, golden
from softgpu.xray import draw, launch
from softgpu.xray.occupancy import occupancy

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip

cuda = autoinit.cuda
software = pytest.mark.skipif(not autoinit.is_software, reason="the real GPU is PyCUDA's driver")

# --- the counts are the hardware's ----------------------------------------------------------------

RECORDED = golden()
OURS = sorted({case.kernel for case in CASES if case.file in OWN})
THEIRS = [case for case in CASES if case.file not in OWN]


def check(case):
    """A launch counts what Nsight Compute counted, or the table says why not."""
    code, want, _ = RECORDED.get(case.name, ("never", {}, ""))
    got = case.profiled().counted()
    if code != case.digest():
        again = "python -m softgpu.tests.xray.nsight.record"
        pytest.skip(f"{case.file} is not what was recorded: {again}")
    assert list(got)[: len(METRICS)] == METRICS  # after these, what tensor cores do
    different = {name: (got[name], want[name]) for name in METRICS if got[name] != want[name]}
    if not case.why:
        assert not different, case.name
        return
    assert different, f"{case.name} counts as it should: take it out of UNEQUAL"
    if case.why == BUSY:  # nothing else
        assert all("_mem_shared_op_" in name for name in different)
        assert all(ours < theirs for ours, theirs in different.values())
    if case.why == SCATTERED:  # nothing else, and not by much
        for name, (ours, theirs) in different.items():
            assert name.endswith(("sectors_pipe_lsu_mem_global_op_red.sum", "op_atom.sum"))
            assert ours < theirs <= 1.15 * ours


@pytest.mark.parametrize("kernel", OURS)
def test_counts_are_the_hardwares(kernel):
    for case in CASES:
        if case.kernel == kernel and case.file in OWN:
            check(case)


@pytest.mark.conformance
@pytest.mark.parametrize("case", THEIRS, ids=lambda case: case.name)
def test_counts_of_the_course_are_the_hardwares(case):
    check(case)


def test_nearly_all_counts_are_equal():
    assert len(RECORDED) > 1200
    assert sum(bool(case.why) for case in CASES) <= len(RECORDED) / 25


PTX = """.version 9.0
.target sm_90
.address_size 64
.shared .align 16 .b8 s[16384];
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<40>;
    .reg .b64 %d<9>;
    .reg .f32 %f<20>;
    .reg .f64 %e<9>;
    .reg .pred %p<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mul.lo.u32 %r3, %r1, {bytes};
    add.u32 %r4, %r3, %r2;
    ld.param.u64 %d1, [p];
    {body}
    ret;
}}
"""


def accesses(bytes, body):
    """What becomes of accesses to shared memory from %r4 on: "L8 S4" is a load and a store."""
    program = parse(PTX.format(bytes=bytes, body=body))
    function = program.functions["k"]
    blocks = blocks_in_order(function)
    merged = merged_accesses(function, blocks, Layout(program, Image(program), "k"))
    found = []
    for item in (item for block in blocks for item in block.instructions):
        if item.opcode in ("ld", "st") and "shared" in item.modifiers:
            own = int(item.modifiers[-1][1:]) // 8 * (2 if "v2" in item.modifiers else 1)
            wide = merged[item].bytes if item in merged else own
            found += [f"{item.opcode[0].upper()}{wide}"] * bool(wide)
    return " ".join(found)


def loads(*offsets):
    return " ".join(f"ld.shared.f32 %f{n + 1}, [%r4+{at}];" for n, at in enumerate(offsets))


def stores(*offsets):
    return " ".join(f"st.shared.f32 [%r4+{at}], %f9;" for at in offsets)


@pytest.mark.parametrize(
    "bytes, body, joined",
    [  # as ptxas 13.0 compiles them for sm_90
        (64, loads(0, 4), "L8"),
        (64, loads(0, 4, 8), "L16"),
        (64, loads(4, 8), "L4 L4"),
        (64, loads(0, 8), "L4 L4"),
        (64, loads(0, 4, 12), "L16"),
        (64, loads(0, 4, 8, 12, 16), "L16 L4"),
        (64, loads(4, 8, 12, 16), "L16 L4"),
        (8, loads(0, 4, 8, 12), "L8 L8"),
        (4, loads(0, 4), "L4 L4"),
        (12, loads(0, 4, 8), "L4 L4 L4"),
        (64, loads(0, 32, 4), "L8 L4"),
        (64, loads(0) + "bar.sync 0;" + loads(4), "L4 L4"),
        (64, loads(0) + stores(64) + loads(4), "L4 S4 L4"),
        (64, loads(0) + "st.global.f32 [%d1], %f1;" + loads(4), "L8"),
        (64, loads(0) + "shfl.sync.down.b32 %r9, %r1, 1, 31, -1;" + loads(4), "L8"),
        (64, "ld.shared.f64 %e2, [%r4]; ld.shared.f64 %e3, [%r4+8];", "L16"),
        (64, "ld.shared.v2.f32 {%f1, %f2}, [%r4]; ld.shared.f32 %f3, [%r4+8];", "L16"),
        (64, "ld.volatile.shared.f32 %f1, [%r4]; ld.volatile.shared.f32 %f2, [%r4+4];", "L4 L4"),
        (64, "add.u32 %r5, %r4, 4;" + loads(0) + "ld.shared.f32 %f9, [%r5];", "L8"),
        (64, stores(0, 4), "S8"),
        (64, stores(0, 4, 8), "S8 S4"),
        (64, stores(12, 8, 4, 0), "S16"),
        (64, stores(0, 4, 12), "S8 S4"),
        (64, stores(0, 32, 4), "S4 S4 S4"),
        (64, stores(0) + "ld.shared.f32 %f2, [%r4+64];" + stores(4), "S4 L4 S4"),
        (64, "setp.gt.u32 %p1, %r1, 5;" + loads(0) + "@%p1 bra E;" + loads(4) + "E:", "L8"),
        (64, loads(0) + "@%p1 bra E; bar.sync 0;" + loads(4) + "E:", "L4 L4"),
    ],
)
def test_accesses_are_joined_as_ptxas_does(bytes, body, joined):
    assert accesses(bytes, body) == joined


@software
@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < n; ++k) y[k] += k",
        "for (int k = n; k > 0; --k) y[k] += k",
        "for (int k = -3; k <= n; k += 3) y[k + 3] += k",
        "for (int k = 90; k >= n; k -= 2) y[k] += k",
        "int k = 0; do y[k] += k; while (++k < n)",
        "int k = 0; do y[k] += k; while ((k += 5) <= n)",
    ],
)
def test_profiling_changes_no_loop(loop):
    """Loops are unrolled for counting, and still do what they do."""
    source = f"""
    __global__ void f(int *all, const int *length)
    {{
        int n = length[threadIdx.x], *y = all + 100 * threadIdx.x;
        {loop};
    }}"""
    length = np.arange(64, dtype=np.int32) % 45
    target = launch.target_of((source, "f"))
    result = []
    for profiled in (False, True):
        y = np.zeros((64, 100), np.int32)
        if profiled:
            target.engine.runtime.sg_profile_begin(0)
        try:
            target.function(cuda.InOut(y), cuda.In(length), grid=(1, 1), block=(64, 1, 1))
        finally:
            target.engine.runtime.sg_profile_end()
        result.append(y)
    assert result[0].any() and (result[0] == result[1]).all()


@pytest.mark.parametrize(
    "registers, threads, shared, limits",
    [  # as Nsight Compute gave them: blocks by registers and by warps
        (16, 256, 0, (16, 8)),
        (18, 192, 0, (14, 10)),
        (37, 256, 8192, (6, 8)),
        (31, 64, 0, (32, 32)),
        (44, 64, 0, (20, 32)),
        (56, 128, 0, (9, 16)),
        (25, 256, 4096, (8, 8)),
        (16, 324, 0, (11, 5)),
    ],
)
def test_occupancy_is_nsights(registers, threads, shared, limits):
    found = occupancy(threads, registers, shared)
    assert found.blocks == min(*limits, 32)
    assert found.warps == found.blocks * -(-threads // 32)


@software
def test_occupancy_is_the_drivers():
    runtime, rng = Engine.in_use().runtime, np.random.default_rng(5)
    for threads, registers, shared in zip(
        rng.integers(1, 1025, 2000), rng.integers(0, 256, 2000), rng.integers(0, 228 << 10, 2000)
    ):
        asked = int(threads), int(registers), int(shared)
        assert occupancy(*asked).blocks == runtime.sg_occupancy(*asked), asked


def test_occupancy_says_what_limits_it():
    assert occupancy(1024, 32, 0).limit == "warps"
    assert occupancy(32, 16, 0).limit == "blocks"
    assert occupancy(256, 128, 0).limit == "registers"
    assert occupancy(128, 16, 100_000).limit == "shared memory"
    assert occupancy(128, 16, 227 << 10).blocks == 1


# --- the report -----------------------------------------------------------------------------------

TREE = """
__global__ void tree(const float *x, float *out, int n)
{
    extern __shared__ float s[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}
"""


@pytest.fixture(scope="module")
def tree():
    """A report, with what it was of."""
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    return xray.profile(
        (TREE, "tree"), cuda.In(x), cuda.InOut(np.zeros(1, np.float32)), np.int32(1000),
        grid=4, block=256, shared=1024,
    )  # fmt: skip


def test_counts_by_line(tree):
    assert tree["x[i]"]["ld.requests"] == 32
    assert tree["x[i]"]["ld.sectors"] == 125 == tree.total["ld.sectors"]
    assert tree["x[i]"]["sts.wavefronts"] == 32
    assert tree[6] == tree["s[t] = i < n"]
    levels = [max(half // 32, 1) for half in (128, 64, 32, 16, 8, 4, 2, 1)]
    assert tree["s[t + half]"]["lds.wavefronts"] == 4 * 2 * sum(levels)
    assert tree["s[t + half]"]["lds.conflicts"] == 0
    assert tree["atomicAdd"]["red.requests"] == 4
    assert tree["atomicAdd"]["instructions"] >= 32
    assert tree.total == sum(tree.lines.values(), type(tree.total)())


def test_lines_of_headers_say_who_called_them(tmp_path):
    (tmp_path / "far.cuh").write_text(
        "__device__ inline float twice(const float *x) { return 2 * *x; }\n"
        "__device__ inline float four_times(const float *x) { return twice(x) + twice(x + 1); }\n"
    )
    text = f"""#include "{tmp_path}/far.cuh"
extern "C" __global__ void k(const float *x, float *y) {{
    y[threadIdx.x] = four_times(x + threadIdx.x)
                   + twice(x);
}}"""
    report = xray.profile(
        (text, "k"), cuda.In(np.ones(33, np.float32)), cuda.Out(np.ones(32, np.float32)),
        grid=1, block=32,
    )  # fmt: skip
    (place,) = (p for p in report.lines if report.lines[p]["ld.sectors"])
    assert not missing(report.named(place), "far.cuh:1", "3, 4")
    for text in str(report), report._repr_html_():
        assert re.search(r"\(\w+ \w+ 3, 4\)", text)
    assert not missing(report.named(report.place(3)), 3)


@software
def test_equal_launches_have_equal_counts_wherever_their_arrays_are():
    """Halves of the L2 and banks of memory are chosen by addresses, and blocks run as they come."""
    text = """extern "C" __global__ void k(const float *x, const int *at, float *y) {
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[at[i]];
}"""
    random = np.random.default_rng(0)
    x, at = random.random(1 << 16, np.float32), random.permutation(1 << 16).astype(np.int32)
    found, kept = [], []
    for n in range(4):
        kept.append(cuda.mem_alloc(1000 + 300_000 * n))  # others lie in between
        arrays = [cuda.to_device(x), cuda.to_device(at), cuda.mem_alloc(x.nbytes)]
        kept += arrays
        report = xray.profile((text, "k"), *arrays, grid=256, block=256)
        found.append((report.total, report.caches, report.limits, report.prediction.us))
    assert found[1:] == found[:-1]


def test_barriers_and_who_waits(tree):
    loop = tree[10]
    assert loop["barriers"] == 4 * 8 * 8  # blocks, levels, warps
    idle = [8 - max(half // 32, 1) for half in (128, 64, 32, 16, 8, 4, 2, 1)]
    assert loop["waits"] == 4 * sum(idle)
    assert tree[7]["barriers"] == 4 * 8


def test_lanes_and_memory(tree):
    t = tree.total
    assert 0 < t["lanes"] <= 32 * t["instructions"]
    assert tree.touched_bytes == (4000 + 32, 32)  # the atomic reads, too
    assert tree.registers > 0 and tree.static_shared == 0 and tree.dynamic_shared == 1024
    assert tree.occupancy.share == 1


def test_nsight_names(tree):
    assert list(tree.nsight())[: len(METRICS)] == METRICS  # the clock's come after


def test_it_prints(tree):
    text = repr(tree)
    assert text.startswith("tree: 4 ") and not missing(text.splitlines()[0], 256, "1,024")
    assert re.search(r"\b125  \w+, 3.9 \w+ \w+ \w+ 32\b", text)
    row = next(line for line in text.splitlines() if "x[i]" in line)
    assert row.startswith("*    6") and " 125 " in row
    html = tree._repr_html_()
    assert "s[t] = i &lt; n" in html and "<b>125</b>" in html
    assert """<td class="src" style='text-align:left'>""" in html  # no style sheet needed


def test_compare(tree):
    half = xray.profile(
        (TREE, "tree"), cuda.In(np.ones(500, np.float32)), cuda.InOut(np.zeros(1, np.float32)),
        np.int32(500), grid=2, block=256, shared=1024,
    )  # fmt: skip
    both = xray.compare(tree, half)
    rows = {what: (a, b) for what, a, b in both.rows()}
    assert rows["global loads: requests"] == (32, 16)
    assert "x 0.5" in repr(both) and "<table" in both._repr_html_()
    with refused(TypeError, "int"):
        xray.compare(tree, 1)


def test_the_arguments_stay_as_they_are():
    x = cuda.to_device(np.ones(256, np.float32))
    out, into = cuda.to_device(np.full(1, 7, np.float32)), np.full(4, 3, np.float32)
    kernel = sources.kernel("reduce/shared.cu")
    for target in (out, cuda.Out(into), cuda.InOut(into)):
        xray.profile(kernel, x, target, np.int64(256), grid=1, block=256, shared=1024)
    assert cuda.from_device(out, (1,), np.float32) == [7]
    assert (into == 3).all()
    assert (cuda.from_device(x, (256,), np.float32) == 1).all()


def test_a_kernel_by_file_name():
    x, out = cuda.to_device(np.ones(64, np.float32)), cuda.mem_alloc(4)
    report = xray.profile("reduce/one_thread.cu", x, out, np.int64(64), grid=1, block=1)
    assert (
        report.total["ld.requests"] == 64 and report.total["lanes"] == report.total["instructions"]
    )


@software
def test_a_function_of_a_module_shows_its_source():
    function = SourceModule(
        "__global__ void f(int *x)\n{\n    x[threadIdx.x] = 1;\n}\n"
    ).get_function("f")
    report = xray.profile(function, cuda.mem_alloc(128), grid=1, block=32)
    assert report["x[threadIdx.x] = 1"]["st.sectors"] == 4
    assert report[3]["st.requests"] == 1


@software
def test_the_same_numbers_beside_another_driver(tree, monkeypatch, tmp_path):
    """As beside a real GPU: an engine of its own, on copies of the arguments."""
    copy = shutil.copy(build.build(), tmp_path / "beside.so")
    monkeypatch.setattr(build, "build", lambda: copy)
    monkeypatch.setattr(launch.Engine, "_driver", None)
    launch._beside.cache_clear()
    x = cuda.to_device(np.random.default_rng(0).standard_normal(1000).astype(np.float32))
    out = cuda.to_device(np.full(4, 7, np.float32))
    other = xray.profile(
        (TREE, "tree"), x, out, np.int32(1000), grid=4, block=256, shared=1024
    )  # fmt: skip
    counted, before = other.nsight(), tree.nsight()  # caches see other addresses
    assert {name: counted[name] for name in METRICS} == {name: before[name] for name in METRICS}
    assert other.total == tree.total
    assert other.touched_bytes == tree.touched_bytes
    assert (cuda.from_device(out, (4,), np.float32) == 7).all()
    known = sources.kernel("reduce/shared.cu")
    report = xray.profile(known, x, out, np.int64(1000), grid=4, block=256, shared=1024)
    assert report.total["ld.sectors"] == 125
    stranger = SourceModule("__global__ void f() {}").get_function("f")
    with refused(TypeError, "debug=True"):
        xray.profile(stranger, grid=1, block=1)
    launch._beside.cache_clear()


# --- what cannot be done is said ------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, error, facts",
    [
        ({"grid": 0}, ValueError, ["grid=0", 1]),
        ({"grid": (4, 0)}, ValueError, ["grid=(4, 0)", 1]),
        ({"block": 1.5}, TypeError, ["block", 1.5]),
        ({"block": (1, 2, 3, 4)}, TypeError, ["block", (1, 2, 3, 4)]),
        ({"watch": 4}, ValueError, ["watch=4"]),
        ({"watch": (0, 1)}, ValueError, ["watch=(0, 1)"]),
        ({"kernel": 3}, TypeError, ["int"]),
        ({"kernel": (TREE, "bush")}, LookupError, ["'bush'", "tree"]),
        ({"kernel": "reduce/nothing.cu"}, FileNotFoundError, ["reduce/nothing.cu"]),
    ],
)
def test_wrong_launches(change, error, facts):
    options = {"kernel": (TREE, "tree"), "grid": 1, "block": 32, "shared": 128} | change
    with refused(error, *facts):
        xray.profile(options.pop("kernel"), **options)


@pytest.mark.parametrize(
    "argument, kind, instead",
    [
        (True, "bool", "np.int8(1)"),
        (np.bool_(False), "bool", "np.int8(0)"),
        (0.5, "float", "np.float32(0.5)"),
        (-(1 << 31), "int", "np.int32(-2147483648)"),
        (1 << 31, "int", "np.int64(2147483648)"),
    ],
)
def test_arguments_without_a_size_are_refused(argument, kind, instead):
    source = "struct Two { int a, b; };\n__global__ void f(Two two) {}"
    with refused(TypeError, 1, "(Two two)", kind, instead):
        xray.profile((source, "f"), argument, grid=1, block=1)


@software
def test_only_a_kernel_that_is_not_there_is_missing(monkeypatch):
    def fail(*_):
        raise cuda.LogicError("cuModuleGetFunction failed: context is destroyed")

    monkeypatch.setattr("pycuda.compiler.SourceModule.get_function", fail)
    with refused(cuda.LogicError, "context is destroyed"):
        xray.profile(("__global__ void is_there() {}", "is_there"), grid=1, block=1)


@software
def test_wrong_arguments():
    with refused(TypeError, "tree", 3, "(float *x", 1):
        xray.profile((TREE, "tree"), np.int32(1), grid=1, block=32, shared=128)
    with refused(cuda.LogicError, "kernel.cu:6"):
        xray.profile(
            (TREE, "tree"), np.uintp(64), np.uintp(64), np.int32(9), grid=1, block=32, shared=128
        )
    function = SourceModule(TREE).get_function("tree")
    with refused(TypeError, "tree", 3, "(float *x", 1):
        xray.profile(function, np.int32(1), grid=1, block=32, shared=128)
    with refused(cuda.LogicError, "tree", 20, 4):
        function(np.int32(1), grid=(1, 1), block=(32, 1, 1), shared=128)
    with refused(cuda.LaunchError, "(8 + 8 + 4)", 24, "np.int64"):
        args = np.uintp(64), np.uintp(64), np.int64(9)
        function(*args, grid=(1, 1), block=(32, 1, 1), shared=128)
    with refused(LookupError, "'tre'", "tree"):
        xray.profile((TREE, "tre"), grid=1, block=32)
    mangled = SourceModule(TREE, no_extern_c=True)
    with refused(cuda.LogicError, "_Z4treePKfPfi", 'extern "C"'):
        mangled.get_function("tree")
    template = (
        "template<class T> __global__ void f(T *x) {} template __global__ void f<int>(int *);"
    )
    module = SourceModule(template + "__global__ void g() {}", no_extern_c=True)
    with refused(cuda.LogicError, "'f'", "_Z1fIiEvPT_, _Z1gv"):
        module.get_function("f")
    assert xray.profile("first/empty.cu", grid=1, block=1).total["ld.requests"] == 0


def test_lines_that_did_nothing(tree):
    with refused(LookupError, "tree", 3, 6):
        tree.place(3)
    with refused(LookupError, "tree", "'goto'"):
        tree.place("goto")
    with refused(LookupError, "tree", 2):
        xray.draw_banks(tree, "__global__")
    with refused(LookupError, "tree", 6, 0):
        xray.draw_access(tree, "x[i]", turn=99)


def test_wrong_pictures(tree):
    with refused(ValueError, "load, store, red, atomic", "'laod'"):
        xray.draw_banks(tree, 6, operation="laod")
    with refused(ValueError, "load, store, red, atomic", "'shuffle'"):
        xray.draw_access(tree, 6, operation="shuffle")
    with refused(LookupError, 6, "load", "store"):
        xray.draw_banks(tree, 6, operation="load")
    for picture in (xray.draw_access, xray.draw_banks, lambda *_: xray.draw_steps(TREE)):
        with refused(TypeError, "str"):
            picture(TREE, 6)
    with refused(TypeError, "draw_shuffle(report, line)"):
        xray.draw_shuffle(tree)
    with refused(TypeError, "draw_shuffle", '"down"'):
        xray.draw_shuffle("down")
    with refused(ValueError, "Report", "up, down"):
        xray.draw_shuffle(TREE)


# --- pictures -------------------------------------------------------------------------------------


def sectors_of(alt):
    """How many sectors some lanes touch, of so many bytes each, in a picture's text."""
    return int(re.search(r"\b\d+ \w+ \w+ 4 \w+ \w+ (\d+)\b", alt)[1])


def test_pictures(tree):
    access = xray.draw_access(tree, "x[i]")
    assert sectors_of(access.alt) == 4 and re.search(r"\b128 \w+ 128\b", access.alt)
    assert access._repr_html_().lstrip().startswith("<img") and "alt=" in access._repr_html_()
    steps = xray.draw_steps(tree)
    assert not missing(steps.alt, 256, 9)
    assert not missing(xray.draw_banks(tree, "s[t + half]", warp=3).alt, 1, 32)


def test_each_access_of_a_line_can_be_drawn():
    source = """
    __global__ void both(const float *a, const float *b, float *out)
    {
        int t = threadIdx.x;
        float sum = a[t] + b[2 * t];
        for (int k = 0; k < 4; k++) sum += a[t * (k + 1)];
        out[t] = sum;
        #pragma unroll 1
        for (int k = 0; k < 3; k++) out[t] += a[t + 32 * k];
    }"""
    report = xray.profile((source, "both"), *[cuda.mem_alloc(8192)] * 3, grid=1, block=32)
    alts = [xray.draw_access(report, "b[2 * t]", access=n).alt for n in range(2)]
    assert all(re.search(rf"\b{end} \w+ 2\b", alt) for end, alt in zip(("1st", "2nd"), alts))
    assert {sectors_of(alt) == 4 for alt in alts} == {True, False}
    unrolled = [xray.draw_access(report, "k + 1", access=n).alt for n in range(3)]
    assert [sectors_of(alt) for alt in unrolled] == [8, 12, 16]
    turn = xray.draw_access(report, "32 * k", operation="store", turn=2).alt
    assert not missing(turn, 9, 0, 32) and re.search(r"\b3rd \w+ 3\b", turn)
    second = xray.draw_access(report, "32 * k", turn=1).alt
    assert re.search(r"\b1st \w+ 2 \w+, 2nd \w+ 3\b", second)
    with refused(LookupError, "both", 5, 0, 1):
        xray.draw_access(report, 5, access=2)
    with refused(LookupError, "both", 9, 0, 2):
        xray.draw_access(report, 9, turn=3)


def test_the_first_warp_is_drawn_whoever_came_first():
    """After a barrier the last warp goes on first."""
    source = """
    __global__ void turn(float *x)
    {
        __shared__ float s[96];
        s[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        if (threadIdx.x > 31) x[threadIdx.x] = s[95 - threadIdx.x];
    }"""
    report = xray.profile((source, "turn"), cuda.mem_alloc(384), grid=1, block=96)
    assert " 1: 32 " in xray.draw_banks(report, "95 -").alt
    assert " 2: 32 " in xray.draw_banks(report, "95 -", warp=2).alt


@pytest.mark.parametrize("mask, block", [("0xff", 16), ("~0u", 8)])
def test_lanes_that_are_not_there_are_not_drawn(mask, block, axes_of):
    source = f"""
    __global__ void some(float *x)
    {{
        int t = threadIdx.x;
        float v = x[t];
        if (t < 8) x[t] = __shfl_down_sync({mask}, v, 4);
    }}"""
    report = xray.profile((source, "some"), cuda.mem_alloc(64), grid=1, block=block)
    axes, alt = axes_of(xray.draw_shuffle, report, "shfl")
    assert len(axes.patches) == block + 8  # the warp's lanes, and what eight of them get
    assert [text.get_text() for text in axes.texts].count("?") == 4 and len(axes.lines) == 4
    assert not missing(alt, 4)


def test_one_thread_is_one_lane(axes_of):
    source = "__global__ void one(float *x) { x[0] += 1; }"
    report = xray.profile((source, "one"), cuda.mem_alloc(4), grid=1, block=1)
    axes, alt = axes_of(xray.draw_steps, report)
    assert [tick for tick in axes.get_yticks() if -0.5 <= tick <= 0.5] == [0]
    assert not missing(alt, "100%", 1)
    _, alt = axes_of(xray.draw_access, report, 1)
    assert sectors_of(alt) == 1


@pytest.mark.parametrize("threads, apart", [(100, 32), (256, 32), (1024, 128)])
def test_steps_have_ticks_at_warps_and_a_legend(threads, apart, axes_of):
    n = np.int32(threads)
    x, out = cuda.mem_alloc(4 * threads), cuda.mem_alloc(4)
    report = xray.profile((TREE, "tree"), x, out, n, grid=1, block=threads, shared=4 * threads)
    axes, _ = axes_of(xray.draw_steps, report)
    assert [*axes.get_yticks()] == [*range(0, threads, apart)]
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words[:2] == ["at work", "idle lane of a working warp"] and "barriers" in words[3]


@pytest.mark.parametrize("theme", [1.0, 0x11 / 255], ids=["light", "dark"])
def test_idle_and_waiting_threads_can_be_told_apart_in_both_themes(axes_of, theme):
    source = """__global__ void half(float *x)
    {
        if (threadIdx.x >= 32) return;
        if (threadIdx.x < 16) for (int i = 0; i < x[0]; ++i) x[i] += 1;
    }"""
    x = gpuarray.to_gpu(np.full(12, 9, np.float32))
    axes, _ = axes_of(xray.draw_steps, xray.profile((source, "half"), x, grid=1, block=64))
    drawn = np.unique(np.asarray(axes.images[0].get_array()).reshape(-1, 4), axis=0)
    found = [contrast(c[:3] * c[3] + theme * (1 - c[3]), [theme] * 3) > 2 for c in drawn]
    assert sorted(found) == [False, True, True]  # blank, idle and at work


@pytest.mark.parametrize("threads", [32, 100])
def test_barriers_are_drawn_where_they_are(threads):
    """Amid straight-line code, the second before work of half a warp."""
    source = """
    __global__ void turn(float *x)
    {
        extern __shared__ float s[];
        int t = threadIdx.x, last = blockDim.x - 1;
        s[t] = x[t];
        __syncthreads();
        x[t] = s[last - t] * 2 + s[t];
        __syncthreads();
        if (t < 16) x[t] = s[t] + x[last - t];
    }"""
    report = xray.profile((source, "turn"), cuda.mem_alloc(400), grid=1, block=threads, shared=400)
    spans, barriers, _ = draw._timeline(report)
    first_warp = [(begin, end) for warp, _, begin, end in spans if warp == 0]
    assert all(before[1] == after[0] for before, after in zip(first_warp, first_warp[1:]))
    assert len(barriers) == 2 and 0 < barriers[0] < barriers[1] < first_warp[-1][1]
    instructions = sum(report[line]["instructions"] for line in (8, 9)) / -(-threads // 32)
    assert barriers[1] - barriers[0] == pytest.approx(instructions, abs=3)  # nvcc moves some
    assert f": {threads}, {threads}, " in xray.draw_steps(report).alt


def test_barriers_in_functions_and_after_calls_are_drawn_in_order():
    source = """
    __device__ __noinline__ float turn(float *s, int t)
    {
        __syncthreads();
        float value = s[63 - t];
        __syncthreads();
        return value;
    }
    __global__ void twice(float *x)
    {
        __shared__ float s[64];
        int t = threadIdx.x;
        s[t] = x[t];
        s[t] = turn(s, t) + 1;
        __syncthreads();
        __syncthreads();
        x[t] = turn(s, t);
    }"""
    report = xray.profile((source, "twice"), cuda.mem_alloc(256), grid=1, block=64)
    spans, barriers, _ = draw._timeline(report)
    assert len(barriers) == 6 and barriers == sorted(barriers)
    assert all(begin <= end for _, _, begin, end in spans)
    assert report.total["barriers"] == 12 and report.total["waits"] == 0
    assert "6 barriers" in xray.draw_steps(report).alt


def test_named_barriers_are_not_drawn():
    """Two warps of three meet at one before all three meet."""
    source = """
    __global__ void some(float *x)
    {
        int t = threadIdx.x;
        x[t] += 1;
        if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
        x[t] *= 2;
        __syncthreads();
        x[t] += 3;
    }"""
    report = xray.profile((source, "some"), cuda.mem_alloc(384), grid=1, block=96)
    spans, barriers, _ = draw._timeline(report)
    (barrier,) = barriers
    assert all(end <= barrier or begin >= barrier for _, _, begin, end in spans)
    assert {warp for warp, _, begin, _ in spans if begin == barrier} == {0, 1, 2}


def test_work_behind_calls_is_drawn_behind_their_barriers():
    source = """
    __device__ __noinline__ void f(float *x, int n)
    {
        int t = threadIdx.x;
        if (n == 0) return;
        f(x, n - 1);
        __syncthreads();
        x[t] *= 2;
    }
    __global__ void nested(float *x) { f(x, 4); x[threadIdx.x] += 1; }"""
    report = xray.profile((source, "nested"), cuda.mem_alloc(256), grid=1, block=64)
    spans, barriers, _ = draw._timeline(report)
    assert len(barriers) == 4 and len(set(barriers)) == 4
    steps = sorted(span for span in spans if span[0] == 0)
    assert all(before[3] == after[2] for before, after in zip(steps, steps[1:])), steps
    assert steps[-1][3] == report.total["instructions"] / 2 > barriers[-1]


def test_pictures_of_waste_and_conflicts():
    source = """
    __global__ void waste(const float *x, float *y)
    {
        __shared__ float s[32 * 8];
        int t = threadIdx.x;
        s[t * 8] = x[t * 40];
        __syncwarp();
        y[t] = __shfl_down_sync(~0u, s[t], 4);
    }"""
    x, y = cuda.mem_alloc(8192), cuda.mem_alloc(128)
    report = xray.profile((source, "waste"), x, y, grid=1, block=32)
    assert not missing(xray.draw_access(report, "x[t * 40]").alt, 32, 128, 1024)
    assert not missing(xray.draw_banks(report, "s[t * 8]").alt, 8, 32, 7)
    assert report["s[t * 8]"]["sts.wavefronts"] == 8
    assert re.search(r"\b32 \w+ \w+ \w+ 1 \w+ \(\w+ 4\)", repr(report))
    shuffled = xray.draw_shuffle(report, "shfl").alt
    assert re.search(r"\b0 \w+ 4\b", shuffled) and re.search(r"\b4 \w+ ", shuffled)
    assert re.search(r"\b0 \w+ 16\b", xray.draw_shuffle("xor", 16).alt)
    assert re.search(r"\b3 \w+ 3\b", xray.draw_shuffle("down", 1, width=4).alt)
    with refused(ValueError, "'left'"):
        xray.draw_shuffle("left", 1)


@pytest.mark.parametrize("kernel", ["shared_16", "shared_8", "shared_4", "shared_1"])
def test_banks_are_drawn_as_they_are_counted(kernel, axes_of):
    """The picture's wavefronts come from Python, the counts from C."""
    for case in [c for c in CASES if c.kernel == kernel and c.block == (32,)][::9]:
        report = case.profiled()
        for operation, key in (("load", "lds"), ("store", "sts")):
            counted = report.total[f"{key}.wavefronts"]
            if counted:
                line = next(p for p, n in report.lines.items() if n[f"{key}.wavefronts"])
                _, alt = axes_of(xray.draw_banks, report, line, operation=operation)
                assert f" {counted} wavefront" in alt, case.name


ATOMS = """.version 8.6
.target sm_90
.address_size 64
.visible .entry atoms(.param .u64 out)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    atom.relaxed.gpu.global.add.u32 %r2, [%rd1], 1;
    atom.release.gpu.global.add.u32 %r3, [%rd1], 1;
    atom.acquire.gpu.global.add.u32 %r4, [%rd1], 1;
    atom.acq_rel.gpu.global.add.u32 %r5, [%rd1], 1;
    ret;
}
"""


@software
def test_an_atomic_that_acquires_is_no_reduction_though_nobody_reads_its_result():
    """ptxas makes RED of the first three, ATOM of the last two; an H100 counts so."""
    kernel = cuda.module_from_buffer(ATOMS.encode()).get_function("atoms")
    total = xray.profile(kernel, gpuarray.zeros(4, np.uint32), grid=1, block=32).total
    assert (total["red.requests"], total["atom.requests"]) == (3, 2)
