"""Record what Nsight Compute counts:

python -m softgpu.tests.xray.nsight.record [--all] [--own] [--tensor] [--more FILE]

On a machine with a GPU and ncu: fills golden.csv, by default with the cases that it
does not hold yet or whose code has changed; with --all every table, matrices.csv and products.csv
too, with --tensor only these two. --own leaves the course's kernels out; --more writes further
metrics to FILE."""

import argparse
import csv
import io
import subprocess
import sys
from pathlib import Path

from . import matrices
from .cases import CASES, OWN

GOLDEN = Path(__file__).parent / "golden.csv"
METRICS = [
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
        for what in ("requests", "sectors")
        for op in ("ld", "st", "red", "atom")
    ),
    *(
        f"l1tex__data_{what}_mem_shared_op_{op}.sum"
        for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")
        for op in ("ld", "st")
    ),
]
MORE = [
    *(
        f"l1tex__data_{what}.sum"
        for what in (
            "pipe_lsu_wavefronts_mem_shared",
            "pipe_lsu_wavefronts_mem_shared_op_atom",
            "bank_conflicts_pipe_lsu_mem_shared",
            "bank_conflicts_pipe_lsu_mem_shared_op_atom",
        )
    ),
    *(
        f"l1tex__t_{what}_pipe_lsu_mem_{where}.sum"
        for what in ("requests", "sectors")
        for where in ("local_op_ld", "local_op_st", "global_op_ldgsts")
    ),
    *(
        f"smsp__{what}.sum"
        for what in (
            "inst_executed",
            "thread_inst_executed",
            "inst_executed_op_ldgsts",
        )
    ),
    "launch__registers_per_thread",
    *(f"launch__occupancy_limit_{what}" for what in ("blocks", "registers", "shared_mem", "warps")),
    *(f"launch__shared_mem_per_block_{what}" for what in ("static", "driver")),
    "sm__maximum_warps_per_active_cycle_pct",
]
BATCH = 300  # launches of one run of ncu


def counted(cases, metrics):
    """One dictionary of metrics for each case; ncu's own text stays in build/nsight."""
    folder = Path("build/nsight")
    folder.mkdir(parents=True, exist_ok=True)
    names, log = folder / "names.txt", folder / "log.csv"
    names.write_text("\n".join(case.name for case in cases))
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)]
    command += ["--force-overwrite", "--clock-control", "none", "--cache-control", "none"]
    command += ["--profile-from-start", "off"]  # what a case makes others for, too
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", __spec__.name]
    subprocess.run([*command, "--launch", str(names)], check=True)
    text = log.read_text()
    rows = [row for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])) if row["ID"]]
    assert [row["Kernel Name"] for row in rows] == [case.kernel for case in cases]
    return rows


def number(text):
    """What ncu prints, such as 1,024; "" for what it could not measure."""
    text = text.replace(",", "")
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return ""


def known(metrics):
    """Those that this ncu has."""
    have = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True).stdout
    have = {line.split()[0] for line in have.splitlines() if line.strip()}
    return [m for m in metrics if m.startswith("launch__") or m.removesuffix(".sum") in have]


def card():
    """The GPU's name, such as H100."""
    from helpers import autoinit

    return autoinit.device.name().removeprefix("NVIDIA ").partition(" ")[0]


def launch(cases):
    """What ncu looks at."""
    import helpers.autoinit

    for case in cases:
        case.launch()
    helpers.autoinit.context.synchronize()


def write(path, metrics, rows):
    """A table of (case, (digest, {metric: value}, card)), with why the software GPU counts
    otherwise."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["case", "code", *metrics, "card", "why"])
        for case, (digest, values, card) in rows:
            counts = (values.get(m, "") for m in metrics)
            lines.writerow([case.name, digest, *counts, card, case.why])


def tensor():
    """Fills the tables of ldmatrix, stmatrix and products."""
    cases = [*matrices.matrices()], [*map(matrices.Products, matrices.products())]
    found = []
    for some, metrics in zip(cases, (matrices.METRICS, [*matrices.PIPES])):
        rows = []
        for first in range(0, len(some), BATCH):
            rows += counted(some[first : first + BATCH], metrics)
        found.append({c: {m: number(row[m]) for m in metrics} for c, row in zip(some, rows)})
    matrices.save(*found)


def save(known, cases):
    """What golden() gives, as the table, in the order of the cases."""
    write(GOLDEN, METRICS, [(c, known[c.name]) for c in cases if c.name in known])


def golden():
    """{case: (digest, {metric: value}, which GPU counted it)} as recorded."""
    if not GOLDEN.exists():
        return {}
    with GOLDEN.open(newline="") as file:
        return {
            row["case"]: (row["code"], {m: int(row[m]) for m in METRICS}, row["card"])
            for row in csv.DictReader(file)
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--tensor", action="store_true")
    parser.add_argument("--more", type=Path)
    parser.add_argument("--launch", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.launch:
        names = set(options.launch.read_text().splitlines())
        everyone = *CASES, *matrices.matrices(), *map(matrices.Products, matrices.products())
        return launch([case for case in everyone if case.name in names])
    if options.all or options.tensor:
        tensor()
    if options.tensor:
        return None
    old = {} if options.all else golden()
    wanted = [c for c in CASES if c.name not in old or old[c.name][0] != c.digest()]
    wanted = [c for c in wanted if c.file in OWN or not options.own]
    metrics = [*METRICS, *(known(MORE) if options.more else [])]
    new = {}
    for first in range(0, len(wanted), BATCH):
        cases = wanted[first : first + BATCH]
        for case, row in zip(cases, counted(cases, metrics)):
            values = {m: number(row.get(m) or "") for m in metrics}
            new[case.name] = case.digest(), values, card()
        print(len(new), "of", len(wanted), flush=True)
        save(old | new, CASES)
        if options.more:
            rows = [(c, new[c.name]) for c in CASES if c.name in new]
            write(options.more, metrics[len(METRICS) :], rows)


if __name__ == "__main__":
    main()
