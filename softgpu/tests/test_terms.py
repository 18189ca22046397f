"""The terms of docs/terms.md are in the heads of the files that it names."""

import re

import pytest

from softgpu.tests import PACKAGE

ROW = re.compile(r"^\| (.*?) \| .*? \| `(.*?)` \| .+ \|$", re.MULTILINE)
TERMS = ROW.findall((PACKAGE / "docs/terms.md").read_text())


@pytest.mark.parametrize("terms, file", TERMS, ids=lambda text: text.split(",")[0])
def test_a_file_names_its_terms(terms, file):
    head = re.split(r"\"\"\"\n|\*/", (PACKAGE / file).read_text().removeprefix('"""'))[0]
    assert all(term in " ".join(head.split()).lower() for term in terms.lower().split(", "))


def test_there_are_terms():
    assert len(TERMS) >= 40
