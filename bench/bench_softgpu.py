"""How fast the software GPU is, as ratios within this one run, against the bars it was built to.

    make bench

Prints one line a bar and fails if one is missed; writes the table in softgpu/docs/results.md.
Numba, for its CUDA simulator, is installed into .cache/numba the first time. pocl, and Triton's
interpreter, are measured beside where they are installed, outside of this folder:

    pip install --no-deps --target FOLDER pyopencl pocl-binary-distribution
    PYTHONPATH=FOLDER TRITON_PYTHON=A_PYTHON_WITH_TORCH_AND_TRITON make bench
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import bench_kernels
import bench_pocl
import numpy as np
from bench_kernels import best_seconds

ROOT = Path(__file__).resolve().parent.parent
NUMBA = "numba==0.68.1"
THREADS = 256

SIMULATED = """
import os, sys, time, json
os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
import numpy as np
from numba import cuda, float32

@cuda.jit
def shared_reduce(x, out, n):
    s = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    s[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]

times = {}
for n in (1 << 10, 1 << 12):
    x = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    out = np.zeros(n // 256, np.float32)
    start = time.perf_counter()
    shared_reduce[n // 256, 256](x, out, n)
    times[n] = time.perf_counter() - start
    assert abs(out.sum() - x.sum()) < 1e-2
print(json.dumps(times))
"""


def reduce_seconds(exponent):
    """(kernel, np.sum): seconds for the sum of 2^exponent floats.

    The kernel runs as often as makes 2^26 threads: so all sizes meet the machine's noise alike.
    """
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    n, launches = 1 << exponent, 1 << max(26 - exponent, 0)
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    blocks = n // THREADS
    device_x, device_out = cuda.mem_alloc(x.nbytes), cuda.mem_alloc(4 * blocks)
    cuda.memcpy_htod(device_x, x)  # cuda.to_device would copy x once more
    module = SourceModule(bench_pocl.CUDA + bench_pocl.KERNELS, no_extern_c=True)
    kernel = module.get_function("reduce")

    def launch():
        for _ in range(launches):
            kernel(device_x, device_out, np.int32(n), grid=(blocks, 1), block=(THREADS, 1, 1))

    seconds = best_seconds(launch) / launches
    out = np.empty(blocks, np.float32)
    cuda.memcpy_dtoh(out, device_out)
    error = abs(out.sum(dtype=np.float64) - x.sum(dtype=np.float64))
    size = sum(np.abs(part).sum(dtype=np.float64) for part in np.array_split(x, 64))
    assert error <= 16 * 2.0**-24 * size, "the sum is wrong"
    return seconds, best_seconds(lambda: np.sum(x))


def product_seconds(n):
    """(kernel, numpy.matmul): seconds for a product of n x n halves, and of as many floats."""
    import pycuda.driver as cuda

    from helpers import sources

    a, b = (np.random.default_rng(s).standard_normal((n, n)).astype(np.float16) for s in (0, 1))
    c = np.empty((n, n), np.float16)
    given, out = [cuda.to_device(x) for x in (a, b)], cuda.mem_alloc(c.nbytes)
    kernel, sizes = sources.kernel("gemm/mma.cu"), [np.int64(n)] * 3

    def launch():
        kernel(*given, out, *sizes, grid=(n // 64, n // 64), block=(128, 1, 1))
        cuda.Context.synchronize()

    seconds = best_seconds(launch, 3)
    cuda.memcpy_dtoh(c, out)
    floats = [x.astype(np.float32) for x in (a, b)]
    np.testing.assert_allclose(c, floats[0] @ floats[1], rtol=1e-3, atol=1e-2)
    return seconds, best_seconds(lambda: floats[0] @ floats[1])


def simulator_seconds():
    """Numba's simulator on the same kernel, extended from 2^10 and 2^12 to 2^20 elements."""
    python = ROOT / ".cache/numba/bin/python"
    if not python.exists():
        venv.create(ROOT / ".cache/numba", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", NUMBA], check=True)
    text = subprocess.run([python, "-c", SIMULATED], check=True, capture_output=True, text=True)
    times = {int(n): seconds for n, seconds in json.loads(text.stdout).items()}
    per_element = (times[1 << 12] - times[1 << 10]) / ((1 << 12) - (1 << 10))
    return per_element * (1 << 20)


COMPILE = """
import sys, time
import helpers.autoinit
from pycuda.compiler import SourceModule
import pycuda.driver as cuda
ptx = open(sys.argv[1], "rb").read()
cuda.module_from_buffer(b".version 9.0\\n.target sm_90\\n.address_size 64\\n"
                        b".visible .entry first() { ret; }").get_function("first")(block=(1, 1, 1))
memory = cuda.mem_alloc(4096)
start = time.perf_counter()
cuda.module_from_buffer(ptx).get_function("steps")(memory, block=(32, 1, 1))
cuda.Context.synchronize()
print(time.perf_counter() - start)
"""


PTX_HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def steps(name, count, branches=False):
    """PTX of a kernel of `count` instructions, of every six of which two are about memory.

    branches: one of the six jumps over two."""
    lines = [
        "ld.param.u64 %rd0, [p];", "cvta.to.global.u64 %rd1, %rd0;", "mov.u32 %r0, %tid.x;",
        "mov.u32 %r1, %ctaid.x;", "mov.u32 %r2, %ntid.x;", "mad.lo.s32 %r3, %r1, %r2, %r0;",
        "mul.wide.s32 %rd3, %r3, 128;", "add.s64 %rd2, %rd1, %rd3;", "mov.f32 %f0, 0f3F800000;",
    ]  # fmt: skip
    for step in range((count - len(lines)) // 6):
        place, value = f"[%rd2+{4 * (step % 16)}]", f"%f{1 + step % 48}"
        lines += [
            f"ld.global.f32 {value}, {place};",
            f"fma.rn.f32 %f0, {value}, %f0, {value};",
            f"setp.lt.f32 %p0, %f0, {value};",
            f"@%p0 bra $L{step};" if branches else f"selp.f32 %f0, %f0, {value}, %p0;",
            f"max.f32 %f0, %f0, {value};",
            f"st.global.f32 {place}, %f0; $L{step}:",
        ]
    lines += ["ret;"] * (count - len("".join(lines).split(";")) + 1)
    body = "\n".join(lines)
    assert body.count(";") == count
    registers = ".reg .pred %p<9>; .reg .f32 %f<99>; .reg .b32 %r<9>; .reg .b64 %rd<9>;"
    return f".visible .entry {name}(.param .u64 p)\n{{ {registers}\n{body} }}\n"


def compile_seconds(*kernels):
    """(first, cached): seconds from PTX to the end of a first launch of the kernel `steps`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "steps.ptx")
        path.write_text(PTX_HEAD + "".join(kernels))
        environment = {**os.environ, "SOFTGPU_CACHE": folder}
        command = [sys.executable, "-c", COMPILE, path]
        runs = [
            subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True, cwd=ROOT
            )
            for _ in range(2)
        ]
        return tuple(float(run.stdout) for run in runs)


def quick_milliseconds(text, count):
    """{stage: milliseconds of CPU for each 1,000 instructions} of a kernel's first machine code."""
    from softgpu.jit.compile import machine_code, module_of
    from softgpu.jit.emit.module_text import ModuleText
    from softgpu.jit.facts.layout import Image, Layout
    from softgpu.jit.passes import BUILDS
    from softgpu.ptx import parse

    best = {}
    for _ in range(3):
        module = parse(text)
        layout = Layout(module, Image(module), "steps")
        made = [time.process_time()]
        emitted = ModuleText(layout, BUILDS["plain"], quick=True).emit("steps")
        made.append(time.process_time())
        read = module_of(emitted)
        made.append(time.process_time())
        machine_code(read, quick=True)
        made.append(time.process_time())
        for stage, before, after in zip(("emitted", "read", "compiled"), made, made[1:]):
            best[stage] = min(best.get(stage, 1e9), (after - before) / count * 1e6)
    return best


def parse_seconds():
    """Seconds of CPU to read 4,000 instructions of PTX."""
    from softgpu.ptx import parse

    lines = (
        "    .loc 1 7 3\n    mad.lo.s32 %r1, %r2, %r3, 17;\n    ld.global.f32 %f1, [%rd1+4];\n"
        "    @%p1 bra L;\n    fma.rn.f32 %f1, %f2, %f3, 0f3F800000;\n"
    )
    text = (
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .pred %p<2>;\n"
        f".reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .f32 %f<4>;\n{lines * 1000}L: ret; }}\n"
    )
    return best_seconds(lambda: parse(text), clock=time.process_time)


def extra_megabytes(exponent):
    """Peak memory of a process that sums 2^exponent floats, beyond its arrays and imports."""
    code = f"""
import re, sys
sys.path.insert(0, {str(ROOT / "bench")!r})
import numpy as np
import helpers.autoinit, bench_softgpu
from pycuda.compiler import SourceModule
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before = peak()
bench_softgpu.reduce_seconds({exponent})
print(peak() - before)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    arrays = (2 * 4 * 2**exponent + 2 * 4 * 2**exponent // THREADS) / 2**20
    return float(run.stdout) - arrays


def main():
    import helpers.autoinit as gpu

    assert gpu.is_software, "make bench measures the software GPU: HELPERS_DEVICE=software"
    missed = []

    def bar(what, value, limit, unit="", at_least=False):
        good = value >= limit if at_least else value <= limit
        relation = ">=" if at_least else "<="
        print(f"{'ok  ' if good else 'MISS'} {what:60} {value:12,.3g} {relation} {limit:,g} {unit}")
        if not good:
            missed.append(what)

    seconds = {exponent: reduce_seconds(exponent) for exponent in (20, 22, 24, 26)}
    bar(
        "sum of 2^24 floats in shared memory / np.sum", seconds[24][0] / seconds[24][1], 30, "times"
    )
    ours, theirs = product_seconds(512)
    bar("product of 512 x 512 halves by mma.sync", ours, 1, "s")
    print(f"     {'numpy.matmul of as many floats is faster':60} {ours / theirs:12,.3g} times")
    simulator = simulator_seconds()
    bar("Numba's simulator / ours, 2^20", simulator / seconds[20][0], 50_000, "times", True)
    first, cached = compile_seconds(steps("steps", 100))
    bar("100 instructions from PTX to machine code", first, 0.15, "s")
    bar("the same from the cache, in another process", cached / first, 0.5, "of that")
    for what, branches in (("straight", False), ("with 800 branches", True)):
        large, _ = compile_seconds(steps("steps", 5000, branches))
        bar(f"5,000 instructions, {what}, from PTX to machine code", large, 3, "s")
        print(f"     {'the same for each 1,000 instructions':60} {large / 5 * 1000:12,.3g} ms")
        stages = quick_milliseconds(PTX_HEAD + steps("steps", 5000, branches), 5000)
        told = ", ".join(f"{stage} {value:.0f}" for stage, value in stages.items())
        bar(f"quick code for each 1,000 of them ({told})", sum(stages.values()), 120, "ms")
    others = [steps(f"other{n}", 400) for n in range(199)]
    one, cached = compile_seconds(*others, steps("steps", 400))
    bar("one kernel of a module of 200", one, 2, "s")
    bar("the same from the cache, in another process", cached, 1.5, "s")
    each = [seconds[e][0] / 2**e * 1e9 for e in (22, 24, 26)]
    bar("time per thread, slowest / fastest of 2^22, 2^24, 2^26", max(each) / min(each), 1.5)
    bar("memory beyond the arrays, 2^26 floats", extra_megabytes(26), 200, "MB")
    bar("4,000 instructions of PTX read", parse_seconds(), 0.3, "s")
    beside = [
        "For the sum of 2^20 floats in shared memory, Numba's simulator takes"
        f" {simulator / seconds[20][0]:,.0f} times as long."
    ]
    rows = bench_pocl.measured()
    for row in rows:
        if row.pocl:
            bar(f"{row.case.title} / pocl", row.ours / row.pocl, row.case.limit, "times")
    beside.append(bench_pocl.ABOUT)
    beside.append(bench_pocl.table(rows))
    speeds = bench_kernels.measured()
    (summed,) = (speed for speed in speeds if speed.case.file == "reduce/shared.cu")
    bar("counted / plain", summed.times("counted"), 3, "times")
    bar("watched / plain", summed.times("watched"), 10, "times")
    bench_kernels.write(speeds, beside)
    sys.exit(f"missed: {', '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
