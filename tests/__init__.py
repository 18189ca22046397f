"""What each folder proves, and how goldens are recorded again: README.md."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
