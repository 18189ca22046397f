"""What each folder proves, and how goldens are recorded again: README.md."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "softgpu"


def sources(*endings):
    """The package's files that end so, without its tests."""
    return sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in endings and PACKAGE / "tests" not in path.parents
    )
