"""Pin in requirements.lock, for all supported Pythons, whatever pyproject.toml leads to."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "pycuda", "lab", "test", "mpi", "toolkit"  # not "clients", which the lab does without
HEAD = "# Every package of the lab, pinned for Python 3.11 to 3.14 on Linux. Made by `make lock`.\n"
EVERYWHERE = r"( and)? *implementation_name == 'cpython' and sys_platform == 'linux'"
PIP = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]


def main():
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([*PIP, "install", "--target", work, "uv==0.13.8"], check=True)
        text = subprocess.run(
            [Path(work, "bin", "uv"), "pip", "compile", "-q", "pyproject.toml",
             *(f"--extra={extra}" for extra in EXTRAS), "--universal", "--python-version", "3.11",
             "--no-emit-package", "pycuda", "--no-emit-package", "softgpu",
             "--no-annotate", "--no-header"],
            cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
        ).stdout  # fmt: skip
    text = re.sub(r" +; *$", "", re.sub(EVERYWHERE, "", text), flags=re.MULTILINE)
    (ROOT / "requirements.lock").write_text(HEAD + text)


if __name__ == "__main__":
    main()
