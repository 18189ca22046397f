"""Each kind of finding, and each note that varies one, has its words; a kind also has a row."""

import ast

import pytest

from softgpu import contract, telling
from softgpu.tests import ROOT
from softgpu.words import FindingKind

KINDS = contract.names("FindingKind")
NOTES = contract.names("Note")
ROOM = ROOT / "softgpu"
WRITTEN = {
    node.value
    for path in (ROOM / "telling.py", ROOM / "places.py", ROOM / "advice.py")
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
}
PAGE = (ROOM / "docs/sanitizer.md").read_text()
PAGE = PAGE.partition("## What it finds\n")[2].partition("\n##")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_teller_and_a_row(kind):
    assert callable(getattr(telling._Teller, f"_{kind}", None)), f"telling.py lacks _{kind}"
    name = FindingKind[kind.upper()].replace("__", r"\_\_")
    assert f"\n| {name} |" in PAGE, f"softgpu/docs/sanitizer.md, What it finds, lacks {name!r}"


def test_kinds_are_the_headers_and_what_ends_a_launch():
    assert [kind.name.lower() for kind in FindingKind] == [*KINDS, "fault"]


@pytest.mark.parametrize("note", NOTES[1:])
def test_a_note_changes_the_words(note):
    assert note in WRITTEN, f"telling.py says of {note!r} what it says without it"
