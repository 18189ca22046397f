"""Change the solution of each exercise in one small way at a time, and count what the judge sees.

What compiles to the code of the solution, or of another mutant, is none; nor is a larger array.
One that the judge passes is a survivor: a fault of the judge, or as good as the solution. The
Judge's `survivors` say of which lines why.

    python scripts/mutants.py [03.padding ...]

exercises/mutants.json keeps how many there were of each, and docs/lab.md says how many in all.
"""

import argparse
import json
import os
import re
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

os.environ["HELPERS_DEVICE"] = "software"  # before anything of the course is imported

from helpers import sources
from helpers.exercises import judging, texts
from helpers.kernels import CompileError

KEPT = texts.ROOT / "mutants.json"
CHANGES = [
    (r"<=", "<"),
    (r"(?<![<\-])<(?![<=\w])", "<="),
    (r">=", ">"),
    (r"(?<![>\-])>(?![>=(;,*\w])", ">="),
    (r"==", "!="),
    (r"!=", "=="),
    (r"&&", "||"),
    (r"\|\|", "&&"),
    (r"__syncthreads\(\);", ""),
    (r"__threadfence\(\);", ""),
    (r"0xffffffff", "0xffff"),
    (r"\bf?min(f?)\(", r"max("),
    (r"\bf?max(f?)\(", r"min("),
    (r"\batomicAdd\(", "atomicSub("),
    (r"(?<=[\w)\]]) \+ (?=[\w(])", " - "),
    (r"(?<=[\w)\]]) - (?=[\w(])", " + "),
    (r" \+= ", " -= "),
    (r" \* (?=\w)", " + "),
    (r"(?<=[\w)]) / (?=\w)", " * "),
    (r" % ", " / "),
    (r"\b0\b(?!x)", "1"),
    (r"\b(\d*[2-9])\b", lambda m: str(int(m[1]) - 1)),
    (r"\b(\d*[1-9])\b(?!\](\[\w+\])?;)", lambda m: str(int(m[1]) + 1)),
    (r"-INFINITY", "0"),
    (r"threadIdx\.x", "threadIdx.y"),
    (r"blockIdx\.x", "blockIdx.y"),
    (r"\bif \(", "if (!("),
]


def mutants(text):
    """(line, what it says now, the whole text) of each mutant of a kernel's answer."""
    for pattern, new in CHANGES:
        for match in re.finditer(pattern, text):
            begin = text.rfind("\n", 0, match.start()) + 1
            if re.match(r"\s*(//|#)", text[begin:]) or "//" in text[begin : match.start()]:
                continue
            changed = text[: match.start()] + match.expand(new) if isinstance(new, str) else None
            changed = changed or text[: match.start()] + new(match)
            rest = text[match.end() :]
            if pattern.endswith(r"if \("):
                rest = _closed(rest)
            mutant = changed + rest
            line, whole = (t[begin : t.find("\n", begin)].strip() for t in (mutant, text))
            yield text.count("\n", 0, begin) + 1, line or f"without {whole}", mutant


def _closed(rest):
    """The text after `if (!(`, with the second parenthesis closed."""
    depth = 1
    for at, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return rest[:at] + ")" + rest[at:]
    return rest


def code(exercise, text):
    """What a kernel compiles to, without where its lines are; None: it does not compile."""
    from pycuda.compiler import compile as compiled
    from pycuda.driver import Error

    try:
        kernel = sources.kernel(text, exercise.kernel)
    except (CompileError, LookupError, Error):  # the last: it asks for what no block can have
        return None
    lines = compiled(**kernel.arguments).decode().splitlines()  # the software GPU takes PTX
    return [line for line in lines if not re.match(r"\s*(\.loc|//|\.file|\.section|\.b8)", line)]


def run(exercise):
    """(verdicts counted, survivors) of an exercise."""
    counted, survivors = Counter(), []
    seen = [None, code(exercise, exercise.solution)]
    known = exercise.judge.survivors
    for line, says, mutant in mutants(exercise.solution):
        made = code(exercise, mutant)
        if made in seen:
            continue
        seen.append(made)
        if not judging.trial(exercise, mutant):
            counted["refused"] += 1
        else:
            why = next((why for piece, why in known.items() if piece in says), "")
            counted["as good" if why else "missed"] += 1
            survivors.append((line, says, why))
    return counted, survivors


def told(name):
    """What run finds of the exercise of that name, in a process of its own."""
    warnings.simplefilter("ignore")
    return name, *run(texts.find(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="exercises (default: all)")
    names = parser.parse_args().names or texts.names()
    if unknown := {*names} - {*texts.names()}:
        parser.error(f"no exercise {', '.join(sorted(unknown))}")
    total, kept = Counter(), json.loads(KEPT.read_text())
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name, counted, survivors in pool.map(told, names):
            total += counted
            kept["mutants"][name] = counted.total()
            kept["refused"][name] = counted["refused"]
            print(f"{name:<26}{counted['refused']:>4} refused,{len(survivors):>3} survive")
            for line, says, why in survivors:
                print(f"    line {line}: {says}")
                print(f"        {why or 'MISSED: no reason given'}", flush=True)
    refused, tried = total["refused"], total.total()
    share = refused / max(tried, 1)
    print(f"{refused} of {tried} mutants refused ({share:.1%}), {total['missed']} missed")
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    refused, tried = (sum(kept[what].values()) for what in ("refused", "mutants"))
    share = f"{refused / tried:.0%}".replace("%", " %")
    print(f"docs/lab.md: {refused:,} of {tried:,} small changes to the solutions, {share}")
    sys.exit(bool(total["missed"]))


if __name__ == "__main__":
    main()
