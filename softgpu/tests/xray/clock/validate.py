"""Hold the clock against what an H200 took, and write down how far it is off:

    python -m softgpu.tests.xray.clock.validate [--chip NAME] [--profile SET ...]

--profile runs the cases of these sets on the software GPU anew, of all if none is named, and keeps
what the clock says in predicted.csv.
The table in docs/clock.md and the picture beside it are made of that and of golden.csv, and of
blind.csv: what the clock said of the blind sets before an H200 had run them, which stays. --chip:
for another GPU, whose times are in NAME.csv. What the clock says goes to NAME_predicted.csv, what
it said before is in NAME_blind.csv, and the sets' table goes to the page."""

import argparse
import csv
import json
import math
import os
import re
from collections import defaultdict
from functools import partial
from itertools import combinations

import numpy as np

from helpers import plots
from softgpu.tests import ROOT
from softgpu.xray.chip import MODELLED
from softgpu.xray.clock import ERRORS

from .record import GOLDEN, each, everyone, named

PREDICTED = GOLDEN.with_name("predicted.csv")
PAGE, PICTURE = ROOT / "docs/clock.md", ROOT / "docs/clock.png"
METRICS = (
    "smsp__inst_executed.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors_op_read.sum",
    "lts__t_sectors_op_write.sum",
)
COLUMNS = "case", "predicted_us", "limit", "kind", *METRICS
FEW = {"dram__bytes_read.sum": 1 << 20, "dram__bytes_write.sum": 16 << 20}  # less is the GPU's own
SETS = {
    "course": "the course's kernels",
    "people": "kernels that people write",
    "blind": "the third set",
    "mechanisms, blind": "register tiles, local memory, structs, scans",
    "public, blind": "kernels of public programs",
    "further, blind": "further kernels of public programs",
    "fresh, blind": "kernels of other kinds",
    "tensor": "by tensor cores",
    "tensor, blind": "by tensor cores",
    "hopper": "by warpgroups and boxes",
    "hopper, blind": "by warpgroups and boxes",
}
BY_TENSOR_CORES = "tensor", "hopper"
OLDER = {("h100", "tensor, blind")}  # predicted with an H200's cycles, and not again
FIRST = "**{}, predicted before anyone looked**"
NOW = "the same, by the present model"
WORST = 16


def read(path):
    """{case: row}; nothing where nobody has written the file yet."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {row["case"]: row for row in csv.DictReader(file)}


def said(report):
    """What the clock says of a launch: {column: value}."""
    counts = report.nsight()
    limits = sorted(report.limits, key=report.limits.get, reverse=True)
    row = {
        "predicted_us": f"{report.predicted_us:.3f}",
        "limit": limits[0] if limits else "none",
        "kind": report.prediction.kind,
    }
    return row | {name: counts.get(name, "") for name in METRICS}


def profiled(name, chip):
    """What the clock says of a case."""
    return {"case": name} | said(named(name).profiled(chip))


def profile(cases, sets, chip, path):
    """Writes what the clock says, with the cases of these sets anew."""
    os.environ["HELPERS_DEVICE"] = "software"  # on a machine with a GPU, too
    rows = read(path)
    names = [case.name for case in cases if case.set in sets]
    rows |= {row["case"]: row for row in each(partial(profiled, chip=chip), names)}
    with path.open("w", newline="") as file:
        lines = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        lines.writeheader()
        lines.writerows(rows[case.name] for case in cases if case.name in rows)


class Errors:
    """Of predictions against recordings: name -> predicted / recorded - 1."""

    def __init__(self, golden, predicted, wanted):
        self.golden, self.predicted = golden, predicted
        times = {
            name: (float(predicted[name]["predicted_us"]), float(row["median_us"]))
            for name, row in golden.items()
            if row["set"] == wanted and name in predicted
        }
        self.none = [name for name, (us, _) in times.items() if math.isnan(us)]
        self.times = {name: both for name, both in times.items() if name not in self.none}
        self.of = {name: us / took - 1 for name, (us, took) in self.times.items()}

    @property
    def summary(self):
        """(median, mean, share within 30 %, share of pairs named right)."""
        off = np.abs(list(self.of.values()))
        return np.median(off), off.mean(), (off <= 0.3).mean(), self.pairs()

    def pairs(self):
        """Of two kernels for one job whose times differ by more than 10 %: how often the faster
        one is named."""
        right = []
        for a, b in combinations(self.times, 2):
            (said_a, took_a), (said_b, took_b) = self.times[a], self.times[b]
            same_job = self.golden[a]["job"] == self.golden[b]["job"]
            if same_job and max(took_a, took_b) > 1.1 * min(took_a, took_b):
                right.append((said_a < said_b) == (took_a < took_b))
        return np.mean(right) if right else math.nan

    def worst(self):
        return sorted(self.of, key=lambda name: -abs(self.of[name]))[:WORST]


def off(golden, predicted, metric, by_tensor_cores=False):
    """Relative errors of one count, where there is enough of it to count."""
    return np.array([
        abs(float(predicted[name][metric]) / float(row[metric]) - 1)
        for name, row in golden.items()
        if row["set"].startswith(BY_TENSOR_CORES) == by_tensor_cores
        and name in predicted and predicted[name][metric] and row[metric]
        and float(row[metric]) > FEW.get(metric, 20_000)
    ])  # fmt: skip


def by_set(sets):
    """The table of how far the times are off: of (Errors, what the set is called)."""
    lines = ["| set | launches | median error | mean | within 30 % | faster of two named right |"]
    lines.append("|---|---|---|---|---|---|")
    for errors, told in sets:
        shares = (
            "–" if math.isnan(value) else f"{value:.1%}".replace("%", " %")
            for value in errors.summary
        )
        lines.append(f"| {told} | {len(errors.of)} | {' | '.join(shares)} |")
    return lines


def found_of(chip):
    """[(Errors, what it is called)] of a GPU's sets: of a blind one, of what the clock said before
    the GPU had run it, and of what it says now."""
    golden, predicted, before = map(read, (times(chip), predictions(chip), first_said(chip)))
    found = []
    for wanted, told in SETS.items():
        names = {name for name, row in golden.items() if row["set"] == wanted}
        if wanted.endswith("blind") and names & before.keys():
            found.append((Errors(golden, before, wanted), FIRST.format(told)))
            told = NOW
        if names & predicted.keys() and not (told == NOW and (chip, wanted) in OLDER):
            found.append((Errors(golden, predicted, wanted), told))
    return found


def table_of(chip):
    """The table of another GPU's sets."""
    return "\n".join(by_set(found_of(chip)))


def times(chip):
    """Where it is recorded what the launches take on a GPU."""
    return GOLDEN if chip == MODELLED else GOLDEN.with_name(f"{chip}.csv")


def predictions(chip):
    """Where it is kept what the clock says of a GPU."""
    return PREDICTED if chip == MODELLED else GOLDEN.with_name(f"{chip}_predicted.csv")


def first_said(chip):
    """Where it is kept what the clock said of the blind sets before the GPU had run them."""
    return GOLDEN.with_name("blind.csv" if chip == MODELLED else f"{chip}_blind.csv")


def tables():
    """The tables of docs/clock.md that are of the GPU that the software GPU stands for."""
    golden, predicted = read(GOLDEN), read(PREDICTED)
    lines = by_set(found_of(MODELLED))
    head = "launches | median error | within 20 %"
    lines += ["", f"| count | {head} | by tensor cores: {head} |", f"|{'---|' * 7}"]
    for metric in METRICS:
        cells = [f"`{metric}`"]
        for by_tensor_cores in (False, True):
            found = off(golden, predicted, metric, by_tensor_cores)
            shares = f"{np.median(found):.1%} | {np.mean(found <= 0.2):.1%}".replace("%", " %")
            cells.append(f"{len(found)} | {shares}")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| farthest off | measured, µs | predicted, µs |  |", "|---|---|---|---|"]
    farthest = {}
    for wanted in SETS:
        errors = Errors(golden, predicted, wanted)
        farthest |= {name: (*errors.times[name], errors.of[name]) for name in errors.worst()}
    for name in sorted(farthest, key=lambda n: -abs(farthest[n][2]))[:WORST]:
        us, took, error = farthest[name]
        lines.append(f"| {name} | {took:,.1f} | {us:,.1f} | {error:+.0%} |".replace("%", " %"))
    return "\n".join(lines)


def ratios():
    """{kind: [measured / predicted]}, sorted, of the launches that the clock predicted before a GPU
    had run them: H200's and H100's."""
    found = defaultdict(list)
    for golden, predicted in (
        (read(times(chip)), read(first_said(chip))) for chip in (MODELLED, "h100")
    ):
        for name, row in golden.items():
            if not row["set"].endswith("blind") or name not in predicted:
                continue
            us, kind = float(predicted[name]["predicted_us"]), predicted[name]["kind"]
            if kind:
                found[kind].append(float(row["median_us"]) / us)
    return {kind: sorted(some) for kind, some in sorted(found.items())}


def intervals():
    """What errors.json has of each kind: the shortest interval that holds nine in ten of its
    ratios, made longer where 1 does not lie in it."""
    found = {}
    for kind, some in ratios().items():
        count = math.ceil(0.9 * len(some))
        first = min(range(len(some) - count + 1), key=lambda i: some[i + count - 1] / some[i])
        least, most = some[first], some[first + count - 1]
        bounds = [math.floor(1000 * min(least, 1)) / 1000, math.ceil(1000 * max(most, 1)) / 1000]
        found[kind] = {"launches": len(some), "measured / predicted": bounds}
    return found


def coverage():
    """{kind: the share of its launches whose time lies in the interval}."""
    bounds = {kind: row["measured / predicted"] for kind, row in intervals().items()}
    return {
        kind: float(np.mean([bounds[kind][0] <= ratio <= bounds[kind][1] for ratio in some]))
        for kind, some in ratios().items()
    }


def table_of_kinds():
    """The table of the kinds' intervals."""
    lines = ["| kind | launches | measured / predicted | of these in the interval |"]
    lines.append("|---|---|---|---|")
    held = coverage()
    for kind, row in intervals().items():
        least, most = row["measured / predicted"]
        share = f"{held[kind]:.0%}".replace("%", " %")
        lines.append(f"| {kind} | {row['launches']} | {least:.2f} to {most:.2f} | {share} |")
    return "\n".join(lines)


def picture(golden, predicted, before):
    """Predicted against measured, a point for each launch."""

    def paint(axes):
        low, high = 3, 2e4
        axes.plot([low, high], [low, high], color=plots.INK, linewidth=1)
        for factor in (0.7, 1.3):
            axes.plot([low, high], [low * factor, high * factor], ":", color=plots.INK, linewidth=1)
        sets = "course", "people", "blind"
        for wanted, colour, marker in zip(sets, plots.COLOURS, plots.MARKERS):
            said = before if wanted == "blind" else predicted
            told = "predicted before they were run" if wanted == "blind" else SETS[wanted]
            us, took = zip(*Errors(golden, said, wanted).times.values())
            axes.plot(took, us, marker, color=colour, markersize=4, alpha=0.7, label=told)
        axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axes.set(xlabel="measured on an H200, µs", ylabel="predicted, µs")
        axes.legend(loc="upper left", frameon=False)

    return plots.draw(paint, "Predicted against measured times.", height=5.2)


def write(mark, text):
    """Puts a table into the page, between its marks; prints it if there are none."""
    marked = f"<!-- {mark} -->\n\n{text}\n\n<!-- end -->"
    page, found = re.subn(
        rf"<!-- {mark} -->.*?<!-- end -->", lambda _: marked, PAGE.read_text(), flags=re.S
    )
    if found:
        PAGE.write_text(page)
    else:
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--profile", nargs="*", choices=list(SETS), help="run these sets anew, first"
    )
    parser.add_argument("--chip", default=MODELLED, help="another GPU than the H200")
    options = parser.parse_args()
    if options.profile is not None:
        sets = options.profile or list(SETS)
        recorded = read(times(options.chip))
        cases = [case for case in everyone() if case.name in recorded]
        profile(cases, sets, options.chip, predictions(options.chip))
    if options.chip != MODELLED:
        return write(options.chip, table_of(options.chip))
    ERRORS.write_text(json.dumps(intervals(), indent=1) + "\n")
    write("kinds", table_of_kinds())
    picture(read(GOLDEN), read(PREDICTED), read(first_said(MODELLED))).save(PICTURE)
    return write("validation", tables())


if __name__ == "__main__":
    main()
