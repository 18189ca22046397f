"""The course's figures: time and bandwidth against size, trees, threads on elements."""

from functools import partial
from itertools import cycle
from math import inf, log2
from textwrap import fill

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

from softgpu.contract import DEVICE
from softgpu.xray.figures import COLOURS, INK, Picture, draw

__all__ = [
    "COLOURS",
    "INK",
    "Picture",
    "bandwidth",
    "descriptor",
    "dots",
    "double_buffer",
    "draw",
    "empty",
    "footprints",
    "grid",
    "last_block",
    "links",
    "looks",
    "memories",
    "merge",
    "owners",
    "pictures",
    "register_tile",
    "shares",
    "time",
    "tree",
    "turns",
    "window",
]

MARKERS = "osD^vPX"


def empty(steps):
    """In place of a figure of these steps, none of which has a time."""
    text = "no GPU here, and no times recorded for these steps" if steps else "no step is timed yet"

    def paint(axes):
        axes.set_axis_off()
        axes.text(0.5, 0.5, text, ha="center", va="center")

    return draw(paint, f"An empty figure: {text}.", height=0.6)


def time(timings, *steps, size="elements", floor="floor: bytes / ceiling"):
    """Time against size for these steps (default: all), over the floor that the ceiling sets.

    Hollow points on a dotted line: predicted for an H200, measured by nobody."""
    return curves(
        timings,
        steps or timings.steps,
        "µs",
        lambda point: point.median_us,
        lambda point: point.bytes_moved / timings.ceiling.gb_per_s / 1e3,
        floor,
        yscale="log",
        size=size,
    )


MOST_POWERS = 8  # of two that are labelled on an axis: each that was measured


def bandwidth(timings, *steps, size="elements", ticks=()):
    """Bytes moved per second against size for these steps (default: all), under the ceiling.

    Hollow points on a dotted line: predicted for an H200, measured by nobody. ticks: of the sizes;
    default: all, where there is room."""
    return curves(
        timings,
        steps or timings.steps,
        "GB/s",
        lambda point: point.gb_per_s,
        lambda point: timings.ceiling.gb_per_s,
        timings.ceiling.step,
        yscale="linear",
        size=size,
        ticks=ticks,
    )


def curves(timings, steps, unit, value, limit, limit_name, yscale, size, ticks=()):
    """A line of value(point) for each step, and a dashed one of limit(point); size: what x is."""
    lines = {step: [p for p in timings.of(step) if p.is_known] for step in steps}
    lines = {step: line for step, line in lines.items() if line}
    foreseen = {f"{step}, predicted": p for step in steps if (p := timings.predicted(step))}
    lines |= foreseen
    if not lines:
        return empty(steps)
    longest = max(lines.values(), key=len)

    def paint(axes):
        axes.set(title=fill(timings.source, 56), xlabel=size, ylabel=unit, yscale=yscale)
        axes.set_xscale("log", base=2)
        drawn = sorted(ticks or {p.size for line in lines.values() for p in line})
        if (len(drawn) - 1) * len(f" {drawn[-1]:,}") < 58:
            axes.set_xticks(drawn, apart(drawn))
            axes.xaxis.set_minor_locator(NullLocator())
        elif len(drawn) <= MOST_POWERS and all(n & (n - 1) == 0 for n in drawn):
            axes.set_xticks(drawn, [f"$2^{{{n.bit_length() - 1}}}$" for n in drawn])
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            axes.xaxis.set_major_locator(LogLocator(16 if drawn[-1] > 64 * drawn[0] else 4))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.grid(axis="y")
        ends = []
        for (step, line), marker, colour in zip(lines.items(), cycle(MARKERS), cycle(COLOURS)):
            sizes, values = [p.size for p in line], [value(p) for p in line]
            style = {"linestyle": ":", "markerfacecolor": "none"} if step in foreseen else {}
            axes.plot(sizes, values, marker=marker, color=colour, markersize=5, **style)
            ends.append((values[-1], step, colour))
        limits = [limit(p) for p in longest]
        axes.plot([p.size for p in longest], limits, "--", color=INK)
        ends.append((limits[-1], limit_name, INK))
        lowest = min(value(p) for line in lines.values() for p in line)
        axes.set_ylim(bottom=0 if yscale == "linear" else lowest / 3)
        name_ends(axes, ends)

    said = [f"{step} {in_words(line, value, unit)}" for step, line in lines.items()]
    if timings.ceiling.is_known:
        said.append(f"dashed {limit_name} {in_words(longest, limit, unit)}")
    return draw(paint, f"{unit} against {size}, {timings.source}: {'; '.join(said)}.")


def shares(rows, source, of="the ceiling", are_grouped=False):
    """A dot for each value of rows: {row: {series: shares, one or several}}, under a limit of 1.

    are_grouped: rows that begin with the same word stand together, apart from others."""
    known = {
        row: {name: shares for name, some in values.items() if (shares := _known(some))}
        for row, values in rows.items()
    }
    series = dict.fromkeys(name for values in known.values() for name in values)
    styles = dict(zip(series, cycle(zip(MARKERS, COLOURS))))
    if not any(known.values()):
        return empty(rows)
    groups = list(dict.fromkeys(row.split()[0] for row in known)) if are_grouped else []
    places = [y + (groups.index(row.split()[0]) if groups else 0) for y, row in enumerate(known)]

    def paint(axes):
        axes.set(xlabel=f"share of {of}")
        for order, (name, (marker, colour)) in enumerate(styles.items()):
            dots = [(x, y) for y, row in zip(places, known.values()) for x in row.get(name, ())]
            style = {"color": colour, "markersize": 7, "alpha": 0.8, "zorder": 9 - order}
            axes.plot(*zip(*dots), marker, label=name, clip_on=False, **style)
        axes.axvline(1, linestyle="--", color=INK)
        axes.grid(axis="x")
        axes.set_yticks(places, known)
        axes.set(xlim=(0, None), ylim=(places[-1] + 0.5, -0.5))
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.legend(ncols=4, frameon=False, loc="lower left", bbox_to_anchor=(0, 1))
        axes.set_title(fill(source, 72), pad=30)

    told = "; ".join(
        f"{row}: " + ", ".join(f"{name} {_percents(some)}" for name, some in values.items())
        for row, values in known.items()
    )
    return draw(paint, f"Shares of {of}, {source}: {told}.", height=1.5 + 0.3 * places[-1])


def _known(shares):
    """The values of one or several shares that are not NaN."""
    return [share for share in np.atleast_1d(shares) if share == share]


def _percents(shares):
    ends = dict.fromkeys(f"{share:.0%}".replace("%", " %") for share in (min(shares), max(shares)))
    return " to ".join(ends)


def apart(sizes, width=4.3, character=0.09):
    """Labels for sizes on an axis that doubles, empty where two would touch; lengths in inches."""
    doubling = width / max(log2(sizes[-1] / sizes[0]), 1)
    labels, edge = [], inf
    for size in reversed(sizes):
        label = f"{size:,}"
        place, half = doubling * log2(size), character * (len(label) + 1) / 2
        labels.append(label if place + half < edge else "")
        edge = place - half if labels[-1] else edge
    return labels[::-1]


def in_words(line, value, unit):
    """The two ends of a line, for alternative text."""
    return ", ".join(f"{digits(value(p))} {unit} at {p.size:,}" for p in (line[0], line[-1]))


def digits(number):
    """A number to three digits or to the unit."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def name_ends(axes, ends):
    """Write each line's name beside its right end, none over another; ends: value, name, colour."""
    gap = 0.09
    axes.autoscale_view()  # which else waits until the figure is drawn
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = sorted((to_axes.transform((1, y))[1], name, colour) for y, name, colour in ends)
    heights = [height for height, *_ in ends]
    for _ in range(50):  # push neighbours apart until they are
        for low in range(len(ends) - 1):
            push = max(0, gap - (heights[low + 1] - heights[low])) / 2
            heights[low] -= push
            heights[low + 1] += push
    top = 1.0  # above it is the title
    for i in reversed(range(len(ends))):
        heights[i] = min(heights[i], top)
        top = heights[i] - gap
    for height, (_, name, colour) in zip(heights, ends):
        axes.text(1.02, height, name, color=colour, va="center", transform=axes.transAxes)


def grid(elements, block, blocks):
    """Which thread of which block takes which element: one row of threads, one of elements."""
    threads = block * blocks
    idle, missed = max(threads - elements, 0), max(elements - threads, 0)

    def paint(axes):
        def place(i):
            return i + 0.6 * (i // block)

        def square(i, y, text, colour, **style):
            axes.add_patch(Rectangle((place(i), y), 0.9, 0.9, edgecolor=colour, lw=1.5, **style))
            axes.text(place(i) + 0.45, y + 0.45, text, ha="center", va="center", color=colour)

        for i in range(threads):
            colour = COLOURS[i // block % len(COLOURS)]
            square(i, 2, i % block, colour, facecolor="none")
            style = {} if i < elements else {"linestyle": ":"}
            arrow = {"arrowstyle": "->", "color": colour, **style}
            x = place(i) + 0.45
            axes.annotate("", (x, 0.95), (x, 2), arrowprops=arrow)
            if i >= elements:
                square(i, 0, "", INK, facecolor="none", hatch="////", linestyle=":")
        for i in range(elements):
            square(i, 0, i, INK if i < threads else COLOURS[5], facecolor="none")
        for number in range(blocks):
            middle = place(number * block) + block / 2
            axes.text(middle, 3.15, f"block {number}", ha="center", color=COLOURS[number])
        axes.text(-0.4, 2.45, "threadIdx.x", ha="right", va="center")
        axes.text(-0.4, 0.45, "element", ha="right", va="center")
        last = place(max(threads, elements) - 1) + 0.9
        if idle:
            axes.text(last, -0.65, "outside the array", ha="right")
        if missed:
            axes.text(last, -0.65, "no thread comes here", ha="right", color=COLOURS[5])
        axes.set(xlim=(-3.6, last + 0.1), ylim=(-0.8, 3.7), aspect="equal")
        axes.set_axis_off()

    alt = f"{blocks} blocks of {block} threads over {elements} elements: thread t of block b takes"
    alt += f" element b * {block} + t; {idle} threads have no element, {missed} elements no thread."
    return draw(paint, alt, width=6.6, height=2)


def pictures(images, titles, ends=()):
    """Images side by side in shades of grey; ends: for each the values that are black and white,
    else its least and its greatest."""
    ends = ends or [(image.min(), image.max()) for image in images]
    tallest = max(len(image) for image in images)

    def paint(axes):
        place = 0
        for image, title, (black, white) in zip(images, titles, ends):
            height, width = image.shape
            edges = place, place + width, height, 0
            greys = {"cmap": "gray", "vmin": black, "vmax": white}
            axes.imshow(image, extent=edges, interpolation="nearest", **greys)
            axes.text(place + width / 2, -0.04 * tallest, title, ha="center", va="bottom")
            place += 1.08 * width
        axes.set(xlim=(0, place - 0.08 * width), ylim=(tallest, -0.16 * tallest))
        axes.set_axis_off()

    alt = f"Pictures: {'; '.join(titles)}."
    return draw(paint, alt, width=6.6, height=7.4 / len(images), shades=True)


def tree(elements, levels, who="thread"):
    """How a tree folds elements: for each level a dictionary, thread: (where to, what with)."""

    def paint(axes):
        def square(i, row, text, colour):
            axes.add_patch(
                Rectangle((i - 0.4, -2 * row - 0.4), 0.8, 0.8, ec=colour, fc="none", lw=1.5)
            )
            axes.text(i, -2 * row, text, ha="center", va="center", color=colour)

        for i in range(elements):
            square(i, 0, i, INK)
        axes.text(-0.9, 0, "element", ha="right", va="center")
        for row, level in enumerate(levels, 1):
            for thread, (to, source) in level.items():
                colour = COLOURS[thread % len(COLOURS)]
                square(to, row, thread, colour)
                for start in (to, source):
                    ends = (to, 0.45 - 2 * row), (start, 2 - 2 * row - 0.45)
                    axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": colour})
            axes.text(-0.9, -2 * row, f"level {row}, by {who}", ha="right", va="center")
        axes.set(xlim=(-4.4, elements - 0.5), ylim=(-2 * len(levels) - 0.5, 0.5), aspect="equal")
        axes.set_axis_off()

    said = [
        ", ".join(f"{who} {t} adds {source} to {to}" for t, (to, source) in level.items())
        for level in levels
    ]
    alt = f"A tree over {elements} elements. " + "; ".join(
        f"level {number}: {what}" for number, what in enumerate(said, 1)
    )
    return draw(paint, f"{alt}.", width=6.2, height=0.62 * (2 * len(levels) + 1))


def owners(rows, labels, what="thread", heads=(), group=0):
    """Who takes which element: a strip of squares a row, coloured by owner; -1 is nobody's, and
    where there is None, nothing is drawn. heads: over the columns; group: so many of them stand
    together."""
    width = max(map(len, rows))
    places = [x + 0.6 * (x // group if group else 0) for x in range(width)]

    def paint(axes):
        for x, head in zip(places, heads):
            axes.text(x + 0.45, 1.1, head, ha="center", va="bottom", size=9)
        for y, (row, label) in enumerate(zip(rows, labels)):
            for x, owner in zip(places, row):
                if owner is None:
                    continue
                colour = INK if owner < 0 else COLOURS[owner % len(COLOURS)]
                fill, hatch = ("none", "////") if owner < 0 else (f"{colour}30", None)
                square = Rectangle((x, -1.3 * y), 0.9, 0.9, fc=fill, ec=colour, lw=1.2, hatch=hatch)
                axes.add_patch(square)
                if owner >= 0:
                    place = x + 0.45, 0.43 - 1.3 * y
                    axes.text(*place, owner, ha="center", va="center", color=colour, size=9)
            axes.text(-0.3, 0.45 - 1.3 * y, label, ha="right", va="center")
        top = 1.8 if heads else 1
        axes.set(xlim=(-0.1, places[-1] + 1), ylim=(0.9 - 1.3 * len(rows), top), aspect="equal")
        axes.set_axis_off()

    said = (f"{label}: {' '.join(map(_said, row))}" for row, label in zip(rows, labels))
    alt = f"The {what} that takes each element. {'; '.join(said)}."
    return draw(paint, alt, width=0.27 * (places[-1] + 1), height=0.36 * (len(rows) + bool(heads)))


def window(side, pixel=None):
    """A windows.Side over a row of pixels: under these a row for each place, with the window's
    elements k. pixel: only elements that lie on this one are coloured."""
    first = -side.pad
    starts = [place * side.stride - side.pad for place in range(side.places)]

    def paint(axes):
        def square(x, row, text, colour, **style):
            axes.add_patch(Rectangle((x, -row), 0.9, 0.75, ec=colour, lw=1.4, **style))
            axes.text(x + 0.45, 0.36 - row, text, ha="center", va="center", color=colour)

        for x in range(first, side.image + side.pad):
            is_inside = 0 <= x < side.image
            square(x, 0, x if is_inside else "", INK, fc="none", hatch="" if is_inside else "////")
        if pixel is not None:
            column = (pixel - 0.05, -side.places - 0.12), 1, side.places + 1
            axes.add_patch(Rectangle(*column, fc=f"{INK}28", ec="none", zorder=0))
        for row, start in enumerate(starts, 1):
            for k in range(side.kernel):
                at = start + k * side.dilation
                if k:  # a line from the one before it
                    ends = at - side.dilation + 0.9, at
                    axes.plot(ends, (0.36 - row,) * 2, color=INK, lw=1)
                colour = COLOURS[k] if pixel in (None, at) else INK
                fill = "none" if colour == INK else f"{colour}38"
                square(at, row, f"k={k}", colour, fc=fill)
        for row, label in enumerate(("pixel", *(f"place {p}" for p in range(side.places)))):
            axes.text(first - 0.3, 0.36 - row, label, ha="right", va="center")
        axes.set(xlim=(first - 2, side.image + side.pad), ylim=(-side.places - 0.15, 0.9))
        axes.set_axis_off()

    lie = [[start + k * side.dilation for k in range(side.kernel)] for start in starts]
    said = (f"at place {p} on {', '.join(map(str, pixels))}" for p, pixels in enumerate(lie))
    alt = f"The window over pixels 0 to {side.image - 1}: its elements lie {'; '.join(said)}."
    return draw(paint, alt, width=0.5 * (side.padded + 2), height=0.4 * (side.places + 1))


def _said(owner):
    return "·" if owner is None else str(owner)


def merge(a, b):
    """How the pairs (m, s) of two parts of a softmax's row become one: exp(x - m), first with the
    maximum m of each part, then with the row's."""
    (m_a, s_a), (m_b, s_b), (m, s) = (_pair(x) for x in (a, b, a + b))
    labels = (
        f"a: m = {m_a:g}\ns = {s_a:.2f}",
        f"b: m = {m_b:g}\ns = {s_b:.2f}",
        f"a and b: m = {m:g}\ns = {_scaled(s_a, m_a, m)} + {_scaled(s_b, m_b, m)} = {s:.2f}",
    )

    def paint(axes):
        left = 0
        for x, first, label in zip((a, b, a + b), (0, 1, 0), labels):
            places = left + np.arange(len(x))
            colours = [COLOURS[first or k >= len(a)] for k in range(len(x))]
            axes.bar(places, np.exp(np.subtract(x, max(x))), color=colours)
            for place, value in zip(places, x):
                axes.text(place, -0.04, f"{value:g}", ha="center", va="top")
            axes.text(left - 0.4, 1.06, label)
            left += len(x) + 1
        axes.set(xticks=[], ylim=(0, 1.3), ylabel="exp(x − m)")

    return draw(paint, f"exp(x − m). {'. '.join(labels)}.".replace("\n", ", "), width=7)


def looks(shares, words):
    """Who looks at whom: a row for each word, with its share of each word."""
    most = (f"{word} at {words[row.argmax()]} most" for word, row in zip(words, np.array(shares)))
    alt = f"Who looks at whom: {'; '.join(most)}."
    texts = [f"{100 * share:.0f}" for share in np.ravel(shares)]
    return _table(shares, texts, words, "who looks", "at whom, in percent", alt)


def links(moved, unit="KB"):
    """Who sends to whom: bytes over the links from each device to each."""
    names = [f"device {number}" for number in range(len(moved))]
    amounts = np.array(moved) / {"KB": 1e3, "MB": 1e6}[unit]
    said = [
        f"from {of} to {to} {amounts[of, to]:,.4g} {unit}" for of, to in zip(*np.nonzero(amounts))
    ]
    alt = f"Bytes over links: {'; '.join(said) or 'none'}."
    texts = [f"{amount:,.4g}" if amount else "" for amount in amounts.flat]
    shades = amounts / (amounts.max() or 1)
    return _table(shades, texts, names, "from", f"to, in {unit}", alt)


def _table(shares, texts, names, rows, columns, alt):
    """A square for each pair of names, with its text, and a bar as long as its share of 1."""
    count = len(names)

    def paint(axes):
        for ((row, column), share), text in zip(np.ndenumerate(shares), texts):
            left, top, width = column - 0.47, row - 0.47, 0.94
            axes.add_patch(Rectangle((left, top), width, width, ec=INK, fc="none", lw=0.5))
            bar = Rectangle((left, top + 0.74), width * share, 0.2, color=COLOURS[0], lw=0)
            axes.add_patch(bar)
            axes.text(column, row - 0.1, text, ha="center", va="center")
        axes.set_xticks(range(count), names)
        axes.set_yticks(range(count), names)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set(xlim=(-0.6, count - 0.4), ylim=(count - 0.4, -0.6), ylabel=rows)
        axes.set_title(columns)
        for spine in axes.spines.values():
            spine.set_visible(False)

    return draw(paint, alt, width=6, height=0.45 * count + 0.9)


def footprints(lengths, kinds):
    """Bytes against length, {name: bytes at each length}, both axes logarithmic."""

    def paint(axes):
        axes.set(xlabel="words", ylabel="MB", yscale="log")
        axes.set_xscale("log", base=2)
        axes.set_xticks(lengths, apart(list(lengths)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(lambda size, _: digits(size))
        axes.grid(axis="y")
        ends = []
        for (name, sizes), marker, colour in zip(kinds.items(), MARKERS, COLOURS):
            values = np.divide(sizes, 1e6)
            axes.plot(lengths, values, marker=marker, color=colour, markersize=5)
            ends.append((values[-1], name, colour))
        name_ends(axes, ends)

    said = (
        f"{name} {digits(sizes[0] / 1e6)} MB at {lengths[0]:,}, {digits(sizes[-1] / 1e6)} MB at"
        f" {lengths[-1]:,}"
        for name, sizes in kinds.items()
    )
    return draw(paint, f"Memory against length: {'; '.join(said)}.")


def dots(points, across, up, source="", slope=None):
    """A dot with its name for each of points, {name: (x, y)}; across and up: what x and y are.

    slope: of a dashed line from (0, 0), which nothing gets below."""
    right = 1.25 * max(x for x, _ in points.values())
    heights = [y for _, y in points.values()]
    room = (max(heights) - (0 if slope else min(heights))) / 4 or 1
    least = 0 if slope else min(heights) - room

    def paint(axes):
        axes.set(xlabel=across, ylabel=up, title=source, xlim=(0, right))
        axes.set_ylim(least, max(heights) + room)
        axes.grid(axis="y")
        dots = enumerate(points.items())
        for (i, (name, (x, y))), marker, colour in zip(dots, cycle(MARKERS), cycle(COLOURS)):
            near = ((b, -j) for j, (a, b) in enumerate(points.values()) if abs(a - x) < right / 10)
            side = (6, -14) if max(near) > (y, -i) else (6, 6)  # names of neighbours don't meet
            axes.plot(x, y, marker, color=colour)
            axes.annotate(name, (x, y), side, textcoords="offset points", color=colour)
        if slope:
            axes.plot([0, right], [0, slope * right], "--", color=INK)

    said = (f"{name} {digits(y)} at {digits(x)}" for name, (x, y) in points.items())
    head = f"{up} against {across}" + (f", {source}" if source else "")
    return draw(paint, f"{head}: {'; '.join(said)}.")


def _pair(x):
    """The maximum m of a row, and the sum of its exp(x - m)."""
    return max(x), np.exp(np.subtract(x, max(x))).sum()


def _scaled(total, own, m):
    """A part's sum below the row's maximum m."""
    return f"{total:.2f}" + (f" · exp({own:g} − {m:g})" if own < m else "")


def memories():
    """What a multiprocessor consists of, and which memories there are, with an H200's sizes."""

    def paint(axes):
        def box(left, low, width, height, colour, *lines):
            fill = f"{colour}20" if lines else "none"
            axes.add_patch(Rectangle((left, low), width, height, fc=fill, ec=colour, lw=1.3))
            text = "\n".join(lines)
            axes.text(
                left + width / 2, low + height / 2, text, ha="center", va="center", color=colour
            )

        for left, name in ((0, "multiprocessor 0"), (5.4, "multiprocessor 1")):
            box(left, 4, 5, 5.4, INK)
            axes.text(left + 2.5, 8.95, name, ha="center", va="center")
            for warp in range(4):
                box(left + 0.2 + 1.17 * warp, 7.5, 1.09, 1, COLOURS[2], "warp")
            box(
                left + 0.2,
                5.9,
                4.6,
                1.3,
                COLOURS[0],
                "registers: 256 KB",
                "each thread has its own",
            )
            sides = "shared memory, L1: 256 KB", "each block has a piece"
            box(left + 0.2, 4.2, 4.6, 1.4, COLOURS[1], *sides)
        axes.text(10.65, 6.6, "…\n132\nin all", va="center")
        box(0, 2.1, 12, 1.2, COLOURS[3], "L2 cache: 60 MB, for all multiprocessors")
        box(
            0,
            0,
            12,
            1.4,
            COLOURS[5],
            "global memory: 141 GB",
            "for all threads, and between launches",
        )
        for x, top, low in ((2.5, 4, 3.3), (7.9, 4, 3.3), (6, 2.1, 1.4)):
            axes.annotate("", (x, low), (x, top), arrowprops={"arrowstyle": "<->", "color": INK})
        axes.set(xlim=(-0.1, 12.1), ylim=(-0.1, 9.5))
        axes.set_axis_off()

    alt = (
        f"An H200 has {DEVICE['multiprocessors']} multiprocessors. Each runs warps and has"
        " registers, 256 KB, of which each thread has its own, and 256 KB of shared memory and L1"
        " cache, of which each block has a piece. All of them share an L2 cache of 60 MB and, below"
        " it, 141 GB of global memory."
    )
    return draw(paint, alt, width=7.8, height=4.2)


def register_tile(threads=16, each=8, deep=8, thread=(5, 5), pair=(1, 5)):
    """What one thread (x, y) of a block of threads x threads makes of a product, each x each
    elements, in one of `deep` turns: the numbers that it loads from both tiles, the sums that it
    owns, and the two numbers (r, s) that make the product for one of them."""
    side, size, (x, y) = threads * each, 5, thread
    first, now = -size * (deep + 1), -size * (deep // 2 + 1.5)  # the tiles; the turn's line
    steps = range(0, side, threads)
    row, column = y + threads * pair[0], x + threads * pair[1]

    def paint(axes):
        def area(left, top, width, height, colour, **style):
            axes.add_patch(Rectangle((left, top), width, height, ec=colour, **style))

        def mark(left, top, colour, filled):
            style = {"fc": colour if filled else f"{colour}60", "lw": 1}
            area(left - size / 2, top - size / 2, size, size, colour, **style)

        blue, orange, green, *_ = COLOURS
        area(first, 0, size * deep, side, blue, fc=f"{blue}18")
        area(0, first, side, size * deep, orange, fc=f"{orange}18")
        area(0, 0, side, side, green, fc=f"{green}18")
        for where in (now, row), (column, now):
            style = {"color": INK, "lw": 1.2, "ls": "--", "zorder": 0}
            axes.plot((where[0], column), (where[1], row), **style)
        for down in steps:
            mark(now, y + down, blue, y + down == row)
            mark(x + down, now, orange, x + down == column)
            for right in steps:
                is_one = (x + right, y + down) == (column, row)
                mark(x + right, y + down, green, is_one)
        names = {
            f"loads {each} numbers p\nfrom tile_a": (first - 5, side / 2, "right", "center", blue),
            f"loads {each} numbers q from tile_b": (
                side / 2, first - 5, "center", "bottom", orange,
            ),
            f"owns {each} · {each} sums of c,\nin registers": (
                side + 6, side * 0.75, "left", "center", green,
            ),
            "adds p · q": (side + 6, row, "left", "center", INK),
        }  # fmt: skip
        for name, (left, top, ha, va, colour) in names.items():
            axes.text(left, top, name, ha=ha, va=va, color=colour)
        axes.set(xlim=(first - 88, side + 92), ylim=(side + 4, first - 16), aspect="equal")
        axes.set_axis_off()

    alt = (
        f"A block of {threads} x {threads} threads makes {side} x {side} elements of c. In each of"
        f" {deep} turns one thread loads {each} numbers p of a column of tile_a and {each} numbers"
        f" q of a row of tile_b, {threads} apart. It owns {each * each} sums, at their crossings,"
        f" and adds p · q to each."
    )
    return draw(paint, alt, width=6.4, height=3.6)


def _bar(axes, high, start, length, row, text, colour):
    """Draws what takes so long, with its name; returns its end. high: its height and its middle."""
    height, middle = high
    axes.add_patch(Rectangle((start, row), length, height, fc=f"{colour}38", ec=colour))
    place = start + length / 2, row + middle
    axes.text(*place, text, ha="center", va="center", color=colour)
    return start + length


def descriptor(shown=10, step=1):
    """What a descriptor of wgmma says of a tile in lines of 128 bytes, the first ones of which are
    shown, and which chunks of 16 bytes it means that begins `step` times 32 bytes further on."""
    fields = {"begins at, / 16": (0, 14), "panel, / 16": (16, 30), "8 lines, / 16": (32, 46),
              "swizzle": (62, 64)}  # fmt: skip
    chunks = [[place ^ line % 8 for place in range(8)] for line in range(shown)]

    def paint(axes):
        for (name, (low, high)), colour in zip(fields.items(), COLOURS):
            box = Rectangle((low, 0), high - low, 3, fc=f"{colour}30", ec=colour)
            axes.add_patch(box)
            middle = (low + high) / 2
            at, side = (middle, "center") if high - low > 9 else (low - 1, "right")
            axes.text(at, 1.5, name, ha=side, va="center", color=colour, size=9)
            axes.text(middle, 3.4, f"bits {low} to {high - 1}", ha="center", va="bottom", size=9)
        axes.add_patch(Rectangle((0, 0), 64, 3, fc="none", ec=INK, lw=0.8))
        for line, row in enumerate(chunks):
            y = -4 - 2.2 * line - (1.2 if line >= 8 else 0)  # after 8 lines the swizzle begins anew
            axes.text(13, y + 1, f"line {line}", ha="right", va="center", size=9)
            for place, chunk in enumerate(row):
                colour = COLOURS[0] if chunk // 2 == step else INK
                _bar(axes, (2, 1), 14 + 5 * place, 4.6, y, str(chunk), colour)
        axes.set(xlim=(-1, 67), ylim=(-5 - 2.2 * shown, 6))
        axes.set_axis_off()

    bits = "; ".join(f"{name}: bits {a} to {b - 1}" for name, (a, b) in fields.items())
    said = "; ".join(f"line {n}: {' '.join(map(str, row))}" for n, row in enumerate(chunks))
    alt = f"A descriptor's 64 bits: {bits}. Chunks as they lie, {said}."
    alt += f" Step {step} means chunks {2 * step} and {2 * step + 1}."
    return draw(paint, alt, width=6.4, height=1.2 + 0.24 * shown)


def double_buffer(turns=3):
    """When a block fetches, puts and multiplies tiles, over time: with one pair of tiles and two
    barriers a turn, and with two pairs in turn and one barrier."""
    fetch, put, multiply, gap = 3, 1.3, 3.3, 0.3  # how long each is drawn

    def paint(axes):
        bar = partial(_bar, axes, (0.85, 0.43))

        def barrier(now, first, last):
            axes.plot((now + gap / 2,) * 2, (first - 0.1, last + 0.95), color=COLOURS[5], lw=2.5)
            return now + gap

        now = 0
        for turn in range(turns):
            now = bar(now, fetch, 0, f"fetch {turn}", COLOURS[0])
            now = barrier(bar(now, put, 1.1, "put", COLOURS[1]), 0, 1.1)
            now = barrier(bar(now, multiply, 1.1, f"multiply {turn}", COLOURS[2]), 0, 1.1)
        end, now = now, bar(0, fetch, 3.3, "fetch 0", COLOURS[0])
        for turn in range(turns):
            row = (4.4, 5.5)[turn % 2]
            now = barrier(bar(now, put, row, "put", COLOURS[1]), 3.3, 5.5)
            if turn < turns - 1:
                bar(now, fetch, 3.3, f"fetch {turn + 1}", COLOURS[0])
            now = bar(now, multiply, row, f"multiply {turn}", COLOURS[2])
        rows = {"loads": 0, "one pair of tiles": 1.1}
        rows |= {"loads ": 3.3, "one pair of tiles ": 4.4, "another pair": 5.5}
        for name, row in rows.items():
            axes.text(-0.3, row + 0.43, name.strip(), ha="right", va="center")
        axes.text(now + 0.4, 4.9, "barriers in red", va="center", color=COLOURS[5])
        axes.set(xlim=(-4.6, end), ylim=(6.6, -0.2))
        axes.set_axis_off()

    alt = (
        f"{turns} turns over time. With one pair of tiles: fetch, put, a barrier, multiply, a"
        " barrier, and only then fetch again. With two pairs in turn: put into one pair, a barrier,"
        " and multiply from it, while the numbers of the next turn are fetched."
    )
    return draw(paint, alt, width=9, height=2.6)


def turns(tiles=3, head=64, keys=128, rows=64):
    """How one group of warps, and then two in turn, keep tensor cores and the units for powers busy
    in attention: each tile's scores, powers and values, in the order of attention/hopper.cu."""
    product, power = rows * keys * head // 2048, rows * keys // 16  # cycles of a multiprocessor
    runs = {"one group": _in_turn(1, tiles, product, power)}
    runs |= {"two groups": _in_turn(2, tiles, product, power)}
    ends = {who: max(b + n for *_, b, n in run) for who, run in runs.items()}

    def paint(axes):
        for top, (who, run) in zip((0, 2.8), runs.items()):
            for group, what, begin, long in run:
                place = top + 1.1 * (what[0] == "p"), f"{what[0]}{what[-1]}"
                _bar(axes, (0.9, 0.45), begin, long, *place, COLOURS[2 * group])
            for name, row in (f"{who}: tensor cores", top), ("powers", top + 1.1):
                axes.text(-40, row + 0.45, name, ha="right", va="center")
        axes.set(xlim=(-1100, max(ends.values())), ylim=(5.4, -0.9))
        axes.set_axis_off()

    busy = {w: sum(n for _, what, _, n in run if what[0] != "p") for w, run in runs.items()}
    told = ", with ".join(f"{who} {_percents([busy[who] / ends[who]])}" for who in runs)
    alt = (
        f"Scores (s), powers (p) and values (v) of {tiles} tiles over time, by counts of cycles."
        " One group's products wait for its powers. Of two groups, one multiplies while the other"
        f" computes powers. Tensor cores are at work with {told} of the time."
    )
    return draw(paint, alt, width=9, height=2.4)


def _in_turn(groups, tiles, product, power):
    """(group, what, begin, cycles) of groups whose products and powers each have one unit: products
    in turn, the next scores before the last values; the powers of scores as soon as both can."""
    found, multiplied, made, ready = [], 0, 0, [0] * groups

    def multiply(group, what):
        nonlocal multiplied
        begin = max(multiplied, ready[group])
        found.append((group, what, begin, product))
        multiplied = begin + product

    for tile in range(tiles + 1):
        for group in range(groups):
            scored = 0
            if tile < tiles:
                multiply(group, f"scores {tile}")
                scored = multiplied
            if tile > 0:
                multiply(group, f"values {tile - 1}")
            if tile < tiles:
                made = max(made, scored)
                found.append((group, f"powers {tile}", made, power))
                made = ready[group] = made + power
    return found


def last_block(sums=(1.6, 5.6, 3.6)):
    """How blocks that take so long for their sums find out which of them is last: each stores its
    total and counts, and whoever gets the highest number adds the totals up."""
    store, fence, count, add = 2.0, 2.0, 2.9, 4.4  # how long each is drawn
    order = sorted(range(len(sums)), key=lambda block: sums[block])

    def paint(axes):
        bar = partial(_bar, axes, (0.8, 0.4))

        changes = [0.0]
        for block, length in enumerate(sums):
            got, row = order.index(block), 1.1 * block
            now = bar(0, length, row, "sum", COLOURS[0])
            now = bar(now, store, row, "store", COLOURS[1])
            now = bar(now, fence, row, "fence", COLOURS[5])
            changes.append(now + count)
            now = bar(now, count, row, f"count: {got}", COLOURS[2])
            if got == len(sums) - 1:
                now = bar(now, fence, row, "fence", COLOURS[5])
                end = bar(now, add, row, "add up totals", COLOURS[1])
        changes.sort()
        for value, (start, stop) in enumerate(zip(changes, [*changes[1:], end])):
            bar(start, stop - start, 3.6, f"{value % len(sums)}", INK)
        names = [f"block {block}" for block in range(len(sums))] + ["counter"]
        for name, row in zip(names, (0, 1.1, 2.2, 3.6)):
            axes.text(-0.2, row + 0.4, name, ha="right", va="center")
        axes.set(xlim=(-2.7, end + 0.1), ylim=(4.5, -0.1))
        axes.set_axis_off()

    told = ", ".join(f"block {block} gets {place}" for place, block in enumerate(order))
    alt = (
        f"Over time each of {len(sums)} blocks makes its sum, stores its total, passes a fence and"
        f" counts: {told}, and is the last. After another fence it adds up all totals. The counter"
        " goes from 0 up, and back to 0 with the last."
    )
    return draw(paint, alt, width=7.8, height=2.7)
