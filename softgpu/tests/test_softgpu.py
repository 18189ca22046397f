"""The software GPU under PyCUDA: faults are errors that say where, and all goes on after them."""

import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from softgpu.faults import FaultKind
from softgpu.jit.emit.module_text import ModuleText
from softgpu.loader import Engine
from softgpu.tests import autoinit, python
from softgpu.tests.facts import missing, refused, stopped

if not autoinit.is_software:
    pytest.skip("faults like these end the context of a real GPU", allow_module_level=True)

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import DynamicSourceModule, SourceModule

KERNELS = """
#include <assert.h>
extern "C" {
__global__ void past(int *o) { o[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void before(int *o) { o[0] = o[-1 - (int)threadIdx.x]; }
__global__ void odd(char *o) { *(int *)(o + 4 * threadIdx.x + 1) = 3; }
extern __shared__ int s[];
__global__ void shared_past(int *o) { s[threadIdx.x * 9] = 1; o[0] = s[0]; }
__global__ void endless(volatile int *o) { while (o[0] == 0) {} }
__global__ void skipped(int *o) { if (threadIdx.x < 16) __syncthreads(); o[threadIdx.x] = 1; }
__global__ void policies(int *o, const int *x)
{
    unsigned long long keep, some, near;
    int i = threadIdx.x, a, b;
    asm("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(keep));
    asm("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %0, %1;"
        : "=l"(some) : "f"(0.5f));
    asm("createpolicy.range.global.L2::evict_normal.b64 %0, [%1], 64, %2;"
        : "=l"(near) : "l"(x), "r"(128));
    asm volatile("ld.global.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(a) : "l"(x + i), "l"(keep));
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;"
                 : "=r"(b) : "l"(x + i), "l"(some));
    asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;"
                 :: "l"(o + i), "r"(a + b), "l"(near) : "memory");
}
__global__ void named(int *o) { asm volatile("bar.sync 1, 96;"); o[0] = 1; }
__global__ void false_claim(int *o) { assert(threadIdx.x < 5); }
__global__ void trapped(int *o) { if (threadIdx.x == 3) __trap(); }
__device__ __noinline__ int deep(int n) { return n == 0 ? 0 : 1 + 2 * deep(n - 1); }
__global__ void too_deep(int *o) { o[threadIdx.x] = deep(1000000); }
__global__ void triple(int *o) { o[threadIdx.x] = 3 * threadIdx.x; }
__global__ void counted_under_lock(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    ++*(volatile int *)count;
    __threadfence();
    atomicExch(lock, 0);
}
__global__ void returns_before_barrier(int *o, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    s[i] = i;
    __syncthreads();
    o[i] = s[n - 1 - i];
}
__device__ __noinline__ void leave_at(int i, int *o)
{
    if (i == 11 + threadIdx.x % 2) asm volatile("exit;");
    o[threadIdx.x] = i;
}
typedef void (*Function)(int, int *);
__device__ Function functions[2] = {leave_at, leave_at};
__global__ void exit_in_function(int *o)
{
    for (int i = 0;; i++) leave_at(i, o);
}
__global__ void exit_through_pointer(int *o)
{
    for (int i = 0;; i++) functions[(i + threadIdx.x) % 2](i, o);
}
__global__ void active_among_some(int *o)
{
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; mov.u32 %0, 7; @p activemask.b32 %0; }"
                 : "=r"(o[threadIdx.x]) : "r"(threadIdx.x));
}
__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void slow_recursion(int *o) { o[threadIdx.x] = fibonacci(60); }
__global__ void sg_load(int *o) { o[threadIdx.x] = 5; }
__global__ void looks_by_adding_nothing(int *flag, int *o)
{
    if (threadIdx.x < 32) {
        while (atomicAdd(flag, 0) == 0) {}
        o[threadIdx.x] = 7;
    } else {
        atomicExch(flag, 1);
    }
}
}
"""


def line_of(name):
    """The line on which a kernel of KERNELS stands."""
    lines = KERNELS.split("\n")
    return next(n for n, text in enumerate(lines, 1) if f" {name}(" in text)


@pytest.fixture(scope="module")
def module():
    return SourceModule(KERNELS, no_extern_c=True)


@pytest.fixture
def memory():
    """4096 bytes of zeros on the device."""
    allocation = cuda.mem_alloc(4096)
    cuda.memset_d8(allocation, 0, 4096)
    yield allocation
    allocation.free()


def read(allocation, count):
    out = np.empty(count, np.int32)
    cuda.memcpy_dtoh(out, allocation)
    return out


FAULTS = {
    "past": (dict(grid=(5, 1), block=(256, 1, 1)), "OUTSIDE", ["(4,0,0)", 4]),
    "before": (dict(block=(32, 1, 1)), "OUTSIDE", ["(0,0,0)", 4]),
    "odd": (dict(block=(32, 1, 1)), "MISALIGNED", [4]),
    "shared_past": (dict(block=(32, 1, 1), shared=1024), "BEYOND_SHARED", [1024]),
    "skipped": (dict(block=(32, 1, 1)), "DEADLOCK", ["0-15"]),
    "named": (dict(block=(32, 1, 1)), "DEADLOCK", [32, 96]),
    "false_claim": (dict(block=(32, 1, 1)), "ASSERTION", ["threadIdx.x < 5"]),
    "trapped": (dict(block=(32, 1, 1)), "TRAP", ["(3,0,0)"]),
    "too_deep": (dict(block=(32, 1, 1)), "STACK_OVERFLOW", []),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_names_kernel_line_block_and_thread_and_the_next_launch_works(name, module, memory):
    shape, kind, facts = FAULTS[name]
    line = line_of("deep" if name == "too_deep" else name)
    with stopped(FaultKind[kind], name, f"kernel.cu:{line}", *facts):
        module.get_function(name)(memory, **shape)
    module.get_function("triple")(memory, block=(64, 1, 1))
    assert (read(memory, 64) == 3 * np.arange(64)).all()


def test_errors_call_a_template_what_its_author_does():
    source = """template <int N> __global__ void write_at(int *o) { o[N] = 1; }
    template __global__ void write_at<1 << 30>(int *o);"""
    name = "_Z8write_atILi1073741824EEvPi"
    kernel = SourceModule(source, no_extern_c=True).get_function(name)
    for threads in (1, 2000):  # a fault, and a launch that is refused
        with refused(cuda.LogicError, "write_at<1073741824>") as caught:
            kernel(np.uintp(0), block=(threads, 1, 1))  # 4 GB on from an array may lie another
        assert name not in str(caught.value)


@pytest.fixture
def small_machine(tmp_path):
    """One with 8 GB."""
    (tmp_path / "proc").mkdir()
    kilo = 8 * 10**9 // 1024
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: {kilo} kB\nMemAvailable: {kilo} kB\n")
    Engine.as_driver().runtime.sg_machine_root(str(tmp_path).encode())
    yield
    Engine.as_driver().runtime.sg_machine_root(b"")


def test_an_array_larger_than_the_machine_is_refused(small_machine):
    with refused(cuda.MemoryError, "16.0 GB", "8.0 GB"):
        gpuarray.empty(4 * 10**9, np.float32)
    gpuarray.empty(10**9, np.float32)


def test_variables_larger_than_the_machine_are_refused(small_machine):
    source = "__device__ float many[4000000000]; __global__ void k(int i) { many[i] = i; }"
    with refused(cuda.MemoryError, "16.0 GB"):
        SourceModule(source)
    SourceModule(source.replace("4000000000", "1000000000"))


def test_the_shorter_of_two_time_limits_counts():
    engine = Engine.as_driver()
    for within, counts in ((3.0, 3.0), (9.0, 5.0)):
        with engine.time_limit(5.0), engine.time_limit(within):
            assert engine.runtime.sg_time_limit(counts) == counts


def test_a_time_limit_counts_what_was_computed_and_not_what_others_do(module, memory):
    """On one core, of which others have most."""
    before = os.sched_getaffinity(0)
    core = {min(before)}
    busy = f"import os; os.sched_setaffinity(0, {core})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(4)]
    os.sched_setaffinity(0, core)
    try:
        spent = time.process_time()
        with Engine.as_driver().time_limit(0.5), stopped(FaultKind.TIME_LIMIT, "endless", "0.5 s"):
            module.get_function("endless")(memory, block=(32, 1, 1))
        assert time.process_time() - spent >= 0.5
    finally:
        os.sched_setaffinity(0, before)
        for other in others:
            other.kill()


def test_a_recursion_without_loops_is_stopped_too(module, memory):
    engine = Engine.as_driver().runtime
    engine.sg_options(0, 0, 0.5)
    try:
        with stopped(FaultKind.TIME_LIMIT, "slow_recursion", "0.5 s"):
            module.get_function("slow_recursion")(memory, block=(32, 1, 1))
    finally:
        Engine.as_driver().set_threads(int(os.environ.get("SOFTGPU_THREADS", "0")))


def test_lanes_of_one_warp_may_wait_for_each_other_at_a_lock(module, memory):
    count = cuda.mem_alloc(4)
    cuda.memset_d32(count, 0, 1)
    module.get_function("counted_under_lock")(memory, count, block=(96, 1, 1), grid=(5, 1))
    assert read(count, 1)[0] == 96 * 5


def test_a_warp_may_look_at_a_flag_by_adding_nothing(module, memory):
    out = cuda.mem_alloc(128)
    module.get_function("looks_by_adding_nothing")(memory, out, block=(64, 1, 1))
    assert (read(out, 32) == 7).all()


@pytest.mark.parametrize("n", [1, 31, 40, 64])
def test_threads_that_have_returned_are_not_waited_for(n, module, memory):
    function = module.get_function("returns_before_barrier")
    function(memory, np.int32(n), block=(64, 1, 1), shared=256)
    assert (read(memory, n) == np.arange(n)[::-1]).all()


@pytest.mark.parametrize("name", ["exit_in_function", "exit_through_pointer"])
def test_a_thread_may_end_inside_a_function(name, module, memory):
    module.get_function(name)(memory, block=(32, 1, 1))
    assert (read(memory, 32) == 10 + np.arange(32) % 2).all()


def test_a_predicated_instruction_about_the_warp_writes_its_lanes_only(module, memory):
    module.get_function("active_among_some")(memory, block=(32, 1, 1))
    assert (read(memory, 32) == np.where(np.arange(32) < 5, 31, 7)).all()


def test_cache_policies_change_no_value(module, memory):
    numbers = np.arange(32, dtype=np.int32)
    module.get_function("policies")(memory, cuda.In(numbers), block=(32, 1, 1))
    assert (read(memory, 32) == 2 * numbers).all()


ORDERS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
AWKWARD = np.array(
    [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7F80FF00, 0x017F8081, 0x80017FFF, 0x7FFF8000,
     0x7FFFFFFF, 0x80000000, 0x80808080, 0xFFFFFFFF], np.uint32)  # fmt: skip


@pytest.mark.parametrize("parts", [2, 4])
def test_vset_compares_parts_of_words_extended_by_their_types_and_gives_or_adds_0_or_1(parts):
    forms = [
        (x, y, order, add) for x in "us" for y in "us" for order in ORDERS for add in ("", ".add")
    ]
    count = AWKWARD.size**2
    a, b = (v.ravel() for v in np.meshgrid(AWKWARD, AWKWARD, indexing="ij"))
    c = np.roll(a, 1) ^ b
    code = "".join(
        f'asm("vset{parts}.{x}32.{y}32.{order}{add} %0, %1, %2, %3;"'
        f' : "=r"(o[{n * count} + i]) : "r"(a[i]), "r"(b[i]), "r"(c[i]));\n'
        for n, (x, y, order, add) in enumerate(forms)
    )
    inputs = "const unsigned *a, const unsigned *b, const unsigned *c"
    kernel = SourceModule(
        f"__global__ void all(unsigned *o, {inputs}) {{ int i = threadIdx.x; {code} }}"
    ).get_function("all")
    got = np.empty((len(forms), count), np.uint32)
    kernel(cuda.Out(got), cuda.In(a), cuda.In(b), cuda.In(c), block=(count, 1, 1))
    kinds = {"u": np.dtype(f"u{4 // parts}"), "s": np.dtype(f"i{4 // parts}")}
    for (x, y, order, add), words in zip(forms, got, strict=True):
        left, right = (v.view(kinds[k]).astype(np.int64) for v, k in ((a, x), (b, y)))
        bits = ORDERS[order](left, right).astype(kinds["u"])
        summed = c + bits.reshape(-1, parts).sum(axis=1, dtype=np.uint32)
        want = summed if add else bits.view(np.uint32)
        assert (words == want).all(), f"vset{parts}.{x}32.{y}32.{order}{add}"


SIZES = """
extern "C" __global__ void sizes(int *o)
{
    asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(o[0]));
    asm("mov.u32 %0, %total_smem_size;" : "=r"(o[1]));
    asm("mov.u32 %0, %aggr_smem_size;" : "=r"(o[2]));
}
"""


def test_shared_memory_is_given_in_units_of_128_bytes_and_the_system_has_1024(memory):
    sizes = SourceModule(SIZES, no_extern_c=True).get_function("sizes")
    sizes(memory, block=(1, 1, 1), shared=1000)
    assert read(memory, 3).tolist() == [1000, 1024, 2024]


FLUSHED = """
extern "C" __global__ void flushed(unsigned short *h, float *f, const float *x,
                                   const unsigned short *y)
{
    int i = threadIdx.x;
    asm("cvt.rp.ftz.bf16.f32 %0, %1;" : "=h"(h[i]) : "f"(x[i]));
    asm("cvt.ftz.f32.bf16 %0, %1;" : "=f"(f[i]) : "h"(y[i]));
}
"""


def test_conversions_of_bfloat16_flush_subnormals_and_make_one_nan_if_told_to():
    x = np.array([1e-40, 2.0**-126, -1e-40, 1.0078125], np.float32)
    y = np.array([0x0001, 0x3F80, 0xFFFF, 0x807F], np.uint16)
    halves, floats = np.empty(4, np.uint16), np.empty(4, np.uint32)
    kernel = SourceModule(FLUSHED, no_extern_c=True).get_function("flushed")
    kernel(cuda.Out(halves), cuda.Out(floats), cuda.In(x), cuda.In(y), block=(4, 1, 1))
    assert halves.tolist() == [0, 0x0080, 0x8000, 0x3F81]
    assert floats.tolist() == [0, 0x3F800000, 0x7FFFFFFF, 0x80000000]


WIDE = """
typedef unsigned __int128 wide;
__global__ void divided(wide *o, const wide *a, const wide *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i], less, more, kept, lost;
    asm("sub.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;" : "=r"(less), "=r"(kept) : "r"(x), "r"(y));
    asm("add.cc.u32 %0, %2, %3; subc.u32 %1, 0, 0;" : "=r"(more), "=r"(lost) : "r"(x), "r"(y));
    o[3 * i] = a[i] / b[i];
    o[3 * i + 1] = a[i] % b[i];
    o[3 * i + 2] = less + ((wide)kept << 32) + ((wide)more << 64) + ((wide)lost << 96);
}
"""


def test_the_carry_is_set_where_nothing_was_borrowed_as_division_of_128_bits_expects():
    words = np.random.default_rng(5).choice(AWKWARD, (2, 1024, 4))
    words[1, :, 0] |= 1
    words[1, ::3, 2:] = 0
    got = np.empty((1024, 3, 4), np.uint32)
    divided = SourceModule(WIDE).get_function("divided")
    divided(cuda.Out(got), *map(cuda.In, words), block=(64, 1, 1), grid=(16, 1))
    numbers = [[int.from_bytes(w.tobytes(), "little") for w in side] for side in words]
    for (x, y), found in zip(zip(*numbers, strict=True), got, strict=True):
        left, right = x % 2**32, y % 2**32
        kept, lost = left >= right, left + right < 2**32
        flags = [(left - right) % 2**32, kept, (left + right) % 2**32, lost * (2**32 - 1)]
        wants = [x // y, x % y, sum(n << 32 * k for k, n in enumerate(flags))]
        assert [int.from_bytes(w.tobytes(), "little") for w in found] == wants, (x, y)


def test_a_kernel_may_be_named_like_a_function_of_the_driver(module, memory):
    module.get_function("sg_load")(memory, block=(32, 1, 1))
    assert (read(memory, 32) == 5).all()


REFUSED = """
__global__ void five(int *o) { o[threadIdx.x] = 5; }
__global__ void large(float *o) { __shared__ float s[20000]; s[threadIdx.x] = 1; *o = s[9]; }
__global__ void looks(cudaTextureObject_t o, float *y) { *y = texCubemap<float>(o, 0, 0, 1); }
"""


@pytest.fixture
def partly_refused():
    return SourceModule(REFUSED, options=["-Xptxas", "-w"])


def test_a_kernel_that_cannot_run_does_not_refuse_its_module(partly_refused, memory):
    for _ in range(2):
        with refused(cuda.Error, "large", 80000):
            partly_refused.get_function("large")
        partly_refused.get_function("five")(memory, block=(32, 1, 1))
        assert (read(memory, 32) == 5).all()


def test_the_first_refusal_names_all_kernels_of_the_module_that_cannot_run(partly_refused):
    with pytest.raises(cuda.Error) as first:
        partly_refused.get_function("looks")
    reason, head, other = str(first.value).splitlines()
    assert re.search(r" tex.cube\S+ \(kernel.cu:4, \w+ looks\)", reason)
    assert not missing(head, 1, 3) and not missing(other, "large", 80000)
    with pytest.raises(cuda.Error) as second:
        partly_refused.get_function("large")
    assert "looks" not in str(second.value)


def test_loading_a_module_compiles_none_of_its_kernels(monkeypatch):
    emitted = []
    emit = ModuleText.emit
    monkeypatch.setattr(ModuleText, "emit", lambda *a: emitted.append(a[1]) or emit(*a))
    number = time.time_ns()  # not in the cache
    names = [f"k{n}_{number}" for n in range(3)]
    module = SourceModule("".join(f"__global__ void {n}(int *o) {{ *o = 1; }}\n" for n in names))
    assert emitted == []
    for _ in range(2):
        module.get_function(names[1])
    assert emitted == [names[1]]


def test_what_another_process_left_past_the_end_is_ignored():
    from pycuda.compiler import compile

    code = compile("__global__ void seven(int *o) { *o = 7; }")
    assert code.endswith(b"\n//@@\n")
    memory = cuda.mem_alloc(4)
    module = cuda.module_from_buffer(code + b"6))[i] = d; }\n//@ }\n//@@\n")
    module.get_function("seven")(memory, block=(1, 1, 1))
    assert read(memory, 1) == 7


def test_a_damaged_cache_is_compiled_anew(tmp_path):
    code = """
import softgpu.tests.autoinit, numpy as np, pycuda.driver as cuda
from pycuda.compiler import SourceModule
out = np.zeros(32, np.int32)
source = "__global__ void four(int *o) { o[threadIdx.x] = 4; }"
SourceModule(source).get_function("four")(cuda.Out(out), block=(32, 1, 1))
print(set(out.tolist()))
"""

    def run():
        process = python("-c", code, SOFTGPU_CACHE=str(tmp_path))
        assert process.stdout == "{4}\n", process.stderr
        (compiled,) = tmp_path.glob("*.o")
        return compiled

    compiled = run()
    size = compiled.stat().st_size
    os.truncate(compiled, size // 2)
    assert run() == compiled and compiled.stat().st_size > size // 2


def test_attributes_are_what_ptxas_reports(module):
    function = module.get_function("shared_past")
    assert 4 <= function.num_regs <= 32
    assert function.shared_size_bytes == 0 and function.local_size_bytes == 0
    assert function.max_threads_per_block == 1024


LINKED = b"""
.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 nothing) mark(.param .b64 at);
.const .b32 table[10];
.visible .entry kernel(.param .u64 out)
{
    .reg .b64 %at;
    .param .b64 at, nothing;
    ld.param.u64 %at, [out];
    st.param.b64 [at], %at;
    call (nothing), mark, (at);
    ret;
}
.version 9.0
.target sm_90
.address_size 64
.visible .func mark(.param .b64 at)
{
    .reg .b64 %at;
    ld.param.u64 %at, [at];
    st.global.u32 [%at], 42;
    ret;
}
"""


def test_a_linked_function_may_give_less_than_its_caller_expects(memory):
    kernel = cuda.module_from_buffer(LINKED).get_function("kernel")
    kernel(memory, block=(1, 1, 1))
    assert read(memory, 1)[0] == 42


def test_constant_memory_is_the_modules():
    assert cuda.module_from_buffer(LINKED).get_function("kernel").const_size_bytes == 40


def test_a_dynamic_module_of_one_source_needs_no_linker(memory):
    source = "__global__ void nine(int *o) { o[threadIdx.x] = 9; }"
    DynamicSourceModule(source).get_function("nine")(memory, block=(32, 1, 1))
    assert (read(memory, 32) == 9).all()


def test_machine_code_is_refused_with_what_to_do_instead():
    with refused(cuda.Error, "PTX"):
        cuda.module_from_buffer(b"\x7fELF" + bytes(64))


NOTHING = b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n"


SHORT = """.version 8.6
.target sm_90
.address_size 64
.visible .entry which(.param .u64 out, .param .align 8 .b8 a[16], .param .align 8 .b8 b[16])
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .pred %p;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 16, %rd1;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 1;
    mov.b32 %r3, a;
    mov.b32 %r4, b;
    selp.b32 %r5, %r4, %r3, %p;
    ld.param.u64 %rd3, [%r5];
    st.global.u64 [%rd2], %rd3;
    cvt.u64.u32 %rd4, %r5;
    cvta.param.u64 %rd5, %rd4;
    ld.u64 %rd6, [%rd5+8];
    st.global.u64 [%rd2+8], %rd6;
    ret;
}
"""


def test_addresses_of_parameters_fit_into_32_bits():
    """As LLVM's short pointers have them: `ld.param` takes them, and cvta after cvt."""
    out = np.zeros((32, 2), np.uint64)
    a, b = np.array([11, 12], np.uint64), np.array([21, 22], np.uint64)
    pairs = np.zeros(1, [("out", np.intp), ("a", np.uint64, 2), ("b", np.uint64, 2)])
    memory = cuda.mem_alloc(out.nbytes)
    pairs["out"], pairs["a"], pairs["b"] = int(memory), a, b
    kernel = cuda.module_from_buffer(SHORT.encode()).get_function("which")
    kernel(pairs[0], block=(32, 1, 1))
    cuda.memcpy_dtoh(out, memory)
    assert (out == np.where(np.arange(32)[:, None] % 2, b, a)).all()


TILES = """.version 9.0
.target sm_90
.address_size 64
.visible .entry count(.param .u64 out) .reqntid 64, 2, 1 {language}
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .shared .align 4 .b8 room[{shared}];
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %ntid.y;
    mad.lo.u32 %r3, %r1, 1000, %r2;
    st.shared.u32 [room+{shared}-4], %r3;
    ld.shared.u32 %r3, [room+{shared}-4];
    atom.global.add.u32 %r4, [%rd1], %r3;
    ret;
}}
"""


def count_threads(language, shared, block):
    out = np.zeros(1, np.uint32)
    text = TILES.format(language=language, shared=shared)
    cuda.module_from_buffer(text.encode()).get_function("count")(cuda.InOut(out), block=block)
    return out[0]


def test_other_blocks_than_the_kernel_requires_are_refused():
    for block in [(128, 1, 1), (64, 1, 1), (2, 1, 1), (64, 2, 2)]:
        with refused(cuda.LogicError, "64 x 2 x 1"):
            count_threads("", 1024, block)


def test_a_kernel_of_tiles_may_fill_shared_memory_without_asking():
    assert count_threads(".language 7", 227 << 10, (1, 1, 1)) == 64002 * 128
    with refused(cuda.Error, 232452):
        count_threads(".language 7", (227 << 10) + 4, (1, 1, 1))
    with refused(cuda.Error, 232448):
        count_threads("", 227 << 10, (64, 2, 1))


def test_an_error_at_a_module_that_nobody_keeps_is_told():
    with refused(cuda.LogicError, "cuModuleGetFunction", "'missing'"):
        cuda.module_from_buffer(NOTHING).get_function("missing")
    with refused(cuda.LogicError, "cuModuleGetGlobal", "'missing'"):
        cuda.module_from_buffer(NOTHING).get_global("missing")


@pytest.mark.parametrize(("target", "version"), [("sm_90a", 90), ("sm_75", 75), ("sm_120", 120)])
def test_a_kernel_says_what_its_ptx_is_for(target, version):
    text = NOTHING.replace(b".target sm_90", b".target " + target.encode())
    kernel = cuda.module_from_buffer(text).get_function("nothing")
    assert (kernel.ptx_version, kernel.binary_version) == (version, 90)


CLUSTERS = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define REGISTER(name) \\
    asm volatile("mov.u32 %0, %%" name ";" : "=r"(value)); *out++ = value

extern "C" __global__ void registers(unsigned *out)
{
    unsigned value, explicit_;
    out += 17 * (blockIdx.y * gridDim.x + blockIdx.x);
    REGISTER("clusterid.x"); REGISTER("clusterid.y"); REGISTER("clusterid.z");
    REGISTER("nclusterid.x"); REGISTER("nclusterid.y"); REGISTER("nclusterid.z");
    REGISTER("cluster_ctaid.x"); REGISTER("cluster_ctaid.y"); REGISTER("cluster_ctaid.z");
    REGISTER("cluster_nctaid.x"); REGISTER("cluster_nctaid.y"); REGISTER("cluster_nctaid.z");
    REGISTER("cluster_ctarank"); REGISTER("cluster_nctarank");
    asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                 : "=r"(explicit_));
    *out++ = explicit_;
    *out++ = cg::this_grid().block_rank();
    *out = cg::this_grid().num_threads();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) numbered(unsigned *out)
{
    out[blockIdx.x] = blockIdx.x + 1;
}
"""


@pytest.fixture(scope="module")
def clusters():
    return SourceModule(CLUSTERS, no_extern_c=True, arch="sm_90", options=["-std=c++17"])


def test_each_block_of_a_plain_grid_is_a_cluster_of_its_own(clusters):
    out = np.zeros((6, 17), np.uint32)
    clusters.get_function("registers")(cuda.Out(out), block=(32, 1, 1), grid=(3, 2))
    assert out.tolist() == [
        [n % 3, n // 3, 0, 3, 2, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, n, 192] for n in range(6)
    ]


def test_blocks_of_a_cluster_that_know_nothing_of_it_run_if_it_divides_the_grid(clusters):
    numbered, out = clusters.get_function("numbered"), np.zeros(4, np.uint32)
    numbered(cuda.InOut(out), block=(1, 1, 1), grid=(4, 1))
    assert out.tolist() == [1, 2, 3, 4]
    with refused(cuda.LogicError, 3, "x", 2):
        numbered(cuda.InOut(out), block=(1, 1, 1), grid=(3, 1))
