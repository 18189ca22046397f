"""Put the exercises into the notebooks: their cells say what exercises/ says.

The picture.py of an exercise draws the picture.png of its statement. What the solutions cost, which
the judge's limits follow from, goes into exercises/counts.json.

    python scripts/exercises.py            # notebooks/*.ipynb
    python scripts/exercises.py --check    # say which differ, and change nothing

A notebook's exercises have the order of exercises/course.txt. One that it does not have yet comes
after the one before it, the first under "Exercises", before "On your own"."""

import argparse
import importlib.util
import json
import os
import re
import sys
from html import escape
from pathlib import Path

os.environ["HELPERS_DEVICE"] = "software"  # before anything of the course is imported

import nbformat
from PIL import Image

from helpers.exercises import texts
from helpers.exercises.steps import Chosen
from helpers.exercises.verdict import Verdict
from helpers.numbering import number_of

ROOT = Path(__file__).resolve().parent.parent
OPENING = re.compile(r"\A(//.*\n)+")  # the comment that a kernel begins with
PICTURE = re.compile(r"!\[(.*)\]\(picture\.png\)")
HEAD = (
    "## Exercises\n\nEach has a cell for your kernel, which compiles as it stands, and a cell that"
    " judges it: on inputs your kernel has not seen, at awkward sizes, under the sanitizer, and by"
    " its counters beside our solution's."
)


def folded(summary, text):
    """Markdown that opens at a click."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def drawn(exercise):
    """Draw the picture of an exercise that has one, and give its statement the alternative text."""
    if not (script := exercise.folder / "picture.py").exists():
        return
    spec = importlib.util.spec_from_file_location("picture", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    picture = module.picture()
    picture.save(script.with_suffix(".png"))
    statement = exercise.folder / "statement.md"
    statement.write_text(PICTURE.sub(f"![{picture.alt}](picture.png)", statement.read_text()))


def shown(exercise):
    """The statement, with its picture where a notebook finds it, as wide as drawn."""
    file = exercise.folder / "picture.png"

    def image(match):
        with Image.open(file) as opened:
            width = opened.width // 2  # two pixels for each that a notebook counts
        path = f"../{file.relative_to(ROOT)}"
        return f'<img src="{path}" width="{width}" alt="{escape(match[1])}">'

    return PICTURE.sub(image, exercise.statement)


def solution(exercise):
    """The solution, which opens at a click. Its head is in the cell above already."""
    body = OPENING.sub("", exercise.solution.strip())
    text = f"```c++\n{body}\n```"
    return nbformat.v4.new_markdown_cell(folded("Solution", text))


def goes_on(exercise):
    """The cell by which a notebook goes on with the learner's kernel, or with the course's."""
    chosen = Chosen(exercise.name, exercise.ours, is_own=False)
    data = {"text/plain": repr(chosen), "text/html": chosen._repr_html_()}
    output = nbformat.v4.new_output("display_data", data)
    call = f'{exercise.kernel} = exercises.use("{exercise.name}")'
    return nbformat.v4.new_code_cell(call, outputs=[output], execution_count=0)


def cells(exercise):
    """The four cells of an exercise: what is asked, the stub, the judge, and the solution or, where
    it is a step of the course, what the notebook goes on with."""
    asked = [f"### {exercise.title}", shown(exercise)]
    asked += [folded(f"Hint {n}", hint) for n, hint in enumerate(exercise.hints, 1)]
    verdict = Verdict(exercise.name, exercise.title, "", is_open=True)
    data = {"text/plain": repr(verdict), "text/html": verdict._repr_html_()}
    output = nbformat.v4.new_output("execute_result", data, execution_count=0)
    outputs = [] if exercise.is_hunt else [output]  # whose stub is judged at once
    judge = f'exercises.judge("{exercise.name}", {exercise.kernel})'
    made = [
        nbformat.v4.new_markdown_cell("\n\n".join(asked)),
        nbformat.v4.new_code_cell(f"%%kernel\n{exercise.stub.strip()}", execution_count=0),
        nbformat.v4.new_code_cell(judge, outputs=outputs, execution_count=0),
        goes_on(exercise) if exercise.ours else solution(exercise),
    ]
    for number, cell in enumerate(made):
        cell.id = f"{exercise.name.replace('.', '-').replace('_', '-')}-{number}"
        cell.metadata["tags"] = [f"exercise:{exercise.name}"]
    return made


class Misplaced(Exception):
    """An exercise would move out of the text, which leads up to it."""


def placed(notebook, number):
    """The notebook's cells, its exercises among them."""
    kept, before, after = list(notebook.cells), "", 0  # up to there are the exercises before
    for name in (name for name in texts.names() if name.startswith(f"{number}.")):
        tag = f"exercise:{name}"
        own = [n for n, cell in enumerate(kept) if tag in cell.metadata.get("tags", [])]
        is_in_order = own and own[0] >= after
        if own and not is_in_order and _heads(kept[own[0] :]):
            raise Misplaced(
                f"{name} stands before {before}, which exercises/course.txt names first. Put a"
                f" Markdown cell with the tag exercise:{before} where that is to stand, or change"
                " their order."
            )
        at = own[0] if is_in_order else _new_place(kept, number, after)
        made = cells(texts.find(name))
        kept = [
            *(cell for n, cell in enumerate(kept[:at]) if n not in own),
            *made,
            *(cell for n, cell in enumerate(kept[at:], at) if n not in own),
        ]
        before, after = name, kept.index(made[-1]) + 1
    return kept


def _heads(cells):
    """Where exercises begin that have no place of their own in the text."""
    return [n for n, cell in enumerate(cells) if re.match(r"## Exercises?\b", cell.source)]


def _new_place(kept, number, after):
    """Where an exercise goes that is not among the others yet: behind the one before it."""
    if heads := _heads(kept):
        return max(after, heads[0] + 1)
    ends = [n for n, cell in enumerate(kept) if cell.source.startswith("## On your own")]
    head = nbformat.v4.new_markdown_cell(HEAD)
    head.id = f"exercises-{number}"
    at = ends[0] if ends else len(kept)
    kept.insert(at, head)
    return at + 1


def written(text, number):
    """The text of a notebook with its exercises."""
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells = placed(notebook, number)
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = count
    data = json.loads(nbformat.writes(notebook))
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write_counts():
    """Count what each solution costs."""
    from helpers.exercises import judging  # which starts the software GPU

    found = {name: judging.counts(texts.find(name)) for name in texts.names()}
    texts.COUNTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    check = parser.parse_args().check
    if not check:
        for name in texts.names():
            drawn(texts.find(name))
        write_counts()
    stale = []
    for path in sorted(ROOT.glob("notebooks/[0-9]*.ipynb")):
        text = path.read_text()
        try:
            new = written(text, number_of(path))
        except Misplaced as error:
            sys.exit(f"{path.name} is as it was: {error}")
        if new != text:
            stale.append(path.name)
            if not check:
                path.write_text(new)
    print("\n".join(stale) or "all notebooks are as exercises/ says")
    sys.exit(check and bool(stale))


if __name__ == "__main__":
    main()
