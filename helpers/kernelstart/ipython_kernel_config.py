"""What each Python kernel of the lab reads as it starts, from .venv/etc/ipython."""

from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.InteractiveShellApp.exec_files = [str(Path(__file__).with_name("first_cell.py"))]
