"""Look for the turns that docs/style.md bans, in what readers read: part of `make lint`.

Pages, notebooks' Markdown, predictions; comments, docstrings and strings of Python, C, CUDA."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "docs/style.md"
NOT_READ = (  # what quotes the turns, and kernels whose text a GPU's recorded answers belong to
    TABLE, "tests/course/test_style.py", "softgpu/tests/conformance/kernels/atomics_contended.cu",
)  # fmt: skip
C = ".c", ".cpp", ".cu", ".cuh", ".h", ".inc"
KINDS = *C, ".ipynb", ".json", ".md", ".py"
ROW = re.compile(r"^\| `(?P<pattern>.*)` \| (?P<instead>.*) \|$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
STRING = re.compile(r'"(?:[^"\n\\]|\\.)*"')
OF_C = re.compile(rf"//[^\n]*|/\*.*?\*/|{STRING.pattern}", re.DOTALL)
OF_PYTHON = re.compile(
    rf"""#[^\n]*|("{{3}}|'{{3}})(?:[^\\]|\\.)*?\1|{STRING.pattern}|'(?:[^'\n\\]|\\.)*'""",
    re.DOTALL,
)


def turns(table):
    """[(compiled pattern, what to write instead)] of the page's second table."""
    rows = ROW.finditer(table.partition("## Turns")[2])
    return [(re.compile(r["pattern"].replace(r"\|", "|"), re.I), r["instead"]) for r in rows]


def objections(path, text, banned):
    """What is found in a file, a line each; a turn may go on in the next line."""
    prose = _prose(path, text)
    flat = prose.replace("\n", " ")
    if not re.search("|".join(pattern.pattern for pattern, _ in banned), flat, re.I):
        return  # as nearly always: sooner than one pattern after the other
    for pattern, instead in banned:
        for found in pattern.finditer(flat):
            number = prose.count("\n", 0, found.start()) + 1
            yield f"{path}:{number}: {found[0]!r}: write {instead}"


def _prose(path, text):
    """What readers see of a file, without code, at its lines."""
    if path.suffix == ".ipynb":
        cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "markdown"]
        text = "\n\n".join("".join(c["source"]) for c in cells)
    elif path.suffix == ".json":
        text = "\n".join(STRING.findall(text))
    elif path.suffix == ".py":
        text = _at_its_lines(text, OF_PYTHON)
    elif path.suffix in C:
        text = _at_its_lines(text, OF_C)
    return CODE.sub(lambda m: re.sub(r"[^\n]+", "`", m[0]), text)


def _at_its_lines(text, kept):
    """What the pattern finds, each at its line, without signs of comments."""
    lines, last, at = [], 0, 0
    for found in kept.finditer(text):
        last, at = last + text.count("\n", at, found.start()), found.start()
        for number, line in enumerate(found[0].splitlines(), last):
            lines += [""] * (number + 1 - len(lines))
            lines[number] = f"{lines[number]} {line.strip(' #/*')}".strip()
    return "\n".join(lines)


def _tracked():
    """The files of the repository that have prose; of data, predictions alone."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if name not in NOT_READ]
    paths = [ROOT / name for name in names if name.endswith(KINDS)]
    return [path for path in paths if path.suffix != ".json" or "predictions" in path.parts]


def main(paths):
    banned = turns((ROOT / TABLE).read_text())
    looked_at = map(Path, paths or _tracked())
    found = [o for path in looked_at for o in objections(path, path.read_text(), banned)]
    print("\n".join(found), end="\n" * bool(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
