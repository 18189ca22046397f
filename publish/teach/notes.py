"""Notes for who teaches, made from the notebooks and the judges: what to ask, what is right and
why, which thoughts lead to the usual wrong answers; of each exercise the usual mistakes, and what
the judge says of them.

    python publish/teach/notes.py > notes.md"""

import json
import re
from pathlib import Path

from helpers import predictions
from helpers.exercises import texts

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
CALL = re.compile(r'^predict\("(\d\d[a-z]?\.\w+)"', re.M)
HEADING = re.compile(r"^#{1,2} (.+)$", re.M)
LINK = re.compile(r"\[([^\]]+)\]\((?:glossary|\.\./|\d\d[a-z]?_)[^)]*\)")
SAID = {  # the judge's codes, for who has not read judges
    "atom": "needless atomics", "clock": "predicted too slow", "counters": "costs too much",
    "double": "two threads write one element", "fault": "the launch fails",
    "inputs": "an input is changed", "instructions": "too many instructions, or forbidden ones",
    "launch": "the launch fails", "race": "a race", "sanitizer": "a finding of the sanitizer",
    "time": "takes too long", "uninit": "reads what nobody has written", "values": "wrong results",
}  # fmt: skip
MARKUP = re.compile(r"([\\`*_<>\[\]])")


def cells(notebook):
    """(kind, source, number) of each cell: the number next to code that was run."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = LINK.sub(r"\1", "".join(cell["source"]))
        yield cell["cell_type"], source, cell.get("execution_count")


def asked(notebook):
    """(question, name, where) of each prediction, in order."""
    question = heading = ""
    for kind, source, number in cells(notebook):
        if kind == "markdown":
            before, asks, after = source.rpartition("**Predict.**")
            heading = (HEADING.findall(before or source) or [heading])[-1]
            question = after.strip() if asks else question
        elif call := CALL.search(source):
            yield question, call[1], f"{heading}, cell [{number}]"


def shown(answer):
    """A number, or several, as the course writes them."""
    if isinstance(answer, list):
        return f"({', '.join(map(shown, answer))})"
    is_long = isinstance(answer, int | float) and abs(answer) >= 10_000
    return f"{answer:,}" if is_long else str(answer)


def notes(notebook):
    """The lines about one notebook."""
    prose = [source for kind, source, _ in cells(notebook) if kind == "markdown"]
    yield "#" + prose[0].partition("\n")[0]
    yield from re.findall(r"^\*\*(?:The question|You will write)\.?\*\*.*$", prose[0], re.M)
    for question, name, where in asked(notebook):
        known = predictions.find(name)
        yield f"**Ask** ({where}). {question}"
        yield f"**Right:** {shown(known['right'])} {known['what']}. {known['because']}"
        yield "\n".join(f"- {shown(m['answer'])}: {m['thought']}" for m in known["mistakes"])
    for name in texts.names():
        if name.startswith(f"{notebook.stem.partition('_')[0]}."):
            yield from mistakes(texts.find(name))


def mistakes(exercise):
    """Kernels that the judge of an exercise is known to refuse, and a word of what it says."""
    yield f"**Usual mistakes** in {exercise.name}, {exercise.title}:"
    yield "\n".join(
        f"- {plain(what)}: {said(wrong.refused)}" for what, wrong in exercise.wrong.items()
    )


def plain(words):
    """Words in which no sign is Markdown's."""
    return MARKUP.sub(r"\\\1", words)


def said(pattern):
    """A pattern of the judge's codes as words."""
    parts = (part.replace(".*", "") for part in pattern.split("|"))
    return ", or ".join(dict.fromkeys(SAID.get(part, part) for part in parts))


def main():
    print("# Notes\n")
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        print("\n\n".join(notes(notebook)), end="\n\n")


if __name__ == "__main__":
    main()
