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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build/reworded"
SAYS = ("bench", "helpers", "publish", "scripts", "softgpu")
SAYS_IN_C = ("softgpu/driver", "softgpu/cudart")
AS_IT_IS = (  # tests, this, what reads the sentences of compilers, and NVIDIA's own
    "softgpu/tests/", "scripts/reworded.py", "helpers/nvcc_says.py", "softgpu/driver/base/error.c",
)  # fmt: skip

KEPT = re.compile(
    r"`[^`]*`|(?<!\w)'[^'\n]{1,60}'(?!\w)|\{[^{}]*\}|%[-+ #0-9.*lhz]*[a-z]|https?://\S+"
    r"|\b(?:sudo )?(?:apt|pip) install [^,;:]+|\b(?:git|mv|nvcc|ptxas|softgpu) [-\w][-\w.]*"
    r'|\bnvdisasm\b|extern "C"|\b[a-z_]+\([a-z_, ]+\)'
)
WORD = re.compile(r"(?<![\w./\\=<>{}%$@#&|*-])([a-z]{2,})(?![\w\\=<>({}%$@#&|*]|[./-]\w)")
FIRST = re.compile(r"(?:^|(?<=[.:] ))([A-Z][a-z]+)(?= )")
COMMON = frozenset(
    "an are as be but by can cannot do does each for from has have if into is it its no of"
    " on one only so than that the them then there this to was what which with".split()
)  # none that tables have: a, and, at, in, not, or
MESSAGES = re.compile(r"(?:\w*(?:Error|Warning|Exit|Refused|Misplaced|Unsupported)|print|warn)$")
NO_WORDS = re.compile(r"^\s*#include|\basm\b|_Pragma|Assertion")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def reworded(text):
    """The text with other words: facts, names, values, quotes and commands stay."""
    done, end = [], 0
    for kept in KEPT.finditer(text):
        done += [_other_words(text[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*done, _other_words(text[end:])])


def _other_words(text):
    return WORD.sub(_other, FIRST.sub(_other, text))


def _other(word):
    middle = (len(word[1]) + 1) // 2
    return f"{word[1][:middle]}Q{word[1][middle:]}"


def is_prose(text):
    """Whether a line reads as a sentence, whoever uses it; code and tables don't."""
    words = re.findall(r"[a-z']+", text)
    return len(COMMON.intersection(words)) > 1 and not re.search(r"\n.|__", text.strip())


class Python(ast.NodeTransformer):
    """Rewords the messages of a module, and its other sentences, all but docstrings."""

    def __init__(self):
        self.count, self.in_message = 0, False

    def visit_ClassDef(self, node):
        phrases = any(getattr(base, "id", "") == "Phrase" for base in node.bases)
        return self._within(node, phrases)

    def visit_Raise(self, node):
        return self._message(node)

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if MESSAGES.match(name):
            return self._message(node)
        return self.generic_visit(node)

    def visit_Expr(self, node):
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Constant(self, node):
        text = node.value if isinstance(node.value, str) else ""
        if " " in text and (self.in_message or is_prose(text)):  # one word is a code
            return ast.copy_location(ast.Constant(self._new(node.value)), node)
        return node

    def visit_JoinedStr(self, node):
        texts = [part for part in node.values if isinstance(part, ast.Constant)]
        message = self.in_message or is_prose(" 0 ".join(part.value for part in texts))
        for part in node.values:
            if not isinstance(part, ast.Constant):
                self._within(part, False)
            elif message:
                part.value = self._new(part.value)
        return node

    def visit_Subscript(self, node):
        return node  # a key

    def visit_Compare(self, node):
        return node  # of codes, names, keys

    def visit_Dict(self, node):
        node.values = [self.visit(value) for value in node.values]
        return node

    def _message(self, node):
        return self._within(node, True)

    def _within(self, node, message):
        before, self.in_message = self.in_message, message
        self.generic_visit(node)
        self.in_message = before
        return node

    def _new(self, text):
        new = reworded(text)
        self.count += new != text
        return new


def reword_python(text):
    """(the module with other words, how many texts changed)."""
    python = Python()
    return ast.unparse(python.visit(ast.parse(text))) + "\n", python.count


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
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    total = 0
    for name in subprocess.check_output(command, cwd=ROOT, text=True).split("\0"):
        if not name or not (ROOT / name).is_file():
            continue
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY / name)
        reword = _reworder(name)
        if reword:
            text, count = reword((ROOT / name).read_text())
            (COPY / name).write_text(text)
            total += count
    (COPY / ".venv").symlink_to(ROOT / ".venv")
    return total


def _reworder(name):
    if name.startswith(AS_IT_IS):
        return None
    if name.endswith(".py") and name.startswith(tuple(f"{folder}/" for folder in SAYS)):
        return reword_python
    return reword_c if name.endswith((".c", ".h")) and name.startswith(SAYS_IN_C) else None


def main(tests):
    print(f"{copied():,} texts of {COPY.relative_to(ROOT)} have other words", flush=True)
    own = {"PYTHONPATH": COPY, "SOFTGPU_CACHE": ROOT / ".cache/softgpu"}
    environment = os.environ | {name: str(value) for name, value in own.items()}
    command = [".venv/bin/python", "-m", "pytest", *tests]
    return subprocess.run(command, cwd=COPY, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or sys.exit(__doc__)))
