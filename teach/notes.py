"""Notes for who teaches, made from the notebooks: what to ask, what is right and why, and which
thoughts lead to the usual wrong answers.

    python teach/notes.py > notes.md"""

import json
import re
from pathlib import Path

from helpers import predictions

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
CALL = re.compile(r'^predict\("(\d\d\.\w+)"', re.M)
LINK = re.compile(r"\[([^\]]+)\]\((?:glossary|\.\./|\d\d_)[^)]*\)")


def cells(notebook):
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        yield cell["cell_type"], LINK.sub(r"\1", "".join(cell["source"]))


def asked(notebook):
    """(question, name) of each prediction, in order."""
    question = ""
    for kind, source in cells(notebook):
        if kind == "markdown" and "**Predict.**" in source:
            question = source.rpartition("**Predict.**")[2].strip()
        elif kind == "code" and (call := CALL.search(source)):
            yield question, call[1]


def notes(notebook):
    """The lines about one notebook."""
    texts = [source for kind, source in cells(notebook) if kind == "markdown"]
    yield "#" + texts[0].partition("\n")[0]
    yield from re.findall(r"^\*\*(?:The question|You will write)\.?\*\*.*$", texts[0], re.M)
    for question, name in asked(notebook):
        known = predictions.find(name)
        yield f"**Ask.** {question}"
        yield f"**Right:** {known['right']} {known['what']}. {known['because']}"
        yield "\n".join(f"- {m['answer']}: {m['thought']}" for m in known["mistakes"])


def main():
    print("# Notes\n")
    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        print("\n\n".join(notes(notebook)), end="\n\n")


if __name__ == "__main__":
    main()
