"""What `make size` prints."""

import subprocess
import sys

from softgpu.tests.facts import missing
from tests import ROOT


def test_size_counts_lines_of_code_by_room(tmp_path):
    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
        return done.stdout

    def commit(**files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        run("git", "add", "-A")
        run("git", "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "files")

    run("git", "init", "-q")
    commit(**{"softgpu/run.py": "1\n2\n", "softgpu/tests/a b.c": "3\n", "README.md": "4\n"})
    run("git", "tag", "before")
    commit(**{"softgpu/jit/emit.py": "5\n6\n7\n", "softgpu/run.py": "1\n", "tests/a.cu": "8\n"})
    told = run(sys.executable, ROOT / "scripts/size.py")
    rows = [line.rsplit(maxsplit=2) for line in told.splitlines()[1:]]
    assert not missing(told, "before") and rows == [
        ["softgpu/*.py", "1", "-1"],
        ["softgpu/jit", "3", "+3"],
        ["= product", "4", "+2"],
        ["softgpu/tests", "1", "+0"],
        ["tests", "1", "+1"],
        ["= tests", "2", "+1"],
    ]
