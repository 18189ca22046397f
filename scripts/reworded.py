"""Run tests on a copy of the tree in which every English sentence of a program has other words.

What an error, a warning or an output says is for readers: a test names facts in it (an argument, a
value, a line, a command), never its words, and no code reads them. So all tests pass in the copy.

    python scripts/reworded.py tests/course/test_shapes.py ...    # as pytest takes them
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build/reworded"
SAYS = ("bench", "helpers", "publish", "scripts", "softgpu")
SAYS_IN_C = ("softgpu/driver", "softgpu/cudart")
AS_IT_IS = (  # tests, this, what reads the sentences of compilers, and NVIDIA's own
    "softgpu/tests/", "scripts/reworded.py", "helpers/nvcc_says.py", "softgpu/removed.py",
    "softgpu/driver/base/error.c",
)  # fmt: skip

AS_MADE = (  # pages made of these sentences, and the test of this
    "--deselect=tests/course/test_lint.py",
    "--deselect=tests/course/test_reworded.py",
    "--deselect=tests/course/test_notebooks.py::test_exercises_are_as_their_folders_say",
)

KEPT = re.compile(
    r"`[^`]*`|(?<!\w)'[^'\n]{1,60}'(?!\w)|\{[^{}]*\}|%[-+ #0-9.*lhz]*[a-z]|https?://\S+"
    r"|\b(?:sudo )?(?:apt|pip) install [^,;:]+|\b(?:git|nvcc|ptxas|softgpu) [-\w][-\w.]*"
    r'|\b(?:ms|nvdisasm|softgpu)\b|extern \\?"C\\?"|\b[a-z_]+\([a-z_, ]+\)'
)
WORD = re.compile(r"(?<![\w./\\=<>{}%$@#&|*-])([a-z]{2,})(?![\w\\=<>({}%$@#&|*]|[./-][\w{%\0])")
FIRST = re.compile(r"(?:^|(?<=[.:] ))([A-Z][a-z]+)(?= )")
CHANGED = re.compile(f"{KEPT.pattern}|{WORD.pattern}|{FIRST.pattern}")
VALUE = "\0"  # stands for what an f-string puts in
COMMON = frozenset(
    "an are as be but by can cannot do does each for from has have if into is it its no of"
    " on one only so than that the them then there this to was what which with".split()
)  # none that tables have: a, and, at, in, not, or
MESSAGES = re.compile(r"(?:\w*(?:Error|Warning|Exit|Refused|Misplaced|Unsupported)|print|warn)$")
NO_WORDS = re.compile(r"^\s*#include|\basm\b|_Pragma|Assertion")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def reworded(text, names=()):
    """The text with other words: facts, names, values, quotes and commands stay."""

    def other(found):
        word = found[1] or found[2]
        middle = (len(word or "") + 1) // 2
        kept = word is None or word in names and word not in COMMON
        return found[0] if kept else f"{word[:middle]}Q{word[middle:]}"

    return CHANGED.sub(other, text)


def is_prose(text):
    """Whether a line reads as a sentence, whoever uses it; code and tables don't."""
    words = re.findall(r"[a-z']+", text)
    return len(COMMON.intersection(words)) > 1 and not re.search(r"\n.|__", text.strip())


class Python(ast.NodeVisitor):
    """Rewords the messages of a module, and its other sentences, all but docstrings; `changed` are
    their nodes. The names of the module's functions, parameters and variables are facts."""

    def __init__(self, module):
        self.changed, self.in_message = [], False
        self.names = {_named(node) for node in ast.walk(module)}
        self.visit(module)

    def visit_ClassDef(self, node):
        self._within(node, any(getattr(base, "id", "") == "Phrase" for base in node.bases))

    def visit_Raise(self, node):
        self._within(node, True)

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        self._within(node, self.in_message or bool(MESSAGES.match(name)))

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Constant(self, node):
        text = node.value if isinstance(node.value, str) else ""
        if " " in text and (other := self._other(text)) != text:  # one word is a code
            node.value = other
            self.changed.append(node)

    def visit_JoinedStr(self, node):
        before = len(self.changed)
        values = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        for value in values:
            self._within(value, False)
        text = "".join(VALUE if part in values else part.value for part in node.values)
        other = self._other(text)
        pairs = zip_longest(map(ast.Constant, other.split(VALUE)), values)
        node.values = [part for pair in pairs for part in pair if part]
        if other != text or len(self.changed) > before:
            self.changed[before:] = [node]

    def visit_Subscript(self, node):
        """A key."""

    def visit_Compare(self, node):
        """Codes, names, keys."""

    def visit_Dict(self, node):
        for value in node.values:
            self.visit(value)

    def _within(self, node, message):
        before, self.in_message = self.in_message, message
        self.generic_visit(node)
        self.in_message = before

    def _other(self, text):
        return reworded(text, self.names) if self.in_message or is_prose(text) else text


def _named(node):
    """The function, class, parameter or variable that a node makes, if any."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    return getattr(node, "arg", getattr(node, "name", None))


def reword_python(text):
    """(the module with other words, its lines where they were; how many texts changed)."""
    changed = Python(ast.parse(text)).changed
    lines = text.encode().splitlines(keepends=True)
    for node in sorted(changed, key=lambda node: (-node.lineno, -node.col_offset)):
        first, last = node.lineno - 1, node.end_lineno - 1
        new = f"({ast.unparse(node)}" + "\n" * (last - first) + ")"
        begin, end = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        lines[first : last + 1] = (begin + new.encode() + end).splitlines(keepends=True)
    return b"".join(lines).decode(), len(changed)


def reword_c(text):
    """(the file of C with other words, how many texts changed)."""
    count = 0

    def new(literal):
        nonlocal count
        words = re.findall(r"(?<!\S)[a-z]{2,}(?![\w%])", literal[1])
        if len(words) < 2 or re.search(r";(?! )", literal[1]):
            return literal[0]
        other = reworded(literal[1])
        count += other != literal[1]
        return f'"{other}"'

    lines = text.splitlines(keepends=True)
    return "".join(x if NO_WORDS.search(x) else LITERAL.sub(new, x) for x in lines), count


def copied():
    """Copies the tree's files, in other words; how many texts have some."""
    shutil.rmtree(COPY, ignore_errors=True)
    total = 0
    for name in listed():
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY / name)
        if reword := reworder(name):
            text, count = reword((ROOT / name).read_text())
            (COPY / name).write_text(text)
            total += count
    for command in (["git", "init", "-q"], ["git", "add", "-A"]):
        subprocess.run(command, cwd=COPY, check=True)
    (COPY / ".venv").symlink_to(ROOT / ".venv")
    return total


def listed():
    """The tree's files."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    return [name for name in names if (ROOT / name).is_file()]


def reworder(name):
    """What gives a file other words, if anything does."""
    if name.startswith(AS_IT_IS):
        return None
    if name.endswith(".py") and name.startswith(tuple(f"{folder}/" for folder in SAYS)):
        return reword_python
    return reword_c if name.endswith((".c", ".h")) and name.startswith(SAYS_IN_C) else None


def main(tests):
    print(f"{copied():,} texts of {COPY.relative_to(ROOT)} have other words", flush=True)
    own = {"PYTHONPATH": COPY, "SOFTGPU_CACHE": ROOT / ".cache/softgpu"}
    environment = os.environ | {name: str(value) for name, value in own.items()}
    command = [".venv/bin/python", "-m", "pytest", *tests, *AS_MADE]
    return subprocess.run(command, cwd=COPY, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or sys.exit(__doc__)))
