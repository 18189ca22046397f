"""The instructions of a compiled kernel: what is among them, and on which paths."""

import re
from typing import Any

from .. import sources
from . import costs

__all__ = ["named_by_headers", "of_kernel", "some_path_skips", "unused", "work_before"]

NUMBER = re.compile(r"(?<![\w.$%])0(x[0-9a-f]+|b[01]+|[0-7]+)u?\b", re.IGNORECASE)
BRANCH = re.compile(r"\bbra[\w.]*\s+([$\w]+)")
OF_COPIES = re.compile(r"\b(?:fence|cp\.async|wgmma|mbarrier)(?:\.\w+)+")  # and of products
FUNCTION = re.compile(r"__device__[^;{(]*\b(\w+)\((.*?)(?=__device__|\Z)", re.DOTALL)


def of_kernel(target: Any) -> str:
    """The PTX of a kernel, without comments and without other kernels, its whole numbers
    in decimal."""
    instructions = costs.COMMENT.sub(" ", target.ptx)
    instructions = NUMBER.sub(lambda number: str(_value(number[0])), instructions)
    parts = re.split(
        r"^(?=\.(?:visible|weak|extern|entry|func)\b)", instructions, flags=re.MULTILINE
    )
    return "".join(p for p in parts if not re.search(rf"\.entry (?!{target.entry}\b)", p))


def unused(instructions: str, count: int) -> list[int]:
    """Which of so many parameters a kernel's PTX never reads, nor takes the address of."""
    used = re.findall(r"^(?!\s*\.param\b).*_param_(\d+)\b", instructions, re.MULTILINE)
    return [n for n in range(count) if str(n) not in used]


def _value(number: str) -> int:
    """What PTX's spelling of a whole number stands for."""
    digits = number.lower().rstrip("u")
    return int(digits, 0 if digits[1:2] in ("x", "b") else 8)


def some_path_skips(instructions: str, stations: tuple[str, ...], between: str) -> bool:
    """Whether some path through a kernel's PTX leads from an instruction like the first of these to
    the others in turn, and meets none `between`."""
    lines = [line.strip() for line in re.split(r"[;{}\n]|(?<=\w:)\s", instructions)]
    labels = {line.rstrip(":"): n for n, line in enumerate(lines) if line.endswith(":")}
    first, *others = stations
    seen = set()
    ahead = [(n + 1, 0) for n, line in enumerate(lines) if re.search(first, line)]
    while ahead:
        n, met = ahead.pop()
        if (n, met) in seen or n == len(lines) or re.search(between, lines[n]):
            continue
        seen.add((n, met))
        if re.search(others[met], lines[n]):
            met += 1
            if met == len(others):
                return True
        if branch := BRANCH.search(lines[n]):
            ahead.append((labels[branch[1]], met))
        if not re.match(r"(bra|ret|exit)\b", lines[n]):  # one with a predicate may go on
            ahead.append((n + 1, met))
    return False


def work_before(instructions: str, load: str, work: str) -> list[int]:
    """For each load whose result some `work` takes before the next label or branch: how many others
    of `work` come first."""
    found = []
    for run in re.split(r"^.*(?:\bbra\b.*|\w:[ \t]*)$", instructions, flags=re.MULTILINE):
        lines = [line for line in run.splitlines() if re.search(rf"{load}|{work}", line)]
        for n, line in enumerate(lines):
            if re.search(load, line):
                results = set(re.findall(r"%\w+", line.partition("[")[0]))
                later = [after for after in lines[n + 1 :] if re.search(work, after)]
                takes = (bool(results & set(re.findall(r"%\w+", after))) for after in later)
                found += [count for count, is_taken in enumerate(takes) if is_taken][:1]
    return found


def named_by_headers(source: str, advice: str) -> dict[str, str]:
    """{instruction of copies or products that an advice names: the function that executes it, of
    the course's headers that a kernel's source includes}"""
    found: dict[str, str] = {}
    for text in sources.headers(source):
        for name, body in FUNCTION.findall(text):
            for instruction in OF_COPIES.findall(advice):
                if re.search(rf'"[^"\n]*\b{re.escape(instruction)}\b', body):
                    found.setdefault(instruction, name)
    return found
