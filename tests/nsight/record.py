"""Record what Nsight Compute counts: python -m tests.nsight.record [--more FILE] on a machine with
a GPU and ncu writes tests/golden/nsight.csv, and with --more further metrics to FILE."""

import csv
import io
import subprocess
import sys
from pathlib import Path

GOLDEN = Path(__file__).parent.parent / "golden" / "nsight.csv"
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
BATCH = 300


def counted(first, last, metrics):
    """One dictionary of metrics for each of CASES[first:last]; ncu's own text stays in build/."""
    log = Path("build/nsight") / f"{first}.csv"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)]
    command += ["--force-overwrite", "--clock-control", "none", "--cache-control", "none"]
    command += ["--metrics", ",".join(metrics), sys.executable, "-m", __spec__.name]
    subprocess.run([*command, "--launch", str(first), str(last)], check=True)
    text = log.read_text()
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"') :]))
    return [row for row in rows if row["ID"]]


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


def launch(cases):
    """What ncu looks at."""
    import helpers.autoinit

    for case in cases:
        case.launch()
    helpers.autoinit.context.synchronize()


def main(arguments):
    from .cases import CASES

    if arguments[:1] == ["--launch"]:
        return launch(CASES[int(arguments[1]) : int(arguments[2])])
    more = known(MORE) if arguments else []
    GOLDEN.parent.mkdir(exist_ok=True)
    files = [(GOLDEN, METRICS)] + [(Path(arguments[1]), more)] * bool(arguments)
    for path, metrics in files:
        path.write_text(",".join(["case", "code", *metrics]) + "\n")
    for first in range(0, len(CASES), BATCH):
        cases = CASES[first : first + BATCH]
        rows = counted(first, first + len(cases), METRICS + more)
        assert [r["Kernel Name"] for r in rows] == [c.kernel for c in cases]
        for path, metrics in files:
            with path.open("a", newline="") as file:
                lines = csv.writer(file, lineterminator="\n")
                for case, row in zip(cases, rows):
                    values = [number(row.get(m) or "") for m in metrics]
                    lines.writerow([case.name, case.digest(), *values])
        print(first + len(rows), "of", len(CASES), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
