"""What the counted launch may cost, and what it must do: its counters beside our solution's."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import prod
from operator import or_

from softgpu.phrases import joined
from softgpu.xray.report import Report

from ..words import Next, Refusal, counter
from .judges import Judge
from .texts import Exercise
from .verdict import Count, Verdict

__all__ = ["FACTORS", "limited", "totals", "weigh"]

MOST = 4  # times the instructions of an average block that one block may do
MOST_OF_ALL = 0.75  # the share of all instructions that one block may do, where blocks are few
FACTORS = {  # how many times what our solution needs is allowed
    "instructions": 3,
    "barriers": 2,
    "ld.sectors": 1.25,
    "st.sectors": 1.25,
    "atomics": 1.25,
    "atomics.sectors": 1.25,
    "atoms.requests": 1.25,
    "lds.wavefronts": 4,
    "sts.wavefronts": 4,
    "ldl.sectors": 1,
    "stl.sectors": 1,
}
UNLIMITED_AT_0 = "lds.wavefronts", "sts.wavefronts"  # shared memory is no fault where we need none
COMMENT = re.compile(r"//.*|/\*(?:.|\n)*?\*/")
LAST_FREE = "02"  # notebook, up to whose end hunts may store in branches, too
WIDEST = 16  # bytes that one instruction of a thread takes
FAR_APART, WITH_GAPS = 3, 1.1  # sectors for each that neighbours would take
OFTEN_AGAIN = 2  # times the memory that is touched at all
BUSY = 0.25  # of the lanes of a line's instructions
OF_TURNS = {"instructions", "barriers", "lds.wavefronts"}  # which each turn of a loop adds to
MORE_TURNS, ALIKE = 1.5, 1.1  # at least so many times ours; how far these factors may be apart


def limited(judge: Judge, total: Mapping[str, int]) -> dict[str, int]:
    """The totals that may have a limit; others may differ from run to run."""
    own = judge.limits or {}
    return {key: total[key] for key in FACTORS if own.get(key, FACTORS[key]) is not None}


def totals(report: Report) -> dict[str, int]:
    """The counters of a launch, also those that are made of several."""
    total = report.total.copy()
    for what in "requests", "sectors":
        total[f"atomics.{what}"] = total[f"red.{what}"] + total[f"atom.{what}"]
    total["atomics"] = total.pop("atomics.requests")
    total["ld.sectors"] -= total["ld.polls"]  # as many as the other block is late
    total["st.sectors"] -= total["st.fences"]
    total["shared"] = report.static_shared + report.dynamic_shared
    for way in "ld", "st":  # an ideal request of 32 threads has a sector for each byte of a thread
        total[f"{way}.bytes"] = round(total[f"{way}.ideal"] / max(total[f"{way}.requests"], 1))
    return total


def weigh(exercise: Exercise, verdict: Verdict, reports: list[Report]) -> None:
    """Judge the reports of the counted launch, each with another block watched."""
    judge, total = exercise.judge, totals(reports[0])
    verdict.report = reports[0]
    for key, allowed in judge.budget.items():
        count = Count(key, total[key], *(allowed if isinstance(allowed, tuple) else 2 * (allowed,)))
        verdict.counts.append(count)
    given = set() if exercise.is_hunt else {line.strip() for line in exercise.stub.splitlines()}
    limits = [c for c in _limits(exercise, total) if c.key not in judge.budget]
    counts = [replace(c, may_exceed=_may_branch(exercise, c, reports)) for c in verdict.counts]
    verdict.counts[:] = counts
    turns = _more_turns([*counts, *limits])
    for count in [*counts, *limits]:
        if count.value > count.most and not _may_branch(exercise, count, reports):
            own = turns if count.key in OF_TURNS else ""
            advice = own or _advice(exercise, count, reports, given)
            verdict.refuse("counters", count.text, advice)
    is_wasteful = bool(verdict.reasons)  # then too few of something are no fault, but none are
    for key, (least, advice) in reversed(judge.idea.items()):
        if total[key] < least and not (is_wasteful and total[key]):
            idea = Refusal.IDEA(what=counter(key), value=total[key])
            verdict.refuse("counters", idea, advice, first=True)
    if total["shared"] > (most := judge.shared_bytes):
        text = Refusal.AT_MOST(what=counter("shared"), value=total["shared"], most=most)
        verdict.refuse("counters", text, Next.LESS_AT_A_TIME())
    _weigh_blocks(judge, verdict, reports)


def _more_turns(counts: list[Count]) -> str:
    """In words, if two of them or more exceed ours by about one factor; or ""."""
    over = [c for c in counts if c.key in OF_TURNS and c.value > c.most and c.best]
    times = [count.value / count.best for count in over]
    if len(times) < 2 or min(times) < MORE_TURNS or max(times) > ALIKE * min(times):
        return ""
    return Next.MORE_TURNS(times=f"{min(times):.2g}")


def _may_branch(exercise: Exercise, count: Count, reports: list[Report]) -> bool:
    """Whether all that is too much are stores in branches, and the kernel may have them."""
    is_asked = exercise.is_hunt and exercise.name[:2] > LAST_FREE
    return count.key in ("st.sectors", "st.requests") and not is_asked and _branch_stores(reports)


def _branch_stores(reports: list[Report]) -> bool:
    """Whether warps store in several places, each of their lanes in one of these, and sectors are
    stored again by other lanes only: as an if and its else do."""
    return any(map(_warps_branch, reports))


def _warps_branch(report: Report) -> bool:
    stores = {n for n, site in enumerate(report.sites) if site.kind == "store"}
    by_sector: dict[
        tuple[int, int], list[tuple[int, int]]
    ] = {}  # {(warp, sector): the lanes and places of each store}
    size = report.static_shared + report.dynamic_shared
    for sample in report.samples:
        lanes = [lane for lane in range(32) if int(sample["mask"]) >> lane & 1]
        if int(sample["site"]) not in stores or int(sample["lanes"][lanes[0]]) < size:
            continue
        for sector in {int(sample["lanes"][lane]) // 32 for lane in lanes}:
            found = by_sector.setdefault((int(sample["warp"]), sector), [])
            found.append((int(sample["site"]), int(sample["mask"])))
    again = [found for found in by_sector.values() if len(found) > 1]
    return bool(again) and all(map(_are_apart, again))


def _are_apart(stores: list[tuple[int, int]]) -> bool:
    """Whether these are of several instructions, and no lane takes part twice."""
    masks = [mask for _, mask in stores]
    return len({site for site, _ in stores}) > 1 and sum(masks) == reduce(or_, masks)


def _advice(exercise: Exercise, count: Count, reports: list[Report], given: set[str]) -> str:
    """What to do about a counter, and the line that adds most to it, the given ones left out."""
    if own := exercise.judge.advice.get(count.key):
        return own
    report, ours = reports[0], exercise.counts
    way, _, what = count.key.partition(".")
    total, advice = report.total, count.advice
    texts = {(file, n): report.source(file).get(n, "").strip() for file, n in report.lines}
    counts = {
        place: line[count.key] for place, line in report.lines.items() if texts[place] not in given
    }
    worst = max(counts, key=lambda place: counts[place], default=None)
    is_idle = bool(worst) and _busy(report.lines[worst]) < BUSY
    if way in ("ld", "st") and what in ("sectors", "requests"):
        ideal = max(total[f"{way}.ideal"], 1)
        each = total[f"{way}.sectors"] / ideal
        touched = report.touched_bytes[way == "st"] / 32
        is_again = ideal >= OFTEN_AGAIN * touched
        apart = Next.APART if each >= FAR_APART else Next.GAPS if each > WITH_GAPS else Next.OFTEN
        advice = apart()
        if way == "st" and _branch_stores(reports):
            advice = Next.BRANCHES()
        elif apart != Next.APART:
            advice = (Next.STORED_AGAIN() if way == "st" else Next.AGAIN()) if is_again else advice
            advice = Next.IDLE() if is_idle and not is_again else advice
        elif way == "ld" and is_again and ours.get("ld.sectors", 0) >= FAR_APART * touched:
            advice = Next.AGAIN()  # ours takes no neighbours, either
        elif worst and _fits_a_pack(report, way, worst) and total[f"{way}.sectors"] > touched:
            advice = Next.IN_PIECES()
    elif way in ("atomics", "red", "atom", "atoms") and not count.best:
        advice = Next.NO_ATOMICS()
    elif way in ("lds", "sts") and not total[f"{way}.conflicts"]:
        advice = Next.FEWER()
    elif way == "shared":
        advice = Next.LESS_AT_A_TIME()
    if not worst or not counts[worst] or not texts[worst]:
        return advice
    return joined(advice, Next.MOST_ARE_OF(line=report.named(worst), text=texts[worst]))


def _fits_a_pack(report: Report, way: str, place: tuple[str, int]) -> bool:
    """Whether lanes access places so near to each other on a line that one wide access fills the
    gaps."""
    kind = "store" if way == "st" else "load"
    sites = {n for n, site in enumerate(report.sites) if (site.file, site.line) == place}
    far = 0
    for sample in report.samples:
        if int(sample["site"]) in sites and report.sites[sample["site"]].kind == kind:
            lanes = [int(sample["lanes"][n]) for n in range(32) if int(sample["mask"]) >> n & 1]
            far = max([far, *(abs(b - a) for a, b in pairwise(lanes))])
    return 0 < far <= WIDEST


def _busy(line: Mapping[str, int]) -> float:
    """The share of lanes that are active in a line's instructions."""
    return line["lanes"] / max(32 * line["instructions"], 1)


def _limits(exercise: Exercise, total: Mapping[str, int]) -> Iterator[Count]:
    """The Counts that no budget names: so many times what our solution needs."""
    own = exercise.judge.limits
    if own is None:
        return
    ours = exercise.counts
    for key, factor in (FACTORS | own).items():
        best = ours.get(key, 0)
        if factor is not None and ours and (best or key in own or key not in UNLIMITED_AT_0):
            most = factor[0] if isinstance(factor, tuple) else int(factor * best)
            yield Count(key, total[key], best, most)


def _weigh_blocks(judge: Judge, verdict: Verdict, reports: list[Report]) -> None:
    """Whether blocks share the work, and so do the warps of one."""
    blocks = prod(reports[0].grid)
    by_warp = [report.watched_instructions for report in reports]
    busiest = max(warps.sum() for warps in by_warp) / (reports[0].total["instructions"] or 1)
    if judge.even and blocks > 1 and busiest > min(MOST / blocks, MOST_OF_ALL):
        share = Refusal.ONE_BLOCK(blocks=blocks, share=busiest)
        verdict.refuse("counters", share, Next.ALONE())
    more = max(warps.max() / max(warps.mean(), 1) for warps in by_warp)
    if judge.warps and more > judge.warps:
        verdict.refuse("counters", Refusal.ONE_WARP(times=more), Next.IDLE_WARPS())
