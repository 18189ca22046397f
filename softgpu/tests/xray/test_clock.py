"""The clock: what it says of launches whose time, and Nsight Compute's counts, an H200 gave."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import autoinit, xray
from softgpu.sass import find_nvdisasm
from softgpu.tests.facts import missing, refused
from softgpu.words import Predicted, Unpredicted
from softgpu.xray.chip import chip
from softgpu.xray.clock import errors, in_words, short_us
from softgpu.xray.occupancy import occupancy

from .clock import hopper, validate
from .clock.cases import CASES
from .clock.record import GOLDEN, everyone

from pycuda import gpuarray  # isort: skip

pytestmark = pytest.mark.skipif(
    not autoinit.is_software or not find_nvdisasm(), reason="needs the software GPU and nvdisasm"
)
needs_hopper = pytest.mark.skipif(
    autoinit.device.compute_capability() != (9, 0), reason="kernels of compute capability 9.0"
)
SIZES = " 2^10", " 2^18", " 2^20"
FIRST_SETS = "course", "people", "blind"
QUICKER = {"product_16 2^20": "product_16 2^18"}  # an eighth of the work
NAMED = {case.name: case for case in CASES}
SOME = [NAMED[QUICKER.get(name, name)] for name in [n for n in NAMED if n.endswith(SIZES)][::4]]


def copied(n, step=1, block=256, **options):
    """A profile of a kernel that copies n floats, each `step` after the last."""
    text = """__global__ void copied(const float *x, float *y, int step)
    { int i = (blockIdx.x * blockDim.x + threadIdx.x) * step; y[i] = x[i]; }"""
    x, y = (gpuarray.zeros(n * step, np.float32) for _ in range(2))
    grid = n // block
    return xray.profile((text, "copied"), x, y, np.int32(step), grid=grid, block=block, **options)


def turning(turns):
    """A profile of 264 blocks on the 132 multiprocessors: the first `turns` of them do a hundred
    times what the others do."""
    text = """__global__ void turning(float *x, int many)
    {
        float v = x[threadIdx.x];
        for (int i = 0; i < (blockIdx.x < many ? 10000 : 100); i++) v = v * v + 1;
        x[threadIdx.x] = v;
    }"""
    x = gpuarray.zeros(32, np.float32)
    return xray.profile((text, "turning"), x, np.int32(turns), grid=264, block=32)


def test_a_stream_reads_each_sector_once_from_memory():
    report = copied(1 << 16)
    assert report.nsight()["dram__bytes_read.sum"] == 4 << 16
    assert report.caches.l1_misses == report.caches.stored == 4 * (1 << 16) // 32
    pages = (4 << 16) // 1024
    assert report.caches.read_pages in (pages, pages + 1)  # an array may begin inside of one
    length = sum(len(block.instructions) for block in report.machine.blocks if not block.cold)
    assert report.machine.executed == report.warp_count * length  # each of them once


def test_memory_is_read_64_bytes_at_a_time():
    report = copied(1 << 12, step=16)
    assert report.nsight()["dram__bytes_read.sum"] == 64 << 12
    assert copied(1 << 12, step=32).nsight()["dram__bytes_read.sum"] == 64 << 12


def test_a_line_is_stored_at_once_in_whatever_order_its_words_are():
    text = """__global__ void shuffled(float *x)
    { x[blockIdx.x * blockDim.x + (threadIdx.x * 5 & 31)] = threadIdx.x; }"""
    report = xray.profile((text, "shuffled"), gpuarray.zeros(1024, np.float32), grid=32, block=32)
    assert report.caches.stored_lines == 32 and report.caches.stored == 4 * 32


def test_long_launches_keep_a_sample_of_pages():
    report = copied(1 << 24)
    assert report.caches.sample > 1
    expected = 4 << 24  # each page is kept or not: their number is off by its root
    assert report.nsight()["dram__bytes_read.sum"] == pytest.approx(
        expected, rel=4 * (report.caches.sample * 1024 / expected) ** 0.5
    )


def test_the_busiest_multiprocessor_decides():
    alike, one, half = turning(0), turning(1), turning(132)
    assert alike.waves == (1, 1)
    assert one.waves[0] == pytest.approx(132 * 100 / (263 + 100), rel=0.05)
    assert half.waves[0] == pytest.approx(1, abs=0.01)  # one of them on each
    assert half.waves[1] == pytest.approx(2, abs=0.05)  # but they take twice the average's time
    assert one.predicted_us == pytest.approx(half.predicted_us, rel=0.3)


def test_a_worker_that_is_woken_twice_keeps_count_of_its_blocks():
    assert {turning(0).waves for _ in range(200)} == {(1, 1)}


def test_loops_that_are_unrolled_run_as_often_as_they_turn():
    report = turning(264)
    products = sum(n for opcode, n in report.machine.opcodes.items() if opcode == "FFMA")
    assert products == pytest.approx(264 * 10000, rel=0.001)


def test_a_report_says_what_limits_the_launch():
    report = copied(1 << 20)
    assert report.predicted_us > max(report.limits.values())
    text = repr(report)
    assert not missing(text, f"{report.predicted_us:.1f} µs", "H200")
    longer = copied(1 << 20, step=8)
    assert longer.predicted_us > report.predicted_us
    assert "predicted µs" in repr(xray.compare(report, longer))
    picture = xray.draw_limits(report, longer)
    assert not missing(picture._repr_html_(), "copied")


def test_no_prediction_where_blocks_wait_for_each_other():
    text = """__global__ void last(unsigned *arrived, float *out)
    {
        __threadfence();
        if (atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1) *out = 1;
    }"""
    arrived, out = gpuarray.zeros(1, np.uint32), gpuarray.zeros(1, np.float32)
    report = xray.profile((text, "last"), arrived, out, grid=8, block=32)
    assert np.isnan(report.predicted_us) and not report.limits
    assert report.prediction.why in repr(report)
    with refused(LookupError, report.kernel, report.prediction.why):
        xray.draw_limits(report)


def test_what_ptxas_refuses_is_told_in_its_words():
    from pycuda.compiler import compile
    from pycuda.driver import module_from_buffer

    ptx = compile("__global__ void odd(int *x) { *x = 1; }", arch="sm_90")
    asked = ptx.replace(b"ret;", b"wgmma.fence.sync.aligned; ret;")  # which sm_90a alone has
    odd = module_from_buffer(asked).get_function("odd")
    report = xray.profile(odd, gpuarray.zeros(1, np.int32), grid=1, block=128)
    assert report.prediction.why in repr(report)
    assert not missing(report.prediction.why, "ptxas", "wgmma.fence")


def test_without_ptxas_a_report_says_so(monkeypatch):
    monkeypatch.setattr("softgpu.loaded.LoadedModule._ptxas", None)
    text = "__global__ void only_here(float *x) { x[threadIdx.x] = 1; }"  # known to no other test
    report = xray.profile((text, "only_here"), gpuarray.zeros(32, np.float32), grid=1, block=32)
    assert not missing(report.prediction.why, "ptxas", "nvdisasm")
    assert report.registers is None


@pytest.mark.parametrize(
    "body, why",
    [
        ("", None),
        ("x[0] = *(volatile float *)(x + 1);", Unpredicted.LOADS),
        ("__nanosleep(100);", Unpredicted.SLEEPS),
    ],
)
def test_what_cannot_be_known_is_said_and_an_empty_kernel_takes_a_launch(body, why):
    text = f"__global__ void odd(float *x) {{ {body} }}"
    report = xray.profile((text, "odd"), gpuarray.zeros(2, np.float32), grid=2, block=32)
    assert report.prediction.why == (why() if why else "")
    assert why or 2.5 < report.predicted_us < 4


def test_the_documents_figures_are_those_of_the_recordings():
    golden, predicted = validate.read(GOLDEN), validate.read(validate.PREDICTED)
    page = validate.PAGE.read_text()
    assert validate.tables() in page
    assert validate.table_of("h100") in page and validate.table_of_kinds() in page
    assert errors() == validate.intervals(), "python -m softgpu.tests.xray.clock.validate"
    waiting = {case.name for case in everyone()} - golden.keys()  # for a GPU, predicted
    assert waiting <= validate.read(validate.first_said("h200")).keys()
    assert {case.name for case in everyone()} - waiting == golden.keys() == predicted.keys()
    for name, most in ("h200", 0.13), ("h100", 0.22):
        assert max(found.summary[0] for found, _ in validate.found_of(name)) <= most
        took, said = validate.read(validate.times(name)), validate.predictions(name)
        for wanted in FIRST_SETS:
            median, mean, near, pairs = validate.Errors(took, validate.read(said), wanted).summary
            assert median <= 0.08 and mean <= 0.12 and near >= 0.95 and pairs >= 0.97
    first = {name: row for name, row in golden.items() if row["set"] in FIRST_SETS}
    for metric in validate.METRICS:
        off = validate.off(first, predicted, metric)
        assert np.median(off) <= 0.05, metric
        assert np.mean(off <= 0.2) >= 0.9, metric


@pytest.mark.parametrize("kind, share", validate.coverage().items())
def test_nine_times_in_ten_the_interval_holds_what_was_measured(kind, share):
    assert 0.85 <= share <= 0.95
    least, most = errors()[kind]["measured / predicted"]
    assert least <= 1 <= most < 2


def test_a_predicted_time_says_how_far_off_it_may_be():
    prediction = copied(1 << 20).prediction
    least, most = prediction.interval_us
    assert prediction.kind in errors() and least <= prediction.us <= most
    assert prediction.time == f"{in_words(prediction.us)} ({short_us(least)}–{short_us(most)})"
    assert prediction.time in str(prediction)


def test_a_kind_that_nobody_has_checked_has_no_interval():
    source = """
    __global__ void by_table(const int *x, float *y)
    {
        float own[32];
        for (int k = 0; k < 32; k++) own[k] = k * threadIdx.x;
        y[threadIdx.x] = own[x[threadIdx.x] % 32];
    }
    """
    x, y = gpuarray.zeros(64, np.int32), gpuarray.zeros(64, np.float32)
    prediction = xray.profile((source, "by_table"), x, y, grid=1, block=64).prediction
    assert prediction.interval_us is None and "(" not in prediction.time
    assert prediction.text.has(Predicted.UNCHECKED)


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.name)
def test_the_clock_says_what_it_said_when_it_was_validated(case):
    report, recorded = case.profiled(), validate.read(validate.PREDICTED)[case.name]
    said = validate.said(report)
    assert float(said["predicted_us"]) == pytest.approx(
        float(recorded["predicted_us"]), rel=0.05, nan_ok=True
    )
    instructions = "smsp__inst_executed.sum"
    assert said[instructions] == pytest.approx(float(recorded[instructions]), rel=0.001)
    from_memory = float(recorded["dram__bytes_read.sum"])
    sampled = 4 * (report.caches.sample * 1024 / max(from_memory, 1)) ** 0.5
    assert said["dram__bytes_read.sum"] == pytest.approx(from_memory, rel=max(sampled, 0.01))


def test_another_chip_predicts_in_its_own_name():
    ours, other = copied(1 << 20), copied(1 << 20, chip="h100")
    assert ours.total == other.total
    assert not missing(repr(ours), "H200")
    for told in repr(other), repr(other.nsight()), repr(xray.compare(ours, other)):
        assert not missing(told, "H100")
    assert "H200" not in repr(other) + repr(other.nsight())
    assert other.predicted_us > ours.predicted_us  # memory is slower there
    with refused(ValueError, "chip='h300'", "h100", "h200"):
        copied(1 << 10, chip="h300")


@pytest.mark.parametrize("other", ["h100", "h200"])
def test_what_a_chip_is_called_in_sentences(other):
    assert chip(other).words == f"an {other.upper()}"


def test_names_of_chips_have_their_article():
    names = {"NVIDIA A100-SXM4-80GB": "an A100-SXM4", "NVIDIA H100 80GB HBM3": "an H100",
             "NVIDIA GeForce RTX 4090": "a GeForce RTX 4090", "Tesla T4": "a Tesla T4",
             "NVIDIA L40S": "an L40S", "NVIDIA B200": "a B200"}  # fmt: skip
    assert {name: replace(chip(), name=name).words for name in names} == names


def test_a_chip_of_fewer_multiprocessors_holds_fewer_blocks():
    small = replace(chip(), multiprocessors=66, warps=48)
    assert occupancy(256, 32, 0, small).warps == 48 and occupancy(256, 32, 0, small).share == 1
    report = copied(1 << 20)
    halved = replace(report, chip=small)
    assert halved.prediction.limits["instructions"] == 2 * report.limits["instructions"]


PRODUCTS = """extern "C" __global__ void products(unsigned *x, float *y, int turns)
{
    unsigned a = x[threadIdx.x % 32];
    float d[4][4] = {};
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < 4; i++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
                         " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                         : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3]) : "r"(a));
    y[threadIdx.x] = d[0][0] + d[1][1] + d[2][2] + d[3][3];
}"""


@pytest.mark.long
def test_products_are_limited_by_the_tensor_cores_of_a_chip_that_was_measured():
    x, y = gpuarray.zeros(32, np.uint32), gpuarray.zeros(256, np.float32)
    shape = {"grid": 2 * 132, "block": 256}  # with one block each, its warps' chains take as long
    report = xray.profile((PRODUCTS, "products"), x, y, np.int32(400), **shape)
    of = report.prediction.of  # as fast as it is under this load
    _, again, fresh = of.product("HMMA.16816.F32")  # with the same second factor, with another
    turns_us = 2 * 8 * 4 * 400 / of.cycles_per_us
    assert turns_us * again <= report.limits["pipe tensor"] <= turns_us * fresh
    other = xray.profile((PRODUCTS, "products"), x, y, np.int32(1), chip="h100", **shape)
    assert not missing(other.prediction.why, "HMMA.16816.F32", "H100")


def small(name):
    """A profile of one of clock/hopper.cu's kernels, on little data."""
    cases = {
        "boxes_doubled": hopper.doubled("", 6, 2),
        "by_two": hopper.small_product("", "by_two_64_6", 64, 6, 160, 64, 64, 128),
    }
    return cases[name].profiled()


@pytest.mark.slow
@needs_hopper
def test_bulk_copies_go_through_the_l2_alone():
    report = small("boxes_doubled")
    caches, bytes_ = report.caches, 6 * 64 * 64 * 2
    assert 32 * caches.bulk == 32 * caches.dram_reads == bytes_ == 128 * caches.bulk_lines
    assert 32 * caches.stored == bytes_ and not caches.l1_loads
    assert report.nsight()["lts__t_sectors_op_write.sum"] >= bytes_ // 32
    assert report.prediction.why in ("", Unpredicted.COPIES(chip=report.chip.words))


@needs_hopper
def test_who_copies_and_who_multiplies_is_known():
    machine = small("by_two").machine
    ran = {
        m.base: warps
        for block, runs, warps in zip(machine.blocks, machine.runs, machine.warps)
        for m in block.instructions
        if runs
    }
    assert ran["HGMMA"] == {0, 1, 2, 3} and ran["UTMALDG"] == {4}
    products = [m for block in machine.blocks for m in block.instructions if m.base == "HGMMA"]
    assert sum(m.closes for m in products) * 4 == len(products)
    waits = sum(n for opcode, n in machine.opcodes.items() if "TRYWAIT" in opcode)
    assert waits == 2 * 1 + 2 * 4  # of the warp that copies, and of those that multiply: no retries


WMMA = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half *a, const half *b, float *c, int k)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> q;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int step = 0; step < k; step += 16) {
        wmma::load_matrix_sync(p, a + step, k);
        wmma::load_matrix_sync(q, b + step * 16, 16);
        wmma::mma_sync(sum, p, q, sum);
    }
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}"""


def test_a_fragment_takes_several_loads_that_are_no_turns_of_a_loop():
    a, b = (gpuarray.zeros(16 * 320, np.float16) for _ in range(2))
    c = gpuarray.zeros(256, np.float32)
    report = xray.profile((WMMA, "product"), a, b, c, np.int32(320), grid=1, block=32)
    products = sum(n for o, n in report.machine.opcodes.items() if o.startswith("HMMA"))
    loads = sum(n for o, n in report.machine.opcodes.items() if o.startswith("LDG"))
    assert products == pytest.approx(20 * 2, rel=0.1) and loads == pytest.approx(20 * 8, rel=0.1)


SUMMED = """__global__ void __launch_bounds__(32) summed(const float *x, float *y, int turns)
{
    __shared__ float tile[64];
    float own[32], sum = 0;
    for (int k = 0; k < 32; k++) own[k] = k + turns;
    tile[threadIdx.x] = own[turns & 31];
    __syncwarp();
    int at = threadIdx.x;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        sum += x[turn * 32 + threadIdx.x];
        %s
        sum += tile[at & 31];
    }
    y[threadIdx.x] = sum + at;
}"""


@pytest.mark.parametrize(
    "load",
    [
        'asm volatile("ld.b32 %0, [%1];" : "=r"(at) : "l"(tile + (at & 31)) : "memory");',
        "at = own[at & 31];",
    ],
    ids=["generic", "local"],
)
def test_loads_of_shared_and_local_memory_do_not_wait_for_global_memory(load):
    def waiting(load):
        x, y = gpuarray.zeros(32 * 200, np.float32), gpuarray.zeros(32, np.float32)
        kernel = SUMMED % (4 * load), "summed"
        limits = xray.profile(kernel, x, y, np.int32(200), grid=1, block=32).limits
        return limits["latency of memory"]

    assert waiting(load) < 1.05 * waiting("")


def test_registers_that_are_spilled_pass_the_l1_and_are_of_no_checked_kind():
    source = """__global__ void __launch_bounds__(1024, 2) spilled(const float *x, float *y, int n)
    {
        float v[48], sum = 0;
        for (int k = 0; k < 48; k++) v[k] = x[threadIdx.x + k * n];
        __syncthreads();
        for (int k = 0; k < 48; k++) sum += v[k] * v[47 - k];
        y[threadIdx.x] = sum;
    }"""
    x, y = gpuarray.zeros(48 * 1024, np.float32), gpuarray.zeros(1024, np.float32)
    report = xray.profile((source, "spilled"), x, y, np.int32(1024), grid=1, block=1024)
    opcodes = report.machine.opcodes
    spills = sum(n for o, n in opcodes.items() if o.startswith(("LDL", "STL")))
    assert spills and not report.total["ldl.requests"] and not report.prediction.kind
    others = replace(report, find_machine=lambda: replace(report.machine, runs=[
        n * all(m.base not in ("LDL", "STL") for m in block.instructions)
        for block, n in zip(report.machine.blocks, report.machine.runs)
    ]))  # fmt: skip
    assert report.limits["L1"] > others.limits["L1"]


def reading(body, blocks, block=32, **options):
    """The Report of blocks of threads that run this with `x`, a MB of zeros, and `i`, a number of
    their own."""
    text = f"""__global__ void reading(float *x)
    {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"""
    x = gpuarray.zeros(1 << 18, np.float32)
    return xray.profile((text, "reading"), x, grid=blocks, block=block, **options)


def test_multiprocessors_of_a_gpc_share_an_answer_of_the_l2():
    multiply = """float d[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3},"
                 " {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(i));"""

    def asked(blocks, more=multiply):
        return reading(f"if (x[threadIdx.x] == 1) x[i] = 2; {more}", blocks).caches.l2_reads

    sectors = 4
    # each GPC asks once for four of its blocks, and one half of the L2 asks the other
    assert asked(8) == asked(32) == 9 * sectors and asked(64) == 17 * sectors
    assert asked(64, more="") == 65 * sectors  # of blocks that do not stay in step, each asks


def test_a_warp_that_wants_what_another_has_just_asked_for_waits_as_long():
    def waits(row):
        body = f"""float sum = 0; int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        for (int k = 0; k < 64; k++) sum += x[{row} * 32 + lane + int(sum)]; x[i] = sum;"""
        return reading(body, 1, block=256).limits["latency of memory"]

    assert waits("k") == pytest.approx(waits("(64 * warp + k)"), rel=0.05)  # lines of all, of each
    assert waits("0") < 0.1 * waits("k")


def test_a_block_of_the_first_wave_waits_for_what_another_has_just_asked_memory_for():
    body = """float sum = 0;
    for (int k = 0; k < 8; k++) sum += x[k * 1024 + threadIdx.x];
    if (sum == 1) x[0] = 2;"""
    lines, first, all_ = 8 * 8, 132 * 8, 132 * 16  # of a block; blocks
    caches = reading(body, all_, block=256).caches
    assert sum(counts[0] for counts in caches.by_line.values()) == all_ * lines
    assert caches.l2_missed_lines == lines
    assert caches.l2_late_lines == (132 - 1) * lines  # the L1 has it for a multiprocessor's others
    alone = reading(body, 1, block=256).limits["latency of memory"]
    assert reading(body, first, block=256).limits["latency of memory"] > 0.5 * alone


def test_each_load_waits_for_its_own_lines():
    report = reading("x[i] = x[i & 31] + x[4096 + i];", 132, block=256)
    near, far = sorted(missed / lines for lines, missed, *_ in report.caches.by_line.values())
    assert near == 1 / 8 and far == 1


def test_an_atomic_whose_old_value_is_asked_for_takes_longer():
    place = "&((int *)x)[i * 2654435761u >> 14]"
    alone = reading(f"atomicAdd({place}, 1);", 4096, block=256).limits
    asks = reading(f"if (atomicAdd({place}, 1) < 0) x[i] = 1;", 4096, block=256).limits
    ratio = chip().fetch_ns[32768] / chip().atomic_ns[32768]
    assert asks["L2 atomics"] == pytest.approx(ratio * alone["L2 atomics"], rel=0.1)


def test_a_sector_that_is_stored_again_and_again_goes_to_memory_once():
    once = reading("x[i] = i;", 1024, block=256).limits
    again = reading("for (int k = 0; k < 8; k++) ((volatile float *)x)[i] = k;", 1024, 256).limits
    assert again["memory"] == once["memory"] and again["L2 writes"] == 8 * once["L2 writes"]


def test_stores_to_local_memory_go_on_to_the_l2():
    body = "float own[32]; for (int k = 0; k < 32; k++) own[k] = k; %s x[i] = own[int(x[i]) & 31];"
    few, more = (
        reading(body % change, 1024, 256).limits["L2 writes"]
        for change in ("", "for (int k = 0; k < 32; k++) own[int(x[k]) & 31] += k;")
    )
    stored = 32 * 1024 * 8  # lines, by the loop's turns in each warp
    each_ns = chip().l2_write_ns[0] + 4 * chip().l2_write_ns[1]
    assert more - few == pytest.approx(stored * each_ns / 1e3, rel=0.05)


def test_a_long_launch_on_one_line_does_not_count_for_all_of_memory():
    body = "float sum = 0; for (int k = 0; k < 64; k++) sum += x[k & 31]; if (sum == 1) x[i] = 2;"
    report = reading(body.replace("x[k", "((volatile float *)x)[k"), 1024, 256)
    assert report.caches.l1_loads <= report.total["ld.sectors"] == 64 * 1024 * 8


def test_blocks_of_a_wave_stand_in_line_together_until_they_have_drifted_apart():
    at_once = """float sum = 0;
    #pragma unroll
    for (int k = 0; k < 16; k++) sum += x[(threadIdx.x * 2 + 64 * k) & 4095];
    if (sum == 1) x[i] = 2;"""
    in_a_loop = """float sum = 0;
    for (int k = 0; k < 64; k++) sum += x[(threadIdx.x * 2 + k + int(sum)) & 4095];
    if (sum == 1) x[i] = 2;"""

    def together(body, waves):
        """The predicted time over what waiting and loading would take one after the other."""
        limits = (report := reading(body, 132 * 2 * waves, 1024)).limits
        waiting = sum(limits.get(w, 0) for w in ("latency of memory", "dependent steps"))
        return (report.predicted_us - report.chip.launch_us) / (waiting + limits["L1"])

    assert together(at_once, 8) < 0.9 < 1 < together(at_once, 1)
    assert together(in_a_loop, 1) < 0.9
