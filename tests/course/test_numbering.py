"""The number that a name of the course begins with."""

from pathlib import Path

import pytest

from helpers.numbering import number_of


@pytest.mark.parametrize(
    "name, number",
    [
        ("00_first_kernel.ipynb", "00"),
        ("15b.stored", "15b"),
        ("03reduce.ipynb", "03"),
        (Path("notebooks/15b_warpgroups.ipynb"), "15b"),
        ("glossary.md", ""),
    ],
)
def test_a_name_begins_with_its_notebooks_number(name, number):
    assert number_of(name) == number
