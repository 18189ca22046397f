"""Lines of code by room, and what changed since a tag.

python scripts/size.py [TAG]    # without one: the last tag, if there is any"""

import subprocess
import sys
from collections import Counter

CODE = (".py", ".c", ".h", ".cpp", ".cu", ".cuh", ".js", ".css", ".inc", ".toml")
DEEPER = "softgpu", "helpers"  # their folders are rooms of their own


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def room(path):
    """The row that a file's lines are counted in."""
    if path.startswith(("tests/", "softgpu/tests/")):
        return path[: path.index("tests/") + len("tests")]
    top, *rest = path.split("/")
    if top in DEEPER:
        return f"{top}/{rest[0]}" if len(rest) > 1 else f"{top}/*.py"
    return top if rest else "*.py"


def lines(commit):
    """{room: lines of code} of a commit."""
    counted = Counter()
    for row in git("grep", "-c", "", commit, "--", *(f"*{ending}" for ending in CODE)).splitlines():
        path, number = row.removeprefix(f"{commit}:").rsplit(":", 1)
        counted[room(path)] += int(number)
    return counted


def table(now, before):
    """The rows to print: rooms of the product, their sum, tests, their sum."""
    for name, rooms in (
        ("product", [r for r in now | before if not r.endswith("tests")]),
        ("tests", [r for r in now | before if r.endswith("tests")]),
    ):
        for each in sorted(rooms):
            yield each, now[each], now[each] - before[each]
        yield f"= {name}", sum(now[r] for r in rooms), sum(now[r] - before[r] for r in rooms)


def main(tag):
    tag = tag or next(iter(git("tag", "--merged", "HEAD", "--sort=-creatordate").split()), None)
    print(f"{'lines':>33}" + (f"   since {tag}" if tag else ""))
    for name, size, change in table(lines("HEAD"), lines(tag) if tag else Counter()):
        print(f"{name:24}{size:9,}" + (f"{change:+11,}" if tag else ""))


if __name__ == "__main__":
    main(*sys.argv[1:2] or [None])
