"""What PyTorch makes of arrays, in a process of its own: it brings a CUDA along."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

BEGIN = """
import numpy, torch
given, made = numpy.load("given.npz"), {}
globals().update((name, torch.from_numpy(array)) for name, array in given.items())
"""


def of_pytorch(folder, script, **arrays):
    """The arrays that a script puts into `made`, from tensors that it finds by their names."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed here")
    np.savez(folder / "given.npz", **arrays)
    program = BEGIN + script + "\nnumpy.savez('made.npz', **made)"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=folder)
    return np.load(folder / "made.npz")
