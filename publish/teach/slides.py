"""Slides of each notebook, in build/slides: pages for a browser, a projector and its printer.

slides/NN.md says what is on them, in order: a slide from each `## ` on. What it shows is the
notebook's own, by the name of a cell, so that slides and notebook cannot differ:

    @figure CELL [2]             a picture that the cell has made, the first or the second
    @output CELL [2]             what it has printed or shown in words
    @shown CELL                  a table that it has shown
    @code CELL                   the code in a cell of prose
    @kernel FILE [FIRST | LAST]  a kernel, or its lines from one with this text to one with that
    @quote CELL WORDS            the paragraph that begins with these words
    @table CELL                  a table in a cell of prose
    @ladder                      the notebook's steps on the ladder, as recorded
    @predict NAME                a question on one slide, its answer on the next; what else the
                                 slide shows is beside the question

Other lines are Markdown. In `## For the class` a line `? question` is followed by its `! answer`.
The first slide has the notebook's question, the one before the class's its table of what changed.

    python publish/teach/slides.py [NN ...]"""

import base64
import json
import os
import re
import sys
from html import escape
from itertools import groupby
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
SOURCES = Path(__file__).with_name("slides")
PAGES = ROOT / "build/slides"
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")  # leads out of the slides
REFERENCE = re.compile(r"^@(\w+) ?(.*)$")
CLASS = "For the class"
OPTIONS = 4  # to choose from in a prediction
SHORT, LONG = 95, 400  # letters of a question that needs what leads to it, and of what is too much


def html(markdown):
    import mistune

    return mistune.html(LINK.sub(r"\1", markdown))


class Notebook:
    """The cells of a notebook as stored, by their names."""

    def __init__(self, number):
        self.number = number
        (self.path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        self.cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]

    def cell(self, name):
        found = [cell for cell in self.cells if cell["id"] == name]
        if not found:
            raise LookupError(f"{self.path.name} has no cell {name}")
        return found[0]

    def prose(self, name):
        return "".join(self.cell(name)["source"])

    def paragraph(self, name, words):
        for paragraph in re.split(r"\n\s*\n|\n(?=- )", self.prose(name)):
            if paragraph.startswith(words):
                return paragraph
        raise LookupError(f"no paragraph of {name} in {self.path.name} begins with {words!r}")

    def pictures(self, name):
        """The data of a cell's pictures."""
        data = (output.get("data", {}) for output in self.cell(name).get("outputs", []))
        return [one for one in data if "image/png" in one]

    def texts(self, name):
        """What a cell has printed and, in words, what it has shown; pictures apart."""
        left = self.cell(name).get("outputs", [])
        said = (output.get("text") or output.get("data", {}).get("text/plain") for output in left)
        is_picture = ("image/png" in output.get("data", {}) for output in left)
        return ["".join(text) for text, drawn in zip(said, is_picture) if text and not drawn]

    def shown(self, name):
        """The HTML of a table that a cell has shown."""
        data = (output.get("data", {}) for output in self.cell(name).get("outputs", []))
        tables = ["".join(one.get("text/html", "")) for one in data]
        return next(one for one in tables if one.startswith("<table"))

    @property
    def title(self):
        return self.prose(self.cells[0]["id"]).partition("\n")[0].removeprefix("# ")

    def changed(self):
        """The cell with the table of what changed."""
        for cell in self.cells:
            if re.search(r"^## What changed, and why$", "".join(cell["source"]), re.M):
                return cell["id"]
        raise LookupError(f"{self.path.name} does not say what changed")

    def question(self, prediction):
        """What the notebook asks before a prediction, up to its last question mark; where that is
        short, with the paragraph that leads to it."""
        asked = ""
        for cell in self.cells:
            source = "".join(cell["source"])
            if "**Predict.**" in source:
                before, _, after = source.rpartition("**Predict.**")
                asked = re.match(r"(?s).*\?|.*", after.strip().partition("\n\n")[0])[0]
                leads = before.strip().rpartition("\n\n")[2]
                if (
                    len(asked) < SHORT
                    and len(leads) < LONG
                    and not leads.startswith(("#", "<", "```"))
                ):
                    asked = f"{leads}\n\n{asked}"
            elif f'predict("{prediction}"' in source:
                return asked
        raise LookupError(f"{self.path.name} has no prediction {prediction}")


class Deck:
    """The slides of one notebook: (title, HTML) each."""

    def __init__(self, number, text=None):
        self.notebook = Notebook(number)
        self.text = text or (SOURCES / f"{number}.md").read_text(encoding="utf-8")

    def slides(self):
        notebook = self.notebook
        first = notebook.cells[0]["id"]
        opening = [
            notebook.paragraph(first, "**The question."),
            notebook.paragraph(first, "**You w"),
        ]
        yield notebook.title, html("\n\n".join(opening))
        for title, lines in self.parts():
            if title == CLASS:
                yield "What changed, and why", self.changed()
                yield CLASS, html("\n".join(f"1. {q}" for q, _ in asked(lines)))
                answered = [f"1. {q}\n\n    **{a}**" for q, a in asked(lines)]
                yield CLASS, html("\n".join(answered))
            elif lines[0].startswith("@predict "):
                yield from self.predicted(title, lines[0].split()[1], lines[1:])
            else:
                yield title, self.content(lines)

    def parts(self):
        """(title, lines) of each slide that the text has."""
        for part in re.split(r"^## ", self.text, flags=re.M)[1:]:
            title, *lines = part.strip().splitlines()
            yield title, [line for line in lines if line.strip()]

    def content(self, lines):
        """What one slide shows; lines of Markdown that follow one another belong together."""
        shown = []
        for is_reference, group in groupby(lines, key=lambda line: bool(REFERENCE.match(line))):
            if is_reference:
                shown += [self.referred(*REFERENCE.match(line).groups()) for line in group]
            else:
                shown.append(html("\n".join(group)))
        return "".join(shown)

    def referred(self, kind, what):
        """The HTML of a reference."""
        name, _, rest = what.partition(" ")
        if kind == "figure":
            found = self.notebook.pictures(name)[int(rest or 1) - 1]
            return image("".join(found["image/png"]), "".join(found["text/plain"]))
        if kind == "output":
            text = self.notebook.texts(name)[int(rest or 1) - 1]
            return f'<pre class="said">{escape(text.rstrip())}</pre>'
        if kind == "shown":
            return self.notebook.shown(name)
        if kind == "code":
            (code,) = re.findall(r"^```c\+\+\n(.*?)^```", self.notebook.prose(name), re.M | re.S)
            return kernel(code)
        if kind == "kernel":
            from helpers import sources

            lines = tuple(text.strip() for text in rest.split(" | ")) if rest else None
            return kernel(sources.show(name, lines=lines))
        if kind == "quote":
            return html(self.notebook.paragraph(name, rest))
        if kind == "table":
            return html(table(self.notebook.prose(name), name))
        if kind == "ladder":
            from helpers import ladder

            picture = ladder.as_recorded(self.notebook.path.stem).picture()
            return image(base64.b64encode(picture.png).decode(), picture.alt)
        raise LookupError(f"@{kind} is no reference")

    def changed(self):
        prose = self.notebook.prose(self.notebook.changed())
        return html(table(prose.partition("## What changed, and why")[2], "What changed, and why"))

    def predicted(self, title, name, lines):
        """A question beside what it is about; what is right, why, and the usual wrong thoughts."""
        from helpers import predictions

        known = predictions.find(name)
        asked = html(self.notebook.question(name))
        given = [known["right"], *(m["answer"] for m in known["mistakes"][: OPTIONS - 1])]
        options = "".join(f"<li>{predictions.said(one)}</li>" for one in sorted(given))
        listed = f'<ul class="options">{options}</ul>'
        if lines:
            listed = f'<div class="beside">{self.content(lines)}{listed}</div>'
        yield title, asked + listed
        right = html(f"**{predictions.said(known['right'])}** {known['what']}")
        wrong = [
            f"- **{predictions.said(m['answer'])}?** {m['thought']}" for m in known["mistakes"][:2]
        ]
        why = html("\n".join([known["because"], "", *wrong]))
        yield title, f'<div class="right">{right}</div>{why}'

    def page(self):
        """The whole deck, a page of its own."""
        sections = "".join(
            f'<section><h2>{html(title)[3:-5]}</h2><div class="body">{body}</div>'
            f"<footer>{escape(self.notebook.title)}<span>{number}</span></footer></section>\n"
            for number, (title, body) in enumerate(self.slides(), 1)
        )
        frame = (ROOT / "helpers/play/frame.css").read_text()
        style, script = (
            Path(__file__).with_name(f"slides.{kind}").read_text() for kind in ("css", "js")
        )
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            f"<title>{escape(self.notebook.title)}</title><style>{frame}{style}</style></head>"
            f"<body><main>\n{sections}</main><script>{script}</script></body></html>\n"
        )


def asked(lines):
    """(question, answer) of each for the class."""
    questions, answers = ([one[2:] for one in lines if one[0] == mark] for mark in "?!")
    return list(zip(questions, answers, strict=True))


def table(prose, name):
    """The first table of the cell of prose with this name."""
    found = re.search(r"(?:^\|.*\n?)+", prose, re.M)
    if not found:
        raise LookupError(f"{name} has no table")
    return found[0]


def image(png, alt):
    return f'<img src="data:image/png;base64,{png}" alt="{escape(alt)}">'


def kernel(text):
    """CUDA in its colours, without what a compiler needs and a slide has no room for."""
    from pygments.lexers import CudaLexer

    from helpers import sources

    text = re.sub(r"^#pragma unroll\n|[ \t]*\\$", "", text, flags=re.M)
    tokens = CudaLexer(stripnl=False, ensurenl=False).get_tokens(dedent(text).rstrip())
    return f"<pre>{''.join(sources._coloured(kind, word) for kind, word in tokens)}</pre>"


def decks():
    return [Deck(path.stem) for path in sorted(SOURCES.glob("[0-9]*.md"))]


def main():
    os.environ["HELPERS_DEVICE"] = "software"
    made = {deck.notebook.number: deck for deck in decks()}
    if unknown := [number for number in sys.argv[1:] if number not in made]:
        sys.exit(f"No slides for {', '.join(unknown)}: name notebooks as in {', '.join(made)}.")
    chosen = [made[number] for number in sys.argv[1:] or made]
    PAGES.mkdir(parents=True, exist_ok=True)
    for deck in chosen:
        (PAGES / f"{deck.notebook.path.stem}.html").write_text(deck.page(), encoding="utf-8")
    print(f"{len(chosen)} page{'s' * (len(chosen) > 1)} in {PAGES}")


if __name__ == "__main__":
    main()
