"""Run the answers of exam.md on the software GPU, or print its questions alone.

python teach/exam.py [--sheet]"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

EXAM = Path(__file__).with_name("exam.md")
HIDDEN = re.compile(r"<details>.*?</details>\n\n?", re.S)
QUESTION = re.compile(
    r"^## (?P<title>\d+\. [^\n]+)\n\nNotebook (?P<notebook>\d\d)\. .*?"
    r"^```cuda\n(?P<cuda>.*?)^```.*?^\*\*(?P<answer>[^\n]+)\*\*$.*?"
    r"^```python\n(?P<program>.*?)^```",
    re.M | re.S,
)


@dataclass(frozen=True)
class Question:
    title: str
    notebook: str
    cuda: str
    answer: str
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


def questions():
    return [Question(**match.groupdict()) for match in QUESTION.finditer(EXAM.read_text())]


def sheet():
    """The exam without its answers, and without what leads to them."""
    head, *asked = HIDDEN.sub("", EXAM.read_text()).split("\n## ")
    asked = [re.sub(r"^(\d+)\. .+", r"\1", question) for question in asked]  # titles tell too much
    return "\n## ".join([head.partition("\n")[0] + "\n", *asked])


def main():
    if sys.argv[1:] == ["--sheet"]:
        print(sheet())
        return
    os.environ["HELPERS_DEVICE"] = "software"
    from helpers import autoinit  # noqa: F401

    wrong = [(q.title, q.answer, is_) for q in questions() if (is_ := q.found()) != q.answer]
    for title, answer, is_ in wrong:
        print(f"{title}: {answer} is written, the software GPU finds {is_}")
    print(f"{len(questions()) - len(wrong)} of {len(questions())} answers are right")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
