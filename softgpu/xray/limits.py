"""A picture of what limits a launch: what each resource alone would need, of one or of two."""

from typing import Any

from .clock import SAID
from .figures import COLOURS, INK, Picture, draw
from .report import Report

__all__ = ["draw_limits"]

MOST = 8  # resources that a picture shows
LEAST = 0.01  # of the predicted time: what is shorter is left out


def draw_limits(*reports: Report) -> Picture:
    """The µs that each resource alone would need, longest first, of one launch or of two.

    The line is the whole predicted time: limits that are alike add to each other."""
    if not 1 <= len(reports) <= 2 or not all(isinstance(r, Report) for r in reports):
        raise TypeError("draw_limits takes one or two reports of xray.profile")
    for report in reports:
        if report.prediction.why:
            raise LookupError(f"{report.kernel}: no prediction: {report.prediction.why}")
    longest: dict[str, float] = {}
    for report in reports:
        for name, us in report.limits.items():
            if us >= LEAST * report.predicted_us:
                longest[name] = max(us, longest.get(name, 0))
    names = sorted(longest, key=longest.__getitem__, reverse=True)[:MOST]
    height = 0.8 / len(reports)

    def paint(axes: Any) -> None:
        for number, (report, colour) in enumerate(zip(reports, COLOURS)):
            rows = [row + height * (number - (len(reports) - 1) / 2) for row in range(len(names))]
            bars = [report.limits.get(name, 0) for name in names]
            label = f"{report.kernel}: {report.predicted_us:,.3g} µs in all"
            axes.barh(rows, bars, height, color=colour, label=label)
            axes.axvline(report.predicted_us, color=colour, linestyle="--")
        axes.set_yticks(range(len(names)), [SAID.get(name, name) for name in names])
        axes.set(ylim=(len(names) - 0.5, -0.5), xlabel="µs that this alone would need, predicted")
        axes.grid(axis="x", color=INK, alpha=0.3)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.25), frameon=False)

    told = ". ".join(f"{report.kernel}, {report.prediction}" for report in reports)
    return draw(paint, f"What limits it: {told}.", height=1.3 + 0.34 * len(names))
