"""What the author of CUDA source declared: names, parameters of kernels, layouts of structs.

PTX keeps mangled names and sizes. The source that stands after it says the rest; what cannot be
read from it for certain is not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod

import cxxfilt

__all__ = [
    "Declarations",
    "Extent",
    "DeclaredParameter",
    "demangled",
    "parameter_types",
    "short_name",
]

_SCALARS = {  # C name: NumPy's name
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    "half": "float16",
    "__half": "float16",
    "float": "float32",
    "double": "float64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_SHORT = {"uchar": "unsigned char", "ushort": "unsigned short", "uint": "unsigned",
          "longlong": "long long", "ulonglong": "unsigned long long", "ulong": "unsigned long",
          "half": "half", "__half": "half"}  # fmt: skip
_QUALIFIERS = re.compile(r"\b(const|volatile|struct|__restrict__|__restrict|__grid_constant__)\b")


@lru_cache(4096)
def demangled(name: str) -> str:
    """A name as C++ has it, with the types of its parameters; other names as they are."""
    try:
        return cxxfilt.demangle(name)
    except cxxfilt.Error:
        return name


def _split(text: str, separator: str) -> list[str]:
    """Text cut at separators outside of all brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if not depth and text.startswith(separator, at) and at >= start:
            parts.append(text[start:at])
            start = at + len(separator)
        depth += (character in "(<[{") - (character in ")>]}")
    return [*parts, text[start:]]


def short_name(mangled: str) -> str:
    """What the author calls it: _ZZ6kernelPfE4tile is tile, _Z3sumILi8EEvPf is sum<8>."""
    if not mangled.startswith("_Z"):
        return mangled
    return _unqualified(_split(demangled(mangled), "::")[-1])


def _unqualified(function: str) -> str:
    """void sum<8>(float*) is sum<8>."""
    return _split(_split(function, "(")[0].strip(), " ")[-1] or function


def parameter_types(mangled: str) -> list[str]:
    """The types of a function's parameters, without qualifiers; [] of a name that has none."""
    _, *lists = _split(demangled(mangled), "(") if mangled.startswith("_Z") else [mangled]
    inside = lists[-1].removesuffix(")") if lists else ""
    return [_normal(part) for part in _split(inside, ",") if part]


@dataclass(frozen=True)
class DeclaredParameter:
    """One parameter of a kernel."""

    name: str
    type: str  # "float *", without qualifiers; "": not known
    text: str  # as it is declared: "T *x"

    @property
    def is_pointer(self) -> bool:
        return self.type.endswith("*")

    @property
    def target(self) -> str:
        """The type that a pointer leads to."""
        return self.type[:-1].strip()


@dataclass(frozen=True)
class Extent:
    """A type in memory: bytes, alignment, its parts as NumPy calls them (None: a struct), gaps."""

    bytes: int
    align: int
    dtype: str | None = None
    gaps: frozenset[int] = frozenset()


_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[ \t]+([^\n]*))?$", re.MULTILINE)
_LAUNCH_LIMITS = re.compile(  # __launch_bounds__(256, sizeof(T) == 4 ? 2 : 1): nested once
    r"\b__(?:launch_bounds|cluster_dims|maxnreg)__\s*\((?:[^()]|\([^()]*\))*\)"
)
_BIT_FIELDS = Extent(1, 1, None, frozenset({0}))  # wherever they lie: any byte may be a gap


class Declarations:
    """What a source declares, as far as it can be read with certainty."""

    def __init__(self, source: str):
        text = re.sub(
            r'/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", source, flags=re.DOTALL
        )
        text = re.sub(r"^[ \t]*#(?![ \t]*define)[^\n]*", " ", text, flags=re.MULTILINE)
        self.text = _LAUNCH_LIMITS.sub(" ", _spelt_out(text))

    @cached_property
    def kernels(self) -> list[str]:
        """The kernels that it defines, in order."""
        return [name for name, _ in self._heads]

    @cached_property
    def _heads(self) -> list[tuple[str, str]]:
        """(name, what stands between its brackets) of each kernel that is defined."""
        found = []
        for match in re.finditer(r"__global__\b[^;{}]*?\b(\w+)\s*\(", self.text):
            inside, *rest = _split(self.text[match.end() : match.end() + 8000], ")")
            if rest and rest[0].lstrip().startswith("{"):
                found.append((match[1], inside))
        return found

    def parameters(self, kernel: str) -> list[DeclaredParameter] | None:
        """The parameters of a kernel by its name in PTX; None: they cannot be read off."""
        base = short_name(kernel).partition("<")[0]
        found = [inside for name, inside in self._heads if name == base]
        if len(found) != 1 or "#" in found[0]:
            return None
        pieces = [" ".join(piece.split()) for piece in _split(found[0], ",")]
        read = [self._parameter(piece) for piece in pieces if piece not in ("", "void")]
        known = [parameter for parameter in read if parameter is not None]
        if len(known) < len(read):
            return None
        types = parameter_types(kernel)
        if types and len(types) == len(known):
            known = [replace(p, type=type_) for p, type_ in zip(known, types, strict=True)]
        return known

    def _parameter(self, text: str) -> DeclaredParameter | None:
        text = text.partition("=")[0].strip()
        match = re.fullmatch(r"(.*[\s*&])(\w+)\s*((?:\[[^\]]*\])*)", text)
        if not match or "(" in text:
            return None
        plain = re.sub(r"\* ", "*", " ".join(_QUALIFIERS.sub(" ", text).split()))
        return DeclaredParameter(match[2], self.plain(match[1] + "*" * bool(match[3])), plain)

    def plain(self, type_: str) -> str:
        """A type without qualifiers and other names; "" if there are several meanings."""
        text = _normal(type_)
        for _ in range(8):  # an alias may stand for another
            base = text.rstrip("* ")
            meanings = self._aliases.get(base)
            if base in _SCALARS or meanings is None:
                return text
            if len(meanings) > 1 or "" in meanings:
                return ""
            text = _normal(next(iter(meanings)) + text[len(base) :])
        return ""

    @cached_property
    def _aliases(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        forms = (
            r"\busing\s+(?P<name>\w+)\s*=\s*(?P<type>[^;]+);",
            r"\btypedef\s+(?P<type>[^;{}()]+?)\s*\b(?P<name>\w+)\s*;",
            r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<type>[^\n]+)$",
            r"\b(?P<type>)(?:typename|class)\s+(?P<name>\w+)",  # of a template: any type
        )
        for form in forms:
            for match in re.finditer(form, self.text, re.MULTILINE):
                found.setdefault(match["name"], set()).add(match["type"].strip())
        return found

    # --- layouts ----------------------------------------------------------------------------

    def extent(self, type_: str) -> Extent | None:
        """How a type lies in memory; None: unknown."""
        text = self.plain(type_)
        if text.endswith("*"):
            return Extent(8, 8, "uint64")
        if text in _SCALARS:
            name = _SCALARS[text]
            size = 1 if name == "bool" else int(re.sub(r"\D", "", name)) // 8
            return Extent(size, size, name)
        if match := re.fullmatch(r"([a-z_]+)([1-4])", text):
            part = self.extent(_SHORT.get(match[1], match[1]))
            if part is None or not part.dtype:
                return None
            size = part.bytes * int(match[2])
            return Extent(size, part.bytes if match[2] == "3" else min(size, 16), part.dtype)
        return self._struct(text)

    def _struct(self, name: str) -> Extent | None:
        if not re.fullmatch(r"\w+", name):
            return None
        marks = r"(?:(?:__align__|__builtin_align__|alignas)\s*\(\s*(\d+)\s*\)\s*)?"
        after = r"(?:\w+\s*\(\s*(\d+)\s*\)\s*)?"  # also by a macro's name
        found = re.findall(rf"\bstruct\s+{marks}{name}\s*\{{([^{{}}]*)\}}\s*{after};", self.text)
        found += re.findall(
            rf"\btypedef\s+struct\s+{marks}\w*\s*\{{([^{{}}]*)\}}\s*{after}{name}\s*;", self.text
        )
        if len(found) != 1:
            return None
        before, body, behind = found[0]
        asked = before or behind
        if ":" in body:
            return _BIT_FIELDS
        at, align, used = 0, int(asked or 1), set()
        for member in filter(None, (part.strip() for part in body.split(";"))):
            for part in (members := self._members(member)):
                at = -(-at // part.align) * part.align
                used |= {at + byte for byte in range(part.bytes)} - {at + gap for gap in part.gaps}
                at, align = at + part.bytes, max(align, part.align)
            if not members or _BIT_FIELDS in members:
                return _BIT_FIELDS if members else None
        size = -(-at // align) * align
        return Extent(size, align, None, frozenset(range(size)) - used)

    def _members(self, text: str) -> list[Extent]:
        """What one declaration in a struct declares, in order; []: unknown."""
        first, *others = _split(text, ",")
        match = re.fullmatch(r"(.*?)((?:\*\s*)*\w+\s*(?:\[[^\]]*\]\s*)*)", first, re.DOTALL)
        if not match:
            return []
        found = []
        for name in (match[2], *others):
            part = self.extent(match[1] + ("*" if "*" in name else ""))
            counts = re.findall(r"\[\s*(\w*)\s*\]", name)
            if part is None or not all(count.isdigit() for count in counts):
                return []
            found += [part] * prod(int(count) for count in counts)
        return found

    def shared_type(self, mangled: str) -> str:
        """The element type of a variable in shared memory."""
        *owners, name = _split(demangled(mangled), "::")
        text = self.text
        if owners:  # a function's own
            owner = re.escape(_unqualified(owners[-1]).partition("<")[0])
            after = re.split(rf"\b{owner}\s*\([^;{{}}]*\{{", text)[1:]
            text = re.split(r"\b__(?:global|device)__\b", after[0])[0] if after else ""
        found = re.findall(
            rf"__shared__\s+([\w\s]+?[\s*]+)(?:\w[^;]*,\s*)?{re.escape(name)}\b\s*[\[;,=]", text
        )
        types = {self.plain(text) for text in found}
        return types.pop() if len(types) == 1 else ""


def _spelt_out(text: str) -> str:
    """With qualifiers where a macro stands for them, such as KERNEL for `extern "C" __global__`."""
    found: dict[str, set[str]] = {}
    for name, meaning in _DEFINED.findall(text):
        found.setdefault(name, set()).add(" ".join(meaning.split()))
    words = r"(?:\b(?:const|extern|inline|static|volatile|__\w+__)\b *)*"
    spelt = {
        name: meaning
        for name, meanings in found.items()
        for meaning in meanings
        if len(meanings) == 1 and re.fullmatch(words, meaning)
    }
    text = _DEFINED.sub(lambda match: "" if match[1] in spelt else match[0], text)
    return re.sub(r"\b[A-Za-z_]\w*", lambda match: spelt.get(match[0], match[0]), text)


def _normal(type_: str) -> str:
    text = _QUALIFIERS.sub(" ", type_)
    text = re.sub(r"\bint\s+(?=unsigned|long|short)", "", text)
    text = re.sub(r"\b(long|short)\s+int\b", r"\1", " ".join(text.split()))
    text = re.sub(r"\s*\*\s*", "*", text).strip()
    return re.sub(r"(\*+)$", r" \1", text)
