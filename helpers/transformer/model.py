"""The weights of the language model, as stored: matrices in int8, with a scale for each row."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .tokens import Vocabulary

__all__ = ["EPSILON", "FILE", "SHA256", "Model", "load"]

FILE = Path(__file__).with_name("model.int8.npz")
SHA256 = "5146e0ae42ead7d4b372eb23ca49e631d15c8905137a6830a5484bf7de728ab3"
EPSILON = 1e-5  # of the norms


@dataclass(frozen=True)
class Model:
    """A model's vocabulary, heads, the number of tokens it sees, and its arrays by name."""

    words: Vocabulary
    heads: int
    key_heads: int
    window: int
    arrays: dict[str, np.ndarray]

    @property
    def width(self) -> int:
        """Return how many numbers stand for a token between layers."""
        return self.arrays["embedding"].shape[1]

    @property
    def hidden(self) -> int:
        """Return how many numbers a layer's network has inside."""
        return self.arrays["layers.0.down"].shape[1]

    @property
    def head(self) -> int:
        """Return the size of a head."""
        return self.width // self.heads

    @property
    def layers(self) -> int:
        return sum(name.endswith(".down") for name in self.arrays)

    @property
    def nbytes(self) -> int:
        """Return the bytes that a step reads of the weights."""
        return sum(array.nbytes for array in self.arrays.values())

    def matrix(self, name: str) -> np.ndarray:
        """Return a matrix in float64."""
        return self.arrays[name] * self.arrays[name + ".scales"].astype(float)[:, None]


def load(path: str | Path = FILE, sha256: str | None = SHA256) -> Model:
    """Load a model, and check that its file is whole."""
    found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if sha256 is not None and found != sha256:
        raise ValueError(
            f"{path} has the SHA-256 {found[:12]}…, expected {sha256[:12]}…: fetch the file again"
            " (git checkout), or pass sha256=None for a model of your own"
        )
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    words = Vocabulary(arrays.pop("vocabulary").item().decode().split("\0"))
    heads, key_heads, window = map(int, arrays.pop("shape"))
    return Model(words, heads, key_heads, window, arrays)
