"""Record what the clock is held against, on a machine with a GPU and ncu:

    python -m tests.xray.clock.record [--compile PART/PARTS]

The time of each case as bench.time_us measures it goes to golden.csv, with what Nsight Compute
counts: once, after which the model may change, and these may not."""

import argparse
import csv
import io
import subprocess
import sys
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
UNCOUNTED = "2^10", "2^14", "2^18", "2^22", "2^26"  # sizes that ncu does not look at


def launch(cases):
    """Launches each of them once, for ncu to look at."""
    import helpers.autoinit

    for case in cases:
        grid, block = case.shape
        case.function()(*case.passed(), grid=grid, block=block, shared=case.shared)
    helpers.autoinit.context.synchronize()


def counted(names):
    """{case: {metric: value}} as ncu gives it, its caches flushed before each launch."""
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
    return {
        name: {m: row.get(m, "").replace(",", "") for m in METRICS} for name, row in zip(names, rows)
    }


def timed(cases):
    """{case: (median, low, high)} in microseconds."""
    from helpers import bench

    times = {}
    for case in cases:
        run, arguments, (grid, block) = case.function(), case.passed(), case.shape
        samples = bench.samples_us(
            lambda: run(*arguments, grid=grid, block=block, shared=case.shared)
        )
        times[case.name] = np.percentile(samples, [50, 25, 75])
        for argument in arguments:
            if hasattr(argument, "free"):
                argument.free()
    return times


def save(cases, times, counts):
    with GOLDEN.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["case", "set", "job", "median_us", "low_us", "high_us", *METRICS])
        for case in cases:
            found = counts.get(case.name, {})
            lines.writerow([
                case.name, case.set, case.job, *(f"{t:.3f}" for t in times[case.name]),
                *(found.get(m, "") for m in METRICS),
            ])  # fmt: skip


def main():
    from .cases import CASES

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile", help="only compile this part of the cases, such as 0/16")
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.launch:
        by_name = {case.name: case for case in CASES}
        return launch([by_name[name] for name in options.launch.read_text().splitlines()])
    if options.compile:
        part, parts = map(int, options.compile.split("/"))
        import helpers.autoinit  # noqa: F401

        for case in CASES[part::parts]:
            case.function()
        return None
    times = timed(CASES)
    save(CASES, times, {})
    print("timed", len(times), flush=True)
    counts, some = {}, [c.name for c in CASES if not c.name.endswith(UNCOUNTED)]
    for first in range(0, len(some), 60):
        counts |= counted(some[first : first + 60])
        save(CASES, times, counts)
        print("counted", len(counts), flush=True)


if __name__ == "__main__":
    main()
