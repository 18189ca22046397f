"""The turns that docs/style.md bans are found in prose, and nowhere else."""

import json
import subprocess
import sys

import pytest

from tests import ROOT

COMMAND = [sys.executable, ROOT / "scripts/style.py"]
BANNED = "Mend the sum; it beats those\nof halves."


def objections(*paths):
    done = subprocess.run([*COMMAND, *paths], capture_output=True, text=True)
    assert bool(done.stdout) == bool(done.returncode) and not done.stderr
    return [line.split(": ", 1)[1] for line in done.stdout.splitlines()]


def written(kind):
    """The banned words as a file of a kind has them, with a line of code that has them as well."""
    if kind == "ipynb":
        cells = [{"cell_type": t, "source": [BANNED]} for t in ("markdown", "code")]
        return json.dumps({"cells": cells})
    if kind == "json":
        return '{"because": "Mend the sum; it beats those of halves."}'
    if kind == "py":
        return 'def mend():\n    """Mend the sum; it beats those\n    of halves."""\n'
    if kind == "cu":
        return "int mend;  // Mend the sum; it beats those\n// of halves.\n"
    return f"{BANNED}\n\n`mend(those of)`\n\n```\nmend\n```\nAmend it.\n"


@pytest.mark.parametrize("kind", ["md", "ipynb", "json", "py", "cu"])
def test_banned_turns_are_found(kind, tmp_path):
    (path := tmp_path / f"page.{kind}").write_text(written(kind))
    mend, those = sorted(objections(path))
    assert mend == "'Mend': write fix" and those.startswith("'those of': write the noun")
