"""A page for each kernel of cuda_src: what its head says, what was recorded of it, its text."""

import csv
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import students
from myst_parser.parsers.sphinx_ import MystParser

from helpers.numbering import number_of

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "cuda_src"
NOTEBOOKS = ROOT / "notebooks"
COUNTS = ROOT / "softgpu/tests/xray/nsight/golden.csv"
INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)
NAMED = re.compile(r"\b(\w+)/(\w+)\.cu\b")
SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|$&~^])")


class Parser(MystParser):
    """Reads a .cu file as the page about it."""

    supported = ("cuda",)

    def parse(self, inputstring, document):
        path = Path(document["source"])
        super().parse(page(path.relative_to(KERNELS), inputstring), document)


def page(path, text):
    code = solved(path) or source(text, first=comment(text).count("\n") + 1)
    parts = [f"# {path}", head(text), code, *map(folded, included(text))]
    parts += [used(path), times(path), counts(path)]
    return "\n\n".join(filter(None, parts))


def solved(path):
    """In the students' edition, what is there in place of a text that solves an exercise."""
    exercise = students.steps().get(str(path)) if students.is_asked_for() else None
    return exercise and f"You write this kernel: it solves the exercise `{exercise}`."


def comment(text):
    """What a file begins with."""
    return re.match(r"(?://.*\n)*", text)[0]


def plain(text):
    """Text in which no sign is Markdown's."""
    return SPECIAL.sub(r"\\\1", text)


def head(text):
    """A file's comment; what it says of step and limit begins a paragraph."""
    words = plain(comment(text).replace("// ", ""))
    return re.sub(r"^(Step [^:\n]*|WRONG[^:\n]*|Limit):", r"\n**\1:**", words, flags=re.MULTILINE)


def gist(text):
    """The number of a kernel's step, the last if it has none, and a sentence about it."""
    words = " ".join(comment(text).replace("//", "").split())
    told = re.search(r"(Step (\d+)|WRONG on purpose)\b.*", words)
    number = float(told[2] if told and told[2] else "inf")
    return number, plain(re.match(r".*?(\.(?= |$)|$)", told[0] if told else words)[0])


def source(text, first=1):
    """The lines of a file from one on, numbered as they are there."""
    code = "\n".join(text.splitlines()[first - 1 :])
    return f"```{{code-block}} cuda\n:lineno-start: {first}\n\n{code}\n```"


def included(text, known=()):
    """The names of the headers that a text includes, and that these include."""
    names = list(known)
    for name in INCLUDE.findall(text):
        if name not in names:
            names = included((KERNELS / name).read_text(), [*names, name])
    return names


def folded(name):
    header = source((KERNELS / name).read_text())
    return f"<details><summary>{name}</summary>\n\n{header}\n\n</details>"


@cache
def named():
    """The kernels' files that each notebook names, as often as it does: [(topic, name)]."""
    return {path: NAMED.findall(path.read_text()) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def used(path):
    kernel = path.parent.name, path.stem
    links = [
        f"- [](../../notebooks/{book.name})" for book, names in named().items() if kernel in names
    ]
    return "\n".join(["## In the course", "", *links]) if links else ""


def kernels_in(step):
    """The kernels' names in a step's; 09 has steps "case: kernel", or "case: easy" for its own."""
    case, _, how = step.partition(": ")
    return re.findall(r"[\w.]+", case if how in ("", "easy") else how)


@cache
def recorded():
    """What is recorded of each kernel's file, in the topic that its notebook names most."""
    topics = {
        number_of(path): Counter(topic for topic, _ in names).most_common(1)[0][0]
        for path, names in named().items()
        if names
    }
    rows = defaultdict(list)
    for path in sorted((NOTEBOOKS / "recorded").glob("[0-9]*.csv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                for name in kernels_in(row["step"]):
                    rows[f"{topics.get(path.stem.partition('_')[0])}/{name}.cu"].append(row)
    return rows


def table(head, rows):
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def times(path):
    rows = recorded()[str(path)]
    if not rows:
        return ""
    shown = [
        [plain(row["step"]), f"{int(row['size']):,}", f"{float(row['median_us']):,.1f}", speed(row)]
        for row in rows
    ]
    devices = " and ".join(sorted({row["device"] for row in rows}))
    return f"## Times on an {devices}\n\n" + table(["step", "size", "µs", "GB/s"], shown)


def speed(row):
    return f"{float(row['bytes_moved']) / float(row['median_us']) / 1e3:,.0f}"


@cache
def counted():
    """What Nsight Compute counted of each kernel's file: a row per launch."""
    rows = defaultdict(list)
    with COUNTS.open(newline="") as file:
        for row in csv.DictReader(file):
            rows[row["case"].split()[0]].append(row)
    return rows


def counts(path):
    rows = counted()[str(path)]
    if not rows:
        return ""
    metrics = [
        name for name in rows[0] if "__" in name and any(int(row[name] or 0) for row in rows)
    ]
    launches = [plain(row["case"].partition(" ")[2]) for row in rows]
    shown = [[f"`{name}`", *(row[name] for row in rows)] for name in metrics]
    title = "## What [Nsight Compute](../../docs/ncu.md) counts\n\n"
    says = "A column per launch, of so many blocks of so many threads:\n\n"
    return title + says + table(["metric", *launches], shown)


def setup(app):
    app.add_source_suffix(".cu", "cuda")
    app.add_source_parser(Parser)
