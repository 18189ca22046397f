"""The copy of the tree in other words: which words change, and what tests find in messages."""

import importlib.util

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
def look(there, name):
    '''What this does is for readers, not for a test.'''
    if there["is no name"] == "it has no name":
        raise LookupError(f"no kernel named {there['name of it']!r}; " + "it has none")
    return {"a name": "there is nothing of that kind in it"}
"""
    changed, count = reworded.reword_python(text)
    assert count == 3
    assert '"is no name"' in changed.replace("'", '"')
    assert '"it has no name"' in changed.replace("'", '"')
    assert "What this does is for readers" in changed
    assert missing(changed, "kernel", "nothing") == ["kernel", "nothing"]
    compile(changed, "changed", "exec")


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
