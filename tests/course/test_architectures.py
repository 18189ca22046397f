"""Every kernel of the course compiles for the GPUs that people have."""

import subprocess

import pytest

from helpers import autoinit, sources

from . import batch

pytestmark = pytest.mark.slow

ARCHITECTURES = "75", "80", "86", "89", "90", "90a", "100", "120"
FAST = ["-Ofc=max"] if autoinit.compiler.version >= (13, 0) else []  # asked is whether, not to what
CUB = "#include <cub/cub.cuh>"  # longer to read than everything of ours together
CLUSTERS = "__cluster_dims__"  # which nvcc knows from 90 on
STRIDES = '#include "elementwise/strides.cuh"'  # its Divider is not that of common/


def kernels(architecture):
    """The texts of the kernels, by what they cannot be compiled without, or with."""
    every = {path.read_text() for path in sources.ROOT.rglob("*.cu")}
    texts = {t for t in every if sources.architecture(t) in (None, f"sm_{architecture}")}
    if int(architecture.rstrip("a")) < 90:
        texts = {text for text in texts if CLUSTERS not in text}
    groups = {CUB: [], STRIDES: [], "": []}
    for text in sorted(texts):
        groups[next(line for line in groups if line in text)].append(text)
    return groups


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_kernel_compiles(architecture, tmp_path):
    nvcc = [autoinit.compiler.nvcc, "--ptx", f"-arch=compute_{architecture}", *batch.OPTIONS, *FAST]
    known = subprocess.run([nvcc[0], "--list-gpu-arch"], capture_output=True, text=True).stdout
    if f"compute_{architecture.rstrip('a')}\n" not in known:
        pytest.skip(f"{autoinit.compiler} does not know sm_{architecture}")
    source, ptx = tmp_path / "kernels.cu", tmp_path / "kernels.ptx"
    groups = kernels(architecture)
    if architecture not in (ARCHITECTURES[0], ARCHITECTURES[-1]):  # those between are NVIDIA's care
        del groups[CUB]
    for texts in groups.values():
        source.write_text(batch.joined(texts))
        command = [*nvcc, f"-I{sources.ROOT}", "-o", ptx, source]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert ptx.read_text().count(".visible .entry") >= len(texts)
