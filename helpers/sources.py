"""Find, show and compile kernels: cuda_src's, and texts of your own.

A kernel file is plain CUDA that compiles as it stands. What a caller may choose stands on lines
of its own, `using T = float;` or `constexpr int BLOCK = 256;`, and kernel("reduce/unrolled.cu",
BLOCK=128) compiles the file with that line changed. The kernel of a file is extern "C" and bears
the file's name. A type may be given as NumPy calls it: T="half" or T=x.dtype. A CUDA text may stand
wherever a file's name may, extern "C" or not, and include "common/..." as files do."""

import re
import warnings
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pygments.lexers import CudaLexer
from pygments.token import Token

from softgpu.declarations import Declarations

if TYPE_CHECKING:
    from .kernels import Kernel

__all__ = ["C_NAMES", "ROOT", "architecture", "find", "kernel", "show", "text"]

ROOT = Path(__file__).resolve().parent.parent / "cuda_src"
C_NAMES = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long long",
    "float16": "half",
    "float32": "float",
    "float64": "double",
}
HEADERS = {"half": "cuda_fp16.h", "__nv_bfloat16": "cuda_bf16.h"}
INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)
WARPGROUPS = re.compile(r"\b(wgmma|setmaxnreg)\.")  # instructions of one architecture only
CHOICE = re.compile(r"^(using|constexpr int) (\w+) = ([^;]+);", re.MULTILINE)

CODE = "white-space: pre; font-family: var(--jp-code-font-family, monospace)"
COLOURS = {  # on white and on black
    Token.Comment.Preproc: "#b565a7",
    Token.Comment.PreprocFile: "#d0454c",
    Token.Comment: "#797979",
    Token.Keyword: "#1f9e74",
    Token.Literal.Number: "#d9661f",
    Token.Literal.String: "#d0454c",
    Token.Name.Function: "#2a7fc9",
}


class Listing(str):
    """A stretch of a file. It is shown with its lines' numbers, in a notebook beside the text and
    in colours, so that the text can be copied and compiles."""

    first: int

    def __new__(cls, text: str, first: int = 1) -> "Listing":
        self = super().__new__(cls, text)
        self.first = first
        return self

    @property
    def numbers(self) -> list[str]:
        """The numbers of its lines, as wide as the last one."""
        last = self.first + len(self.splitlines()) - 1
        return [f"{n:>{len(str(last))}}" for n in range(self.first, last + 1)]

    def __repr__(self) -> str:
        lines = zip(self.numbers, self.splitlines())
        return "\n".join(f"{number}  {line}".rstrip() for number, line in lines)

    def _repr_html_(self) -> str:
        tokens = CudaLexer(stripnl=False, ensurenl=False).get_tokens(self)
        columns = "\n".join(self.numbers), "".join(_coloured(kind, text) for kind, text in tokens)
        cells = "".join(
            f'<td style="padding: 0 1em 0 0; text-align: left; user-select: {select}">'
            f'<pre style="{CODE}">{column}</pre></td>'
            for select, column in zip(("none", "text"), columns)
        )
        return f'<table style="margin: 0 0 0.7em"><tr style="background: none">{cells}</tr></table>'


def _coloured(kind: Any, text: str) -> str:
    """A piece of CUDA as HTML, in the colour of its kind, if it has one."""
    colour = next((colour for group, colour in COLOURS.items() if kind in group), None)
    if not colour or text.isspace():
        return escape(text)
    return f'<span style="color: {colour}">{escape(text)}</span>'


def _listing(source: str, start: int, end: int) -> Listing:
    return Listing(source[start:end], first=source.count("\n", 0, start) + 1)


def find(name: str) -> Path:
    """The path of a file of cuda_src, such as "reduce/shared.cu"."""
    if "\n" in str(name) or "__global__" in str(name):
        raise TypeError(
            "that is source text, not a file of cuda_src: "
            "xray takes the pair (source, kernel name), pycuda's SourceModule the source"
        )
    path = ROOT / name
    if path.is_file():
        return path
    names = sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*.cu*"))
    folder = [n for n in names if n.startswith(f"{Path(name).parent}/")]
    topics = sorted({f"{n.partition('/')[0]}/" for n in names})
    near = get_close_matches(name, names, cutoff=0.7) or folder or topics
    raise FileNotFoundError(f"no kernel file {name!r} in cuda_src; there is {', '.join(near)}")


def text(what: str, **choices: Any) -> str:
    """The text of a kernel file, or a text as it is, with these of its choices changed.

    A byte-order mark, which some editors begin a text with, is dropped: PyCUDA does not take it."""
    known = _is_text(what)
    found = what if known else find(what).read_text()
    return _choices(found.replace("\ufeff", ""), "the text" if known else what, choices)


def show(
    name: str, part: str | None = None, machine: bool = False, lines: Any = None, **choices: Any
) -> Any:
    """A kernel file without its head comment, or one part of it: a function or a struct, or the
    lines from the first that has one text to the next that has another.

    Lines bear the numbers that they have in the file. machine: what nvcc makes of the kernel with
    these choices instead, a machine.Code; part: only PTX with this in it."""
    if machine:
        from .machine import code

        made = code(kernel(name, **choices))
        return made[part] if part else made
    source = find(name).read_text()
    if lines:
        first, last = map(re.escape, lines)
        found = re.search(rf"^.*{first}(?:.*\n)*?.*{last}.*$", source, re.MULTILINE)
        if not found:
            raise LookupError(f"{name} has no lines from {lines[0]!r} to {lines[1]!r}")
        return _listing(source, *found.span())
    if part is None:
        rest = re.sub(r"^(//.*\n)*\s*", "", source, count=1)
        return _listing(source, len(source) - len(rest), len(source.rstrip()))
    start = r"(?:^(?!$|[}#]|using |constexpr ).*\n)*"  # its comment and template lines
    named = rf"^(?!//)\S.*\b{re.escape(part)}\b(?:\(| ?:| \{{)"
    found = re.search(rf"{start}{named}(?:.*\n)*?^\}};?$", source, re.MULTILINE)
    if not found:
        raise LookupError(f"{name} defines no {part!r}")
    return _listing(source, *found.span())


def _is_text(what: str) -> bool:
    return "\n" in what or "__global__" in what


def _choices(source: str, whose: str, choices: Mapping[str, Any]) -> str:
    """A CUDA text with these of its choices changed."""
    known = {match[2]: match[3] for match in CHOICE.finditer(source)}
    unknown = [choice for choice in choices if choice not in known]
    if unknown:
        offers = ", ".join(f"{key}={value}" for key, value in known.items()) or "no choice"
        raise TypeError(f"{whose} has no choice {', '.join(unknown)}; it has {offers}")
    values = known | {key: C_NAMES.get(str(value), value) for key, value in choices.items()}
    return CHOICE.sub(lambda m: f"{m[1]} {m[2]} = {values[m[2]]};", source)


def _stamps(path: Path) -> tuple[int, ...]:
    """When a kernel file and what it includes of cuda_src were last written."""
    changed = path.stat().st_mtime_ns
    headers = (ROOT / name for name in _included(path, changed))
    return changed, *(stamp for path in headers if path.is_file() for stamp in _stamps(path))


def architecture(source: str) -> str | None:
    """The one architecture that a text can be compiled for; None: any."""
    return "sm_90a" if any(map(WARPGROUPS.search, (source, *headers(source)))) else None


def headers(source: str) -> Iterator[str]:
    """The texts of cuda_src's headers that a text includes, and of those that they include."""
    for name in INCLUDE.findall(source):
        if (path := ROOT / name).is_file():
            yield (text := path.read_text())
            yield from headers(text)


@cache
def _included(path: Path, changed: int) -> list[str]:
    return INCLUDE.findall(path.read_text())


def kernel(what: str, name: str | None = None, **choices: Any) -> "Kernel":
    """The kernel of a file or a text: PyCUDA's function, whose launches are checked.

    name: which one, where a text defines several. A file that was changed is compiled anew."""
    from .kernels import CompilerWarning  # isort: skip  (it chooses PyCUDA's driver)
    from pycuda.driver import Context

    stamps = () if _is_text(what) else _stamps(find(what))
    key = (Context.get_current().handle, what, name, stamps, tuple(sorted(choices.items())))
    if key not in compiled:
        compiled[key] = _compile(what, name, choices)
        if said := compiled[key].said:
            warnings.warn(said, CompilerWarning, stacklevel=2)
    return compiled[key]


compiled: dict = {}


def _compile(what: str, name: str | None, choices: Mapping[str, Any]) -> "Kernel":
    from . import kernels

    source = text(what, **choices)
    if _is_text(what):
        defined = Declarations(source).kernels
        if name is None and len(defined) != 1:
            raise LookupError(f"which kernel? the text defines {', '.join(defined) or 'none'}")
        name = name or defined[0]
    options = ["-diag-suppress=177,550"]  # "never used": true of much that is begun
    for element, header in HEADERS.items():
        options += ["-include", header] if f"= {element};" in source else []
    file = "" if _is_text(what) else str(find(what))
    about = options, [str(ROOT)], architecture(source)
    return kernels.compile(name or Path(what).stem, source, file, *about)
