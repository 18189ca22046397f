"""Notes for who teaches, made from the notebooks: what to ask, what is right and why, and which
thoughts lead to the usual wrong answers.

    python teach/notes.py > notes.md"""

import json
import re
from pathlib import Path

from helpers import predictions

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
CALL = re.compile(r'^predict\("(\d\d\.\w+)"', re.M)
HEADING = re.compile(r"^#{1,2} (.+)$", re.M)
LINK = re.compile(r"\[([^\]]+)\]\((?:glossary|\.\./|\d\d_)[^)]*\)")


def cells(notebook):
    """(kind, source, number) of each cell: the number that stands beside code that was run."""
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
    texts = [source for kind, source, _ in cells(notebook) if kind == "markdown"]
    yield "#" + texts[0].partition("\n")[0]
    yield from re.findall(r"^\*\*(?:The question|You will write)\.?\*\*.*$", texts[0], re.M)
    for question, name, where in asked(notebook):
        known = predictions.find(name)
        yield f"**Ask** ({where}). {question}"
        yield f"**Right:** {shown(known['right'])} {known['what']}. {known['because']}"
        yield "\n".join(f"- {shown(m['answer'])}: {m['thought']}" for m in known["mistakes"])


def main():
    print("# Notes\n")
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        print("\n\n".join(notes(notebook)), end="\n\n")


if __name__ == "__main__":
    main()
