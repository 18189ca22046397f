"""The instructions of a compiled kernel: what is among them, and on which paths."""

import re
from typing import Any

from .. import sources
from . import costs

__all__ = ["named_by_headers", "of_kernel", "some_path_skips", "unused"]

NUMBER = re.compile(r"(?<![\w.$%])0(x[0-9a-f]+|b[01]+|[0-7]+)u?\b", re.IGNORECASE)
BRANCH = re.compile(r"\bbra[\w.]*\s+([$\w]+)")
OF_COPIES = re.compile(r"\b(?:fence|cp\.async|wgmma|mbarrier)(?:\.\w+)+")  # and of products
FUNCTION = re.compile(r"__device__[^;{(]*\b(\w+)\((.*?)(?=__device__|\Z)", re.DOTALL)


def of_kernel(target: Any) -> str:
    """The PTX of a kernel, without comments and the kernels that stand beside it, its whole numbers
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


def some_path_skips(instructions: str, first: str, last: str, between: str) -> bool:
    """Whether some path through a kernel's PTX leads from an instruction `first` to one `last`, and
    meets none `between`."""
    lines = [line.strip() for line in re.split(r"[;{}\n]|(?<=\w:)\s", instructions)]
    labels = {line.rstrip(":"): n for n, line in enumerate(lines) if line.endswith(":")}
    seen = set()
    ahead = [n + 1 for n, line in enumerate(lines) if re.search(first, line)]
    while ahead:
        n = ahead.pop()
        if n in seen or n == len(lines) or re.search(between, lines[n]):
            continue
        if re.search(last, lines[n]):
            return True
        seen.add(n)
        if branch := BRANCH.search(lines[n]):
            ahead.append(labels[branch[1]])
        if not re.match(r"(bra|ret|exit)\b", lines[n]):  # one with a predicate may go on
            ahead.append(n + 1)
    return False


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
