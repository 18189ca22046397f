"""The terms of docs/terms.md, and who has written of them, are in the heads of its files."""

import re

import pytest

from softgpu.tests import PACKAGE

ROW = re.compile(r"^\| (.*?) \| .*? \| `(.*?)` \| (?:NVIDIA: )?(.+?)(?:[:,].*)? \|$", re.MULTILINE)
TERMS = ROW.findall((PACKAGE / "docs/terms.md").read_text())


@pytest.mark.parametrize("terms, file, reference", TERMS, ids=lambda text: text.split(",")[0])
def test_a_file_names_its_terms_and_their_reference(terms, file, reference):
    head = re.split(r"\"\"\"\n|\*/", (PACKAGE / file).read_text().removeprefix('"""'))[0]
    head = " ".join(head.split())
    assert all(term in head.lower() for term in terms.lower().split(", "))
    assert reference.removesuffix(" et al.") in head


def test_there_are_terms():
    assert len(TERMS) >= 40
