"""The copy of the tree in other words: which words change, and what tests find in messages."""

import ast
import importlib.util
import re

import pytest

from softgpu.tests import ROOT
from softgpu.tests.facts import missing, refused

spec = importlib.util.spec_from_file_location("reworded", ROOT / "scripts/reworded.py")
reworded = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reworded)


@pytest.mark.parametrize(
    "text, facts",
    [
        ("no C compiler found: sudo apt install gcc", ["C", "sudo apt install gcc"]),
        ("dtype 'half'; expected None, float32 or tf32", ["'half'", "None", "float32", "tf32"]),
        ("SOFTGPU_CACHE_MB=-1: expected a whole number from 1", ["SOFTGPU_CACHE_MB=-1", 1]),
        ("%s takes %u bytes of arguments", ["%s", "%u"]),
        ("there is no file {path}: run `make lab` first", ["{path}", "`make lab`"]),
        ("draw_shuffle(report, line): of which line?", ["draw_shuffle(report, line)"]),
        ('no kernel without nvdisasm: declare it extern "C"', ["nvdisasm", 'extern "C"']),
    ],
)
def test_words_change_and_facts_stay(text, facts):
    other = reworded.reworded(text)
    assert not missing(text, *facts) and not missing(other, *facts)
    kept = " ".join(map(str, facts)).split()
    words = [word for word in text.replace(":", "").split() if word.isalpha() and word.islower()]
    assert all(word in kept or missing(other, word) for word in words if len(word) > 1)


def test_messages_of_python_change_and_nothing_else():
    text = """
def look(there, place):
    '''What this does is for readers, not for a test.'''
    if there["is no name"] == "it has no name":
        raise LookupError(
            f"look: place {there['name of it']!r} is no kernel's: "
            f"there is np.{place}"
        )  # at its line
    return {"a name": "there is nothing of that kind in it"}
"""
    changed, count = reworded.reword_python(text)
    before, after = (text.splitlines() for text in (text, changed))
    assert count == 2 and len(before) == len(after)
    assert [n for n, line in enumerate(before) if line != after[n]] == [5, 6, 8]
    assert not missing(after[5], "look", "place", "there['name of it']", "np.{place}")
    gone = ["is", "no", "kernel", "there is"]
    assert missing(after[5], *gone) == gone
    assert missing(after[8], "there", "nothing", "kind") == ["there", "nothing", "kind"]
    assert not missing(after[8], "a name")
    compile(changed, "changed", "exec")


class Sentences(reworded.Python):
    """What a module says: (a text, the same in other words)."""

    def __init__(self, module):
        self.said = []
        super().__init__(module)

    def _other(self, text):
        other = super()._other(text)
        if self.in_message or reworded.is_prose(text):
            self.said.append((text, other))
        return other


def test_what_compares_a_sentence_by_its_words_fails():
    """None with a common word is as it was, and of all words of sentences most are others."""
    modules = [
        name for name in reworded.listed() if reworded.reworder(name) is reworded.reword_python
    ]
    said = [
        pair for name in modules for pair in Sentences(ast.parse((ROOT / name).read_text())).said
    ]
    words = [[re.findall(r"(?<!\S)[a-z]{2,}(?!\S)", text) for text in pair] for pair in said]
    same = [before for before, after in words if len(before) > 3 and before == after]
    left = sum(len(set(before) & set(after)) for before, after in words)
    assert len(said) > 1000 and not same
    assert left < sum(len(set(before)) for before, _ in words) / 5


def test_messages_of_c_change_and_code_does_not():
    text = '#include "a file of.h"\nreturn fail(CODE, "there is no kernel %s", "ptx");\n'
    changed, count = reworded.reword_c(text)
    assert count == 1 and changed.startswith('#include "a file of.h"\nreturn fail(CODE, "the')
    assert missing(changed, "there", "%s", "ptx") == ["there"]


@pytest.mark.parametrize(
    "text, fact, found",
    [
        ("takes 12 bytes", 12, True), ("takes 112 bytes", 12, False), ("1.12 bytes", 12, False),
        ("12.5 bytes", 12, False), ("-12 bytes", 12, False), ("-12 bytes", -12, True),
        ("12, then 13.", 13, True), ("lane_x", "lane", False), ("x.lane", "lane", True),
        ("shape (2, 3)", (2, 3), True), ("a, b or c", "a, b", True), ("ab, b", "a, b", False),
    ],
)  # fmt: skip
def test_a_fact_is_a_word_of_its_own(text, fact, found):
    assert (not missing(text, fact)) == found


def test_an_error_without_its_facts_is_no_refusal():
    with pytest.raises(AssertionError), refused(ValueError, "width", 7):
        raise ValueError("width is 17")
