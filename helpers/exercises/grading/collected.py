"""What learners handed in: kernels by the names of files, and cells of notebooks by their tags.

Only regular files are read, up to a megabyte, and no symbolic links. Nothing of a notebook is run.
How much one learner can have judged, listed and told is bounded."""

import codecs
import json
import os
import re
import shlex
import stat
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from ...numbering import number_of
from .. import texts

__all__ = ["Submission", "Unreadable", "collected"]

MOST_BYTES = 1 << 20
MOST_OF_ONE = 3  # kernels of a learner for an exercise
MOST_IN_ALL = 500  # of a learner
MOST_ENTRIES = 100_000  # files and folders of a learner
MOST_TOLD = 20  # lines on what was passed over of a learner
UTF_16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
KERNEL = re.compile(r"\s*%%kernel\b([^\n]*)\n?")
DEFINED = re.compile(r"\bvoid\s+(?:__global__\s+)?(\w+)\s*\(")
JUDGED = re.compile(r"^[^#\n]*\b(?:judge|check)\(\s*[\"']([\w.]+)[\"']", re.MULTILINE)
OR = " or "
ENDINGS = re.compile(r"(\.cu|\.cuh|\.txt|\.bak|~|[ _-]*\(\d+\))+$")


class Unreadable(Exception):
    """Why a file or a cell isn't taken for a kernel."""


@dataclass(frozen=True)
class Submission:
    """A kernel that was handed in."""

    learner: str
    exercise: str
    path: Path
    file: str  # below the folder
    cell: int | None = None  # its number, in a notebook
    note: str = ""  # what is odd about where it was found

    @property
    def place(self):
        """Where it was found, in words."""
        return self.file if self.cell is None else f"{self.file}, cell {self.cell}"

    def kernel(self):
        """(CUDA text, choices), lines numbered as in the cell; raises Unreadable."""
        if self.path.suffix.lower() == ".ipynb":
            source, _ = _cells(self.path)[(self.cell or 1) - 1]
            source = source.encode(errors="replace").decode()  # JSON may hold half a letter
            _, options, text = KERNEL.split(source, maxsplit=1)
            return f"\n{text}", _choices(options)
        data = _content(self.path)
        encoding = "utf-16" if data.startswith(UTF_16) else "utf-8-sig"
        return data.decode(encoding, "replace").replace("\r\n", "\n"), {}


def collected(folder, say):
    """The Submissions in a folder, in order. say(file, why) gets what is passed over."""
    folder = Path(folder).resolve()
    tell = _Told(say)
    found = list(_linked(_bounded(_found(folder, tell), tell)))
    tell.rest()
    return found


def _found(folder, tell):
    """All Submissions that there are."""
    for path, is_folder in _below(folder, tell):
        file = str(path.relative_to(folder))
        parts = Path(file).parts
        place = parts[0] if len(parts) > 1 else path.stem, path, file
        name, suffix = path.stem.lower(), path.suffix.lower()
        if suffix == ".cu" and name in _names():
            yield _submission(_names()[name], *place)
        elif suffix == ".ipynb":
            yield from _in_notebook(place, lambda why, file=file: tell(file, why))
        elif not is_folder:
            tell(file, lambda path=path: _why_not(path))


class _Told:
    """Tells what is passed over: MOST_TOLD lines of a learner, and how many more there are."""

    def __init__(self, say):
        self.say = say
        self.lines: Counter[str] = Counter()

    def __call__(self, file, why):
        """why: words, or what finds them."""
        learner = Path(file).parts[0]
        self.lines[learner] += 1
        if self.lines[learner] <= MOST_TOLD:
            self.say(file, why() if callable(why) else why)

    def rest(self):
        for learner, lines in self.lines.items():
            if lines > MOST_TOLD:
                self.say(learner, f"and {lines - MOST_TOLD:,} more lines like these")


def _bounded(submissions, tell):
    """The first of each learner for each exercise, and of each learner."""
    of_one: Counter[tuple[str, str]] = Counter()
    in_all: Counter[str] = Counter()
    for one in submissions:
        of_one[one.learner, one.exercise] += 1
        if of_one[one.learner, one.exercise] > MOST_OF_ONE:
            many = f"{MOST_OF_ONE} kernels for one exercise"
            tell(one.place, f"{one.exercise} once more: {many} are judged, those that come first")
            continue
        in_all[one.learner] += 1
        if in_all[one.learner] > MOST_IN_ALL:
            tell(one.place, f"{MOST_IN_ALL} kernels of a learner are judged, those that come first")
            continue
        yield one


def _linked(submissions):
    """The same, with a note on each that is one file with another learner's: a hard link is a file
    like any other, so which of them was there first cannot be seen."""
    submissions = list(submissions)
    names: dict = defaultdict(dict)  # of a file: {learner: what it is called there}
    files = [_identity(one.path) for one in submissions]
    for file, one in zip(files, submissions):
        names[file].setdefault(one.learner, one.file)
    for file, one in zip(files, submissions):
        others = [name for learner, name in names[file].items() if learner != one.learner]
        if file and others:
            linked = f"a hard link: one file with {', '.join(others[:MOST_OF_ONE])}"
            one = replace(one, note="; ".join(filter(None, (one.note, linked))))
        yield one


def _identity(path):
    """What two names of one file have in common; None: it has no other name."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status.st_nlink > 1 else None


def _submission(exercise, learner, path, file, cell=None, note=""):
    return Submission(learner, exercise, path, file, cell, note)


def _below(folder, tell):
    """(path, whether it is a folder) of all that lies below a folder, in order."""
    left = [(folder, True)]
    entries_of: Counter[str] = Counter()
    while left:
        path, is_folder = left.pop()
        if path != folder:
            learner = path.relative_to(folder).parts[0]
            entries_of[learner] += 1
            if entries_of[learner] > MOST_ENTRIES:
                tell(learner, f"more than {MOST_ENTRIES:,} files: the rest is not looked at")
                left = [one for one in left if one[0].relative_to(folder).parts[0] != learner]
                continue
            yield path, is_folder
        if not is_folder or path.suffix.lower() in (".cu", ".ipynb"):
            continue
        if path.name == ".ipynb_checkpoints":
            tell(str(path.relative_to(folder)), "copies that Jupyter made")
            continue
        try:
            with os.scandir(path) as entries:
                inside = [(Path(e.path), e.is_dir(follow_symlinks=False)) for e in entries]
        except OSError as error:
            tell(str(path.relative_to(folder)), error.strerror)
            continue
        left += sorted(inside, reverse=True)


@cache
def _names():
    return {name.lower(): name for name in texts.names()}


@cache
def _exercises_of():
    """Kernel's name -> the exercises that ask for it."""
    exercises: dict[str, list[str]] = {}
    for name in texts.names():
        exercises.setdefault(texts.find(name).kernel, []).append(name)
    return exercises


def _why_not(path):
    if path.is_symlink():
        return "a link, which is not followed"
    name = path.name.lower()
    near = get_close_matches(ENDINGS.sub("", name), texts.names(), 1, 0.75)
    if near and ".ipynb" not in name:
        return f"not the name of an exercise: if it is {near[0]}, name it {near[0]}.cu"
    return "neither a notebook nor a kernel with the name of its exercise"


# --- notebooks ------------------------------------------------------------------------------------


def _in_notebook(place, say):
    """The Submissions in a notebook. One that cannot be read is a Submission all the same."""
    learner, path, file = place
    try:
        cells = _cells(path)
    except Unreadable:
        return [_submission(path.name, learner, path, file)]
    kernels = {n: tags for n, (source, tags) in enumerate(cells, 1) if KERNEL.match(source)}
    found = {
        n: [_names()[t] for t in dict.fromkeys(tags) if t in _names()]
        for n, tags in kernels.items()
    }
    tagged = {exercise for exercises in found.values() for exercise in exercises}
    notes = {}
    for number, tags in kernels.items():
        for tag in sorted({*tags} - {*_names()}):
            say(f"cell {number}: there is no exercise {tag}")
        meant = _judged_below(cells[number:]) or _meant(path, cells[number - 1][0]) - tagged
        if not found[number] and meant:
            found[number] = [OR.join(sorted(meant))]
            notes[number] = f"its cell lacks the tag exercise:{found[number][0]}"
            taken = "taken for it" if len(meant) == 1 else "not judged"
            say(f"cell {number} lacks its tag, exercise:{found[number][0]}: {taken}")
    tagged = {exercise for exercises in found.values() for exercise in exercises}
    every = {_names()[tag] for _, tags in cells for tag in tags if tag in _names()}
    for exercise in sorted(every - tagged):
        say(f"no cell of {exercise} begins with %%kernel")
    if not any(found.values()):
        say("no kernel of an exercise in it")
    return [
        _submission(name, learner, path, file, number, notes.get(number, ""))
        for number in found
        for name in found[number]
    ]


def _judged_below(cells):
    """The exercise that the next cells say a kernel is judged for, if they do: a set."""
    for source, _ in cells:
        if KERNEL.match(source):
            break
        if names := {
            _names()[name.lower()] for name in JUDGED.findall(source) if name.lower() in _names()
        }:
            return names
    return set()


def _meant(path, source):
    """The exercises whose kernel a cell defines; of several, the notebook's own."""
    meant = {e for name in DEFINED.findall(source) for e in _exercises_of().get(name, ())}
    return {e for e in meant if number_of(e) == number_of(path)} or meant


def _cells(path):
    """(source, the exercises of its tags, in small letters) of each cell of a notebook."""
    try:
        return [_cell(cell) for cell in json.loads(_content(path))["cells"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise Unreadable("not a notebook") from None


def _cell(cell):
    tags = [tag.partition(":") for tag in cell["metadata"].get("tags", [])]
    exercises = [name.strip().lower() for kind, _, name in tags if kind == "exercise"]
    return "".join(cell["source"]) if cell["cell_type"] == "code" else "", exercises


def _choices(line):
    """CHOICE=VALUE of the line %%kernel."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise Unreadable(f"%%kernel{line}: {error}") from None
    return dict(word.split("=", 1) for word in words if "=" in word)


# --- files ----------------------------------------------------------------------------------------


def _content(path):
    """The bytes of a regular file; nothing else is opened, or waited for."""
    try:
        _check(os.lstat(path))
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(handle, "rb") as file:
            _check(os.fstat(handle))
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(error.strerror) from None
    if len(content) > MOST_BYTES:
        raise Unreadable("larger than 1 MB")
    return content


def _check(status):
    kinds = {stat.S_IFLNK: "a link, which is not followed", stat.S_IFDIR: "a folder"}
    kind = stat.S_IFMT(status.st_mode)
    if kind != stat.S_IFREG:
        raise Unreadable(kinds.get(kind, "no regular file"))
    if status.st_size > MOST_BYTES:
        raise Unreadable("larger than 1 MB (of a notebook, clear the outputs)")
