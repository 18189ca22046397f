"""The texts of the exercises: a folder each in exercises/, in the order of course.txt there.

Between // BEGIN and // END of solution.cu lies the answer. The stub is the solution without it:
words after BEGIN stay as a comment, and lines of // STUB take its place. What the solutions cost is
in counts.json, which scripts/exercises.py writes."""

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from softgpu.declarations import Declarations

from .. import sources
from .judges import Judge
from .wrong import Wrong, kernels_of

__all__ = ["Exercise", "find", "names"]

ROOT = Path(__file__).resolve().parents[2] / "exercises"
COUNTS = ROOT / "counts.json"
ANSWER = re.compile(
    r"^(?P<indent> *)// BEGIN *(?P<words>.*)\n(?P<answer>(?:.*\n)*?)"
    r"(?P<stub>(?: *// STUB.*\n)*) *// END\n",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Exercise:
    """One exercise: its texts, and how it is judged."""

    name: str

    @property
    def folder(self) -> Path:
        return ROOT / self.name

    def _read(self, file: str) -> str:
        return (self.folder / file).read_text()

    @property
    def title(self) -> str:
        return self._read("statement.md").partition("\n")[0].removeprefix("# ")

    @property
    def statement(self) -> str:
        """What is asked, in Markdown."""
        body = self._read("statement.md").partition("\n")[2]
        return re.split(r"^## Hint\n", body, flags=re.MULTILINE)[0].strip()

    @property
    def hints(self) -> list[str]:
        """Each gives a little more than the one before."""
        return [
            hint.strip()
            for hint in re.split(r"^## Hint\n", self._read("statement.md"), flags=re.MULTILINE)[1:]
        ]

    @property
    def ours(self) -> str | None:
        """The file of cuda_src that solves it, if it is a step of the course; else None."""
        return self.judge.ours

    @cached_property
    def solution(self) -> str:
        if self.ours:
            return sources.text(self.ours)
        return ANSWER.sub(lambda m: m["answer"], self._read("solution.cu"))

    @cached_property
    def stub(self) -> str:
        if self.ours:
            return self._read("stub.cu")

        def without_answer(match: re.Match) -> str:
            words = f"{match['indent']}// {match['words']}\n" if match["words"] else ""
            lines = re.sub(r"^ *// STUB ?", match["indent"], match["stub"], flags=re.MULTILINE)
            return words + lines

        return ANSWER.sub(without_answer, self._read("solution.cu"))

    @property
    def kernel(self) -> str:
        """The name of the kernel that is judged: the last of its text."""
        return Declarations(self.solution).kernels[-1]

    @property
    def is_hunt(self) -> bool:
        """Whether its stub is a kernel with a fault, to be found."""
        return ".hunt_" in self.name

    @property
    def counts(self) -> dict[str, int]:
        """{counter: how much} of the solution, in the launch that is counted."""
        return json.loads(COUNTS.read_text()).get(self.name, {})

    @cached_property
    def judge(self) -> Judge:
        """What its judge.py says: what to launch, what is right, what it may cost."""
        path = self.folder / "judge.py"
        module = ModuleType(f"exercise_{self.name}")
        module.__file__ = str(path)
        SourceFileLoader(module.__name__, module.__file__).exec_module(module)
        return module.JUDGE

    @cached_property
    def wrong(self) -> dict[str, Wrong]:
        """{what is wrong: the kernel}, those that must be refused."""
        return kernels_of(self.folder)

    def is_stub(self, text: str) -> bool:
        """Whether nothing but blanks and comments tells a text from the stub."""
        return _bare(text) == _bare(self.stub)


def _bare(text: str) -> str:
    comments = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
    return "".join(comments.sub("", text).split())


@cache
def _all() -> dict[str, Exercise]:
    return {name: Exercise(name) for name in (ROOT / "course.txt").read_text().split()}


def names() -> list[str]:
    """The exercises, in the order of the course."""
    return list(_all())


def find(name: str) -> Exercise:
    """The Exercise of that name."""
    if name not in _all():
        near = get_close_matches(name, names(), cutoff=0.5) or names()
        raise LookupError(f"no exercise {name!r}; there is {', '.join(near)}")
    return _all()[name]
