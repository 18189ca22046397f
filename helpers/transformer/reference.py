"""The operations of a language model's step in NumPy, in float64."""

from typing import Any

import numpy as np

from .model import EPSILON, Model

__all__ = ["Exact", "draw", "norm", "rotated", "swiglu", "turns", "uniform"]

Array = np.ndarray
Pair = tuple[np.ndarray, np.ndarray]  # numbers, and their errors' variances
U = 2.0**-24  # the largest relative error of rounding to float32


def norm(x: Any, weight: Any, epsilon: float) -> Array:
    """RMSNorm along the last axis."""
    x = np.asarray(x, float)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def turns(capacity: int, head: int, base: float = 10000.0) -> Array:
    """Cosines and sines of positions: [capacity, head / 2, 2], rounded to float32."""
    angles = np.arange(capacity)[:, None] * base ** (-np.arange(head // 2) * 2 / head)
    return np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)


def rotated(x: Any, turn: Any) -> Array:
    """Turn x[..., head] by a position's cosines and sines, [head / 2, 2]."""
    a, b = np.split(np.asarray(x, float), 2, -1)
    cosine, sine = np.asarray(turn, float).T
    return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)


def swiglu(made: Any) -> Array:
    """SwiGLU of made[2, hidden]: gates, and what passes them."""
    gate, passing = np.asarray(made, float)
    return gate / (1 + np.exp(-gate)) * passing


def uniform(seed: int, position: int) -> float:
    """A random number from 0 up to, but not, 1, as decode/sample.cu draws it."""
    word = 2**32 - 1
    number = seed & word
    for _ in range(2):
        number = number + 0x9E3779B9 * (position + 1) & word
        number = (number ^ number >> 16) * 0x85EBCA6B & word
        number = (number ^ number >> 13) * 0xC2B2AE35 & word
        number ^= number >> 16
    return (number >> 8) / 2**24


def draw(logits: Any, temperature: float, most: int, share: float) -> tuple[int, float]:
    """Return the token whose part of the probabilities, one after the other, has this share, and
    how far the share is from the ends of that part."""
    logits = np.asarray(logits, float)
    if temperature == 0:
        return int(logits.argmax()), np.inf
    least = np.sort(logits)[-min(most, len(logits))]
    powers = np.where(logits >= least, np.exp((logits - logits.max()) / temperature), 0)
    ends = np.cumsum(powers) / powers.sum()
    token = int(np.searchsorted(ends, share, "right"))
    return token, min(ends[token] - share, share - (ends[token - 1] if token else -np.inf))


class Exact:
    """A model's step in float64: the logits, and the error that float32 is expected to make.

    Roundings are taken as independent and as often up as down, so their variances add up (Higham
    and Mary 2019): each operation passes on the variances of what it takes, times the squares of
    its derivatives, and adds its own roundings. So the error is a standard deviation."""

    def __init__(self, model: Model) -> None:
        self.model, self.position = model, 0
        self.turns = turns(model.window, model.head)
        self.cache: list[tuple[list[Pair], list[Pair]]] = [
            ([], []) for _ in range(model.layers)
        ]  # keys and values, with variances
        self.matrices = {
            name.removesuffix(".scales"): model.matrix(name.removesuffix(".scales"))
            for name in model.arrays
            if name.endswith(".scales")
        }

    def step(self, token: int) -> Pair:
        """Return the logits after one more token, and their expected errors."""
        model, embedding = self.model, self.matrices["embedding"]
        x = embedding[token]
        noise = (U * x) ** 2
        for number in range(model.layers):
            made, more = self._attention(
                number, *self._norm(f"layers.{number}.attention_norm", x, noise)
            )
            x, noise = _sum(x, noise, made, more)
            made, more = self._network(
                number, *self._norm(f"layers.{number}.network_norm", x, noise)
            )
            x, noise = _sum(x, noise, made, more)
        self.position += 1
        logits, noise = _product(embedding, *self._norm("last_norm", x, noise))
        return logits, np.sqrt(noise)

    def _norm(self, name: str, x: Array, noise: Array) -> Pair:
        weight = self.model.arrays[name].astype(float)
        y = norm(x, weight, EPSILON)
        scale = 1 / np.sqrt((x * x).mean() + EPSILON)
        of_scale = scale**6 * (x * x * noise).sum() / len(x) ** 2
        return y, (scale * weight) ** 2 * noise + (x * weight) ** 2 * of_scale + 12 * (U * y) ** 2

    def _attention(self, number: int, x: Array, noise: Array) -> Pair:
        model = self.model
        heads, key_heads, head = model.heads, model.key_heads, model.head
        made, noise = _product(self.matrices[f"layers.{number}.qkv"], x, noise)
        made, noise = (a.reshape(-1, head) for a in (made, noise))
        turned, turn = heads + key_heads, self.turns[self.position]
        squares = np.tile(turn.astype(float).T ** 2, 2)
        swapped = np.roll(noise[:turned], head // 2, -1)
        made = np.concatenate([rotated(made[:turned], turn), made[turned:]])
        noise[:turned] = squares[0] * noise[:turned] + squares[1] * swapped
        noise += 2 * (U * made) ** 2
        keys, values = self.cache[number]
        keys.append((made[heads:turned], noise[heads:turned]))
        values.append((made[turned:], noise[turned:]))
        (k, of_k), (v, of_v) = (np.array(some).transpose(1, 2, 0, 3) for some in (keys, values))
        out, error = np.empty((2, heads, head))
        for h in range(heads):
            some = h // (heads // key_heads)
            each = made[h], noise[h], k[some], of_k[some], v[some], of_v[some]
            out[h], error[h] = _attended(*each, head**-0.5)
        return _product(self.matrices[f"layers.{number}.attended"], out.ravel(), error.ravel())

    def _network(self, number: int, x: Array, noise: Array) -> Pair:
        made, noise = _product(self.matrices[f"layers.{number}.gate_up"], x, noise)
        (gate, passing), (of_gate, of_passing) = (a.reshape(2, -1) for a in (made, noise))
        y, logistic = swiglu((gate, passing)), 1 / (1 + np.exp(-gate))
        slope = logistic * (1 + gate * (1 - logistic)) * passing
        noise = slope**2 * of_gate + (gate * logistic) ** 2 * of_passing + 24 * (U * y) ** 2
        return _product(self.matrices[f"layers.{number}.down"], y, noise)


def _product(matrix: Array, x: Array, noise: Array) -> Pair:
    """A product of a matrix and a vector: a sum is rounded as often as a warp adds."""
    roundings = len(x) / 32 + 16 + 7
    y = matrix @ x
    return y, matrix**2 @ (noise + roundings * (U * x) ** 2) + 2 * (U * y) ** 2


def _sum(x: Array, noise: Array, y: Array, more: Array) -> Pair:
    return x + y, noise + more + (U * (x + y)) ** 2


def _attended(
    q: Array, of_q: Array, k: Array, of_k: Array, v: Array, of_v: Array, scale: float
) -> Pair:
    """Attention of one query: the query's error moves all scores, a key's only its own."""
    scores = scale * k @ q
    powers = np.exp(scores - scores.max())
    shares = powers / powers.sum()
    out = shares @ v
    of_scores = scale**2 * (of_k @ q**2) + 16 * (U * scale) ** 2 * (k**2 @ q**2)
    of_scores += (U * (scores - scores.max())) ** 2 + 24 * U**2
    moved = scale * ((shares[:, None] * (v - out)).T @ k)
    noise = (shares**2) @ (of_scores[:, None] * (v - out) ** 2 + of_v + len(k) * (U * v) ** 2)
    return out, noise + moved**2 @ of_q + 16 * (U * out) ** 2
