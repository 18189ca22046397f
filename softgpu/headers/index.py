"""Take CUDA's headers apart into declarations, once for each way in which they are preprocessed.

Kept is an index, and for each header what stands in for it: its macros, and a mark where its
declarations belong, of which `reach.py` puts there what a source needs."""

import marshal
import os
import re
import subprocess
import tempfile
from functools import cached_property
from itertools import pairwise
from pathlib import Path

HEADERS = ("cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h")  # each is read after those before it
MARK = "#pragma softgpu declarations "

_TOKEN = re.compile(
    r"""(?P<directive>^\#.*$)
    | (?P<string>(?:u8|[uUL])?(?:R"(?P<raw>[^(\s]*)\((?:.|\n)*?\)(?P=raw)"
        | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'))
    | (?P<operator>\boperator\s*(?:\(\s*\)|[^\s\w("]+))
    | (?P<name>[A-Za-z_$][\w$]*)
    | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    | (?P<mark>->|<=>?|>=|<<|::|\S)""",
    re.MULTILINE | re.VERBOSE,
)
_LINE_MARKER = re.compile(r'^# (\d+) "(.*)"([ \d]*)\n', re.MULTILINE)
_KEYWORDS = frozenset(
    """alignas alignof asm auto bool break case catch char char16_t char32_t char8_t class concept
    const const_cast consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum explicit export extern false final float for friend goto if inline int
    long mutable namespace new noexcept nullptr operator override private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using
    virtual void volatile wchar_t while __asm __asm__ __attribute __attribute__ __const __declspec
    __decltype __extension__ __inline __inline__ __restrict __restrict__ __signed__ __typeof__
    __volatile__""".split()
)
_WITH_BRACKETS = frozenset(
    "__attribute__ __attribute alignas __declspec noexcept throw decltype __decltype __typeof__"
    " __asm__ __asm asm".split()
)
_CLASSES = ("struct", "class", "union", "enum")
_BEFORE_CLASSES = ("template", "typedef", "static", "const", "extern", "inline", "constexpr")
_PREDEFINED = ("<built-in>", "<command-line>", "/usr/include/stdc-predef.h")


class Piece:
    """A declaration at namespace level. Its tokens: word, kind, in how many brackets."""

    def __init__(self):
        self.tokens, self.start, self.end = [], None, None

    def add(self, match, depth):
        if not self.tokens:
            self.start = match.start()
        self.end = match.end()
        self.tokens.append((match[0], match.lastgroup, depth))

    def opens_scope(self):
        words = [word for word, _, _ in self.tokens if word != "inline"]
        is_linkage = len(words) == 2 and words[0] == "extern" and words[1][0] == '"'
        return is_linkage or words[:1] == ["namespace"]

    @cached_property
    def head(self):
        """The words outside of brackets, < and > among them, up to a body or a value, and where
        that begins. No words where < and > do not match."""
        head: list[str] = []
        angles, previous = 0, ""
        for at, (word, _, depth) in enumerate(self.tokens):
            if depth or word in ")]}":
                continue
            if not angles and word in ("=", "{", ";"):
                return head, at
            angles += (word == "<") - (word == ">")
            if word == "(" and previous in _WITH_BRACKETS and not angles:
                head.pop()
            elif not angles and word not in (">", "[", "__extension__"):
                head.append(word)
            previous = word
        return [] if angles else head, len(self.tokens)

    @property
    def kind(self):
        """The first word that can tell a class from other things."""
        return next((word for word in self.head[0] if word not in _BEFORE_CLASSES), "")

    def is_function(self):
        head, _ = self.head
        return "(" in head and head[0] not in ("typedef", "using")

    def ends_with_brace(self):
        """Whether a } at its end is the end: of a function, not of a class or a value."""
        head, at = self.head
        is_value = head[:1] == ["typedef"] or self.tokens[at : at + 1] == [("=", "mark", 0)]
        return not is_value and (self.is_function() or self.kind not in _CLASSES)

    def names(self, start=0, end=None):
        found = self.tokens[start:end]
        return {word for word, kind, _ in found if kind == "name"} - _KEYWORDS

    def declares(self, types):
        """The names by which it can be reached; none: it is always needed, or not understood."""
        head, at = self.head
        if not head or head[0] == "static_assert" or head[:2] == ["using", "namespace"]:
            return set()
        if "operator" in head or any(kind == "operator" for _, kind, _ in self.tokens[:at]):
            is_implicit = any(word in ("new", "delete") or word[0] == '"' for word in head[1:])
            return set() if is_implicit else self.names(0, at) & types
        return self._function(head) if self.is_function() else self._type_or_variable(head, at)

    def _function(self, head):
        at = head.index("(")
        if not _is_name(head[at - 1]):  # what returns a function
            return self.names()
        found = {head[at - 1]}
        while at > 2 and head[at - 2] == "::":
            at -= 2
            found.add(head[at - 1])
        return set(filter(_is_name, found))

    def _type_or_variable(self, head, at):
        if "(" in head:  # a typedef of a function
            return self.names()
        found = {word for word, kind, depth in self.tokens[at:] if kind == "name" and not depth}
        if self.kind == "enum":
            found = self.names(at)
        elif self.tokens[at : at + 1] == [("=", "mark", 0)]:
            found = set()
            if head[0] not in ("using", "template") and (",", "mark", 0) in self.tokens[at:]:
                return found
        if self.kind not in _CLASSES:
            head = [word for word, after in pairwise([*head, ","]) if after == ","]
        elif ":" in head:
            head = head[: head.index(":")]
        return set(filter(_is_name, found.union(head)))


def _is_name(word):
    return (word[0].isalpha() or word[0] in "_$") and word not in _KEYWORDS


def split(text):
    """The declarations of a preprocessed text, scopes that open and close, and pragmas, in order:
    where each starts and ends, and for a declaration its Piece."""
    piece, depth, is_over = Piece(), 0, False
    for match in _TOKEN.finditer(text):
        word, is_directive = match[0], match.lastgroup == "directive"
        is_pragma = is_directive and word.startswith("#pragma")
        if is_over and (is_pragma or not is_directive and word not in (";", "{", ",")):
            yield piece.start, piece.end, piece
            piece, is_over = Piece(), False
        if is_directive or not piece.tokens and word in (";", "}"):
            if is_pragma and not piece.tokens or word == "}":
                yield *match.span(), None
            continue
        if word == "{" and not depth and piece.opens_scope():
            yield piece.start, match.end(), None
            piece = Piece()
            continue
        depth -= word in (")", "]", "}")
        piece.add(match, depth)
        depth += word in ("(", "[", "{")
        is_over = word == "}" and not depth and piece.ends_with_brace()
        if word == ";" and not depth:
            yield piece.start, piece.end, piece
            piece = Piece()
    if piece.tokens:
        raise ValueError(f"a declaration without an end: {text[piece.start : piece.end][:200]}")


def files(text):
    """The files that a preprocessed text is from."""
    return {match[2] for match in _LINE_MARKER.finditer(text) if match[2][0] != "<"}


def _flags(text):
    """Of the flags of a line marker, what says that a file is the system's."""
    return "".join(f" {flag}" for flag in text.split() if flag in "34")


def _with_places(text, pieces):
    """Each piece with its text, and in front of that its file, line and column."""
    markers = list(_LINE_MARKER.finditer(text))
    at = 0
    for start, end, piece in pieces:
        while at + 1 < len(markers) and markers[at + 1].start() < start:
            at += 1
        line = int(markers[at][1]) + text.count("\n", markers[at].end(), start)
        column = start - text.rfind("\n", 0, start) - 1
        place = f'# {line} "{markers[at][2]}"{_flags(markers[at][3])}\n' + " " * column
        yield piece, (place if piece else "") + text[start:end] + "\n"


def index(text):
    """What `reach.py` needs to know of a preprocessed text with marks, which end its sections.

    texts: the pieces; fixed: those that are always needed; names: which pieces declare a name;
    needs: the names that a piece uses; sections: where each begins and ends."""
    pieces = list(split(text))
    types: set[str] = set()
    for _, _, piece in pieces:
        if piece and not piece.is_function():
            types |= piece.declares(types)
    names: dict[bytes, list[int]] = {}
    texts: list[bytes] = []
    fixed, used, ends = [], [], [0]
    for piece, piece_text in _with_places(text, pieces):
        if MARK in piece_text:
            ends.append(len(texts))
            continue
        declared = piece.declares(types) if piece else set()
        if not declared:
            fixed.append(len(texts))
        for name in declared:
            names.setdefault(name.encode(), []).append(len(texts))
        texts.append(piece_text.encode("latin-1"))
        used.append({name.encode() for name in piece.names()} if piece else set())
    needs = [b" ".join(words & names.keys()) for words in used]
    sections = list(pairwise(ends))
    return {"texts": texts, "fixed": fixed, "names": names, "needs": needs, "sections": sections}


def macros(text, known):
    """The directives that lead from the macros `known` to those at the end of a text of `gcc -dD`.

    gcc marks what the macros of system headers become, so an option says which these are."""
    found, file, flags = {}, "", ""
    for line in text.splitlines():
        directive, _, rest = line.partition(" ")
        if directive == "#":
            _, file, flags = rest.split('"')
        elif directive in ("#define", "#undef") and file not in _PREDEFINED:
            found[re.split(r"\W", rest)[0]] = line, _flags(flags)
    flags = ""
    for name, new in found.items():
        if new == known.get(name):
            continue
        if new[1] != flags:
            flags = new[1]
            yield f'# 1 "<macros>"{flags}\n'
        if name in known and new[0].startswith("#define"):
            yield f"#undef {name}\n"
        yield new[0] + "\n"
    yield '# 1 "<macros>"\n'
    known.update(found)


def words(paths):
    """All words of these files outside of comments: a macro of such a name may change a header."""
    found = set()
    for path in paths:
        text = re.sub(rb"//.*|/\*(?s:.*?)\*/", b" ", Path(path).read_bytes())
        found.update(re.findall(rb"[A-Za-z_]\w*", text))
    if b"__COUNTER__" in found:
        raise ValueError("how often a macro has been used shows in the headers")
    return b" ".join([b"", *found, b""])


def _take_apart(command, folder):
    """The index for a command of gcc; what stands in for the headers goes to the folder."""
    source = Path(folder, "all.cu")
    marks = [f"{MARK}{number}\n" for number in range(len(HEADERS))]
    source.write_text(
        "".join(f"#include <{name}>\n{mark}" for name, mark in zip(HEADERS, marks, strict=True))
    )
    done = subprocess.run([*command, "-dD", source], capture_output=True, check=True)
    text = done.stdout.decode("latin-1")
    sections = text.split(MARK)[: len(HEADERS)]
    known: dict[str, tuple[str, str]] = {}
    before = ""
    for name, mark, section in zip(HEADERS, marks, sections, strict=True):
        stand_in = "".join(["#pragma once\n", before, *macros(section, known), mark])
        Path(folder, name).write_text(stand_in, "latin-1")
        before = f'#include "{name}"\n'
    paths = files(text) - {str(source)}
    inside = [path.rpartition("/include/")[2].split("/") for path in paths]
    read = [*paths, os.path.abspath(__file__)]
    stamps = [(path, os.stat(path).st_mtime_ns, os.stat(path).st_size) for path in read]
    return {
        **index(re.sub(r"^#(?:define|undef) .*", "", text, flags=re.MULTILINE)),
        "stand_ins": HEADERS,
        "stamps": stamps,
        "words": [words(files(section) & paths) for section in sections],
        "parts": {part for parts in inside for part in parts},
    }


def make(command, folder):
    """Keep the index for a command of gcc in a folder; OSError if that cannot be.

    Others may be at it: each file is replaced whole, and the index last."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as unfinished:
        try:
            made = _take_apart(command, unfinished)
        except (subprocess.SubprocessError, ValueError):
            made = {"texts": [], "stamps": [], "stand_ins": ()}  # gcc does it all
        made["command"] = command
        Path(unfinished, "index").write_bytes(marshal.dumps(made))
        for name in (*made["stand_ins"], "index"):
            os.replace(f"{unfinished}/{name}", f"{folder}/{name}")
    return made
