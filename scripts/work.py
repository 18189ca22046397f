"""A learner's own copies of the notebooks, without outputs, in work/, which git leaves alone.

python scripts/work.py              # copy what is not there yet; say what has changed since
python scripts/work.py --fresh 03   # begin notebook 03 anew; the old copy goes to work/old

COURSE_LANGUAGE=zh: in Chinese, where there is a catalogue in publish/translations/zh.
COURSE_SOLUTIONS=0: without the solutions."""

import argparse
import hashlib
import json
import os
import sys
from itertools import count
from pathlib import Path

import students

sys.path.append(str(Path(__file__).resolve().parent.parent))
from helpers.numbering import number_of

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "notebooks"
WORK = Path(os.environ.get("HELPERS_WORK", ROOT / "work"))


def in_language(page):
    """The text of a page of notebooks/, in Chinese if that is asked for and there."""
    language = os.environ.get("COURSE_LANGUAGE") or "en"
    if language not in ("en", "zh"):
        raise SystemExit(f"COURSE_LANGUAGE={language}: there are en and zh")
    if language == "zh":
        import translate  # needs polib, which is in .venv

        pages, name = translate.edition(), f"notebooks/{page.name}"
        if name in pages:
            return translate.made(name, pages)
    return page.read_text(encoding="utf-8")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def unrun(notebook):
    """The text of a notebook without its outputs, which tell what a prediction asks for."""
    data = json.loads(in_language(notebook))
    if students.is_asked_for():
        data["cells"] = students.without_solutions(data["cells"])
    for cell in data["cells"]:
        cell["metadata"].get("jupyter", {}).pop("outputs_hidden", None)
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def set_aside(notebook):
    """Move a copy to where it is in nobody's way."""
    old = WORK / "old"
    old.mkdir(exist_ok=True)
    names = (old / f"{notebook.stem}.{number}.ipynb" for number in count(1))
    (WORK / notebook.name).rename(next(name for name in names if not name.exists()))


def update(fresh=""):
    """Bring work/ up to date without touching what the learner has changed."""
    notebooks = sorted(COURSE.glob("*.ipynb"))
    asked = [n for n in notebooks if fresh and f"{n.stem}_".startswith(f"{Path(fresh).stem}_")]
    if fresh and not asked:
        numbers = ", ".join(map(number_of, notebooks))
        sys.exit(f"There is no notebook {fresh}. Their numbers are {numbers}.")
    WORK.mkdir(parents=True, exist_ok=True)
    (WORK / "glossary.md").write_text(in_language(COURSE / "glossary.md"), encoding="utf-8")
    note = WORK / "origins.json"
    origins = json.loads(note.read_text()) if note.exists() else {}
    for notebook in notebooks:
        own, text = WORK / notebook.name, unrun(notebook)
        if notebook in asked and own.exists():
            set_aside(notebook)
            print(f"{notebook.name} begins anew; your old copy is in {WORK / 'old'}")
        origin = origins.get(notebook.name)
        if not own.exists() or digest(own.read_text(encoding="utf-8")) == origin:
            own.write_text(text, encoding="utf-8")
            origins[notebook.name] = digest(text)
        elif digest(text) != origin:
            print(f"{notebook.name} has changed in the course since your copy was made:"
                  f" `make fresh NOTEBOOK={number_of(notebook)}` begins anew")  # fmt: skip
    note.write_text(json.dumps(origins, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fresh", default="", help="a notebook to begin anew, such as 03")
    update(parser.parse_args().fresh)


if __name__ == "__main__":
    main()
