"""A text as it was handed in: its letters, what it may include, the numbers that it chooses."""

import codecs
import re
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from softgpu.declarations import Declarations, parameter_types

from .. import sources
from ..kernels import CompileError as Failed
from ..kernels import Kernel, SeveralFound
from ..words import Next, Refusal
from .texts import Exercise
from .verdict import Refused

from pycuda.compiler import SourceModule  # isort: skip
from pycuda.driver import CompileError, memcpy_dtoh  # isort: skip

__all__ = ["chosen", "compile_for_types", "compiled", "decoded"]

MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before that of UTF-16, with which it begins
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
DIRECTIVE = re.compile(r"#|%:|__has_(?:include|include_next|embed)\b")
READS = re.compile(r"(?:include|include_next|import|embed)\b")
LINE = re.compile(r"line\b")
NUMBER = re.compile(r"\d{1,20}")
BLANKS = re.compile(r"[\s\0]+")  # to the preprocessor; NUL, too
HEADER = re.compile(r"<([\w./+-]+)>|\"([\w./+-]+)\"")
SUFFIXES = "", ".h", ".hpp", ".cuh", ".inl"
GREATEST = 2**31 - 1
MOST_NAMED = 300  # letters of what a directive names


def decoded(data: bytes) -> str:
    """The text of a file's bytes, whatever its editor put first."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    return data.decode(errors="replace")


# --- what it includes -----------------------------------------------------------------------------


def look_for_includes(text: str) -> None:
    """Refuse a text that reads other files than headers of the course, the toolkit and C++."""
    joined = text.replace("??=", "#").replace("??/", "\\")
    joined = re.sub(r"\\[ \t\r\f\v]*\n", "", joined)
    for what, is_line in _files_named(joined):
        header = HEADER.match(what)
        if is_line or not header or not _is_header(header[1] or header[2]):
            named = what.strip()[:60]
            text = Refusal.INCLUDES(what=named) if named else Refusal.INCLUDES_NOTHING()
            raise Refused("include", text, Next.INCLUDE_NAMES())


def _files_named(text: str) -> Iterator[tuple[str, bool]]:
    """(what follows, whether it is after a line's number) where a text may name a file."""
    skip = _Skip(text)
    for mark in DIRECTIVE.finditer(text):
        begin = skip(mark.end())
        if mark[0].startswith("__has"):
            begin = skip(begin + 1) if text.startswith("(", begin) else begin
            yield text[begin : begin + MOST_NAMED].partition("\n")[0], False
        elif reads := READS.match(text, begin):
            begin = skip(reads.end())
            yield text[begin : begin + MOST_NAMED].partition("\n")[0], False
        else:
            line = LINE.match(text, begin)
            number = NUMBER.match(text, skip(line.end()) if line else begin)
            begin = skip(number.end()) if number else len(text)
            if text.startswith('"', begin):
                yield text[begin : begin + MOST_NAMED].partition("\n")[0], True


class _Skip:
    """Finds the end of the blanks and comments that begin at a place: each once, in linear time."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends: dict[int, int] = {}
        self.closing = [found.start() for found in re.finditer(r"\*/", text)]

    def __call__(self, place: int) -> int:
        passed = []
        while place not in self.ends:
            passed.append(place)
            blanks = BLANKS.match(self.text, place)
            end = blanks.end() if blanks else place
            if self.text.startswith("/*", end):
                close = bisect_left(self.closing, end + 2)
                end = self.closing[close] + 2 if close < len(self.closing) else end
            if end == place:
                self.ends[place] = place
            place = end
        for before in passed:
            self.ends[before] = self.ends[place]
        return self.ends[place]


def _is_header(name: str) -> bool:
    """Whether it is the name of a header that a kernel of the course may include."""
    path = sources.ROOT / name
    if name.startswith("/") or ".." in name.split("/") or path.suffix not in SUFFIXES:
        return False
    return path.suffix == ".cuh" or not path.exists()


# --- its kernel -----------------------------------------------------------------------------------


def compiled(exercise: Exercise, text: str) -> Kernel:
    """The kernel of an exercise in a text."""
    look_for_includes(text)
    text = f"{text}\n"  # a line alone might name a file
    try:
        return sources.kernel(text, exercise.kernel)
    except SeveralFound as several:
        asked_for = Declarations(exercise.solution).parameters(exercise.kernel) or ()
        wanted = [p.type for p in asked_for]
        alike = [name for name in several.names if parameter_types(name) == wanted]
        if len(alike) == 1:
            return sources.kernel(text, alike[0])
        only = Next.CALL_ONE(name=exercise.kernel)
        raise Refused("name", Refusal.BECAUSE(why=several), only) from None
    except LookupError as error:
        call = Next.CALL_IT(name=exercise.kernel)
        raise Refused("name", Refusal.BECAUSE(why=error), call) from None


def compile_for_types(exercise: Exercise, text: str, types: tuple[str, ...]) -> None:
    """Refuse a text that the notebook cannot compile for the other types of T."""
    for dtype in types:
        try:
            sources.kernel(f"{text}\n", exercise.kernel, T=dtype)
        except TypeError:
            raise Refused("name", Refusal.NO_TYPE(), Next.SAY_TYPE()) from None
        except Failed as error:
            where = str(error).splitlines()[0]
            text = Refusal.FOR_TYPE(type=dtype, why=where)
            raise Refused("compiler", text, Next.WRITE_T(type=dtype)) from None


def chosen(exercise: Exercise, text: str) -> dict[str, int]:
    """The numbers that the learner chooses, such as the threads of a block: {"block": 256}.

    Where there is no text, as of a kernel that PyCUDA made, our solution's."""
    numbers = {}
    for name in exercise.judge.choices:
        number = _number(name, text or exercise.solution)
        if not 1 <= number <= GREATEST:
            raise Refused("name", Refusal.CHOSEN(name=name, number=number), Next.CHOOSE())
        numbers[name.lower()] = number
    return numbers


def _number(name: str, text: str) -> int:
    """What a name stands for; what is no number at first sight, the compiler works out."""
    found = re.findall(rf"^constexpr int {name} = (\d+);", Declarations(text).text, re.MULTILINE)
    if len(found) == 1:
        return int(found[0])
    asked = f'{text}\nextern "C" __device__ long long exercise_{name} = {name};\n'
    try:
        module = SourceModule(asked, no_extern_c=True, include_dirs=[str(sources.ROOT)])
    except CompileError:
        say = Next.SAY_CHOICE(name=name)
        raise Refused("name", Refusal.NO_CHOICE(name=name), say) from None
    number = np.zeros(1, np.int64)
    memcpy_dtoh(number, module.get_global(f"exercise_{name}")[0])
    return int(number[0])
