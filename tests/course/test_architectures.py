"""Every kernel of the course compiles for the GPUs that people have."""

import subprocess

import pytest

from helpers import autoinit, sources

from . import batch

pytestmark = pytest.mark.slow

ARCHITECTURES = 75, 80, 86, 89, 90, 100, 120
FAST = ["-Ofc=max"] if autoinit.compiler.version >= (13, 0) else []  # asked is whether, not to what
DO_NOT_COMPILE = {"elementwise/wrong_names.cu"}  # what its notebook shows


def kernels():
    """The texts of the kernels, grouped by what they include: headers, which cost most of the time,
    are read ten times and not ninety."""
    texts = {
        path.read_text()
        for path in sources.ROOT.rglob("*.cu")
        if str(path.relative_to(sources.ROOT)) not in DO_NOT_COMPILE
    }
    included = {text: frozenset(batch.INCLUDE.findall(text)) for text in texts}
    groups = {}
    for text in sorted(texts, key=lambda text: (-len(included[text]), text)):
        group = next((group for group in groups if included[text] <= group), included[text])
        groups.setdefault(group, []).append(text)
    return list(groups.values())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles(architecture, tmp_path):
    nvcc = [autoinit.compiler.nvcc, "--ptx", f"-arch=compute_{architecture}", *batch.OPTIONS, *FAST]
    known = subprocess.run([nvcc[0], "--list-gpu-arch"], capture_output=True, text=True).stdout
    if f"compute_{architecture}\n" not in known:
        pytest.skip(f"{autoinit.compiler} does not know sm_{architecture}")
    source, ptx = tmp_path / "kernels.cu", tmp_path / "kernels.ptx"
    for texts in kernels():
        source.write_text(batch.joined(texts))
        command = [*nvcc, f"-I{sources.ROOT}", "-o", ptx, source]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ptx.read_text().count(".visible .entry") >= len(texts)
