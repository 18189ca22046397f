"""Change the software GPU in one small way at a time, and count which changes its tests find.

A change is of an operator, a constant, a condition or a line of driver/ or jit/. What compiles to
the same machine code is none. Tests that a change of the file concerns run in a copy, with all of
their cases, as they do in `make test`. What found another change of the same file goes first, then
what found one of the same folder. Which changes come first is decided by a hash, and the same every
time. The log has a line for each; the next call skips what is in it and goes on.

    python scripts/mutants_engine.py [--count 60] [--seed TEXT] [--only driver/watch jit]
        [--log build/mutants.jsonl]
"""

import argparse
import hashlib
import io
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY, CACHE = ROOT / "build/mutants", ROOT / "build/mutants-cache"
LOG = ROOT / "build/mutants.jsonl"
tests_of = runpy.run_path(ROOT / "softgpu/tests/concerned.py")["tests_of"]  # softgpu is the copy's
LIMIT_S = 1800
"""After so long a run of tests hangs, which counts as found."""

SHARED = [
    (r"(?<![<>\-=])(<|>)(?![<>=])(?=[ ])", r"\1="),
    (r"(<|>)=(?= )", r"\1"),
    (r"==", "!="),
    (r"!=", "=="),
    (r" \+ ", " - "),
    (r" - ", " + "),
    (r" \* ", " + "),
    (r" \+= ", " -= "),
    (r" & ", " | "),
    (r" \| ", " & "),
    (r" << ", " >> "),
    (r"(?<![\w.])\d+(?![\w.])", lambda match: str(int(match[0]) + 1)),
    (r"(?<![\w.])[1-9]\d*(?![\w.])", lambda match: str(int(match[0]) - 1)),
]
CHANGES = {
    ".c": [
        *SHARED,
        (r" && ", " || "),
        (r" \|\| ", " && "),
        (r"\bif \(", "if (1 || "),
        (r"\bif \(", "if (0 && "),
        (r"\btrue\b", "false"),
        (r"\bfalse\b", "true"),
        (r"(?m)^ +(?!return)[a-z]\w*\([^;{}]*\);$", ""),
        (r"(?m)^ +[a-z][\w.\[\]>-]* [-+|&]?= [^;{}]*;$", ""),
    ],
    ".py": [
        *SHARED,
        (r" and ", " or "),
        (r" or ", " and "),
        (r"(?m)\bif (.+):$", r"if not (\1):"),
        (r" not ", " "),
        (r"\bTrue\b", "False"),
        (r"\bFalse\b", "True"),
        (r"(?m)^( +)[a-z][\w.]*\([^()]*\)$", r"\1pass"),
    ],
}
NO_CODE_IN_C = r'/\*[\s\S]*?\*/|"(?:[^"\\\n]|\\.)*"|(?m:^ *#.*$)'


def blanked(path, text):
    """The text with spaces for what is no code: comments, directives, what functions say of
    themselves."""
    if path.suffix == ".c":
        return re.sub(NO_CODE_IN_C, lambda match: re.sub(r"\S", " ", match[0]), text)
    lines = [list(line) for line in text.splitlines(keepends=True)]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.string.startswith('"""'):
            (first, begin), (last, end) = token.start, token.end
            for n in range(first, last + 1):
                line = lines[n - 1]
                for at in range(begin if n == first else 0, end if n == last else len(line) - 1):
                    line[at] = " "
    return "".join(map("".join, lines))


def mutants(path):
    """(what it is, the whole text) of each mutant of a file."""
    text = path.read_text()
    code = blanked(path, text)
    for pattern, new in CHANGES[path.suffix]:
        for match in re.finditer(pattern, code):
            begin, end = match.span()
            changed = new(match) if callable(new) else match.expand(new)
            line = text.count("\n", 0, begin) + 1
            mutant = text[:begin] + changed + text[end:]
            was, now = (t.splitlines()[line - 1].strip() for t in (text, mutant))
            yield (
                f"{path.relative_to(ROOT / 'softgpu')}:{line}: {was} -> {now or 'nothing'}",
                mutant,
            )


def chosen(only, seed):
    """All of them, in the order of a hash: (file, what it is, the whole text)."""
    paths = [*(ROOT / "softgpu/driver").rglob("*.c"), *(ROOT / "softgpu/jit").rglob("*.py")]
    paths = [path for path in paths if any(part in str(path) for part in only)]
    found = [(path, *mutant) for path in paths for mutant in mutants(path)]
    found.sort(key=lambda one: hashlib.sha256((seed + one[1]).encode()).digest())
    return found


class Copy:
    """A copy of the tree, whose driver is built file by file."""

    def __init__(self):
        shutil.rmtree(COPY, ignore_errors=True)
        listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (COPY / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, COPY / name)
        (COPY / ".venv").symlink_to(ROOT / ".venv")
        sys.path.insert(0, str(COPY))
        from softgpu import build

        self.passed = set()
        self.build, self.mark, self.objects = build, build.fingerprint(), COPY / "build/objects"
        build.make(self.objects / build.SONAME, self.mark)
        build.build()

    def put(self, path, text):
        """Make it have this text in place of a file's; whether that changes what runs."""
        place = COPY / path.relative_to(ROOT)
        if path.suffix == ".py":
            place.write_text(text)
            return True
        whole, changed = self.objects / f"{path.stem}.o", self.objects / "changed.so"
        try:
            place.write_text(text)
            self.build.compile_one(place, changed, self.mark)
        except self.build.BuildError:
            return False
        finally:
            shutil.copy2(path, place)
        if whole.read_bytes() == changed.read_bytes():
            return False
        others = [one for one in self.objects.glob("*.o") if one != whole]
        self._link([*others, changed])
        return True

    def restore(self, path):
        if path.suffix == ".c":
            self._link(self.objects.glob("*.o"))
        else:
            shutil.copy2(path, COPY / path.relative_to(ROOT))

    def _link(self, objects):
        linked = self.objects / self.build.SONAME
        self.build.link(objects, linked)
        os.replace(linked, self.build.LIBRARY)

    def find(self, tests, first=()):
        """The first test that fails, or how else they end; None if they pass. Pytest begins with
        `first`, since it takes them for what failed last."""
        failures = COPY / ".pytest_cache/v/cache/lastfailed"
        failures.parent.mkdir(parents=True, exist_ok=True)
        failures.write_text(json.dumps(dict.fromkeys(first, True)))
        command = [".venv/bin/python", "-m", "pytest", "-n0", "-xq", "-mnot long", "--ff", "-rfE"]
        own = {"PYTHONPATH": COPY, "SOFTGPU_CACHE": CACHE, "SOFTGPU_TIMEOUT": "60"}
        environment = os.environ | {name: str(value) for name, value in own.items()}
        try:
            done = subprocess.run(
                [*command, *tests], cwd=COPY, env=environment, timeout=LIMIT_S,
                errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "it hangs"
        if done.returncode == 0:
            return None
        failed = re.search(r"(?m)^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout)
        return failed[1] if failed else f"pytest ends with {done.returncode}"

    def passes(self, test):
        """Whether a test passes as things are; crashes and hangs are no test's."""
        if "::" in test and test not in self.passed:
            self.passed |= set() if self.find([test]) else {test}
        return "::" not in test or test in self.passed


class Log:
    """What was tried, a line of JSON each: the change, and which test found it."""

    def __init__(self, path):
        self.path, self.done = path, {}
        for line in path.read_text().splitlines() if path.exists() else ():
            result = json.loads(line)
            self.done[result["change"]] = result

    def add(self, **result):
        self.done[result["change"]] = result
        with self.path.open("a") as file:
            print(json.dumps(result), file=file)

    def finders(self, path):
        """The tests that found changes of a file, then of its folder, the latest first."""
        by = [(one["change"].split(":")[0], one["test"]) for one in reversed(self.done.values())]
        own = str(path.relative_to(ROOT / "softgpu"))
        near = os.path.dirname(own)
        found = [test for name, test in by if name == own]
        found += [test for name, test in by if os.path.dirname(name) == near]
        return [test for test in dict.fromkeys(found) if "::" in test]


def tried(copy, log, path, what):
    """One change, in place already: which test finds it."""
    tests, start = tests_of(str(path.relative_to(ROOT))), time.monotonic()
    found = copy.find(tests, first=log.finders(path))
    copy.restore(path)
    if found and not copy.passes(found):
        sys.exit(f"{found} fails without a change, too")
    log.add(change=what, test=found or "", seconds=round(time.monotonic() - start))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300, help="how many changes (300)")
    parser.add_argument("--seed", default="", help="a text: other changes")
    parser.add_argument("--only", nargs="*", default=[""], help="parts of paths of files to change")
    parser.add_argument("--log", type=Path, default=LOG, help="what was tried; goes on from there")
    asked = parser.parse_args()
    copy, log, found = Copy(), Log(asked.log), []
    for path, what, text in chosen(asked.only, asked.seed):
        if len(found) == asked.count:
            break
        if what not in log.done:
            if not copy.put(path, text):
                continue
            tried(copy, log, path, what)
        found.append(log.done[what]["test"])
        print(f"{len(found)}. {what}\n    {found[-1] or 'nothing finds it'}", flush=True)
    print(f"of {len(found)} changes tests find {sum(map(bool, found))}")


if __name__ == "__main__":
    main()
