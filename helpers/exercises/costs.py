"""What the counted launch may cost, and what it must do: its counters beside our solution's."""

import re
from math import prod

from .verdict import NAMES, Count

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
SHARED_BYTES = 16384  # of a block: with more, fewer blocks of 256 fit on a multiprocessor
UNLIMITED_AT_0 = "lds.wavefronts", "sts.wavefronts"  # shared memory is no fault where we need none
COMMENT = re.compile(r"//.*|/\*(?:.|\n)*?\*/")
FEW_BLOCKS = "Let more blocks share the work: a GPU has more than a hundred multiprocessors."
APART = (
    "A sector has 32 bytes: let all lanes of a warp take neighbours at once. A lane alone, or far"
    " from the next, takes a sector for itself."
)
GAPS = (
    "Lanes leave out what another access takes, of the same sectors: take what lies together by one"
    " wider access, such as float2 or float4, or let lanes take neighbours."
)
OFTEN = (
    "Lanes take neighbours, as they should, but in more sectors than needed: let all lanes of a"
    " warp take part, and none take again what was fetched before."
)
FAR_APART, WITH_GAPS = 3, 1.1  # sectors for each that neighbours would take
OFTEN_AGAIN = 2  # times the memory that is touched at all
BUSY = 0.25  # of the lanes of a line's instructions
AGAIN = (
    "Most elements are fetched again and again: fetch each once, into a register or into shared"
    " memory, and hand it on."
)
IDLE = "Most lanes idle here: let all lanes of a warp share the work."
IDLE_WARPS = "The others wait for it, with nothing under way: let all warps share the work."
FEWER = "It is not the banks: most lanes idle here, or the same is read again."
LESS_SHARED = "What of it does a block need at a time?"
ALONE = "Which elements are this block's, and which another's?"


def limited(rules, total):
    """The totals that may have a limit; others may differ from run to run."""
    own = getattr(rules, "LIMITS", None) or {}
    return {key: total[key] for key in FACTORS if own.get(key, FACTORS[key]) is not None}


def totals(report):
    """The counters of a launch, also those that are made of several."""
    total = report.total.copy()
    for what in "requests", "sectors":
        total[f"atomics.{what}"] = total[f"red.{what}"] + total[f"atom.{what}"]
    total["atomics"] = total.pop("atomics.requests")
    total["shared"] = report.static_shared + report.dynamic_shared
    for way in "ld", "st":  # an ideal request of 32 threads has a sector for each byte of a thread
        total[f"{way}.bytes"] = round(total[f"{way}.ideal"] / max(total[f"{way}.requests"], 1))
    return total


def weigh(exercise, verdict, reports):
    """Judge the reports of the counted launch, each with another block watched."""
    rules, total = exercise.rules, totals(reports[0])
    verdict.report = reports[0]
    for key, allowed in rules.BUDGET.items():
        count = Count(key, total[key], *(allowed if isinstance(allowed, tuple) else 2 * (allowed,)))
        verdict.counts.append(count)
    given = set() if exercise.is_hunt else {line.strip() for line in exercise.stub.splitlines()}
    limits = [c for c in _limits(exercise, total) if c.key not in rules.BUDGET]
    for count in [*verdict.counts, *limits]:
        if count.value > count.most:
            verdict.refuse("counters", str(count), _advice(count, reports[0], given))
    is_wasteful = bool(verdict.reasons)  # then too few of something is no fault of its own
    for key, (least, advice) in getattr(rules, "IDEA", {}).items():
        if total[key] < least and not is_wasteful:
            idea = f"{NAMES[key]} {total[key]:,}: the idea of this exercise takes more of them"
            verdict.refuse("counters", idea, advice)
    for pattern, advice in getattr(rules, "TEXT", {}).items():
        if verdict.text and not re.search(pattern, COMMENT.sub("", verdict.text)):
            verdict.refuse("text", "something that is asked for is not in it", advice)
    if total["shared"] > (most := getattr(rules, "SHARED_BYTES", SHARED_BYTES)):
        text = f"{NAMES['shared']} {total['shared']:,}, {most:,} at most"
        verdict.refuse("counters", text, LESS_SHARED)
    _weigh_blocks(rules, verdict, reports)


def _advice(count, report, given):
    """What to do about a counter, and the line that adds most to it, the given ones left out."""
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
        advice = APART if each >= FAR_APART else GAPS if each > WITH_GAPS else OFTEN
        if advice != APART:
            advice = AGAIN if ideal >= OFTEN_AGAIN * touched else IDLE if is_idle else advice
    elif way in ("lds", "sts") and not total[f"{way}.conflicts"]:
        advice = FEWER
    if not worst or not counts[worst] or not texts[worst]:
        return advice
    return f"{advice} Most of these are of line {worst[1]}: {texts[worst]}"


def _busy(line):
    """The share of lanes that are active in a line's instructions."""
    return line["lanes"] / max(32 * line["instructions"], 1)


def _limits(exercise, total):
    """The Counts that no BUDGET names: so many times what our solution needs."""
    own = getattr(exercise.rules, "LIMITS", {})
    if own is None:
        return
    ours = exercise.counts
    for key, factor in (FACTORS | own).items():
        best = ours.get(key, 0)
        if factor is not None and ours and (best or key in own or key not in UNLIMITED_AT_0):
            most = factor[0] if isinstance(factor, tuple) else int(factor * best)
            yield Count(key, total[key], best, most)


def _weigh_blocks(rules, verdict, reports):
    """Whether blocks are many enough, and share the work, and so do the warps of one."""
    blocks = prod(reports[0].grid)
    least = getattr(rules, "BLOCKS", 1)
    if blocks < least:
        verdict.refuse("counters", f"{NAMES['blocks']} {blocks:,}, {least:,} at least", FEW_BLOCKS)
    by_warp = [report.watched_instructions for report in reports]
    busiest = max(warps.sum() for warps in by_warp) / (reports[0].total["instructions"] or 1)
    if getattr(rules, "EVEN", True) and blocks > 1 and busiest > min(MOST / blocks, MOST_OF_ALL):
        share = f"one of {blocks} blocks does {busiest:.0%} of all instructions"
        verdict.refuse("counters", share, ALONE)
    more = max(warps.max() / max(warps.mean(), 1) for warps in by_warp)
    if more > getattr(rules, "WARPS", more):
        share = f"one warp does {more:.2g} times the instructions of an average warp of its block"
        verdict.refuse("counters", share, IDLE_WARPS)
