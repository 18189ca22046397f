"""Each word that a notebook links to is in the glossary."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
GLOSSARY = NOTEBOOKS / "glossary.md"


def terms():
    return re.findall(r"^### (.+)$", GLOSSARY.read_text(), re.MULTILINE)


def places():
    """What a link to a term must say: JupyterLab keeps capitals and turns spaces into hyphens."""
    return {term.replace(" ", "-") for term in terms()}


def test_terms_are_in_order_and_each_is_once():
    assert terms() == sorted(set(terms()), key=str.lower)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    cells = json.loads(path.read_text())["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    links = re.findall(r"\(glossary\.md#([^)]*)\)", text)
    assert links, "no word is linked to the glossary"
    assert set(links) <= places()
    assert len(links) == len(set(links)), "a word is linked at its first use only"


def test_links_within_lead_somewhere():
    assert set(re.findall(r"\(#([^)]*)\)", GLOSSARY.read_text())) <= places()
