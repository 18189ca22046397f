"""Time helpers.ops beside the libraries of this machine, on any NVIDIA GPU: make bench-gpu.

Contenders are ours, cub::DeviceReduce, and PyTorch, CuPy and QuACK where they are installed. Every
result is checked against NumPy on random data before it is timed. Times are medians of many runs,
each with a cache full of something else (helpers.bench says how), and contenders take turns. The
floor of a case is what the memory allows: the bytes that must move at the speed that a large read
or copy reached in this run, and the time of a kernel that does nothing; of products, what the units
allow that multiply numbers of the type, if that is more. A smaller copy can be a little faster than
that: its last writes are still in the cache when it ends.

Leaves times.csv and a figure a topic in build/bench-gpu. Kept as notebooks/recorded/peers.csv, the
times are what notebooks and the figure of docs/peers.md show (helpers.peers).

    python bench/bench_gpu.py [--commit HASH] [sum rowsum colsum softmax add less calls im2col
                                                 col2im gemm conv2d attention linear word]
    python bench/bench_gpu.py drawn [--seed 1] [--number 180] [--seconds 120] [--kinds elementwise
        products convolutions attention]  # shapes that nobody chose, the kinds in turn; a third as
                                          # many of each that multiplies
"""

import argparse
import csv
import ctypes
import subprocess
from functools import cache
from math import inf
from pathlib import Path
from time import perf_counter

import bench_decode
import bench_drawn
import bench_elementwise
import bench_layers
import bench_products
import bench_ranks
import bench_windows
import numpy as np

from helpers import autoinit, bench, checks, plots, sources

import pycuda.driver as cuda  # isort: skip  (autoinit first)
from pycuda import gpuarray  # isort: skip
from pycuda.tools import DeviceMemoryPool  # isort: skip

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "bench-gpu"
ROUNDS = 3  # turns that contenders take
MODULES = (
    bench_elementwise, bench_windows, bench_products, bench_decode, bench_ranks,
)  # fmt: skip
MODULE_OF = {topic: m for m in MODULES for topic in m.TOPICS}
TOPICS = *bench_drawn.TOPICS, *MODULE_OF
KINDS = "elementwise", "products", "convolutions", "attention"  # of what is drawn
READS = "sum", "row", "colsum", "midsum", "linear", "word"  # that write little
TOO_SLOW = 1.05  # of the best contender's time
COLUMNS = ("topic", "case", "contender", "size", "bytes_moved", "median_us", "low_us", "high_us",
           "runs", "floor_us", "error_share")  # fmt: skip


def optional(name):
    """A module, or None where it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return None


torch, cupy, pool = optional("torch"), optional("cupy"), DeviceMemoryPool()
quack = torch and optional("quack")


@cache
def compile_cub():
    """cub::DeviceReduce::Sum as a function of an array, compiled for this GPU."""
    library = OUT / "cub_sum.so"
    arch = "sm_{}{}".format(*autoinit.device.compute_capability())
    flags = ["-arch", arch, "-O3", "-shared", "-cudart", "static", "-Xcompiler", "-fPIC"]
    source = sources.find("bench/cub_sum.cu")
    subprocess.run([autoinit.compiler.nvcc, *flags, "-o", library, source], check=True)
    function = ctypes.CDLL(str(library)).cub_sum
    function.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int]
    scratch, out = gpuarray.empty(1 << 22, np.uint8), gpuarray.empty((), np.float32)
    scratch_bytes = ctypes.c_size_t(scratch.size)

    def run(x):
        if function(scratch.ptr, ctypes.byref(scratch_bytes), x.ptr, out.ptr, x.size):
            raise RuntimeError("cub::DeviceReduce failed")
        return out

    return run


def ceilings():
    """Time of an empty kernel in µs, and the speeds of reading and of copying in GB/s."""
    empty = sources.kernel("first/empty.cu")
    empty_us = bench.time_us(lambda: empty(grid=(1, 1), block=(1, 1, 1)))
    free = cuda.mem_get_info()[0]
    size = min(1 << 32, 1 << (free // 2).bit_length() - 1)
    speeds = {}
    for name, mover in ("read", bench.read), ("copy", bench.copy):
        speeds[name] = size / (bench.time_us(lambda mover=mover: mover(size)) - empty_us) / 1e3
    bench.zeros.cache_clear()
    return empty_us, speeds["read"], speeds["copy"]


def timed(runs, check, budget_s=bench.BUDGET_S):
    """The times of contenders in µs, who take turns; their results are checked first, and who is
    wrong is left out. And the share of the largest error that rounding explains ours had, if the
    check returns that."""
    error = check("ours", runs["ours"]())
    for who in [who for who in runs if who != "ours"]:
        try:
            check(who, runs[who]())
        except checks.Differs as wrong:
            print(f"not timed: {wrong}", flush=True)
            del runs[who]
    times = {who: [] for who in runs}
    for _ in range(ROUNDS):
        for who, run in runs.items():
            times[who].extend(bench.samples_us(run, budget_s=budget_s))
    return times, error or 0.0


def figure(topic, rows, device):
    """Bars: how near each contender comes to the floor of each case."""
    cases = list(dict.fromkeys(row["case"] for row in rows))
    names = list(dict.fromkeys(row["contender"] for row in rows))

    def paint(axes):
        axes.set(title=f"{topic} on {device}", ylabel="% of the floor's speed")
        for i, (name, colour) in enumerate(zip(names, plots.COLOURS)):
            mine = [row for row in rows if row["contender"] == name]
            places = [cases.index(row["case"]) + (i - (len(names) - 1) / 2) * 0.8 / len(names)
                      for row in mine]  # fmt: skip
            shares = [100 * row["floor_us"] / row["median_us"] for row in mine]
            axes.bar(places, shares, 0.8 / len(names), color=colour, label=name)
        axes.axhline(100, color=plots.INK, linestyle="--")
        axes.set_xticks(
            range(len(cases)), [case.partition(" ")[2] for case in cases], rotation=30, ha="right"
        )
        axes.legend(ncols=len(names), frameon=False, loc="lower right", bbox_to_anchor=(1, 1))

    plots.draw(paint, f"{topic}: share of the floor", width=9).save(OUT / f"{topic}.png")


def current_commit():
    """The commit that is checked out."""
    command = ["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"


def cases_of(topic, given):
    """The cases of a topic: name, size, bytes that must move, contenders, a check of their results.

    Sizes: elements of a vector or a tensor, columns of a matrix, multiply-adds of a product."""
    if topic == "drawn":
        return drawn(given)
    if topic in bench_drawn.TOPICS:
        most = cuda.mem_get_info()[0] // 16
        return bench_drawn.chosen(topic, most, torch, cupy, compile_cub(), quack)
    return MODULE_OF[topic].cases(topic, torch, cupy, pool.allocate)


def drawn(given):
    """The cases of shapes that nobody chose, of the kinds that are asked for."""
    if "elementwise" in given.kinds:
        told = torch, cupy, compile_cub(), given.compiled
        yield from bench_drawn.cases(given.seed, given.number, *told)
    kinds = [kind for kind in bench_layers.KINDS if kind.startswith(tuple(given.kinds))]
    draws = bench_layers.drawn(given.seed, given.number // 3)
    bench_layers.compile_ahead(draw for kind, draw in draws if kind in kinds)
    yield from bench_layers.cases(given.seed, given.number // 3, torch, kinds)


def told(rows, case):
    """A line for a case: ours, its share of the floor, and the others."""
    median = {row["contender"]: row["median_us"] for row in rows}
    (floor,) = {row["floor_us"] for row in rows}
    ours = median.pop("ours")
    others = (f"{who} {us:.2f} (ours takes {ours / us:.3f} of it)" for who, us in median.items())
    share = f", {100 * floor / ours:.0f} % of the floor" if floor else ""
    return f"{case}: ours {ours:.2f} µs{share}; {', '.join(others)}"


def needed_us(topic, case, size, moved, read, copy):
    """The time that a case needs by the speed of the memory, or of what multiplies if that is
    less."""
    if topic in bench_ranks.TOPICS:
        return bench_ranks.needed_us(topic, size, moved, read)
    of_memory = moved / (read if case.startswith(READS) else copy) / 1e3
    if MODULE_OF.get(topic) is not bench_products and not case.startswith(bench_layers.KINDS):
        return of_memory
    return max(of_memory, size / bench_products.multiply_adds_per_us(case.split()[-1]))


def measured(topic, given, read, copy, empty_us):
    """Of each case of a topic: name, times, floor in µs, size, bytes moved, share of the error.
    What is drawn ends after given.seconds."""
    stop = perf_counter() + given.seconds if topic == "drawn" else inf
    if topic == "calls":
        for operation, times in bench_elementwise.calls(torch, cupy):
            yield f"calls {operation}", times, 0.0, 0, 0, 0.0
        return
    for case, size, moved, runs, check in cases_of(topic, given):
        floor = needed_us(topic, case, size, moved, read, copy) + empty_us
        if topic in bench_ranks.TOPICS:
            times, error = bench_ranks.timed(runs, check), 0.0
        else:
            short = bench_layers.BUDGET_S if topic == "drawn" else bench.BUDGET_S
            times, error = timed(runs, check, short)
        yield case, times, floor, size, moved, error
        if perf_counter() > stop:
            return


def rows_of(topic, case, times, floor, size, moved, error):
    """A row of the table for each contender."""
    for who, samples in times.items():
        low, median, high = np.percentile(samples, [25, 50, 75])
        values = topic, case, who, size, moved, median, low, high, len(samples), floor, error
        yield dict(zip(COLUMNS, values))


def report(topic, rows):
    """Draws a topic's rows, or sums them up if nobody chose their shapes."""
    if topic == "drawn":
        print(*summed(rows), sep="\n")
    elif rows:
        figure(topic, rows, autoinit.name)
    else:
        print(f"{topic}: that is of several GPUs, and there is one")


def summed(rows):
    """Lines of a table of what was drawn: for each kind ours in the best of the others' times, the
    floor in ours, and the largest share of the error that rounding explains."""
    found: dict = {}
    for row in rows:
        kind, _, case = row["case"].partition(": ")
        found.setdefault(kind, {}).setdefault(case, {})[row["contender"]] = row
    yield f"| kind | cases | geometric mean | over {TOO_SLOW} | worst | of the floor | error |"
    yield "|---|---|---|---|---|---|---|"
    for kind, cases in found.items():
        ours = {case: times.pop("ours") for case, times in cases.items()}
        ratios = {case: ours[case]["median_us"] / min(row["median_us"] for row in times.values())
                  for case, times in cases.items() if times}  # fmt: skip
        if not ratios:  # there are no others
            continue
        mean = np.exp(np.mean(np.log([*ratios.values()])))
        over = sum(ratio > TOO_SLOW for ratio in ratios.values())
        worst = sorted(ratios, key=lambda case: -ratios[case])[:3]
        listed = ", ".join(f"{ratios[case]:.2f} ({case})" for case in worst)
        floor = np.median([row["floor_us"] / row["median_us"] for row in ours.values()])
        error = max(row["error_share"] for row in ours.values())
        yield (
            f"| {kind} | {len(ratios)} | {mean:.2f} | {over} | {listed} | {floor:.2f} |"
            f" {error:.2f} |"
        )


def options():
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("topics", nargs="*", metavar="topic", help=", ".join(TOPICS))
    parser.add_argument("--commit", default=current_commit(), help="what is measured")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    parser.add_argument("--number", type=int, default=180, help="of what is drawn")
    parser.add_argument("--seconds", type=float, default=inf, help="for what is drawn")
    parser.add_argument("--kinds", nargs="*", default=KINDS, help="of what is drawn")
    parser.add_argument("--compiled", type=int, default=4, help="one draw of so many, by PyTorch")
    given = parser.parse_args()
    if unknown := set(given.topics) - {*TOPICS, "drawn"}:
        parser.error(f"no topic {', '.join(unknown)}; there are {', '.join(TOPICS)}, drawn")
    return given


def main():
    given = options()
    if autoinit.is_software:
        raise SystemExit("bench-gpu needs an NVIDIA GPU: the software GPU has no times")
    OUT.mkdir(parents=True, exist_ok=True)
    empty_us, read, copy = ceilings()
    print(f"{autoinit.name}: read {read:,.0f} GB/s, copy {copy:,.0f} GB/s, empty {empty_us:.2f} µs")
    versions = " ".join(f"{m.__name__} {m.__version__}" for m in (torch, cupy) if m)
    shared = {"libraries": versions, "read_gb_s": read, "copy_gb_s": copy, "empty_us": empty_us}
    shared |= bench.circumstances() | {"commit": given.commit}
    with (OUT / "times.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, (*COLUMNS, *shared), lineterminator="\n")
        writer.writeheader()
        for topic in given.topics or TOPICS:
            of_topic = []
            for case, *facts in measured(topic, given, read, copy, empty_us):
                rows = [row | shared for row in rows_of(topic, case, *facts)]
                writer.writerows({k: f"{v:.2f}" if isinstance(v, float) else v
                                  for k, v in row.items()} for row in rows)  # fmt: skip
                file.flush()
                of_topic += rows
                print(told(rows, case), flush=True)
            report(topic, of_topic)
    print(f"written to {OUT}")


if __name__ == "__main__":
    main()
