"""Pictures of one block of a profiled launch: lanes on memory, on banks, over time, on each other.

Each takes a Report of xray.profile (its `watch` says which block) and a line, by number or by a
piece of its text. A line may have several accesses, and a loop several turns: `warp` (default: the
first that came by), `access` and `turn` choose, counted from 0."""

from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from .figures import COLOURS, INK, draw
from .report import Report

__all__ = ["draw_access", "draw_banks", "draw_shuffle", "draw_steps"]

SECTOR, LINE, BANKS = 32, 128, 32
GAP = 0.4  # bytes left blank at a sector's borders
OPERATIONS = "load", "store", "red", "atomic"
SHUFFLE = ("generic",)  # the memory space of a shuffle's site
MODES = "up", "down", "xor", "idx"
MOST_LINES = 16  # lines of memory, or wavefronts, that a picture shows
HUES = matplotlib.colormaps["hsv"](np.linspace(0, 0.88, 32))[:, :3] * 0.6 + 0.25  # of the lanes


def draw_access(report, line, warp=None, turn=0, operation=None, access=0):
    """The 32-byte sectors of global memory that a warp touched: whose bytes, and which for nobody.

    operation: "load", "store", "red" or "atomic", where a line has several."""
    chosen = _choose(report, line, ("global", "generic"), warp, access, turn, operation)
    sample = chosen.sample
    active = _lanes(sample["mask"])
    bytes_ = int(sample["bytes"])
    start = {lane: int(sample["lanes"][lane]) for lane in active}
    owners: dict[int, list[int]] = {}
    for lane in active:
        for byte in range(start[lane], start[lane] + bytes_):
            owners.setdefault(byte, []).append(lane)
    sectors = sorted({byte // SECTOR for byte in owners})
    lines = sorted({sector * SECTOR // LINE for sector in sectors})
    shown = lines[:MOST_LINES]
    begin = _begin(report, min(owners))
    moved, used = SECTOR * len(sectors), len(owners)
    title, said = _heads(report, chosen)

    def paint(axes):
        for row, memory in enumerate(shown):
            base = memory * LINE
            axes.add_patch(Rectangle((-0.5, row), LINE + 1, 1, fill=False, edgecolor=INK))
            for sector in range(base, base + LINE, SECTOR):
                place = sector - base + GAP, row, SECTOR - 2 * GAP
                if sector // SECTOR in sectors:
                    _box(axes, *place, edgecolor=INK, hatch="////", alpha=0.6)
                else:
                    _box(axes, *place, edgecolor=INK, alpha=0.25)
            for first, end, lanes in _runs(owners, base, base + LINE):
                text = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
                left = first - base + GAP * (first % SECTOR == 0)
                right = end - base - GAP * (end % SECTOR == 0)
                text = text if end - first > 3 else ""
                _cell(axes, left, row, right - left, lanes[0], text, outline=bytes_ > 4)
        axes.set_xlim(-0.6, LINE + 0.6)
        axes.set_xticks(range(0, LINE + 1, SECTOR))
        axes.set_yticks(
            np.arange(len(shown)) + 0.5, [f"byte {line * LINE - begin:,}" for line in shown]
        )
        pack = f", outline: {bytes_} at once" if bytes_ > 4 else ""
        axes.set_xlabel(f"byte; row: line of 128, box: sector of 32{pack}")
        _tidy(axes, len(shown), f"{len(lines) - len(shown)} more lines of memory", lines, shown)
        axes.set_title(f"{title} {_count(len(sectors), 'sector')}, {100 * used / moved:.3g}% used")

    alt = (
        f"{said} touch{'es' * (len(active) == 1)} {_count(len(sectors), 'sector')} of 32 bytes"
        f" in {_count(len(lines), 'line')} of 128;"
        f" {used} of {moved} bytes moved are used."
    )
    return draw(paint, alt, height=_height(len(shown) + (shown != lines)))


def draw_banks(report, line, warp=None, turn=0, operation=None, access=0):
    """Which lanes use which bank of shared memory in each wavefront of one access by a warp."""
    chosen = _choose(report, line, ("shared", "generic"), warp, access, turn, operation)
    site, sample = chosen.site, chosen.sample
    active = _lanes(sample["mask"])
    bytes_ = int(sample["bytes"])
    offset = {lane: int(sample["lanes"][lane]) for lane in active}
    is_row = bytes_ == 16 and site.elements == 1  # of a matrix, by ldmatrix and its like
    groups = _groups(offset, bytes_, site.kind == "load" and not is_row)
    waves = [wave for group in groups for wave in _waves(group, offset, max(bytes_, 4))]
    least = len(groups)
    shown = waves[:MOST_LINES]
    words = max(bytes_ // 4, 1)
    title, said = _heads(report, chosen)

    def paint(axes):
        for row, wave in enumerate(shown):
            _box(axes, 0, row, BANKS, edgecolor=INK, alpha=0.25)
            for unit, lanes in wave.items():
                text = str(lanes[0]) if len(lanes) == 1 else f"×{len(lanes)}"
                _cell(axes, unit * words % BANKS, row, words, lanes[0], text)
        axes.set_xlim(-0.3, BANKS + 0.3)
        axes.set_xticks(np.arange(0, BANKS, 4) + 0.5, range(0, BANKS, 4))
        axes.set_yticks(np.arange(len(shown)) + 0.5, range(1, len(shown) + 1))
        axes.set_xlabel("bank of 4 bytes; a row is a wavefront")
        _tidy(axes, len(shown), f"{len(waves) - len(shown)} more wavefronts", waves, shown)
        conflicts = _count(len(waves) - least, "conflict")
        axes.set_title(f"{title} {_count(len(waves), 'wavefront')}, {conflicts}")

    alt = (
        f"{said} take{'s' * (len(active) == 1)} {_count(len(waves), 'wavefront')} over 32 banks,"
        f" {len(waves) - least} of them because of bank conflicts."
    )
    return draw(paint, alt, height=_height(len(shown) + (shown != waves)))


def draw_steps(report: Report):
    """Which threads of the block were active over time, instruction by instruction; barriers.

    Warps run side by side here, and meet at __syncthreads; named barriers are not drawn. Times on a
    GPU are others."""
    _check(report)
    if not len(report.events):
        raise LookupError(f"{report.kernel}: the block that was watched did nothing")
    spans, barriers, threads = _timeline(report)
    steps = max((end for *_, end in spans), default=1)
    width = min(steps, 1600)
    image = np.zeros((threads, width, 4))
    busy, idle = (
        (*matplotlib.colors.to_rgb(COLOURS[0]), 0.9),
        (*matplotlib.colors.to_rgb(INK), 0.6),
    )
    lane_times = 0
    for warp, mask, begin, end in spans:
        first, last = (int(t * width / steps) for t in (begin, end))
        last = max(last, first + 1)
        for lane in range(min(32, threads - 32 * warp)):
            on = mask >> lane & 1
            lane_times += on * (end - begin)
            row = image[32 * warp + lane, first:last]
            row[:] = busy if on else np.where(row[:, 3:] > 0, row, idle)
    share = lane_times / (threads * steps)

    def paint(axes):
        axes.imshow(
            image, aspect="auto", interpolation="nearest", extent=(0, steps, threads - 0.5, -0.5)
        )
        for at in barriers:
            axes.axvline(at, color=COLOURS[1], linewidth=1.2)
        axes.set(xlabel="PTX instructions", ylabel="thread", xlim=(0, steps))
        axes.set_yticks(range(0, threads, 32 * -(-threads // 256)))
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        marks = {
            "at work": Patch(color=busy),
            "idle lane of a working warp": Patch(color=idle),
            "waits, or is done": Patch(fill=False, edgecolor=INK),
            _count(len(barriers), "barrier"): Line2D([], [], color=COLOURS[1]),
        }
        place = {"loc": "upper left", "bbox_to_anchor": (-0.12, -0.2), "ncols": 4}
        thin = {"frameon": False, "handlelength": 1, "columnspacing": 1, "fontsize": 10}
        axes.legend(marks.values(), marks, **place, **thin)
        axes.set_title(f"{report.kernel}: {share:.0%} of the threads at work on average")

    alt = (
        f"One block of {report.kernel} over {steps} PTX instructions: on average {share:.0%} of"
        f" {_count(threads, 'thread')} at work, with {_count(len(barriers), 'barrier')}."
        f" {_phases(spans, barriers, steps)}"
    )
    return draw(paint, alt.rstrip(), height=3.2)


def draw_shuffle(what, by=None, line=None, width=32, warp=None, turn=0, access=0):
    """Who reads whom in a shuffle: of a line of a Report, or draw_shuffle("down", 16) and the like.

    what: a Report, or "up", "down", "xor" or "idx"; width: lanes of each group."""
    if isinstance(what, Report):
        line = by if line is None else line
        if line is None:
            raise TypeError("draw_shuffle(report, line): of which line?")
        chosen = _choose(what, line, SHUFFLE, warp, access, turn)
        sample = chosen.sample
        sources = {lane: int(sample["lanes"][lane]) for lane in _lanes(sample["mask"])}
        there = min(int(np.prod(what.block)) - 32 * int(sample["warp"]), 32)
        title = f"{_where(what, chosen.site)} ({chosen.words})"
    else:
        if what not in MODES:
            what = f"one of {', '.join(MODES)}, not {what!r}"
            raise ValueError(f"draw_shuffle takes a Report or {what}")
        if by is None:
            raise TypeError(f'draw_shuffle("{what}", by): by how many lanes?')
        sources, there = {lane: _source(what, lane, by, width) for lane in range(32)}, 32
        title = f"shuffle {what} by {by}" + (f", groups of {width}" if width != 32 else "")
    own = sum(lane == source for lane, source in sources.items())
    lost = sum(source not in sources for source in sources.values())
    pairs = ", ".join(f"lane {lane} reads {source}" for lane, source in list(sources.items())[:4])
    alt = f"{title}: of {len(sources)} lanes, {own} keep their own value; {pairs}, and so on."
    alt += f" {lost} read lanes that take no part: what they get is undefined." * bool(lost)
    return draw(lambda axes: _paint_shuffle(axes, sources, there, title), alt, height=1.9)


def _paint_shuffle(axes, sources, there, title):
    """Lanes above, what each gets below; empty: lanes of the warp that take no part."""
    for lane in range(there):
        if lane in sources:
            _cell(axes, lane, 0, 1, lane, str(lane))
        else:
            _box(axes, lane, 0, 1, edgecolor=INK)
    for lane, source in sources.items():
        if source in sources:
            axes.plot([source + 0.5, lane + 0.5], [1, 4], color=HUES[source], linewidth=1.3)
            _cell(axes, lane, 4, 1, source, str(source))
        else:
            _box(axes, lane, 4, 1, edgecolor=INK)
            axes.text(lane + 0.5, 4.52, "?", ha="center", va="center", fontsize=6.5)
    axes.set_xlim(-0.1, 32.1)
    axes.set_ylim(5.1, -0.1)
    axes.set_yticks([0.5, 4.5], ["value of lane", "lane gets"])
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(title)


# --- what was sampled -----------------------------------------------------------------------------


def _check(report):
    if not isinstance(report, Report):
        what = type(report).__name__
        raise TypeError(f"a picture is of a Report of xray.profile, not of a value of type {what}")


@dataclass(frozen=True)
class _Chosen:
    """One time that a warp came to one access of a line."""

    site: object
    sample: np.void
    words: str  # which it is, of how many


def _choose(report, line, spaces, warp, access, turn, operation=None):
    """One of the times that the watched block came to a line."""
    _check(report)
    file, number = report.place(line)
    found = _samples(report, (file, number), spaces, warp, operation)
    found = found[found["warp"] == found["warp"].min()]
    sites = list(dict.fromkeys(found["site"].tolist()))  # in the order of the warp's first turn
    where = f"{report.kernel}: line {number}"
    if not 0 <= access < len(sites):
        raise LookupError(f"{where} has accesses 0 to {len(sites) - 1} only")
    turns = found[found["site"] == sites[access]]
    if not 0 <= turn < len(turns):
        raise LookupError(f"{where}, access {access}, has turns 0 to {len(turns) - 1} only")
    kinds = {_kind(report.sites[site]) for site in sites}
    words = [f"warp {turns[turn]['warp']}"]
    if len(sites) > 1:
        what = f"{kinds.pop()}s" if len(kinds) == 1 else "accesses"
        words.append(f"{_ordinal(access + 1)} of {len(sites)} {what}")
    if len(turns) > 1:
        words.append(f"{_ordinal(turn + 1)} of {len(turns)} turns")
    return _Chosen(report.sites[sites[access]], turns[turn], ", ".join(words))


def _samples(report, place, spaces, warp, operation):
    """All samples of a line in these memory spaces, by this warp, of this operation."""
    if operation not in (None, *OPERATIONS):
        raise ValueError(f"an operation is one of {', '.join(OPERATIONS)}, not {operation!r}")
    kinds = ("shuffle",) if spaces == SHUFFLE else OPERATIONS
    sites = {
        n: site.kind
        for n, site in enumerate(report.sites)
        if (site.file, site.line) == place and site.space in spaces and site.kind in kinds
    }
    found = report.samples[np.isin(report.samples["site"], list(sites))]
    if warp is not None:
        found = found[found["warp"] == warp]
    if spaces != SHUFFLE:
        size = report.static_shared + report.dynamic_shared
        inside = [(_first(s) < size) == (spaces[0] == "shared") for s in found]
        found = found[np.array(inside, bool)]
    did = {sites[n] for n in found["site"]}
    if operation:
        found = found[np.array([sites[n] == operation for n in found["site"]], bool)]
    if len(found):
        return found
    what = {"shared": "shared memory", "global": "global memory"}.get(spaces[0], "other lanes")
    whose = "the watched block" if warp is None else f"warp {warp} of the watched block"
    text = f"has no {operation} of {what}, only {' and '.join(sorted(did))}"
    if not did:
        text = f"did not touch {what}"
    raise LookupError(f"{report.kernel}: on line {place[1]}, {whose} {text}")


def _first(sample: np.void) -> int:
    """The address of the lowest active lane."""
    return int(sample["lanes"][_lanes(sample["mask"])[0]])


def _lanes(mask: int) -> list[int]:
    return [lane for lane in range(32) if int(mask) >> lane & 1]


def _begin(report: Report, address: int) -> int:
    """Where the allocation around an address begins."""
    for array in report.arrays:
        if array["begin"] <= address < array["end"]:
            return int(array["begin"])
    return address // LINE * LINE


def _source(mode: str, lane: int, by: int, width: int) -> int:
    """The lane that a lane of a shuffle reads."""
    low = lane // width * width
    source = {"up": lane - by, "down": lane + by, "xor": lane ^ by, "idx": low + by % width}[mode]
    return source if low <= source < low + width else lane


def _timeline(report):
    """(spans of (warp, mask, begin, end), times of barriers, threads) of the watched block."""
    lengths = [sum(count for *_, count in lines) for lines in report.blocks]
    threads = int(np.prod(report.block))
    tracks: dict[int, list] = {}
    for event in report.events:
        tracks.setdefault(int(event["warp"]), []).append(event)
    stages = {warp: _stages(events, lengths) for warp, events in tracks.items()}
    spans, barriers, start = [], [], 0
    for stage in range(max(len(parts) for parts in stages.values())):
        ends = [start]
        for warp, parts in stages.items():
            if stage < len(parts):
                for mask, begin, end in parts[stage]:
                    spans.append((warp, mask, start + begin, start + end))
                    ends.append(start + end)
        start = max(ends)
        if any(stage + 1 < len(parts) for parts in stages.values()):
            barriers.append(start)
    return spans, barriers, threads


def _stages(events, lengths):
    """One warp's spans of (mask, begin, end), as lists between its barriers."""
    stages: list[list[tuple[int, int, int]]] = [[]]
    origin = None
    for event in events:
        at = int(event["at"])
        origin = at if origin is None else origin
        if event["what"] >> 31:  # a barrier cuts the basic block that it is in
            rest = []
            if stages[-1]:
                mask, begin, end = stages[-1].pop()
                stages[-1].append((mask, begin, at - origin))
                rest = [(mask, 0, origin + end - at)] if origin + end > at else []
            stages.append(rest)
            origin = at
            continue
        begin = at - origin
        stages[-1].append((int(event["mask"]), begin, begin + lengths[event["what"]]))
    return stages


def _phases(spans, barriers, steps):
    """How many threads are active in each phase between barriers, in words."""
    edges = [0, *barriers, steps]
    active = [
        sum(bin(mask).count("1") * (end - begin) for _, mask, begin, end in spans if a <= begin < b)
        for a, b in zip(edges, edges[1:])
    ]
    if len(active) < 2:
        return ""
    averages = [round(n / (b - a)) for n, a, b in zip(active, edges, edges[1:]) if b > a]
    return f"Active in each phase, on average: {', '.join(map(str, averages[:12]))}."


# --- banks ----------------------------------------------------------------------------------------


def _groups(offset: dict[int, int], bytes_: int, may_pair: bool) -> list[list[int]]:
    """The lanes that share a wavefront if their banks allow; as in driver/count/profile.c."""
    size = {8: 16, 16: 8}.get(bytes_, 32)
    if size < 32 and may_pair:
        for bit in (1, 2):
            if all(offset.get(lane ^ bit, at) == at for lane, at in offset.items()):
                size *= 2
                break
    groups: dict[int, list[int]] = {}
    for lane in offset:
        groups.setdefault(lane // size, []).append(lane)
    return list(groups.values())


def _waves(group: list[int], offset: dict[int, int], bytes_: int) -> list[dict[int, list[int]]]:
    """One {unit of memory: lanes} for each wavefront of a group."""
    banks = LINE // bytes_
    units: dict[int, list[int]] = {}
    for lane in group:
        units.setdefault(offset[lane] // bytes_, []).append(lane)
    waves: list[dict[int, list[int]]] = []
    depth: dict[int, int] = {}
    for unit, lanes in units.items():
        at = depth.setdefault(unit % banks, 0)
        depth[unit % banks] += 1
        if at == len(waves):
            waves.append({})
        waves[at][unit] = lanes
    return waves


# --- drawing --------------------------------------------------------------------------------------


def _runs(owners, begin, end):
    """Neighbouring bytes of the same lanes: (first, end, lanes)."""
    runs: list[tuple[int, int, list[int]]] = []
    for byte in range(begin, end):
        lanes = owners.get(byte)
        if not lanes:
            continue
        if runs and runs[-1][1] == byte and runs[-1][2] == lanes:
            runs[-1] = (runs[-1][0], byte + 1, lanes)
        else:
            runs.append((byte, byte + 1, lanes))
    return runs


def _box(axes, x, row, width, **style):
    axes.add_patch(Rectangle((x, row + 0.06), width, 0.88, fill=False, linewidth=0.8, **style))


def _cell(axes, x, row, width, lane, text, outline=False):
    """A piece of memory in the colour of the lane it belongs to."""
    axes.add_patch(Rectangle((x, row + 0.06), width, 0.88, facecolor=HUES[lane], linewidth=0))
    if outline:
        inside = (x + 0.6, row + 0.15), width - 1.2, 0.7
        axes.add_patch(Rectangle(*inside, fill=False, linewidth=1.2))
    ink = "black" if HUES[lane] @ (0.3, 0.59, 0.11) > 0.5 else "white"
    style = {"ha": "center", "va": "center", "color": ink, "fontsize": 6.5 if len(text) < 3 else 5}
    axes.text(x + width / 2, row + 0.52, text, **style)


def _tidy(axes, rows, more, everything, shown):
    """Rows from the top, and a word on those that are left out."""
    left_out = len(everything) > len(shown)
    axes.set_ylim(rows + (1 if left_out else 0.1), -0.1)
    if left_out:
        axes.text(0, rows + 0.5, f"… {more}", va="center", color=INK)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _height(rows: int) -> float:
    """Inches of a figure whose rows are about a quarter of an inch high."""
    return 0.33 * rows + 0.05


def _heads(report, chosen):
    """How the title and the alternative text of a chosen access begin."""
    where, count = _where(report, chosen.site), _count(len(_lanes(chosen.sample["mask"])), "lane")
    bytes_ = _count(int(chosen.sample["bytes"]), "byte")
    said = f"{_kind(chosen.site).capitalize()} of {where} by {chosen.words}: {count} of {bytes_}"
    return f"{where}\n{chosen.words}, {count} of {bytes_}:", said


def _kind(site):
    return {"red": "reduction"}.get(site.kind, site.kind)


def _where(report, site):
    text = report.source(site.file).get(site.line, "").strip()
    text = text.replace("$", r"\$")  # no formulas
    return f"line {site.line}" + (f": {text[:60]}{'…' * (len(text) > 60)}" if text else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


def _ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"
