"""What the learner has done: a file of their own, outside of git, and a map of the course."""

import getpass
import json
import os
from html import escape
from pathlib import Path
from zlib import crc32

from ..numbering import number_of
from ..sources import Listing
from ..words import Shown
from . import texts
from .verdict import Verdict

__all__ = [
    "course_map",
    "keep",
    "keep_prediction",
    "mine",
    "passed",
    "score",
    "seed_of",
    "state_of",
]

WORK = Path(__file__).resolve().parents[2] / "work"
PREDICTIONS = "predictions"  # beside the exercises, none of which is called so
MARKS = {"done": "●", "tried": "◐", "open": "○"}


def _file() -> Path:
    return Path(os.environ.get("HELPERS_WORK", WORK)) / "progress.json"


def _load() -> dict:
    return json.loads(_file().read_text()) if _file().exists() else {}


def keep(verdict: Verdict) -> None:
    """Note a verdict. What is done stays done; the text last judged can be had back by mine()."""
    if verdict.is_open:
        return
    kept = _load()
    before = kept.get(verdict.name, {})
    if before.get("state") != "done" or verdict:
        counts = {count.key: [count.value, count.best] for count in verdict.counts}
        kept[verdict.name] = {"state": verdict.state, "counts": counts, "text": verdict.text}
        if verdict:
            kept[verdict.name]["passed"] = verdict.text
    else:
        before["text"] = verdict.text
    _save(kept)


def keep_prediction(name: str, is_right: bool) -> None:
    """Note whether the first answer to a prediction was right."""
    kept = _load()
    if name not in (made := kept.setdefault(PREDICTIONS, {})):
        made[name] = is_right
        _save(kept)


def score() -> str:
    """In words: the exercises done, and the predictions that were right at once."""
    return course_map().score


def _save(kept: dict) -> None:
    path = _file()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    new.replace(path)


def mine(name: str) -> str:
    """The text that you gave to the judge last, such as for a fresh copy of a notebook."""
    stub = texts.find(name).stub
    return Listing(_load().get(name, {}).get("text", stub))


def passed(name: str) -> str | None:
    """The text that the judge last called done; None: there is none."""
    return _load().get(name, {}).get("passed")


def state_of(name: str) -> str:
    """ "done", "tried" or "open"."""
    return _load().get(name, {}).get("state", "open")


def seed_of(exercise: str, learner: str | None = None) -> int:
    """The seed of a learner (by default who runs this) for an exercise, by their names."""
    if learner is None:
        learner = os.environ.get("JUPYTERHUB_USER") or _user()
    return crc32(f"{learner} {exercise}".encode(errors="replace")) % 1_000_000


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return ""


class Map:
    """The exercises of the course, notebook by notebook, with what is done and the score."""

    def __init__(self, kept: dict) -> None:
        self.rows: dict[str, list] = {}
        for name in texts.names():
            entry = kept.get(name, {})
            notebook = number_of(name)
            row = self.rows.setdefault(notebook, [])
            row.append((name, entry.get("state", "open"), entry.get("counts", {})))
        self.predictions = kept.get(PREDICTIONS, {}).values()

    @property
    def done(self) -> int:
        return sum(state == "done" for row in self.rows.values() for _, state, _ in row)

    @property
    def total(self) -> int:
        return sum(len(row) for row in self.rows.values())

    @property
    def score(self) -> str:
        exercises = {"done": self.done, "total": self.total}
        if not self.predictions:
            return Shown.EXERCISES(**exercises)
        right, made = sum(self.predictions), len(self.predictions)
        return Shown.EXERCISES_AND_PREDICTIONS(**exercises, right=right, made=made)

    @property
    def heading(self) -> str:
        return f"{self.score}  (● done, ◐ tried, ○ open)"

    def __repr__(self) -> str:
        lines = [self.heading]
        for notebook, row in self.rows.items():
            marks = "  ".join(f"{MARKS[state]} {name.partition('.')[2]}" for name, state, _ in row)
            lines.append(f"{notebook}  {marks}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = ""
        for notebook, row in self.rows.items():
            cells = " &ensp; ".join(self._cell(*entry) for entry in row)
            rows += f"<tr><th>{notebook}</th><td style='text-align:left'>{cells}</td></tr>"
        return f"<p>{escape(self.heading)}</p><table>{rows}</table>"

    @staticmethod
    def _cell(name: str, state: str, counts: dict) -> str:
        reached = ", ".join(
            f"{key} {value:,} (ours {best:,})" for key, (value, best) in counts.items()
        )
        short = escape(name.partition(".")[2])
        return f'<span title="{escape(reached or state)}">{MARKS[state]} {short}</span>'


def course_map() -> Map:
    """A Map of the course with the learner's progress."""
    return Map(_load())
