"""Make the Chinese edition from the English one and the catalogues in publish/translations/zh.

    python scripts/translate.py [--check]

A catalogue has the passages of a page: the cells of a notebook, or the paragraphs of another. Code,
outputs and solutions are the English page's. A passage that is new, or has changed since,
stays in English until it is translated: its entry waits in the catalogue, with the Chinese that it
may come from as a fuzzy one. Two pages are in the repository; the lab makes those that it opens as
it starts (work.py). --check: change nothing, and fail where a catalogue or a page is not what would
be made.
"""

import argparse
import difflib
import json
import posixpath
import re
import sys
from pathlib import Path

import polib

from helpers.numbering import number_of

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = ROOT / "publish/translations/zh"
SOLUTION = "<details><summary>Solution</summary>"
SOLVED = "<details><summary>参考答案</summary>"
LINK = re.compile(r'(?P<before>(?<!\[English)\]\(|\b(?:src|href)=")(?P<path>[^)"#:\s]+)(?=[#)" ])')
NUMBER = re.compile(r"\d(?:[\d,.]*\d)?")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
WIDTH = 0  # of a catalogue's lines: as they are
# read before there is a lab
WRITTEN = {"README.md": "README.zh.md", "docs/lab.md": "docs/zh/lab.md"}


def page_of(name):
    """The English page that a catalogue is of."""
    pages = {"README": "README.md", "glossary": "notebooks/glossary.md", "lab": "docs/lab.md"}
    return pages.get(name, f"notebooks/{name}.ipynb")


def edition():
    """{English page: Chinese page} of all catalogues, as paths from the root. What the lab opens
    takes the place of the English page there."""
    pages = [page_of(catalogue.stem) for catalogue in sorted(CATALOGUES.glob("*.po"))]
    return {page: WRITTEN.get(page, page) for page in pages}


def relinked(text, page, pages):
    """The text of a Chinese page, whose links lead where the English page's do, or to that
    page's Chinese edition."""

    def link(match):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), match["path"]))
        target = pages.get(target, target)
        return match["before"] + posixpath.relpath(target, posixpath.dirname(pages[page]) or ".")

    return LINK.sub(link, text)


def paragraphs(text):
    """The pieces of a page between empty lines; a block of code is one piece."""
    whole = FENCE.sub(lambda block: block[0].replace("\n\n", "\n\0\n"), text)
    return [piece.replace("\0", "") for piece in re.split(r"\n{2,}", whole.strip("\n"))]


def is_prose(piece):
    """Whether there is something to be translated."""
    return not (piece.startswith((SOLUTION, "```", "    ")) or re.fullmatch(r"\W*", piece))


def passages(page):
    """What is to be translated of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if page.endswith(".ipynb"):
        cells = json.loads(text)["cells"]
        pieces = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    else:
        pieces = paragraphs(text)
    return list(dict.fromkeys(filter(is_prose, pieces)))


def renumbered(before, passage):
    """The translation of a passage that differs from a translated one in numbers alone; "" if it
    differs in more, or if a number that changed is not as often in the translation."""
    old, new, said = (NUMBER.findall(text) for text in (before.msgid, passage, before.msgstr))
    if before.fuzzy or NUMBER.split(before.msgid) != NUMBER.split(passage):
        return ""
    become = dict(zip(old, new))
    if any(become[a] != b for a, b in zip(old, new)):  # one number became two
        return ""
    if any(a != b and old.count(a) != said.count(a) for a, b in become.items()):
        return ""
    return NUMBER.sub(lambda number: become.get(number[0], number[0]), before.msgstr)


def merged(catalogue, wanted):
    """The catalogue with an entry for each passage; a new one gets, as fuzzy, the
    translation of the most similar passage that is gone. If only numbers change, they change in
    the translation, too."""
    kept = {entry.msgid: entry for entry in catalogue}
    gone = [msgid for msgid in kept if msgid not in wanted]
    new = polib.POFile(wrapwidth=WIDTH)
    new.metadata = {"Language": "zh_CN", "Content-Type": "text/plain; charset=UTF-8"}
    for passage in wanted:
        entry = kept.get(passage) or polib.POEntry(msgid=passage)
        if passage not in kept and (near := difflib.get_close_matches(passage, gone, 1, 0.5)):
            before = kept[near[0]]
            entry.msgstr = renumbered(before, passage)
            if not entry.msgstr:
                entry.msgstr, entry.previous_msgid, entry.fuzzy = before.msgstr, before.msgid, True
        new.append(entry)
    return new


def read(name):
    return polib.pofile(str(CATALOGUES / f"{name}.po"), wrapwidth=WIDTH, encoding="utf-8")


def made(page, pages, catalogue=None):
    """The text of the Chinese page."""
    catalogue = read(Path(page).stem) if catalogue is None else catalogue
    chinese = {entry.msgid: entry.msgstr for entry in catalogue.translated_entries()}

    def translated(piece):
        if piece.startswith(SOLUTION):
            piece = piece.replace(SOLUTION, SOLVED, 1)
        return relinked(chinese.get(piece, piece), page, pages)

    text = (ROOT / page).read_text(encoding="utf-8")
    if not page.endswith(".ipynb"):
        return "\n\n".join(map(translated, paragraphs(text))) + "\n"
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = translated("".join(cell["source"])).splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def untold(pages):
    """What predictions say in the notebooks that are there in Chinese, and has no Chinese."""
    tables = [CATALOGUES / f"{name}.json" for name in ("verdicts", "predictions")]
    known = {phrase for file in tables for phrase in json.loads(file.read_text(encoding="utf-8"))}
    for page in pages:
        file = ROOT / f"notebooks/predictions/{number_of(page)}.json"
        if page.endswith(".ipynb") and file.exists():
            for name, one in json.loads(file.read_text(encoding="utf-8")).items():
                said = [one["what"], one["because"], *(m["thought"] for m in one["mistakes"])]
                yield from ((page, name, phrase) for phrase in said if phrase not in known)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    is_check, is_stale, pages = parser.parse_args().check, False, edition()
    for page in pages:
        name = Path(page).stem
        catalogue = merged(read(name), passages(page))
        files = {CATALOGUES / f"{name}.po": str(catalogue)}
        if page in WRITTEN:
            files[ROOT / WRITTEN[page]] = made(page, pages, catalogue)
        for file, text in files.items():
            if file.exists() and file.read_text(encoding="utf-8") == text:
                continue
            is_stale = True
            print(f"{file.relative_to(ROOT)}", "is not what `make translations` makes" * is_check)
            if not is_check:
                file.parent.mkdir(exist_ok=True)
                file.write_text(text, encoding="utf-8")
        older = [e for e in catalogue if not e.translated()]
        for entry in older:
            state = "is older than its original" if entry.fuzzy else "is not translated"
            print(f"{page}: {state}: {' '.join(entry.msgid.split())[:60]}")
    for page, name, phrase in untold(pages):
        print(f"{page}: prediction {name} is not translated: {phrase[:60]}")
    sys.exit(is_check and is_stale)


if __name__ == "__main__":
    main()
