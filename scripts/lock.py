"""Pin for all supported Pythons, in requirements.lock, whatever pyproject.toml leads to, and in
publish/book/requirements.lock what publish/book/requirements.in does."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "pycuda", "lab", "test", "mpi", "toolkit"  # not "clients", which the lab does without
BUILT_HERE = "pycuda", "softgpu"
DRIVES_BROWSERS = "playwright", "pyee", "greenlet"  # beside axe.min.js, which needs no other driver
HEAD = "# Every package of the {}, pinned for Python 3.11 to 3.14 on Linux. Made by `make lock`.\n"
EVERYWHERE = r"( and)? *implementation_name == 'cpython' and sys_platform == 'linux'"
PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]


def lock(uv, owner, source, target, left_out, *options):
    """Write what a file of requirements leads to, except some packages."""
    text = subprocess.run(
        [uv, "pip", "compile", "-q", source, *options, "--universal", "--python-version", "3.11",
         *(f"--no-emit-package={name}" for name in left_out), "--no-annotate", "--no-header"],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    text = re.sub(r" +; *$", "", re.sub(EVERYWHERE, "", text), flags=re.MULTILINE)
    (ROOT / target).write_text(HEAD.format(owner) + text)


def main():
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([*PIP, "install", "--target", work, "uv==0.13.8"], check=True)
        uv = Path(work, "bin", "uv")
        extras = [f"--extra={extra}" for extra in EXTRAS]
        lock(uv, "lab", "pyproject.toml", "requirements.lock", BUILT_HERE, *extras)
        book = "publish/book/requirements"
        lock(uv, "book", f"{book}.in", f"{book}.lock", DRIVES_BROWSERS)


if __name__ == "__main__":
    main()
