"""Tables of counts over all that the sliders of a picture can say, recorded once.

python -m helpers.play records them all anew; tests record them, too, and compare."""

import json
from pathlib import Path

__all__ = ["recorded", "write"]

FOLDER = Path(__file__).parent / "recorded"


def recorded(name):
    """The table of a picture."""
    return json.loads((FOLDER / f"{name}.json").read_text())


def write(name, table):
    """Keep a picture's table."""
    (FOLDER / f"{name}.json").write_text(json.dumps(table, separators=(",", ":")) + "\n")
