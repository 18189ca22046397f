"""Each word that a notebook links to is in the glossary."""

import json
import re

import pytest

from tests import ROOT

NOTEBOOKS = ROOT / "notebooks"
GLOSSARY = NOTEBOOKS / "glossary.md"


def heads():
    """{what a link to a term must say: the term}. GitHub has places in lower case, JupyterLab as
    the term is written: terms with capitals bear an anchor of their own."""
    found = re.findall(r'^### (?:<a id="(\S+)"></a>)?(.+)$', GLOSSARY.read_text(), re.MULTILINE)
    return {anchor or term.replace(" ", "-"): term for anchor, term in found}


def test_places_are_in_lower_case():
    assert all(place == term.replace(" ", "-").lower() for place, term in heads().items())


def test_terms_are_in_order_and_each_is_once():
    assert [*heads().values()] == sorted(set(heads().values()), key=str.lower)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    cells = json.loads(path.read_text())["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    links = re.findall(r"\(glossary\.md#([^)]*)\)", text)
    assert links, "no word is linked to the glossary"
    assert set(links) <= set(heads())
    assert len(links) == len(set(links)), "a word is linked at its first use only"


def test_every_term_is_linked():
    text = "\n".join(path.read_text() for path in [*NOTEBOOKS.glob("*.ipynb"), GLOSSARY])
    assert set(heads()) <= set(re.findall(r"\((?:glossary\.md)?#([^)]*)\)", text))


def test_links_within_lead_somewhere():
    assert set(re.findall(r"\(#([^)]*)\)", GLOSSARY.read_text())) <= set(heads())
