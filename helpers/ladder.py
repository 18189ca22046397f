"""The ladder: all steps of the course so far, with what each counts and how long it takes.

A rung's counts are xray's, for ELEMENTS elements. Its time is a Timing of the notebook it is from;
of a step that nobody has timed, such as your own, one that is predicted, shown as a hollow mark.
Rungs of earlier notebooks come from notebooks/recorded/ladder.csv, which make record writes."""

import math
import re
from dataclasses import dataclass, fields
from itertools import cycle
from textwrap import fill

from . import bench, csv_files, plots

__all__ = ["ELEMENTS", "Ladder", "Rung", "as_recorded", "course", "overview"]

ELEMENTS = 1 << 20
MOST = 1.1  # of the ceiling, in the picture of the whole course
ONE_CASE = {"09": "one_dimension: (.+)", "11": "(.+) float32"}  # of which the group is the step
LAST_ABOUT_MEMORY = "12"  # products have another ceiling
MILESTONES = {  # {step: its idea}
    "atomic": "all threads add to one number",
    "halving": "a tree in each block",
    "shared": "the tree in shared memory",
    "shuffle_down": "lanes that hand on to lanes",
    "packed": "16 bytes per load",
}
GAP = 0.6  # between notebooks in the picture, in rows
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Rung:
    """A step: counted on ELEMENTS elements, timed on `size`. Times are NaN if nobody has yet."""

    notebook: str
    step: str
    memory_bytes: int  # of the distinct sectors touched: the least that memory has to move
    sectors: int  # that warps asked for, each as often as it was
    conflicts: int  # wavefronts of shared memory beyond the ideal
    barriers: int  # that warps came to
    size: int
    median_us: float
    share: float  # of the ceiling
    device: str
    date: str

    @property
    def is_known(self):
        return not math.isnan(self.median_us)

    @property
    def is_predicted(self):
        return self.device == bench.PREDICTED


COUNTS = [field.name for field in fields(Rung)[2:6]]


def counts(report):
    """What a rung says of one launch: an xray report's counts."""
    return {
        "memory_bytes": sum(report.touched_bytes),
        "sectors": sum(report.total[f"{op}.sectors"] for op in ("ld", "st", "red", "atom")),
        "conflicts": report.total["lds.conflicts"] + report.total["sts.conflicts"],
        "barriers": report.total["barriers"],
    }


class Ladder:
    """The rungs of the notebook that these Timings are of, and the best of those before."""

    def __init__(self, timings):
        self.timings = timings
        self.notebook = timings.path.stem
        self.path = bench.RECORDED / "ladder.csv"
        self.rungs = [rung for rung in load(self.path) if rung.notebook < self.notebook]

    def add(self, step, *reports, size):
        """A rung for a step that was timed at this size; reports: of its launches on ELEMENTS."""
        counted = [counts(report) for report in reports]
        totals = {name: sum(count[name] for count in counted) for name in COUNTS}
        point = self.timings.points[step, size]
        if not point.is_known:
            point = max(self.timings.predicted(step), key=lambda p: p.size, default=point)
        share = point.gb_per_s / self.timings.ceiling.gb_per_s
        times = {
            "size": point.size,
            "median_us": point.median_us,
            "share": share,
            "device": point.device,
            "date": point.date,
        }
        self.rungs = [r for r in self.rungs if (r.notebook, r.step) != (self.notebook, step)]
        self.rungs.append(Rung(self.notebook, step, **totals, **times))
        if bench.COMMIT:
            later = [rung for rung in load(self.path) if rung.notebook > self.notebook]
            csv_files.save(self.path, Rung, [*self.rungs, *later], ".6g")

    @property
    def shown(self):
        """The rungs of the table and the picture."""
        earlier = [r for r in self.rungs if r.notebook < self.notebook and r.is_known]
        best = max(earlier, key=lambda rung: rung.share, default=None)
        return [r for r in self.rungs if r.notebook == self.notebook or r is best]

    @property
    def source(self):
        """Where the times come from."""
        known = [rung for rung in self.shown if rung.is_known and not rung.is_predicted]
        if not known:
            return "no times recorded yet"
        own = any(rung.notebook == self.notebook for rung in known)
        if not own or self.timings.source.startswith("recorded"):
            return f"times recorded on {known[0].device}, {known[0].date}"
        earlier = [r.device for r in known if r.notebook < self.notebook]
        others = f"; earlier ones recorded on {earlier[0]}" if earlier else ""
        return f"times {self.timings.source}{others}"

    @property
    def score(self):
        """The rungs shown in one line, by the number that the course is about."""
        told = (f"{r.step} {percent(r.share) if r.is_known else 'unknown'}" for r in self.shown)
        return f"Share of the memory's speed: {', '.join(told)}"

    def rows(self):
        """A table of the rungs shown; counts are for ELEMENTS elements."""
        yield (
            "", "step", "MB of memory", "sectors", "bank conflicts", "barriers", "timed on", "µs",
            "of the ceiling",
        )  # fmt: skip
        for rung in self.shown:
            times = "not recorded", ""
            if rung.is_known:
                times = plots.digits(rung.median_us), percent(rung.share)
            if rung.is_predicted:
                times = f"{times[0]} predicted", times[1]
            yield (
                rung.notebook[:2], rung.step, f"{rung.memory_bytes / 1e6:.2f}",
                f"{rung.sectors:,}", f"{rung.conflicts:,}", f"{rung.barriers:,}",
                f"{rung.size:,}", *times,
            )  # fmt: skip

    def __repr__(self):
        return "\n".join([self.source, *map("  ".join, self.rows())])

    def _repr_html_(self):
        caption = f"counts for {ELEMENTS:,} elements; {self.source}"
        return csv_files.table(caption, self.rows())

    def picture(self):
        """Each rung's share of the ceiling as a dot, a colour and a marker a notebook."""
        rungs = self.shown
        if not any(rung.is_known for rung in rungs):
            return plots.empty(rungs)
        names = [f"{rung.notebook[:2]} {rung.step}" for rung in rungs]
        texts = [said(rung) for rung in rungs]
        notebooks = list(dict.fromkeys(rung.notebook for rung in rungs))
        styles = dict(zip(notebooks, cycle(zip(plots.MARKERS, plots.COLOURS))))
        rows = [row + GAP * notebooks.index(rung.notebook) for row, rung in enumerate(rungs)]

        def paint(axes):
            axes.set_title(fill(self.source, 72))
            axes.set_xlabel("share of the ceiling, and the time for so many elements")
            for row, rung, text in zip(rows, rungs, texts):
                marker, colour = styles[rung.notebook]
                hollow = {"markerfacecolor": "none"} if rung.is_predicted else {}
                style = {"color": colour, "markersize": 7, "clip_on": False} | hollow
                axes.plot(rung.share, row, marker, **style)
                left = rung.share > 0.5  # no text over the ceiling's line
                axes.annotate(
                    text,
                    (min(rung.share, 1) if rung.is_known else 0, row),
                    (-8 if left else 8, 0),
                    textcoords="offset points",
                    ha="right" if left else "left",
                    va="center",
                )
            axes.axvline(1, linestyle="--", color=plots.INK)
            axes.grid(axis="x")
            axes.set_yticks(rows, names)
            axes.set(xlim=(-0.01, 1.02), ylim=(rows[-1] + 0.6, -0.6))
            axes.xaxis.set_major_formatter(lambda share, _: percent(share))

        told = "; ".join(f"{name} {text}" for name, text in zip(names, texts))
        alt = f"Share of the ceiling of each step, {self.source}: {told}."
        return plots.draw(paint, alt, height=1 + 0.26 * rows[-1])


def as_recorded(notebook):
    """The ladder of a notebook, such as 03_shared_memory_reduce, with its steps as recorded."""
    known = bench.load(bench.RECORDED / f"{notebook}.csv")
    limit = next(
        limit for limit in bench.MOVERS if (f"ceiling ({limit})", bench.CEILING_BYTES) in known
    )
    made = Ladder(bench.Timings(notebook, limit))
    made.rungs = [rung for rung in load(made.path) if rung.notebook <= notebook]
    return made


def overview():
    """Where notebooks 02 to 05 lead, as recorded: their milestones in a sum of 2²⁶ numbers."""
    recorded = {rung.step: rung for rung in load(bench.RECORDED / "ladder.csv")}
    rungs = [recorded[step] for step in MILESTONES]
    ideas = [f"{rung.notebook[:2]} {idea}" for rung, idea in zip(rungs, MILESTONES.values())]
    texts = [f"{digits_us(rung.median_us)}, {percent(rung.share)}" for rung in rungs]
    floor = rungs[-1].median_us * rungs[-1].share
    source = f"{rungs[-1].device}, {rungs[-1].date}"

    def paint(axes):
        axes.set_title(f"a sum of 2²⁶ numbers; {source}")
        for row, (rung, text, colour) in enumerate(zip(rungs, texts, plots.COLOURS)):
            axes.plot(rung.median_us, row, "o", color=colour, markersize=7)
            place = rung.median_us, row
            axes.annotate(text, place, (8, 0), textcoords="offset points", va="center")
        axes.axvline(floor, linestyle="--", color=plots.INK)
        axes.grid(axis="x")
        axes.set(xscale="log", xlim=(floor / 2, 3e6), ylim=(len(rungs) - 0.4, -0.6))
        axes.set_xlabel("µs, logarithmic; dashed: reading alone")
        axes.set_yticks(range(len(rungs)), ideas)
        axes.set_xticks([10**power for power in range(2, 6)])
        axes.xaxis.set_major_formatter("{x:,g}")

    told = "; ".join(
        f"{idea} ({step}) {text}" for idea, step, text in zip(ideas, MILESTONES, texts)
    )
    alt = f"Times for a sum of 2²⁶ numbers, and the share of the memory's speed, {source}: {told}."
    alt += f" Dashed: {digits_us(floor)}, what reading 2²⁶ numbers takes."
    return plots.draw(paint, alt, height=2.4)


def course():
    """Every step of the notebooks about memory as recorded, a row for each notebook: the share of
    the ceiling that a step reached, on the ladder or else where it did best. The least and the
    greatest are named."""
    about_memory = [path for path in _notebooks() if path.stem[:2] <= LAST_ABOUT_MEMORY]
    recorded = {path.stem: list(bench.load(path).values()) for path in about_memory}
    rows = {name: _best_shares(name, points) for name, points in recorded.items()}
    for rung in load(bench.RECORDED / "ladder.csv"):
        if rung.is_known and rung.step in rows[rung.notebook]:
            rows[rung.notebook][rung.step] = rung.share
    last = list(recorded.values())[-1][0]
    source = f"{last.device}, {last.date}"

    def paint(axes):
        axes.set_title(f"every step of the course; {source}")
        for row, (colour, steps) in enumerate(zip(cycle(plots.COLOURS), rows.values())):
            hollow = {"color": colour, "markersize": 7, "markerfacecolor": "none"}
            axes.plot(list(steps.values()), [row] * len(steps), "o", clip_on=False, **hollow)
            least, most = min(steps, key=steps.get), max(steps, key=steps.get)
            style = {"textcoords": "offset points", "va": "center", "color": colour}
            axes.annotate(f"{most} {percent(steps[most])}", (MOST, row), (8, 0), **style)
            if least != most:
                told, is_far = f"{least} {percent(steps[least])}", steps[least] > 0.3
                side = {"ha": "right" if is_far else "left", "size": 9}
                axes.annotate(told, (steps[least], row), (8 if is_far else -4, 11), **side, **style)
        axes.axvline(1, linestyle="--", color=plots.INK)
        axes.grid(axis="x")
        axes.set(xlabel="share of the ceiling", xlim=(0, MOST))
        axes.set_ylim(len(rows) - 0.4, -0.8)
        axes.set_yticks(range(len(rows)), [name.replace("_", " ") for name in rows])
        axes.xaxis.set_major_formatter(lambda share, _: percent(share))

    told = "; ".join(
        f"{row}: " + ", ".join(f"{name} {percent(share)}" for name, share in steps.items())
        for row, steps in rows.items()
    )
    alt = f"Share of the ceiling of every step, {source}: {told}."
    return plots.draw(paint, alt, height=1 + 0.45 * len(rows))


def _notebooks():
    """The recorded files that bear the name of a notebook."""
    files = sorted(bench.RECORDED.glob("[0-9][0-9]_*.csv"))
    return [path for path in files if (bench.RECORDED.parent / f"{path.stem}.ipynb").exists()]


def _best_shares(notebook, points):
    """The greatest share of the ceiling, the first of these points, for each step of the others: of
    notebooks with several cases in the one that ONE_CASE picks."""
    ceiling = points[0]
    best: dict[str, float] = {}
    for point in points[1:]:
        found = re.fullmatch(ONE_CASE.get(notebook[:2], "(.+)"), point.step)
        share = point.gb_per_s / ceiling.gb_per_s
        if found and share > best.get(found[1], 0):
            best[found[1]] = share
    return best


def digits_us(us):
    return f"{plots.digits(us)} µs"


def said(rung):
    """A rung's time in words: 90 %, 66.5 µs for 2²⁶."""
    if not rung.is_known:
        return "not recorded yet"
    power = rung.size.bit_length() - 1
    size = f"2{str(power).translate(RAISED)}" if rung.size == 1 << power else f"{rung.size:,}"
    told = ", predicted" if rung.is_predicted else ""
    return f"{percent(rung.share)}, {plots.digits(rung.median_us)} µs for {size}{told}"


def percent(share):
    """A share as percent: 0.0012 %, 0.35 %, 92 %."""
    return f"{100 * share:.2g} %" if share < 0.1 else f"{share:.0%}".replace("%", " %")


def load(path):
    """The rungs of a recorded file, in its order; none if there is no file."""
    return csv_files.load(path, Rung)
