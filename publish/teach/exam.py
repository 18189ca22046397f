"""Run the answers of exam.md on the software GPU, print its questions alone, or draw a paper: the
same questions with other numbers and faults, and their answers, as two files to print.

    exam.py [--sheet | --seed SEED [--questions 1 5 12] [--minutes 45] [--aids TEXT]]"""

import argparse
import hashlib
import os
import re
import sys
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

MINUTES, AIDS = 3, "pen and paper"  # of a question; what learners may use unless it is said
EXAM = Path(__file__).with_name("exam.md")
PAPERS = Path(__file__).resolve().parents[2] / "build/exam"
HIDDEN = re.compile(r"<details>.*?</details>\n\n?", re.S)
QUESTION = re.compile(
    r"^## (?P<title>\d+\. [^\n]+)\n\nNotebook (?P<notebook>\d\d[a-z]?)\. (?P<asked>.*?)\n\n"
    r"^```cuda\n(?P<cuda>.*?)^```.*?^\*\*(?P<answer>[^\n]+)\*\*\n\n(?P<why>.*?)\n\n"
    r"^```python\n(?P<program>.*?)^```",
    re.M | re.S,
)
STYLE = """
body { font: 11pt/1.45 system-ui, sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em;
  color: #111; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.1em; margin: 1.6em 0 0.3em }
pre { background: #f4f4f4; padding: 0.6em 0.9em; white-space: pre-wrap }
section { break-inside: avoid } code { white-space: nowrap }
.line { border-bottom: 1px solid #555; display: inline-block }
table { border-collapse: collapse } td, th { border: 1px solid #999; padding: 0.3em 0.6em;
  text-align: left; vertical-align: top }
@media print {
  body { margin: 0; max-width: none; font-size: 9.5pt } @page { margin: 15mm }
  main { columns: 2; column-gap: 8mm } pre { font-size: 7.5pt } h2 { margin-top: 0.6em }
}
"""


@dataclass(frozen=True)
class Question:
    title: str
    notebook: str
    asked: str
    cuda: str
    answer: str
    why: str
    program: str

    def found(self):
        """What the program finds on the software GPU."""
        import numpy as np
        from pycuda import gpuarray

        from helpers import sources, xray

        names = {
            "np": np,
            "kernel": sources.kernel(self.cuda),
            "zeros": lambda size, dtype=np.float32: gpuarray.zeros(size, dtype),
            "counted": lambda name, *launch, **shape: xray.profile(*launch, **shape).total[name],
            "found": xray.sanitize,
        }
        exec(self.program, names)
        return str(names["answer"])

    def drawn(self, rng):
        """This question with other numbers; its answer is what they lead to, not yet found."""
        sys.path.insert(0, str(EXAM.parent))
        from draws import DRAWS

        sys.path.pop(0)
        draw = DRAWS[int(self.title.partition(".")[0]) - 1](rng)
        longest_first = sorted(draw.pieces, key=len, reverse=True)
        pieces = (r"(?<![\w.])" * p[0].isalnum() + re.escape(p) for p in longest_first)
        pattern, used = re.compile(rf"(?:{'|'.join(pieces)})(?!\d)"), set()

        def other(match):
            used.add(match[0])
            return str(draw.pieces[match[0]])

        asked, cuda, program = (
            pattern.sub(other, text) for text in (self.asked, self.cuda, self.program)
        )
        if left := draw.pieces.keys() - used:
            raise LookupError(f"{self.title}: no {sorted(left)} in the question any more")
        return replace(
            self, asked=asked, cuda=cuda, program=program, answer=str(draw.answer), why=draw.why
        )


def questions():
    return [Question(**match.groupdict()) for match in QUESTION.finditer(EXAM.read_text())]


def sheet():
    """The exam without its answers, and without what leads to them."""
    head, *asked = HIDDEN.sub("", EXAM.read_text()).split("\n## ")
    asked = [re.sub(r"^(\d+)\. .+", r"\1", question) for question in asked]  # titles tell too much
    return "\n## ".join([head.partition("\n")[0] + "\n", *asked])


def drawn(seed, numbers=None):
    """The questions of a paper, all of them or these, with the numbers of a seed."""
    import numpy as np

    made = [
        question.drawn(np.random.default_rng([seed, number]))
        for number, question in enumerate(questions(), 1)
        if numbers is None or number in numbers
    ]
    for question in made:
        if (found := question.found()) != question.answer:
            raise AssertionError(f"{question.title}: {found} is found, not {question.answer}")
    return made


def tag(seed):
    """What a paper and its answers are called: who reads it cannot draw the answers by it."""
    return hashlib.sha256(str(seed).encode()).hexdigest()[:6]


def paper(made, name, minutes=None, aids=AIDS):
    """What learners get: the questions, with room for a name and the answers."""
    rows = [
        f"<section><h2>{number}</h2><p>{html(question.asked)}</p>"
        f"<pre>{escape(question.cuda.rstrip())}</pre>"
        f'<p>Answer: <span class="line" style="width: 14em">&nbsp;</span></p></section>'
        for number, question in enumerate(made, 1)
    ]
    blank = '<span class="line" style="width: 20em">&nbsp;</span>'
    count, minutes = len(made), minutes or MINUTES * len(made)
    head = (
        f"<h1>GPU kernels: {count} question{'s' * (count > 1)}</h1>"
        f"<p>Name: {blank} &nbsp; Paper {name}</p>"
        f"<p>Points: {count}, one for each right answer. Time: {minutes} minutes."
        f" Allowed: {escape(aids)}.</p>"
    )
    return page(f"Paper {name}", f"{head}<main>{''.join(rows)}</main>")


def key(made, name):
    """What the teacher gets: the answers, why, and where each is taught."""
    rows = [
        f"<tr><td>{number}</td><td><b>{escape(question.answer)}</b></td>"
        f"<td>{html(question.why)}</td><td>{question.notebook}</td>"
        f"<td>{escape(question.title)}</td></tr>"
        for number, question in enumerate(made, 1)
    ]
    head = "".join(f"<th>{what}</th>" for what in ("", "answer", "why", "notebook", "in exam.md"))
    told = f"<p>Found on the software GPU. One point each, {len(made)} in all.</p>"
    table = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
    return page(f"Answers to paper {name}", f"<h1>Answers to paper {name}</h1>{told}{table}")


def html(markdown):
    """The Markdown of questions, which has code between backquotes and nothing else."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(markdown))


def page(title, body):
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body>{body}</body></html>\n"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sheet", action="store_true", help="print the questions alone")
    parser.add_argument("--seed", type=int, help="draw a paper; a whole number")
    parser.add_argument(
        "--questions",
        type=int,
        nargs="+",
        metavar="N",
        choices=range(1, len(questions()) + 1),
        help="of the paper",
    )
    parser.add_argument(
        "--minutes", type=int, help=f"of the paper; {MINUTES} a question if left out"
    )
    parser.add_argument(
        "--aids", default=AIDS, help="what learners may use; %(default)s if left out"
    )
    options = parser.parse_args(arguments)
    if options.seed is None and (options.questions or options.minutes or options.aids != AIDS):
        parser.error("--questions, --minutes and --aids are for a paper: also choose its --seed")
    if options.sheet:
        print(sheet())
        return
    os.environ["HELPERS_DEVICE"] = "software"
    from helpers import autoinit  # noqa: F401

    if options.seed is not None:
        if options.seed < 0:
            parser.error("a seed is 0 or more")
        made = drawn(options.seed, options.questions)
        PAPERS.mkdir(parents=True, exist_ok=True)
        name = tag(options.seed)
        asked = paper(made, name, options.minutes, options.aids)
        for what, text in ("paper", asked), ("answers", key(made, name)):
            path = PAPERS / f"{what}-{options.seed}.html"
            path.write_text(text, encoding="utf-8")
            print(os.path.relpath(path))
        return
    wrong = [(q.title, q.answer, is_) for q in questions() if (is_ := q.found()) != q.answer]
    for title, answer, is_ in wrong:
        print(f"{title}: {answer} is written, the software GPU finds {is_}")
    print(f"{len(questions()) - len(wrong)} of {len(questions())} answers are right")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
