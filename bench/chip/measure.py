"""Measure a GPU: every property that the clock needs, by a kernel of chip.cu of its own.

    python bench/chip/measure.py FILE.csv [PART ...]

writes the raw values, a row each: what was measured, how, the value and its unit. constants.py
makes the chip's constants of them. Takes about half a minute. For some parts, only these are
measured."""

import csv
import sys
from functools import cache, partial
from pathlib import Path

import numpy as np

from helpers import autoinit, bench, sources, tensormap

from pycuda import driver as cuda  # isort: skip

SOURCE, HOPPER = ((Path(__file__).parent / name).read_text() for name in ("chip.cu", "hopper.cu"))
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
GROUP_PRODUCTS = {  # of warpgroups: the PTX behind m64n and the columns, as D.A.B, and k
    "HGMMA.F32": ("f32.f16.f16", 16), "HGMMA.F32.BF16": ("f32.bf16.bf16", 16),
    "HGMMA.F16": ("f16.f16.f16", 16), "HGMMA.F32.TF32": ("f32.tf32.tf32", 8),
    "QGMMA.F32": ("f32.e4m3.e4m3", 32), "QGMMA.F16": ("f16.e4m3.e4m3", 32),
    "IGMMA.S32": ("s32.s8.s8", 32),
}  # fmt: skip
GROUP_COLUMNS = 8, 16, 32, 64, 96, 128, 192, 256
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
def hoppers(name):
    return hopper_module().get_function(name)


@cache
def hopper_module():
    from pycuda.compiler import SourceModule

    return SourceModule(groups_source(), arch="sm_90a", no_extern_c=True,
                        include_dirs=[str(sources.ROOT)])  # fmt: skip


@cache
def room(size_bytes):
    """Zeros on the GPU."""
    buffer = cuda.mem_alloc(size_bytes)
    cuda.memset_d32(buffer, 0, size_bytes // 4)
    return buffer


def row(what, value, unit, **how):
    told = " ".join(f"{key}={value}" for key, value in how.items())
    rows.append((what, told, f"{value:.6g}", unit))


def cycles(name, threads, *arguments, blocks=1, shared=0, of=kernel, first=(), cold=False):
    """Cycles of the slowest block, the least of three launches."""
    taken = np.zeros(blocks, np.int64)
    least = None
    for _ in range(3):
        if cold:
            bench.evict()
        of(name)(
            *first, cuda.InOut(taken), *arguments, grid=(blocks, 1), block=(threads, 1, 1),
            shared=shared,
        )  # fmt: skip
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
    """Cycles of a product: until the next may take its sums, and of a busy multiprocessor, also
    where the second factor is another one each time."""
    x, out = room(MB), room(64 * KB)
    for opcode in PRODUCTS:
        ways = ("latency", 32, 1), ("rate", 1024, CHAINS), ("fresh", 512, CHAINS)
        for what, threads, chains in ways:
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


def group_forms():
    """(opcode, columns, whether a is in registers) of each product of warpgroups."""
    for opcode in GROUP_PRODUCTS:
        usual = opcode == "HGMMA.F32"
        for columns in GROUP_COLUMNS if usual else (64, 128, 256):
            yield opcode, columns, False
        for columns in (64, 128, 256) if usual else ():
            yield opcode, columns, True


def group_name(opcode, columns, held):
    return f"{opcode.replace('.', '_')}_{columns}" + "_held" * held


def groups_source():
    """hopper.cu with each of them."""
    text = HOPPER
    for form in group_forms():
        opcode, columns, held = form
        types, deep = GROUP_PRODUCTS[opcode]
        kind = types[:3]
        sum_type, holds, count = {
            "f32": ("float", "f", columns // 2), "f16": ("u32", "r", columns // 4),
            "s32": ("int", "r", columns // 2),
        }[kind]  # fmt: skip
        names = ", ".join(f"%{n}" for n in range(count))
        operand = "{{{}}}".format(", ".join(f"%{count + n}" for n in range(4)))
        a, read = (operand, "held[0] held[1] held[2] held[3]") if held else (f"%{count}", "")
        b = f"%{count + (4 if held else 1)}"
        behind = "" if kind == "s32" else ", 1, 1" + (", 0" * (2 - held) if deep == 16 else "")
        given = [f'"r"({name})' for name in read.split()] or ['"l"(a)']
        kept = ", ".join(f'"+{holds}"(sum[{n}])' for n in range(count))
        step = (
            f'"{{.reg .pred adds; setp.eq.b32 adds, 0, 0; wgmma.mma_async.sync.aligned'
            f'.m64n{columns}k{deep}.{types} {{{names}}}, {a}, {b}, adds{behind};}}"'
            f" : {kept} : {', '.join([*given, chr(34) + 'l' + chr(34) + '(b)'])}"
        )
        text += f"\nPRODUCTS_OF({group_name(*form)}, {sum_type}, {count}, asm volatile({step}))"
    return text


def groups():
    """Cycles of a product by a warpgroup: one at a time, four at a time, and of a busy chip's."""
    out = room(64 * KB)
    for form in group_forms():
        opcode, columns, held = form
        for what, threads in (("latency", 128), ("four", 128), ("rate", 128), ("rate", 256)):
            took = cycles(f"{group_name(*form)}_{what}", threads, out, of=hoppers)
            groups, a = threads // 128, "registers" if held else "shared"
            row("group product", took / (STEPS * groups), "cycles", opcode=opcode,
                columns=columns, of=what, a=a, groups=groups)  # fmt: skip


def boxes():
    """Copies by the tensor memory accelerator: a thread of each block has some under way."""
    from pycuda.gpuarray import GPUArray

    whole, largest, attribute = 64 * MB, 32 * KB, cuda.function_attribute
    x = room(whole)
    for name in ("boxes", "bulks", "stores"):
        of = hoppers(name)
        of.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 4 * largest + KB)
        for bytes_ in (KB, 4 * KB, 8 * KB, 16 * KB, 32 * KB):
            lines = GPUArray((1, whole // 128, 64), np.float16, gpudata=int(x))
            maps = tensormap.packed(tensormap.tiled(lines, (1, bytes_ // 128, 64)))
            for blocks in (1, SMS):
                for deep in (1,) if name == "stores" else (1, 2, 4, 8):
                    if deep * bytes_ > 4 * largest:
                        continue
                    shared = deep * bytes_ + KB
                    many = (np.int32(bytes_),) + (np.int32(deep),) * (name != "stores")
                    for cold in (False, True):
                        count = 128 * KB // bytes_ if blocks > 1 else 16
                        turns = 1 if cold else 4
                        first = (x,) if name == "bulks" else (maps,)
                        told = *many, np.int32(count), np.int32(turns)
                        took = cycles(name, 1, *told, first=first, blocks=blocks, shared=shared,
                                      of=hoppers, cold=cold)  # fmt: skip
                        row(name, took / (count * turns), "cycles", bytes=bytes_, deep=deep,
                            blocks=blocks, cold=cold)  # fmt: skip
    of = hoppers("copies_async")
    of.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 4 * largest + KB)
    for threads in (32, 128, 256, 1024):
        for blocks in (1, SMS):
            for deep in (1, 4, 8):
                for cold in (False, True):
                    count, turns = 128 * KB // (threads * 16), 1 if cold else 4
                    took = cycles("copies_async", threads, x, np.int32(deep), np.int32(count),
                                  np.int32(turns), blocks=blocks, shared=deep * threads * 16,
                                  of=hoppers, cold=cold)  # fmt: skip
                    row("copies async", took / (count * turns), "cycles", threads=threads,
                        deep=deep, blocks=blocks, cold=cold)  # fmt: skip


def signals():
    """Barriers that count: from one warp to another and back, and one that has been passed."""
    row("signal", cycles("signals", 64, of=hoppers) / STEPS / 2, "cycles", of="other")
    row("signal", cycles("passed", 32, of=hoppers) / STEPS, "cycles", of="own")
    row("signal", cycles("shown", 128, of=hoppers) / STEPS, "cycles", of="fence")


def loads():
    """What the whole chip's tensor cores take, on zeros and on numbers, and cycles of a turn: a
    chip that needs too much power gets fewer cycles."""
    out, numbers = room(64 * KB), np.random.default_rng(1).random(20 << 10, np.float32) - 0.5
    taken = np.zeros(SMS, np.int64)
    for name, each in (("loaded_groups", 4 * 128 * 2), ("loaded_warps", 32 * 16)):
        for data in ("zeros", "numbers"):
            x = cuda.to_device((numbers * (data == "numbers")).astype(np.float16))
            for us in (5, 20, 50, 100, 200, 500, 2000):
                turns, told = us * 1900 // each, cuda.to_device(taken)
                arguments = told, x, np.int32(turns), out
                launch = partial(hoppers(name), *arguments, grid=(SMS, 1), block=(256, 1, 1))
                bench.LAUNCHES = 30
                took = bench.time_us(launch)
                bench.LAUNCHES = 7
                row("loaded", took, "us", kernel=name, data=data, turns=turns)
                spent = cuda.from_device_like(told, taken).max() / turns
                row("loaded turn", spent, "cycles", kernel=name, data=data, turns=turns)


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
            took = cycles(name, 1024, room(MB), np.uint32(stride), np.uint32(0), out)
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


PARTS = (limits, clock, pipes, products, shared, latencies, launches, turns, mixes, reads, streams,
         scattered, atomics)  # fmt: skip
OF_HOPPER = groups, boxes, signals, loads


def main():
    path, *wanted = sys.argv[1:]
    bench.LAUNCHES = 7
    is_hopper = autoinit.device.compute_capability() == (9, 0)
    for part in PARTS + OF_HOPPER * is_hopper:
        if wanted and part.__name__ not in wanted:
            continue
        part()
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("what", "how", "value", "unit"))
            writer.writerows([("device", autoinit.name.replace(",", ""), SMS, "SMs"), *rows])
        print(part.__name__, len(rows), flush=True)


if __name__ == "__main__":
    sources.find("bench/wait.cu")
    main()
