"""Measure a GPU: every property that the clock needs, by a kernel of chip.cu of its own.

    python scripts/chip/measure.py FILE.csv

writes the raw values, a row each: what was measured, how, the value and its unit. constants.py
makes the chip's constants of them. Takes about half a minute."""

import csv
import sys
from functools import cache
from pathlib import Path

import numpy as np

from helpers import autoinit, bench, sources

from pycuda import driver as cuda  # isort: skip

SOURCE = (Path(__file__).parent / "chip.cu").read_text()
STEPS = 64 * 16  # TURNS * UNROLLED there
CHAINS = 4
PIPES = {  # how many instructions a step has
    "fma32": 1, "add32": 1, "mad": 1, "mad_wide": 1, "alu": 2, "add": 1, "logic": 1, "shift": 1,
    "select": 2, "from_int": 1, "special": 1, "to_int": 1,
    "to_half": 2, "ones": 1, "fma64": 1, "fma16": 1, "shuffle": 1, "redux": 1, "ballot": 2,
}  # fmt: skip
TYPES = {"fma32": np.float32, "add32": np.float32, "special": np.float32, "fma64": np.float64}
TYPES |= {"mad_wide": np.uint64}
PRODUCTS = {  # by machine instruction: the PTX, and how many registers a, b and d have
    "HMMA.16816.F32": ("m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4),
    "HMMA.16816.F32.BF16": ("m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4),
    "HMMA.16816.F16": ("m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2),
    "HMMA.1688.F32": ("m16n8k8.row.col.f32.f16.f16.f32", 2, 1, 4),
    "HMMA.1688.F32.BF16": ("m16n8k8.row.col.f32.bf16.bf16.f32", 2, 1, 4),
    "HMMA.1688.F16": ("m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2),
    "HMMA.1688.F32.TF32": ("m16n8k8.row.col.f32.tf32.tf32.f32", 4, 2, 4),
    "HMMA.1684.F32.TF32": ("m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4),
    "IMMA.16832": ("m16n8k32.row.col.s32.s8.s8.s32", 4, 2, 4),
    "IMMA.16816": ("m16n8k16.row.col.s32.s8.s8.s32", 2, 1, 4),
    "IMMA.8816": ("m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2),
    "BMMA.168256": ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4),
    "BMMA.168128": ("m16n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 4),
    "BMMA.88128": ("m8n8k128.row.col.s32.b1.b1.s32.and.popc", 1, 1, 2),
    "DMMA.8x8x4": ("m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2),
    "DMMA.16x8x4": ("m16n8k4.row.col.f64.f64.f64.f64", 2, 1, 4),
    "DMMA.16x8x8": ("m16n8k8.row.col.f64.f64.f64.f64", 4, 2, 4),
    "DMMA.16x8x16": ("m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4),
}
SMS = autoinit.device.multiprocessor_count
KB, MB = 1 << 10, 1 << 20
rows = []


@cache
def module():
    from pycuda.compiler import SourceModule

    return SourceModule(products_source(), no_extern_c=True)


@cache
def kernel(name):
    return module().get_function(name)


@cache
def room(size_bytes):
    """Zeros on the GPU."""
    buffer = cuda.mem_alloc(size_bytes)
    cuda.memset_d32(buffer, 0, size_bytes // 4)
    return buffer


def row(what, value, unit, **how):
    told = " ".join(f"{key}={value}" for key, value in how.items())
    rows.append((what, told, f"{value:.6g}", unit))


def cycles(name, threads, *arguments, blocks=1, shared=0):
    """Cycles of the slowest block, the least of three launches."""
    taken = np.zeros(blocks, np.int64)
    least = None
    for _ in range(3):
        kernel(name)(
            cuda.InOut(taken), *arguments, grid=(blocks, 1), block=(threads, 1, 1), shared=shared
        )
        least = min(least or taken.max(), taken.max())
    return float(least)


def time_us(name, blocks, threads, *arguments, cold=True, shared=0):
    """The time of one launch, as the course measures it; five are enough here."""
    run = kernel(name)
    shape = {"grid": (blocks, 1), "block": (threads, 1, 1), "shared": shared}
    return bench.time_us(lambda: run(*arguments, **shape), cold=cold)


# --- one multiprocessor ---------------------------------------------------------------------------


def pipes():
    out = room(64 * KB)
    for name, instructions in PIPES.items():
        kind = TYPES.get(name, np.uint32)
        for what, threads, chains in (("latency", 32, 1), ("rate", 1024, CHAINS)):
            took = cycles(f"{name}_{what}", threads, kind(3), kind(5), out)
            count = STEPS * instructions * chains
            if what == "latency":
                row(f"{name} latency", took / count, "cycles")
            else:
                row(f"{name} rate", count * threads / took, "lanes/cycle")
    for threads in (32, 64, 128, 256, 512, 1024):
        took = cycles("barrier_latency", threads, np.uint32(3), np.uint32(5), out)
        row("barrier", took / STEPS, "cycles", threads=threads)


def products_source():
    """chip.cu with a latency and a rate of each of PRODUCTS."""
    text = SOURCE
    for opcode, (form, a, b, d) in PRODUCTS.items():
        kind, holds = ("double", "d") if ".f64" in form else ("u32", "r")
        sums, sums_hold = ("float", "f") if form.endswith(".f32") else (kind, holds)
        places = iter(range(d + a + b))
        d_, a_, b_ = (", ".join(f"%{next(places)}" for _ in range(n)) for n in (d, a, b))
        kept = ", ".join(f'"+{sums_hold}"(x[{n}])' for n in range(d))
        read = ", ".join(
            f'"{holds}"({of}[{n}])' for of, m in (("a", a), ("b", b)) for n in range(m)
        )
        step = (
            f'"mma.sync.aligned.{form} {{{d_}}}, {{{a_}}}, {{{b_}}}, {{{d_}}};" : {kept} : {read}'
        )
        name = opcode.replace(".", "_")
        text += f"\nPRODUCTS_OF({name}, {kind}, {sums}, {a}, {b}, {d}, asm volatile({step}))"
    return text


def products():
    """Cycles of a product: until the next may take its sums, and of a busy multiprocessor."""
    x, out = room(MB), room(64 * KB)
    for opcode in PRODUCTS:
        for what, threads, chains in (("latency", 32, 1), ("rate", 1024, CHAINS)):
            took = cycles(f"{opcode.replace('.', '_')}_{what}", threads, x, out)
            count = STEPS * chains * threads / 32
            row("product", took / count, "cycles", opcode=opcode, of=what)
    for name, matrices in (("matrices_1", 1), ("matrices_4", 4)):
        row("ldmatrix", cycles(f"{name}_latency", 32, out) / STEPS, "cycles",
            matrices=matrices, of="latency")  # fmt: skip
        took = cycles(f"{name}_rate", 1024, out)
        row("ldmatrix", took / (STEPS * 32), "cycles", matrices=matrices, of="rate")
    for what, threads in (("latency", 32), ("rate", 1024)):
        took = cycles("copy_async", threads, x, out)
        row("cp.async", took / (STEPS * threads / 32), "cycles", of=what)


def shared():
    out = room(64 * KB)
    row("shared latency", cycles("shared_chase", 32, *[np.uint32(0)] * 2, out) / STEPS, "cycles")
    for name, strides in (("shared_4", (0, 1, 2, 4, 8, 16, 32)), ("shared_16", (1, 2, 4, 8))):
        for stride in strides:
            took = cycles(name, 1024, np.uint32(stride), out, shared=32 * KB)
            row(name, took / (STEPS * 32), "cycles", stride=stride)
    for stride in (0, 1, 2, 4, 8, 16, 32):
        took = cycles("shared_atomics", 1024, np.uint32(stride), out)
        row("shared_atomics", took / (STEPS * 32), "cycles", stride=stride)
    for name, strides in (("near_4", (0, 1, 2, 4, 8, 16, 32)), ("near_16", (0, 1, 2, 4, 8))):
        for stride in strides:
            x = room(MB)
            took = cycles(name, 1024, x, np.uint32(stride), np.uint32(1024), out)
            row(name, took / (STEPS * 32), "cycles", stride=stride)

    for name in ("nearest_4", "nearest_16"):
        for stride in (0, 1, 2, 4, 8):
            took = cycles(name, 1024, room(MB), np.uint32(stride), out)
            row(name, took / (STEPS * 32), "cycles", stride=stride)


def latencies():
    """A chain of loads over so many bytes, a line of 128 bytes each time, in random order."""
    for size in (16 * KB, 128 * KB, 512 * KB, 4 * MB, 24 * MB, 48 * MB, 256 * MB, 1024 * MB):
        lines = size // 128
        order = np.random.default_rng(1).permutation(min(lines, 1 << 16))
        order = order * (lines // len(order))  # spread over all of it
        x = np.zeros(size // 4, np.uint32)
        x[order * 32] = np.roll(order, -1) * 32
        start = np.flatnonzero(order == 0)[0]
        assert start >= 0
        on_gpu = cuda.to_device(x)
        warm = len(order) if size <= 48 * MB else 0
        out, taken, steps = room(64 * KB), np.zeros(1, np.int64), 1024
        if not warm:
            bench.evict()
        kernel("chase")(cuda.InOut(taken), on_gpu, np.int32(steps), np.int32(warm), out,
                        grid=(1, 1), block=(1, 1, 1))  # fmt: skip
        row("chase", taken[0] / steps, "cycles", bytes=size)
        on_gpu.free()


# --- the whole chip -------------------------------------------------------------------------------


def limits():
    """What a multiprocessor holds, as the driver tells it."""
    of = autoinit.device.get_attribute
    attribute = cuda.device_attribute
    warps = of(attribute.MAX_THREADS_PER_MULTIPROCESSOR) // 32
    row("limit", warps, "warps", of="warps")
    row("limit", of(attribute.MAX_REGISTERS_PER_MULTIPROCESSOR), "words", of="registers")
    shared = of(attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
    row("limit", shared, "bytes", of="shared_bytes")
    row("limit", of(attribute.MAX_BLOCKS_PER_MULTIPROCESSOR), "blocks", of="blocks")


def clock():
    """Cycles per microsecond, of work long enough for the launch not to count."""
    on_gpu, out = cuda.to_device(np.zeros(SMS, np.int64)), room(64 * KB)
    for name in ("fma32_rate", "special_rate"):
        shape = SMS, 1024
        took = time_us(name, *shape, on_gpu, np.float32(3), np.float32(5), out, cold=False)
        taken = cuda.from_device(on_gpu, (SMS,), np.int64).max()
        own = took - time_us("nothing", *shape, cold=False)
        row("clock", taken / own, "cycles/us", kernel=name)


def launches():
    for cold in (False, True):
        for threads in (32, 256, 1024):
            for blocks in (1, SMS, 8 * SMS, 1 << 14, 1 << 17, 1 << 20):
                took = time_us("nothing", blocks, threads, cold=cold)
                row("nothing", took, "us", blocks=blocks, threads=threads, cold=cold)
        for threads, blocks in ((32, 1), (256, 1), (256, SMS), (256, 8 * SMS)):
            for name in ("one_step", "two_steps"):
                x, y = room(1024 * MB), room(512 * MB)
                took = time_us(name, blocks, threads, x, y, cold=cold)
                row(name, took, "us", blocks=blocks, threads=threads, cold=cold)
        for count in (64, 256, 1024, 4096):
            took = time_us(f"code_{count}", 1, 32, np.float32(1), room(64 * KB), cold=cold)
            row("code", took, "us", instructions=count, cold=cold)
            took = time_us(f"code_{count}", SMS, 128, np.float32(1), room(64 * KB), cold=cold)
            row("code", took, "us", instructions=count, cold=cold, blocks=SMS)


def turns():
    """Blocks that wait: what a block takes more than its wait, by how many have a seat."""
    attribute = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
    for threads in (32, 256, 1024):
        for seats in (1, 2, 4, 8, 16, 32):
            if seats * threads > 2048:
                continue
            shared = 227 * KB // seats - 1024 & -1024
            kernel("waits").set_attribute(attribute, shared)
            for wait in (500, 2000, 8000):
                blocks = SMS * seats * 32
                took = time_us("waits", blocks, threads, np.int32(wait), cold=False, shared=shared)
                row("waits", took, "us", threads=threads, seats=seats, cycles=wait, blocks=blocks)


def mixes():
    """Memory and something else, each with more and more to do."""
    out, n = room(64 * KB), 8 * MB
    for kind in ("fma", "alu", "shared", "fma_shared"):
        for size in (n, 1 << 18):
            for times in (0, 1, 2, 3, 4, 5, 6, 8, 12, 16):
                turns = 1 if size == n else 32  # the same work, from the L2
                args = room(1024 * MB), np.int64(size), np.int32(times * turns), out
                took = time_us(f"mixed_{kind}", 2 * SMS, 1024, *args, cold=size == n)
                row("mixed", took, "us", kind=kind, packs=size, times=times * turns)


SHAPES = ((1, 32), (1, 64), (1, 128), (1, 256), (1, 512), (1, 1024), (2, 768), (2, 1024))


def reads():
    """Bandwidth by bytes in flight: from memory, and from the L2."""
    out = room(64 * KB)
    for width in (4, 16):
        for deep in (1, 4):
            for blocks, threads in SHAPES:
                flying = blocks * threads * width * deep  # bytes per multiprocessor
                turns = max(16, min(256, MB // flying))
                size = min(flying * SMS * turns, 1024 * MB)
                size -= size % (flying * SMS)
                args = room(1024 * MB), np.int64(size // width), np.int32(1), out
                took = time_us(f"read_{width}_{deep}", blocks * SMS, threads, *args)
                row("read dram", took, "us", bytes=size, width=width, deep=deep,
                    threads=blocks * threads)  # fmt: skip
                size = 16 * MB - 16 * MB % (flying * SMS)
                passes = 8 if flying > 8 * KB else 2
                args = room(1024 * MB), np.int64(size // width), np.int32(passes), out
                took = time_us(f"read_{width}_{deep}", blocks * SMS, threads, *args, cold=False)
                row("read l2", took, "us", bytes=size * passes, width=width, deep=deep,
                    threads=blocks * threads)  # fmt: skip
    for size in (4, 8, 16, 24, 32, 40, 48, 56, 64, 96, 128):  # how much the L2 holds
        args = room(1024 * MB), np.int64(size * MB // 16), np.int32(8), out
        took = time_us("read_16_4", 2 * SMS, 1024, *args, cold=False)
        row("read again", took, "us", bytes=size * MB, passes=8)


def streams():
    """Reads, writes and copies of any size, a pack each thread."""
    x, y = room(1024 * MB), room(512 * MB)
    for width in (4, 16):
        for power in range(12, 30):
            n = (1 << power) // width
            blocks = max(n // 256, 1)
            row("write", time_us(f"write_{width}", blocks, 256, y, np.int64(n)), "us",
                bytes=1 << power, width=width)  # fmt: skip
            row("copy", time_us(f"copy_{width}", blocks, 256, x, y, np.int64(n)), "us",
                bytes=2 << power, width=width)  # fmt: skip
            if power < 25:
                took = time_us(f"copy_{width}", blocks, 256, x, y, np.int64(n), cold=False)
                row("copy l2", took, "us", bytes=2 << power, width=width)


def scattered():
    x, out = room(1024 * MB), room(64 * KB)
    n = 1 << 22
    for stride in (1, 2, 4, 8, 16, 32, 64):
        took = time_us("strided_read", n // 256, 256, x, np.int64(n), np.int32(stride), out)
        row("strided read", took, "us", words=n, stride=stride)
        took = time_us("strided_write", n // 256, 256, x, np.int64(n), np.int32(stride))
        row("strided write", took, "us", words=n, stride=stride)
    for power in (14, 18, 22, 23, 24, 26, 28):
        mask = np.uint32((1 << power) - 1)
        for cold in (True, False):
            took = time_us("random_read", n // 1024, 256, x, mask, out, cold=cold)
            row("random read", took, "us", words=n, table=4 << power, cold=cold)
            took = time_us("random_write", n // 1024, 256, x, mask, cold=cold)
            row("random write", took, "us", words=n, table=4 << power, cold=cold)


def atomics():
    x, out = room(1024 * MB), room(64 * KB)
    for name in ("add_u32", "add_f32", "add_u64", "add_f64", "fetch_u32"):
        more = (out,) if name == "fetch_u32" else ()
        for together in (0, 1):
            for power in (0, 3, 5, 6, 8, 10, 12, 15, 20, 22):
                if together and power < 5:
                    continue
                n = 1 << (18 if power < 10 else 21)
                mask = np.uint32((1 << power) - 1)
                args = x, mask, np.int32(together), *more
                took = time_us(name, n // 1024, 256, *args, cold=False)
                row("atomics", took, "us", kind=name, adds=n, words=1 << power, together=together)
    for blocks in (SMS, 8 * SMS, 64 * SMS):
        took = time_us("add_by_warp", blocks, 256, x, cold=False)
        row("adds by warps", took, "us", adds=8 * blocks)


def main():
    bench.LAUNCHES = 7
    for part in (
        limits,
        clock,
        pipes,
        products,
        shared,
        latencies,
        launches,
        turns,
        mixes,
        reads,
        streams,
        scattered,
        atomics,
    ):
        part()
        with open(sys.argv[1], "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("what", "how", "value", "unit"))
            writer.writerows([("device", autoinit.name.replace(",", ""), SMS, "SMs"), *rows])
        print(part.__name__, len(rows), flush=True)


if __name__ == "__main__":
    sources.find("bench/wait.cu")
    main()
