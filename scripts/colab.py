"""What a branch `colab` of the repository holds, in build/colab: the course for Google Colab.

Notebooks without outputs, each with a first cell that installs what it needs; what they read of the
course; wheels of the software GPU and of PyCUDA, so that Colab compiles neither.

    python scripts/colab.py https://github.com/OWNER/NAME
"""

import json
import posixpath
import re
import shutil
import sys
from pathlib import Path

import setup
import work

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build/colab"
COURSE = "cuda_src", "exercises", "helpers", "notebooks"
LINK = re.compile(r"""(?<=\]\(|=")(?:\.\./|\d\d[a-z]?_|glossary)[^)"\s]*""")  # to a page, a picture
FIRST = """\
# Once in each session of Colab: the course, PyCUDA and the software GPU.
import os
import sys

course = os.path.expanduser("~/course")
if not os.path.exists(course):
    !git clone -q --depth 1 --branch colab {url} "{{course}}"
%pip install -q --prefer-binary --find-links "{{course}}/wheels" {packages}
%cd -q {{course}}/notebooks
if course not in sys.path:
    sys.path.append(course)"""


def first_cell(url):
    """The cell that makes a fresh machine of Colab's the lab."""
    packages = f'"softgpu[draw,toolkit]" pycuda=={setup.PYCUDA}'
    source = FIRST.format(url=url, packages=packages).splitlines(keepends=True)
    return {
        "cell_type": "code", "id": "colab", "metadata": {}, "source": source,
        "outputs": [], "execution_count": None,
    }  # fmt: skip


def opened(url, link):
    """Where a link of a notebook leads from Colab, which has no files beside it."""
    path = posixpath.normpath(f"notebooks/{link}")
    if path.endswith(".ipynb"):
        return f"{url.replace('github.com', 'colab.research.google.com/github')}/blob/colab/{path}"
    return f"{url}/{'raw' if path.endswith('.png') else 'blob'}/main/{path}"


def for_colab(notebook, url):
    """The text of a notebook with its first cell, and with links that work there."""
    data = json.loads(work.unrun(notebook))
    for cell in data["cells"]:
        if cell["cell_type"] == "markdown":
            lines = cell["source"]
            cell["source"] = [LINK.sub(lambda link: opened(url, link[0]), line) for line in lines]
    data["cells"].insert(0, first_cell(url))
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main(url):
    shutil.rmtree(TARGET, ignore_errors=True)
    for name in COURSE:
        shutil.copytree(ROOT / name, TARGET / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", TARGET)
    for notebook in (TARGET / "notebooks").glob("*.ipynb"):
        notebook.write_text(for_colab(notebook, url), encoding="utf-8")
    (TARGET / "wheels").mkdir()
    pycuda = setup.wheel_folder((setup.STAMPS / "pycuda").read_text())
    for wheel in [*pycuda.glob("*.whl"), *(ROOT / "build/wheel").glob("softgpu-*.whl")]:
        shutil.copy(wheel, TARGET / "wheels")


if __name__ == "__main__":
    main(*sys.argv[1:])
