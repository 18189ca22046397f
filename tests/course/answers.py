"""The lines of each exercise's solution that its stub lacks, to be looked for in what is made."""

import re
from difflib import SequenceMatcher
from functools import cache

from helpers.exercises import texts

LEAST_LETTERS = 64  # fewer may be in an example of the course as well


@cache
def answers():
    """{exercise: the longest stretch of such lines, without blanks}, where it is long enough."""
    found = {}
    for name in texts.names():
        exercise = texts.find(name)
        stub, solution = (
            [line.strip() for line in text.splitlines() if line.strip()]
            for text in (exercise.stub, exercise.solution)
        )
        changes = SequenceMatcher(None, stub, solution, autojunk=False).get_opcodes()
        new = [solution[begin:end] for kind, *_, begin, end in changes if kind != "equal"]
        longest = max((squeezed("".join(lines)) for lines in new), key=len)
        if len(longest) >= LEAST_LETTERS:
            found[name] = longest
    return found


def squeezed(text):
    return re.sub(r"\s+", "", text)


def answered(text):
    """The exercises whose answer a text has, whatever its line numbers and blanks."""
    bare = squeezed(text)
    return {name for name, answer in answers().items() if answer in bare}
