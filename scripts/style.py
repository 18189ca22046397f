"""Look for the turns that docs/style.md bans, in what readers read: part of `make lint`."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = "docs/style.md"
LOOKED_AT = (  # each is clean; add the next when it is
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "docs/**/*.md",
    "notebooks/glossary.md",
    "notebooks/0[0-9]_*.ipynb",
    "notebooks/1[0-2]_*.ipynb",
    "notebooks/predictions/*.json",
    "exercises/0[0-9].*/statement.md",
    "exercises/1[0-2].*/statement.md",
    "helpers/**/*.py",
    "publish/teach/**/*.md",
    "softgpu/README.md",
    "softgpu/docs/*.md",
)
ROW = re.compile(r"^\| `(?P<pattern>.*)` \| (?P<instead>.*) \|$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
PROSE_OF_PYTHON = re.compile(r'"(?:[^"\n\\]|\\.)*"')


def turns(table):
    """[(compiled pattern, what to write instead)] of the page's second table."""
    rows = ROW.finditer(table.partition("## Turns")[2])
    return [(re.compile(r["pattern"].replace(r"\|", "|"), re.I), r["instead"]) for r in rows]


def objections(path, text, banned):
    """What is found in a file, a line each."""
    before = ""
    for number, line in enumerate(_prose(path, text), 1):
        for pattern, instead in banned:
            for found in pattern.finditer(f"{before} {line}"):  # a turn may go on in the next line
                if found.end() > len(before) + 1:
                    yield f"{path}:{number}: {found[0]!r}: write {instead}"
        before = line


def _prose(path, text):
    """The lines that readers see of a file, without code. Of a notebook: those of its Markdown."""
    if path.suffix == ".ipynb":
        cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "markdown"]
        text = "\n\n".join("".join(c["source"]) for c in cells)
    elif path.suffix == ".json":
        text = "\n".join(PROSE_OF_PYTHON.findall(text))
    elif path.suffix == ".py":
        text = "\n".join(" ".join(PROSE_OF_PYTHON.findall(x)) for x in text.splitlines())
    return CODE.sub(lambda m: re.sub(r"[^\n]+", "`", m[0]), text).splitlines()


def main(paths):
    banned = turns((ROOT / TABLE).read_text())
    known = [path for pattern in LOOKED_AT for path in sorted(ROOT.glob(pattern))]
    looked_at = [path for path in map(Path, paths or known) if path.name != Path(TABLE).name]
    found = [o for path in looked_at for o in objections(path, path.read_text(), banned)]
    print("\n".join(found), end="\n" * bool(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
