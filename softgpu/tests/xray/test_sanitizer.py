"""The sanitizer: planted bugs are caught where they are, and nothing else is."""

import csv
import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from helpers.xray import sanitize  # which takes texts of any C++
from softgpu.faults import FaultKind
from softgpu.tests import autoinit, python
from softgpu.tests.facts import missing, refused
from softgpu.words import Advice, Does, FindingKind, Happened, Place, Report
from softgpu.xray import launch

from .planted import FILES, module, planted

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip
import pycuda.driver as cuda  # isort: skip

ALL = [case for file in FILES for case in planted(file)]
CASES = [case for case in ALL if not case.missed]
MISSED = [case for case in ALL if case.missed]
FOLDER = Path(__file__).parent / "planted"

software = pytest.mark.skipif(not autoinit.is_software, reason="the real GPU is PyCUDA's driver")


def report_of(case, bug):
    arguments, options, unwritten = case.launch(bug)
    if autoinit.is_software:
        kernel = module(case.file, bug).get_function(case.name)
    else:  # beside a real GPU its source names it
        source = (FOLDER / case.file).read_text()
        kernel = f"#define BUG {int(bug)}\n#line 1\n{source}", case.name
    return sanitize(kernel, *arguments, **options, uninitialised=unwritten)


of_planted = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}-{case.name}")


@of_planted
def test_the_bug_is_caught(case):
    report = report_of(case, True)
    assert [f for f in report if f.kind == case.kind and case.lines <= set(f.lines)], report
    assert not report.clean


@of_planted
def test_the_twin_is_clean(case):
    report = report_of(case, False)
    assert report.clean, report


@software
def test_a_block_that_has_not_begun_is_not_taken_for_one_of_an_earlier_launch():
    """Its seat is as the launch before left it, which ended with a block of the same number."""
    (case,) = (case for case in CASES if case.name == "writes_before_the_other_block_runs")
    arguments, options, _ = case.launch(False)
    right = module(case.file, False).get_function(case.name)
    assert sanitize(right, *arguments, **options | {"grid": 2}).clean
    assert case.kind in [f.kind for f in report_of(case, True)]


@software
def test_copies_that_nothing_is_read_beside_are_counted():
    (alone,) = (case for case in CASES if case.name == "one_warp_waits_for_all")
    assert report_of(alone, False).exposed_bytes == 2 * 512  # the one tile of each block


@pytest.mark.parametrize("case", MISSED, ids=lambda case: f"{case.file}-{case.name}")
def test_what_is_said_to_be_missed_is(case):
    """Fails when it is found, so that it is said no longer."""
    assert report_of(case, True).clean and report_of(case, False).clean


def test_the_patterns_of_scor_are_planted():
    """The tests above see what is answered to each; here is how much of ScoR that is."""
    with open(FOLDER / "scor.csv") as file:
        rows = list(csv.DictReader(file))
    kernels = {f"{case.file}-{case.name}": case for case in ALL}
    for row in rows:
        assert row["program"].startswith("norace" if row["answer"] == "clean" else "race")
        assert kernels[row["pattern"]].missed == (row["answer"] == "missed"), row
    assert Counter(row["answer"] for row in rows) == {"found": 14, "missed": 4, "clean": 14}


# --- what has been written -----------------------------------------------------------------------

COPY = (
    'extern "C" __global__ void copy(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }'
)


def fresh(count):
    return gpuarray.empty(count, np.float32)


@contextmanager
def every_launch():
    """Each launch is watched, and fails if the sanitizer finds something."""
    engine = launch.Engine.as_driver()
    engine.sanitize_launches()
    try:
        yield
    finally:
        engine.sanitize_launches(False)


def reads_of_unwritten(x, **options):
    y = gpuarray.zeros(64, np.float32)
    report = sanitize((COPY, "copy"), x, y, grid=1, block=64, **options)
    assert {f.kind for f in report} <= {"uninitialised read"}
    return sum(f.count for f in report)


@software
def test_what_the_host_wrote_is_known():
    fresh = gpuarray.empty(64, np.float32)
    assert reads_of_unwritten(fresh) == 64
    assert reads_of_unwritten(fresh) == 64  # the launch before has left no trace
    cuda.memset_d32(fresh.gpudata, 0, 10)
    assert reads_of_unwritten(fresh) == 54
    fresh[32:48].set(np.ones(16, np.float32))
    assert reads_of_unwritten(fresh) == 38
    copied = gpuarray.empty(64, np.float32)
    cuda.memcpy_dtod(copied.gpudata, fresh.gpudata, 256)
    assert reads_of_unwritten(copied) == 38
    fresh.fill(0)
    assert reads_of_unwritten(fresh) == 0
    cuda.memcpy_dtod(copied.gpudata, fresh.gpudata, 256)
    assert reads_of_unwritten(copied) == 0


@software
def test_a_launch_that_nobody_watched_may_have_written_what_it_can_reach():
    fresh, other = gpuarray.empty(64, np.float32), gpuarray.empty(64, np.float32)
    copy = launch.target_of((COPY, "copy")).function
    copy(other, other, grid=(1, 1), block=(1, 1, 1))
    assert reads_of_unwritten(fresh) == 64 and reads_of_unwritten(other) == 0
    source = 'extern "C" __global__ void far(int **x) { if (x[0]) *x[0] = 1; }'
    far = launch.target_of((source, "far")).function
    far(gpuarray.zeros(1, np.int64), grid=(1, 1), block=(1, 1, 1))
    assert reads_of_unwritten(fresh) == 0


@software
def test_a_watched_launch_writes_for_the_next():
    from_host, between, out = (gpuarray.empty(64, np.float32) for _ in range(3))
    copy = launch.target_of((COPY, "copy")).function
    with every_launch():
        from_host.set(np.ones(64, np.float32))
        copy(from_host, between, grid=(1, 1), block=(32, 1, 1))
        copy(between, out, grid=(1, 1), block=(32, 1, 1))
        with refused(cuda.LaunchError, 1, "(x)", 128):
            copy(between, out, grid=(1, 1), block=(64, 1, 1))


def test_what_an_earlier_launch_of_a_call_wrote_is_written():
    copy = SourceModule(COPY, no_extern_c=True).get_function("copy")
    (x, _), between, y = arrays(), fresh(64), fresh(64)

    def launch_both(first):
        copy(x, between, block=(first, 1, 1), grid=(1, 1))
        copy(between, y, block=(64, 1, 1), grid=(1, 1))

    assert sanitize(lambda: launch_both(64)).clean
    between = fresh(64)
    (finding,) = sanitize(lambda: launch_both(63))
    assert finding.kind == FindingKind.UNINITIALISED and finding.thread == (63, 0, 0)


def test_arrays_can_be_declared_unwritten():
    x = gpuarray.zeros(64, np.float32)
    assert reads_of_unwritten(x) == 0
    assert reads_of_unwritten(x, uninitialised=x) == 64
    assert reads_of_unwritten(x, uninitialised=[x[:5]]) == 5
    assert reads_of_unwritten(x) == 0


@pytest.mark.parametrize("alias", ["same", "*hidden", "(float *)((long long)same + step)"])
def test_what_changes_through_another_pointer_is_watched(alias):
    """Loads of what no store of a launch can reach are not looked at: which can reach it?"""
    source = f"""extern "C" __global__ void turn(const float *x, float *same, float **hidden,
                                  long long step, float *out)
    {{
        int t = threadIdx.x;
        out[t] = x[t];
        ({alias})[63 - t] = 2;
    }}"""
    x, out = gpuarray.zeros(64, np.float32).fill(1), gpuarray.zeros(64, np.float32)
    hidden = gpuarray.to_gpu(np.array([x.ptr], np.uint64))
    arguments = x, x, hidden, np.int64(0), out
    (finding,) = sanitize((source, "turn"), *arguments, grid=1, block=64)
    assert (finding.kind, finding.count, finding.lines) == ("race", 64, (5, 6))


# --- the report ----------------------------------------------------------------------------------

RACE = """
extern "C" __global__ void turn(const float *x, float *y)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    y[t] = s[63 - t];
}
"""


def race():
    x, y = gpuarray.arange(64, dtype=np.float32), gpuarray.zeros(64, np.float32)
    return sanitize((RACE, "turn"), x, y, grid=1, block=64), y


def test_both_sides_of_a_race_are_told():
    (finding,), y = race()
    assert finding.kind == "race" and finding.lines == (6, 7) and finding.count == 64
    assert {finding.source, finding.other_source} == {"s[t] = x[t];", "y[t] = s[63 - t];"}
    assert {finding.thread, finding.other_thread} == {(32, 0, 0), (31, 0, 0)}
    assert finding.place.code == "element shared 128 s[32]"
    assert finding.advice == Advice.BETWEEN(barrier="__syncthreads()")
    assert not y.get().any(), "the caller's arrays must not change"


def test_lines_follow_the_source():
    for blank_lines in (0, 1, 3):  # PyCUDA keeps what it compiled: it must notice
        source = "#include <cuda_fp16.h>" + "\n" * blank_lines + RACE
        (finding,) = sanitize((source, "turn"), *arrays(), grid=1, block=64)
        assert finding.lines == (6 + blank_lines, 7 + blank_lines)
        assert finding.source in ("s[t] = x[t];", "y[t] = s[63 - t];")


def test_the_text_is_the_same_every_time():
    first, moved = str(race()[0]), gpuarray.zeros(12345, np.float32)
    assert str(race()[0]) == first
    assert moved.size and "0x" not in first


LEAVE = """
extern "C" __global__ void leave(float value, float *out)
{
    __shared__ float s[64];
    float local[8];
    for (int i = 0; i < 8; ++i) local[(i + threadIdx.x) % 8] = value;
    s[threadIdx.x] = value;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x] + local[int(value)];
}
"""

EARLY = """
extern "C" __global__ void early(const float *x, float *out)
{
    __shared__ float s[64];
    float local[8];
    int t = threadIdx.x;
    local[t % 8] = x[t];
    s[t] = x[t];
    s[t ^ 1] += s[t ^ 32] + local[(t + 1) % 8];
    out[t] = s[t];
}
"""


@software
@pytest.mark.parametrize("threads", [1, 2, 16])
def test_findings_do_not_depend_on_what_earlier_launches_left(threads):
    from softgpu import settings
    from softgpu.loader import Engine

    engine, (x, y), told = Engine.as_driver(), arrays(), set()
    x.fill(np.float32(1))
    engine.set_threads(threads)
    try:
        for value in np.float32([0, 1, 2]):
            function_of_pycuda(LEAVE, "leave")(value, y, grid=(64, 1), block=(64, 1, 1))
            report = sanitize((EARLY, "early"), x, y, grid=2, block=64)
            told.add("\n".join(map(str, report)))
    finally:
        engine.set_threads(settings.threads())
    (text,) = told
    assert text.count("race") > 1


def test_a_report_shows_in_a_notebook():
    report, _ = race()
    html = report._repr_html_()
    assert "<table" in html and "s[63 - t]" in html and "race" in html
    assert not re.findall(r"<t[hd]>", html)  # JupyterLab would set these flush right
    clean = sanitize((COPY, "copy"), *arrays(), grid=1, block=64)
    assert clean.clean and str(clean) == Report.CLEAN(kernel="copy")
    assert Report.CLEAN(kernel="<code>copy</code>") in clean._repr_html_()


def arrays():
    return gpuarray.zeros(64, np.float32), gpuarray.zeros(64, np.float32)


def test_one_past_the_end_is_told_so():
    x, y = arrays()
    (finding,) = sanitize((COPY, "copy"), x[:63].copy(), y, grid=1, block=64)
    assert finding.place.code == "one_past byte_of named_argument 1 x 252 252"
    assert finding.thread == (63, 0, 0)


def test_what_ends_a_launch_is_a_finding():
    source = 'extern "C" __global__ void stop(float *x) { if (threadIdx.x == 3) __trap(); *x = 1; }'
    report = sanitize((source, "stop"), arrays()[0], grid=1, block=32)
    assert [f.fault.kind for f in report] == [FaultKind.TRAP]
    assert report[0].source == source and "__trap()" in report._repr_html_()


def test_what_ends_a_launch_in_a_header_shows_its_source(tmp_path):
    (tmp_path / "far.cuh").write_text("\n__device__ void far() { __trap(); }\n")
    text, name = kernel("far();")
    source = f'#include "{tmp_path}/far.cuh"\n#line 1\n{text}'
    (fault,) = sanitize((source, name), arrays()[0], np.int32(0), grid=1, block=1)
    assert (fault.file, fault.line) == ("far.cuh", 2) and fault.source.endswith("__trap(); }")
    assert fault.root_line == 2 and fault.root_source.startswith("far();")


def test_an_mbarrier_that_is_not_aligned_says_where_it_belongs():
    begin = "mbarrier.init.shared.b64 [%0], 1;"
    body = f"""__shared__ unsigned long long room[2];
        unsigned to = __cvta_generic_to_shared(room) + n;
        if (t == 0) asm volatile("{begin}" :: "r"(to) : "memory");"""
    assert sanitize(kernel(body), arrays()[0], np.int32(8), grid=1, block=32).clean
    (fault,) = sanitize(kernel(body), arrays()[0], np.int32(1), grid=1, block=32)
    assert fault.fault.kind == FaultKind.MBARRIER_MISALIGNED
    assert fault.advice.has(Advice.MBARRIER_BYTES)


def test_a_phase_has_no_parity_but_0_and_1():
    """Bit 0 counts on a GPU; -1 is how Triton passes a predicate that is true."""
    begin, wait = "mbarrier.init.shared.b64 [%0], 1;", "mbarrier.test_wait.parity.shared.b64"
    body = f"""__shared__ unsigned long long room; if (t) return;
        unsigned to = __cvta_generic_to_shared(&room), over;
        asm volatile("{begin}" :: "r"(to) : "memory");
        asm volatile("{{ .reg .pred p; {wait} p, [%1], %2; selp.u32 %0, 1, 0, p; }}"
                     : "=r"(over) : "r"(to), "r"(n) : "memory"); x[0] = over;"""
    for parity in (1, -1):
        assert sanitize(kernel(body), arrays()[0], np.int32(parity), grid=1, block=32).clean
    (fault,) = sanitize(kernel(body), arrays()[0], np.int32(2), grid=1, block=32)
    assert fault.fault.kind == FaultKind.MBARRIER_PARITY
    assert fault.advice.has(Advice.PARITY)


def kernel(body):
    """A kernel of one line, `body`, from line 2 on."""
    return f'extern "C" __global__ void k(float *x, int n) {{ int t = threadIdx.x;\n{body} }}', "k"


@pytest.mark.parametrize(
    "body, advice",
    [
        ("if (t <= n) x[t] = 1;", "make_it_less"),
        ("if (t > n) return; x[t] = 1;", "make_it_greater"),
        ("x[t] = 1;", "guard_it"),
        ("if (t < n) x[t - 1] = 1;", "negative"),
        ("if (t < n) ((double *)x)[t] = 1;", "wide 1 float32 8"),
        ("if (t < 16) { x[t] = 1; __syncthreads(); }", "no_return"),
        ("if (t && t < n) x[t] = x[t - 1];", "read_then_write __syncthreads()"),
        ("atomicExch(x + t / 2, 1.f); x[t / 2] = 2;", "between __syncwarp() or_shuffle"),
        (
            "volatile float *y = x; if (!t) y[0] = 1;\nif (t == 64) x[1] = y[0];",
            "volatile between __syncthreads() flag",
        ),
        (
            "__shared__ int s[9]; s[t % 8] = t; __syncthreads(); if (!t) x[0] = s[0];",
            "own_place",
        ),
    ],
)
def test_the_advice_fits(body, advice):
    report = sanitize(kernel(body), arrays()[0], np.int32(64), grid=1, block=65)
    assert any(advice in finding.advice.code for finding in report), report


TILES = """extern "C" __global__ void tiles(const float *a, const float *b, float *c, int n)
{
    __shared__ float p[16][16], q[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        p[y][x] = a[y * n + k + x];
        q[y][x] = b[(k + y) * 16 + x];
        FIRST;
        for (int i = 0; i < 16; i++) sum += p[y][i] * q[i][x];
        SECOND;
    }
    c[y * 16 + x] = sum;
}"""
AGAIN = {"other": "10", "does": Does.WRITES(), "other_does": Does.READS()}


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize(
    "first, second, advice, says",
    [
        (1, 0, Advice.END_OF_LOOP, AGAIN),
        (0, 1, Advice.BETWEEN, {}),
        (0, 0, Advice.BETWEEN_AND_END_OF_LOOP, {}),
    ],
    ids=["second", "first", "both"],
)
def test_a_barrier_is_advised_where_it_belongs(first, second, advice, says, unrolled):
    source = TILES.replace("FIRST", "__syncthreads()" * first)
    source = source.replace("SECOND", "__syncthreads()" * second)
    source = source.replace("k < n", "k < 64") if unrolled else source
    a, b, c = (fresh(1024).fill(1) for _ in range(3))
    report = sanitize((source, "tiles"), a, b, c, np.int32(64), grid=1, block=(16, 16))
    assert {f.lines: f.kind for f in report} == {(7, 10): "race", (8, 10): "race"}
    for finding in report:  # one barrier ends both
        line = str(finding.lines[0])
        assert finding.advice == advice(barrier="__syncthreads()", line=line, **says)


TURNED = """extern "C" __global__ void turned(const float *x, float *out, int n)
{
    __shared__ float s[64];
    int i = threadIdx.x;
    if (i < n) s[i] = x[i];
    if (i < n) out[i] = s[n - 1 - i];
}"""
BLOCK_WIDE = "between __syncthreads()"
OF_WARP = "between __syncwarp() or_shuffle"


@pytest.mark.parametrize(
    "n, block, kind, advice",
    [
        (31, 32, "missing __syncwarp", OF_WARP),
        (31, 64, "race", f"{BLOCK_WIDE} one_warp_alone"),
        (64, 64, "race", BLOCK_WIDE),
    ],
)
def test_a_block_of_several_warps_is_advised_a_barrier_of_the_block(n, block, kind, advice):
    x, out = fresh(64).fill(1), fresh(64)
    (finding,) = sanitize((TURNED, "turned"), x, out, np.int32(n), grid=1, block=block)
    assert (finding.kind, finding.lines, finding.advice.code) == (kind, (5, 6), advice)


def test_what_every_warp_does_for_itself_is_of_the_warp():
    source = TURNED.replace("n - 1 - i", "i ^ 1")
    (finding,) = sanitize(
        (source, "turned"), fresh(64).fill(1), fresh(64), np.int32(64), grid=1, block=64
    )
    assert (finding.kind, finding.advice.code) == ("missing __syncwarp", OF_WARP)


LOOPS = {
    5: "for (;;)\n    if (i < n) x[i] += 1;",
    6: "for (int k = 0; k < 4; ++k)\n    for (int j = 0; j < n; j -= x[j] < 0)\n        x[i] += 1;",
    7: "int k = n;\nfor (; k > 4; --k) x[i] += k;\nwhile (k < n)\n{\n    x[i] += 1;\n\n}",
}


@pytest.mark.parametrize("line", LOOPS)
def test_a_loop_without_end_is_told_by_the_line_on_which_it_begins(line):
    head = 'extern "C" __global__ void endless(float *x, int n)\n{\n\n    int i = threadIdx.x;\n'
    kernel = f"{head}{LOOPS[line]}\n}}\n", "endless"
    with launch.target_of(kernel).engine.time_limit(0.3):
        found = sanitize(kernel, fresh(32).fill(1), np.int32(32), grid=1, block=32)
    (fault,) = found.of("fault")
    assert fault.fault.kind == FaultKind.TIME_LIMIT and fault.fault.limit_s == 0.3
    assert fault.message == Happened.FAULT_IN_LOOP(what=fault.fault.what, line=line)


@pytest.mark.parametrize("debug", [False, True])  # a call of a function, without optimisation
def test_lanes_that_meet_wait_for_one_that_polls(debug):
    source = """extern "C" __global__ void handed(float *x, int *flags)
    {
        if (threadIdx.x == 0) {
            *(volatile int *)&flags[1 - blockIdx.x] = 1;
            while (*(volatile int *)&flags[blockIdx.x] == 0) {}
        }
        __syncthreads_or(0);
        x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    }"""
    arrays = gpuarray.zeros(128, np.float32), gpuarray.zeros(2, np.int32)
    assert not sanitize((source, "handed"), *arrays, grid=2, block=64, debug=debug)


def test_a_loop_without_end_in_a_header_is_told_by_the_line_that_calls_it(tmp_path):
    header = tmp_path / "waits.cuh"
    header.write_text("\n\n__device__ void wait(volatile int *x)\n{\n    while (*x == 0) {}\n}\n")
    kernel = f'''#include "{header}"
    extern "C" __global__ void waits(int *x)
    {{
        x[1] = 2;
        wait(x);
    }}'''
    with launch.target_of((kernel, "waits")).engine.time_limit(0.3):
        found = sanitize((kernel, "waits"), gpuarray.zeros(2, np.int32), grid=1, block=32)
    (fault,) = found.of("fault")
    assert (fault.line, fault.source) == (5, "wait(x);")


def test_a_wait_without_end_in_a_header_is_told_by_the_line_that_calls_it(tmp_path):
    header = tmp_path / "meets.cuh"
    header.write_text('\n__device__ void meet()\n{\n    asm volatile("bar.sync 1, 96;");\n}\n')
    kernel = f'''#include "{header}"
    extern "C" __global__ void meets(int *x)
    {{
        x[1] = 2;
        meet();
    }}'''
    found = sanitize((kernel, "meets"), gpuarray.zeros(2, np.int32), grid=1, block=32)
    (fault,) = found.of("fault")
    assert (fault.file, fault.line, fault.root_line) == ("meets.cuh", 4, 5)
    assert fault.root_source == "meet();"


def test_a_loop_of_one_warp_is_advised_a_barrier_of_the_warp():
    source = """extern "C" __global__ void turn(float *x)
    {
        __shared__ float s[32];
        for (int k = 0; k < 4; k++) {
            s[threadIdx.x] = x[threadIdx.x];
            __syncwarp();
            x[threadIdx.x] += s[31 - threadIdx.x];
        }
    }"""
    (finding,) = sanitize((source, "turn"), arrays()[0], grid=1, block=32)
    assert (finding.kind, finding.lines) == ("missing __syncwarp", (5, 7))
    assert finding.advice.code.startswith("end_of_loop __syncwarp()")


@pytest.mark.parametrize(
    "body, advice",
    [
        ("atomicAdd_block(x, 1.f);", Advice.SCOPE),
        (
            "int *lock = (int *)x + 1; if (t) return; while (atomicCAS(lock, 0, 1)) {}\n"
            "x[0] += 1; atomicExch(lock, 0);",
            Advice.FENCE,
        ),
        (
            "if (blockIdx.x) return; float v = __ldg(x + 63 - t); __syncthreads(); x[t] = v;",
            Advice.PLAIN_LOAD,
        ),
    ],
)
def test_the_advice_fits_between_blocks(body, advice):
    report = sanitize(kernel(body), fresh(64).fill(0), np.int32(0), grid=2, block=64)
    assert any(finding.advice.has(advice) for finding in report), report


def test_two_zeros_are_not_called_different_values():
    """An atomic in between changes what is compared."""
    body = "if (t % 32) return; x[0] = 0;\natomicAdd(x, 1.f);"
    (finding,) = sanitize(kernel(body), arrays()[0], np.int32(0), grid=1, block=64)
    assert finding.kind == "race" and finding.advice.has(Advice.ATOMIC_AND_PLAIN)


@software  # beside a real GPU the engine knows no memory but what it has copied
def test_freed_memory_is_told_by_its_argument():
    x, y = arrays()
    gone = np.uintp(x.ptr)
    x.gpudata.free()
    (finding,) = sanitize((COPY, "copy"), gone, y, grid=1, block=64)
    if autoinit.is_software:
        assert finding.message.code.endswith("byte_of named_argument 1 x 0")
        assert finding.message.has(Happened.FREED)
    else:  # where nobody knows what a real GPU once had there
        assert finding.place.has(Place.NOWHERE)


def test_the_end_of_a_block_from_malloc_is_told():
    body = "int *own = (int *)malloc(12); for (int k = 0; k <= n; k++) own[k] = k; x[0] = own[2];"
    (finding,) = sanitize(kernel(body), arrays()[0], np.int32(3), grid=1, block=1)
    assert finding.place.code == "one_past byte_of from_malloc 12 12 12"
    used = "int *own = (int *)malloc(12); own[0] = n; free(own); x[0] = own[0];"
    (finding,) = sanitize(kernel(used), arrays()[0], np.int32(3), grid=1, block=1)
    assert finding.message.has(Happened.NOT_IN_HEAP)


def test_the_unwritten_bytes_of_a_struct_are_named():
    source = """struct __align__(16) P { float x, y, z; };
    extern "C" __global__ void turn(P *out)
    {
        __shared__ P s[32];
        s[threadIdx.x].x = s[threadIdx.x].y = 1;
        __syncthreads();
        out[threadIdx.x] = s[31 - threadIdx.x];
    }"""
    (finding,) = sanitize((source, "turn"), fresh(128), grid=1, block=32)
    assert finding.message.has(Happened.UNWRITTEN_PART) and "s[31]" in finding.place
    assert finding.message.code.endswith("stretch 8 15")


GAPS = """#define KERNEL extern "C" __global__
#define GLOBAL_MEM /* empty */
#define ALIGN(bytes) __align__(bytes)
typedef struct P_ { unsigned first; unsigned long second; unsigned third; } ALIGN(8) P;
KERNEL void turn(GLOBAL_MEM P *out, GLOBAL_MEM P *made, int n)
{
    __shared__ P s[32];
    int i = threadIdx.x;
    made[i].first = made[i].second = made[i].third = i;
    __syncthreads();
    P mine = {0, 0, 0};
    if (i < n) mine = made[31 - i];
    s[i] = mine;
    __syncthreads();
    out[i] = s[31 - i];
}"""


@software
def test_gaps_in_structs_may_be_copied_unwritten():
    """Whatever the macros around them, and whether a copy is chosen; byte by byte, too."""
    assert not sanitize((GAPS, "turn"), fresh(192), fresh(192), np.int32(20), grid=1, block=32)
    script = f"""from helpers import autoinit, sources
import numpy, pycuda.driver as cuda
from pycuda.compiler import SourceModule
out, made = cuda.mem_alloc(768), cuda.mem_alloc(768)
turn = SourceModule({GAPS!r}, no_extern_c=True).get_function("turn")
turn(out, made, numpy.int32(20), block=(32, 1, 1))
"""
    done = python("-c", script, SOFTGPU_SANITIZE="1")
    assert not done.returncode, done.stderr


@software
def test_names_of_templates_are_told_as_written():
    source = """template <int N, typename T> __global__ void turn(const T *x, T *y)
    {
        __shared__ T tile[N];
        tile[threadIdx.x] = x[threadIdx.x];
        y[threadIdx.x] = tile[threadIdx.x + 1];
    }
    template __global__ void turn<64>(const float *, float *);
    """
    function = function_of_pycuda(source, "_Z4turnILi64EfEvPKT0_PS0_")
    report = sanitize(function, *arrays(), grid=1, block=64)
    assert report.kernel == "turn<64, float>"
    (finding,) = report.of("out of bounds")
    assert finding.place.code == "one_past shared_of tile 256 256"


def test_code_that_nothing_needs_runs_without_optimisation():
    source = """extern "C" __global__ void dead(const float *x)
    {
        __shared__ float s[64];
        s[threadIdx.x] = x[threadIdx.x];
        float v = s[63 - threadIdx.x];
        if (v == 1) v = 2;
    }"""
    x = arrays()[0]
    assert sanitize((source, "dead"), x, grid=1, block=64).clean
    (race,) = sanitize((source, "dead"), x, grid=1, block=64, debug=True).of("race")
    assert race.lines == (4, 5)
    with refused(TypeError, "debug=True"):
        sanitize(function_of_pycuda(COPY, "copy"), x, x, grid=1, block=64, debug=True)


def test_what_is_not_inlined_from_a_header_is_told_at_the_line_that_calls_it():
    source = """extern "C" __global__ void mixed(int *o)
    {
        if (blockIdx.x == 0) o[0] = 1;
        else if (blockIdx.x == 1) atomicAdd(o, 1);
        else if (blockIdx.x == 2) atomicAdd(o + 1, 1);
        else o[1] = 1;
    }"""
    counts = gpuarray.zeros(2, np.int32)
    for debug in (False, True):
        races = sanitize((source, "mixed"), counts, grid=4, block=1, debug=debug).of("race")
        assert {tuple(sorted(race.lines)) for race in races} == {(3, 4), (5, 6)}


def function_of_pycuda(source, name):
    return SourceModule(source, no_extern_c=True).get_function(name)


@software
def test_threads_keep_their_findings_apart():
    context, barrier = cuda.Context.get_current(), threading.Barrier(4)
    x, y = arrays()

    def run(size):
        context.push()
        try:
            barrier.wait()
            return [sanitize((COPY, "copy"), x, y, grid=1, block=64 + size) for _ in range(5)]
        finally:
            cuda.Context.pop()

    with ThreadPoolExecutor(4) as pool:
        for size, reports in zip(range(4), pool.map(run, range(4))):
            for report in reports:
                assert [f.count for f in report] == [size] * 2 * bool(size)
    assert not y.get().any()


def test_no_barrier_is_advised_between_blocks():
    text = "volatile float *y = x; if (!blockIdx.x) y[0] = t;\nelse x[1] = y[0];"
    report = sanitize(kernel(text), arrays()[0], np.int32(0), grid=2, block=1)
    (finding,) = report.of("race")
    assert finding.advice.code == "volatile flag __threadfence()"


def test_an_address_has_no_type_to_be_told():
    x, four = arrays()[0], kernel("((float4 *)x)[t] = make_float4(1, 1, 1, 1);")
    array, address = (
        sanitize(four, argument, np.int32(0), grid=1, block=17)[0].advice
        for argument in (x, np.uintp(x.ptr))
    )
    assert "wide 1 float32 16" in array.code and not address.has(Advice.WIDE)


def test_both_sides_are_told_where_they_have_one_line_number_in_two_files(tmp_path):
    (tmp_path / "far.cuh").write_text("\n__device__ void far(float *x) { x[0] = 1; }\n")
    body = "if (t == 32) x[1] = x[0]; if (!t) far(x);"
    text, name = kernel(body)
    source = f'#include "{tmp_path}/far.cuh"\n#line 1\n{text}'
    report = sanitize((source, name), arrays()[0], np.int32(0), grid=1, block=64)
    (finding,) = report
    assert finding.lines == (2, 2)
    assert f"       2 | {body}" in str(report)
    assert "    far.cuh:2 | __device__ void far(float *x) { x[0] = 1; }" in str(report)
    html = report._repr_html_()
    assert "far.cuh:2 <code>__device__" in html and "<br>2 <code>if (t == 32)" in html


def test_a_race_in_one_file_hides_nothing_in_another(tmp_path):
    """Double writes are left out where a race says the same, and only there."""
    (tmp_path / "far.cuh").write_text("\n__device__ void far(float *x, int t) { x[9] = t; }\n")
    text, name = kernel("if (t && t < n) x[t % 8] = x[t % 8 - 1]; far(x, t);")
    source = f'#include "{tmp_path}/far.cuh"\n#line 1\n{text}'
    report = sanitize((source, name), arrays()[0], np.int32(64), grid=1, block=64)
    assert report.of("race") and "far.cuh" in {f.file for f in report.of("double write")}, report


@pytest.mark.parametrize("wrong", [np.int32(3), np.int64(5), 4, "x", [np.ones(4)]])
def test_only_arrays_on_the_gpu_can_be_declared_unwritten(wrong):
    with refused(TypeError, "uninitialised="):
        sanitize((COPY, "copy"), *arrays(), grid=1, block=64, uninitialised=wrong)


def test_bad_launches_are_refused():
    with refused(cuda.LogicError, 1025, 1024):
        sanitize((COPY, "copy"), *arrays(), grid=1, block=1025)


def test_many_findings_are_cut_short():
    lines = "".join(f"    y[{k} + threadIdx.x] = x[{k}];\n" for k in range(64, 464))
    source = f'extern "C" __global__ void far(float *x, float *y)\n{{\n{lines}}}'
    report = sanitize((source, "far"), *arrays(), grid=1, block=64)
    assert len(report) == 256 and report.dropped and report.more[0].has(Report.MORE)


@software
def test_a_launch_too_long_to_follow_is_told_and_forgotten():
    x, idle = arrays()[0].view(np.int32), ("__global__ void idle(int *x) {}", "idle")
    report = sanitize(idle, x, grid=(1 << 24) + 1, block=1)
    assert report.clean and report.more == [Report.LOST()]
    assert Report.LOST() in str(report) and Report.LOST() in report._repr_html_()
    both = "__global__ void both(int *x) { x[0] = blockIdx.x; }", "both"
    report = sanitize(both, x, grid=2, block=1)
    assert [f.kind for f in report] == ["double write"] and Report.LOST() not in str(report)


@software
def test_beside_another_driver(beside_another_driver):
    x, y = gpuarray.zeros(64, np.float32), gpuarray.empty(63, np.float32)
    y.fill(7)
    (finding,) = sanitize((COPY, "copy"), x, y, grid=1, block=64)
    assert finding.place.code == "one_past byte_of named_argument 2 y 252 252"
    (finding,) = sanitize((COPY, "copy"), x, y, grid=1, block=60, uninitialised=[x[:10]])
    assert (finding.kind, finding.count) == ("uninitialised read", 10)
    assert (y.get() == 7).all()
    # an array without elements lies at the end of its allocation, a number below 0 nowhere
    kernel = "__global__ void last(float *x, long long n) { if (n < 0) x[0] = 1; }", "last"
    nothing = gpuarray.zeros(1, np.float32)[1:]
    (finding,) = sanitize(kernel, nothing, np.int64(-5), grid=1, block=1, uninitialised=[nothing])
    assert finding.place.code == "one_past byte_of named_argument 1 x 4 4"


@software
def test_the_environment_switch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import softgpu.tests.autoinit, pycuda.driver as cuda\n"
        "from softgpu.tests.xray.test_sanitizer import COPY, function_of_pycuda\n"
        "x, y = cuda.mem_alloc(4000), cuda.mem_alloc(4000)\n"
        "copy = function_of_pycuda(COPY, 'copy')\n"
        "try:\n    copy(x, y, block=(1024, 1, 1))\n"
        "except cuda.LaunchError as error:\n    print(error)\n"
    )
    run = python(script, SOFTGPU_SANITIZE="1")
    assert not missing(run.stderr, "copy", 3, "uninitialised read"), run.stderr
    assert "out of bounds" in run.stderr, run.stderr
    assert not missing(run.stdout, "unspecified launch failure", 3, "copy")


@software
def test_waiting_for_products_and_copies_that_nobody_has_begun_is_clean():
    words = (
        "wgmma.wait_group.sync.aligned 0;", "wgmma.commit_group.sync.aligned;",
        "wgmma.wait_group.sync.aligned 1;", "cp.async.commit_group;", "cp.async.wait_group 0;",
        "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group 0;",
    )  # fmt: skip
    asm = "".join(f'asm volatile("{word}" ::: "memory");' for word in words)
    text = f"__global__ void waits(int *x) {{ {asm} x[threadIdx.x] = 1; }}"
    assert sanitize((text, "waits"), gpuarray.zeros(128, np.int32), grid=1, block=128).clean


@software
def test_a_bulk_copy_from_far_outside_of_shared_memory_is_a_finding():
    text = """__global__ void far(int *x)
    {
        __shared__ alignas(128) int s[64];
        if (threadIdx.x) return;
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                     :: "l"(x), "r"((unsigned)__cvta_generic_to_shared(s) + 0x70000000));
    }"""
    (finding,) = sanitize((text, "far"), gpuarray.zeros(64, np.int32), grid=1, block=128)
    assert finding.kind == "out of bounds" and not missing(finding.message, "s", 1879048192)


WAYS_TO_WAIT = (
    "while (*(volatile unsigned *)other == 0) {}",
    "while (atomicAdd(other, 0u) == 0) {}",
    "while (atomicOr(other, 0u) == 0) {}",
    "while (atomicCAS(other, 1u, 1u) == 0) {}",
    "while (cuda::atomic_ref<unsigned>(*other).load(cuda::memory_order_acquire) == 0) {}",
    "while (cuda::atomic_ref<unsigned>(*other).fetch_add(0) == 0) {}",
)
WAYS_TO_POST = (
    "*(volatile unsigned *)own = 1;",
    "atomicExch(own, 1u);",
    "atomicExch_system(own, 1u);",
)


MEETINGS = [(wait, WAYS_TO_POST[0]) for wait in WAYS_TO_WAIT]
MEETINGS += [(WAYS_TO_WAIT[1], post) for post in WAYS_TO_POST[1:]]
MEET = "#include <cuda/atomic>\n" + "".join(
    f"""extern "C" __global__ void meet_{n}(unsigned *flags, int *out)
    {{
        unsigned *own = flags + blockIdx.x, *other = flags + 1 - blockIdx.x;
        if (threadIdx.x == 0) out[blockIdx.x] = 1;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) {{ {post} }}
        {wait}
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0) out[2 + blockIdx.x] = out[1 - blockIdx.x];
    }}
"""
    for n, (wait, post) in enumerate(MEETINGS)
)


@pytest.mark.parametrize("way", range(len(MEETINGS)), ids=map("".join, MEETINGS))
@pytest.mark.parametrize("debug", [False, True])
def test_two_blocks_may_wait_for_each_other_in_any_way(debug, way):
    """One thread of each block or all; in code without optimisation the atomic is in a function."""
    flags, out = gpuarray.zeros(2, np.uint32), gpuarray.zeros(4, np.int32)
    found = sanitize((MEET, f"meet_{way}"), flags, out, grid=2, block=64, debug=debug)
    assert found.clean, found


@pytest.mark.parametrize(
    "waits",
    [
        "do packet = packets[i]; while (packet >> 32 == 0);",
        "do packet = packets[i]; while (__any_sync(~0u, packet >> 32 == 0));",
        "for (packet = packets[i]; packet >> 32 == 0; packet = packets[i]) {}",
    ],
)
@pytest.mark.parametrize(
    "then, debug, kinds",
    [
        ("reinterpret_cast<float &>(packet)", False, set()),
        ("reinterpret_cast<float &>(packet)", True, set()),
        ("reinterpret_cast<float &>(inbox[i])", True, {"race"}),  # it may be answered before
    ],
)
def test_a_packet_brings_its_flag(waits, then, debug, kinds):
    """In code without optimisation one whose address is taken lies in memory while a loop waits,
    and a vote is a function that the loop calls."""
    source = f"""extern "C" __global__ void packets(unsigned long long *inbox, float *out)
    {{
        volatile unsigned long long *packets = inbox;
        unsigned long long packet;
        int own = blockIdx.x * 32 + threadIdx.x, i = own ^ 32;
        packets[own] = 1ull << 32 | __float_as_uint(own);
        {waits}
        out[own] = {then};
    }}"""
    inbox, out = gpuarray.zeros(64, np.uint64), gpuarray.zeros(64, np.float32)
    found = sanitize((source, "packets"), inbox, out, grid=2, block=32, debug=debug)
    assert {finding.kind for finding in found} == kinds, found


def test_a_line_of_a_header_is_told_with_the_line_that_calls_it(tmp_path):
    header = tmp_path / "helper.cuh"
    header.write_text(
        "__device__ inline float at(const float *x, int i)\n{ return x[i]; }\n"
        "__device__ inline float twice(const float *x, int i)\n{ return 2 * at(x, i); }\n"
    )
    source = f"""#include "{header}"
    __global__ void wrong(const float *x, float *y)
    {{
        y[threadIdx.x] = twice(x, threadIdx.x + 1);
    }}"""
    (finding,) = sanitize((source, "wrong"), *arrays(), grid=1, block=64)
    assert (finding.file, finding.line) == ("helper.cuh", 2)
    assert (finding.root_line, finding.root_source) == (
        4,
        "y[threadIdx.x] = twice(x, threadIdx.x + 1);",
    )
    assert re.search(r"helper\.cuh:2, .*\.cu:4: .*\(63,0,0\)", str(finding))
