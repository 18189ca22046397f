"""Record what the clock is checked against, on a machine with a GPU and ncu:

    python -m softgpu.tests.xray.clock.record [--set SET] [--chip NAME]

The time of each case as bench.time_us measures it goes to golden.csv, with what Nsight Compute
counts: once, after which the model may change, and these may not. --set leaves the other sets as
they are. For another GPU, only times are recorded, to NAME.csv: --chip NAME."""

import argparse
import csv
import io
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parent / "golden.csv"
METRICS = [
    "smsp__inst_executed.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
    "lts__t_sectors_op_atom.sum",
    "lts__t_sectors_op_red.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "sm__cycles_active.avg",
    "gpu__time_duration.sum",
]
WAVEFRONTS = [  # the same work on a few multiprocessors, and on all of them
    f"{kernel} {size}"
    for kernel, sizes in (
        ("reduce/shared", ("2^14", "2^20", "2^24")), ("transpose_padded", ("2^20", "2^22", "2^24")),
        ("transpose_conflicts", ("2^20", "2^24")), ("scan_shuffles", ("2^20", "2^24")),
        ("sort_blocks", ("2^20",)), ("product_32", ("2^20",)), ("histogram_shared", ("2^24",)),
    )
    for size in sizes
]  # fmt: skip
UNCOUNTED = "2^10", "2^14", "2^18", "2^22", "2^26"  # sizes that ncu does not look at


def launch(cases):
    """Launches each of them once, for ncu to look at."""
    import helpers.autoinit

    for case in cases:
        arguments = case.passed()
        case.launch(arguments)()
    helpers.autoinit.context.synchronize()


def looked_at(names):
    """[{metric: value}] of each case as ncu gives it, its caches flushed before each launch."""
    folder = Path("build/clock")
    folder.mkdir(parents=True, exist_ok=True)
    log, wanted = folder / "log.csv", folder / "names.txt"
    wanted.write_text("\n".join(names))
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)]
    command += ["--force-overwrite", "--clock-control", "none", "--cache-control", "all"]
    command += ["--metrics", ",".join(METRICS), sys.executable, "-m", __spec__.name]
    subprocess.run([*command, "--launch", str(wanted)], check=True, stdout=subprocess.DEVNULL)
    text = log.read_text()
    rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"]]
    assert len(rows) == len(names), (len(rows), len(names))
    return [{m: row.get(m, "").replace(",", "") for m in METRICS} for row in rows]


def timed(cases):
    """{case: (median, low, high)} in microseconds."""
    from helpers import bench

    times = {}
    for case in cases:
        arguments = case.passed()  # kept while maps lead to them
        samples = bench.samples_us(case.launch(arguments))
        times[case.name] = np.percentile(samples, [50, 25, 75])
    return times


def wavefronts(times=8):
    """Writes what ncu counts of shared memory when it looks at the same launch several times."""
    names = [name for name in WAVEFRONTS for _ in range(times)]
    metrics = METRICS[7:9]
    with GOLDEN.with_name("wavefronts.csv").open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["case", *metrics])
        for name, row in zip(names, looked_at(names)):
            lines.writerow([name, *(row[m] for m in metrics)])


def rows():
    """What is recorded already: {case: its line}."""
    with GOLDEN.open(newline="") as file:
        return {line[0]: line for line in csv.reader(file)}


def save(path, cases, times, counts=None, kept=None):
    """Writes the times, and what was counted: these cases after those that are kept."""
    metrics = [] if counts is None else METRICS
    head = ["case", "set", "job", "median_us", "low_us", "high_us", *metrics]
    lines = {"case": head} | (kept or {})
    for case in cases:
        found = (counts or {}).get(case.name, {})
        took = (f"{t:.3f}" for t in times[case.name])
        counted = (found.get(m, "") for m in metrics)
        lines[case.name] = [case.name, case.set, case.job, *took, *counted]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines.values())


def everyone():
    """All cases, set by set."""
    from .blind import BLIND
    from .cases import CASES
    from .fresh import FRESH
    from .further import FURTHER
    from .hopper import HOPPER
    from .mechanisms import MECHANISMS
    from .public import PUBLIC
    from .tensor import TENSOR

    return *CASES, *BLIND, *TENSOR, *HOPPER, *MECHANISMS, *PUBLIC, *FURTHER, *FRESH


def each(task, names):
    """[task(name)], as many at a time as there are cores, up to 16: each process has a GPU's
    context, and arrays. Of the cases that share a file, one compiles it first: PyCUDA's cache lets
    others read what is not written yet."""
    cases = [case for case in everyone() if case.name in names]
    shared = {getattr(case, "file", case.set): case.name for case in cases}
    first = [name for file, name in shared.items() if "/" not in file]
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 16), get_context("spawn")) as pool:
        list(pool.map(compiled, first))
        return list(pool.map(task, names))


def named(name):
    """A case by its name."""
    return next(case for case in everyone() if case.name == name)


def compiled(name):
    """Leaves a case in PyCUDA's cache."""
    import helpers.autoinit  # noqa: F401

    named(name).compile()


def main():
    from .cases import MIDDLING

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", help="only cases of this set")
    parser.add_argument("--chip", help="another GPU than the H200: only times, to CHIP.csv")
    parser.add_argument("--wavefronts", action="store_true", help="only wavefronts.csv")
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = [case for case in everyone() if options.set in (None, case.set)]
    if options.launch:
        by_name = {case.name: case for case in (*cases, MIDDLING)}
        return launch([by_name[name] for name in options.launch.read_text().splitlines()])
    if options.wavefronts:
        return wavefronts()
    each(compiled, [case.name for case in cases])  # before anything is timed
    times = timed(cases)
    if options.chip:
        return save(GOLDEN.with_name(f"{options.chip}.csv"), cases, times)
    kept = {} if options.set is None else rows()
    save(GOLDEN, cases, times, {}, kept)
    print("timed", len(times), flush=True)
    counts, some = {}, [c.name for c in cases if not c.name.endswith(UNCOUNTED)]
    for first in range(0, len(some), 60):
        part = some[first : first + 60]
        counts |= dict(zip(part, looked_at(part)))
        save(GOLDEN, cases, times, counts, kept)
        print("counted", len(counts), flush=True)


if __name__ == "__main__":
    main()
