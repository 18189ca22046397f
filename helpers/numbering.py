"""The number that names of a notebook, its exercises and its predictions begin with: 15b of
15b_warpgroups.ipynb, 15b.stored. It takes nothing but Python."""

import re
from pathlib import Path

__all__ = ["number_of"]

NUMBER = re.compile(r"\d\d([a-z](?![a-z]))?")


def number_of(name: str | Path) -> str:
    """The number in a name or a file's path; "" where there is none."""
    found = NUMBER.match(Path(name).name)
    return found[0] if found else ""
