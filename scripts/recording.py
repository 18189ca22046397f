"""The README's recording, docs/recording.svg: a kernel without a guard, its verdict, the fix, done.

The verdicts are the judge's own, on the software GPU. The file needs no script, and who asks for
less motion sees the first verdict.

    .venv/bin/python scripts/recording.py
"""

import os
import textwrap
from html import escape
from pathlib import Path

os.environ["HELPERS_DEVICE"] = "software"

from helpers import autoinit  # noqa: F401  (before PyCUDA is imported)
from helpers.exercises import judging, texts

TARGET = Path(__file__).resolve().parent.parent / "docs/recording.svg"
EXERCISE, SEED = "00.double", 0
GUARD = "if (i < n) "
COLUMNS, WIDTH, LINE, LEFT = 92, 753, 18, 16
SECONDS = 3, 7, 3, 6  # how long each frame stays
STYLE = """\
svg { background: #ffffff; color: #1f2328; }
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }
text { fill: currentColor; }
.call { font-weight: bold; }
.refused { fill: #cf222e; }
.done { fill: #1a7f37; }
.changed { fill: #fff3bf; }
.frame { visibility: hidden; }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; color: #e6edf3; }
  .refused { fill: #ff7b72; }
  .done { fill: #56d364; }
  .changed { fill: #4b3f00; }
}
@media (prefers-reduced-motion: reduce) {
  .frame { animation: none !important; }
  #frame1 { visibility: visible; }
}
"""


def judged(text):
    """The lines of the verdict on a kernel, and how they are coloured."""
    verdict = judging.judge(texts.find(EXERCISE), text, SEED)
    lines = [part for line in str(verdict).splitlines() for part in wrapped(line)]
    return lines, "done" if verdict else "refused"


def wrapped(line):
    """A line of a verdict as lines that fit."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, COLUMNS, subsequent_indent=indent, drop_whitespace=True)


def frames():
    """(the kernel's lines, those that have changed, the verdict's lines, its colour), in order."""
    right = texts.find(EXERCISE).solution
    wrong = right.replace(GUARD, "")
    before, after = (text.strip().splitlines() for text in (wrong, right))
    changed = [number for number, line in enumerate(after) if line not in before]
    return [
        (before, [], [], ""),
        (before, [], *judged(wrong)),
        (after, changed, [], ""),
        (after, changed, *judged(right)),
    ]


def drawn(kernel, changed, verdict, colour):
    """The elements of one frame."""
    call = f'exercises.judge("{EXERCISE}", twice)' if verdict else ""
    lines = ["%%kernel", *kernel, "", call, *verdict]
    classes = ["call", *[""] * len(kernel), "", "call", *[colour] * len(verdict)]
    for number in changed:
        y = (number + 1) * LINE + LEFT
        yield f'<rect class="changed" x="0" y="{y}" width="{WIDTH}" height="{LINE}"/>'
    for number, (line, name) in enumerate(zip(lines, classes)):
        y = number * LINE + LEFT + 13
        if line:
            yield f'<text class="{name}" x="{LEFT}" y="{y}">{escape(line)}</text>'


def timing(number):
    """The rules by which a frame is seen in its turn."""
    total, begin = sum(SECONDS), sum(SECONDS[:number])
    shares = [100 * moment / total for moment in (begin, begin + SECONDS[number])]
    return (
        f"#frame{number} {{ animation: frame{number} {total}s step-end infinite; }}\n"
        f"@keyframes frame{number} {{ 0% {{ visibility: hidden; }} "
        f"{shares[0]:.2f}% {{ visibility: visible; }} {shares[1]:.2f}% {{ visibility: hidden; }} }}"
    )


def recording():
    """The text of the picture."""
    all_frames = frames()
    lines = max(len(kernel) + len(verdict) for kernel, _, verdict, _ in all_frames) + 3
    height = lines * LINE + 2 * LEFT
    style = "\n".join([STYLE.rstrip(), *(timing(n) for n in range(len(all_frames)))])
    groups = [
        "\n".join([f'<g class="frame" id="frame{number}">', *drawn(*frame), "</g>"])
        for number, frame in enumerate(all_frames)
    ]
    box = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    return "\n".join([head, f"<style>\n{style}\n</style>", *groups, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(recording(), encoding="utf-8")
