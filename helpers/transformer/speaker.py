"""The language model on the GPU, by the kernels of cuda_src/decode: a step, and whole texts."""

from collections.abc import Generator, Iterable, Iterator
from typing import Any

import numpy as np

from ..ops.decode import norm, thin
from ..ops.launch import KernelCall, address, ceil_divide, cuda
from . import reference
from .graph import Graph
from .model import EPSILON, Model, load
from .tokens import END

from pycuda import gpuarray  # isort: skip

__all__ = ["Speaker"]

Launch = tuple[KernelCall, tuple[int, ...], tuple[int, ...]]  # addresses, and those after

BLOCK = 256  # of attention and SwiGLU
DRAWERS = 256  # threads that draw a token
PAGE = 16  # slots of a page of the cache


class Speaker:
    """A model whose weights, cache and buffers are on the GPU.

    splits: blocks that share the keys of a head. graph: launch each step as one CUDA graph."""

    def __init__(self, model: Model | None = None, splits: int = 1, graph: bool = True) -> None:
        self.model = model = model or load()
        self.splits, self.by_graph, self.stream = splits, graph, cuda.Stream()
        arrays = {name: gpuarray.to_gpu(array) for name, array in model.arrays.items()}
        arrays["turns"] = gpuarray.to_gpu(reference.turns(model.window, model.head))
        self.arrays, heads = arrays, (model.heads, model.head)
        pages = ceil_divide(model.window, PAGE)
        slots = model.layers, 2, pages, model.key_heads, PAGE, model.head
        self.cache = gpuarray.zeros(slots, np.float32)
        self.table = gpuarray.arange(pages, dtype=np.int32)  # the text's pages, in order
        rows: dict[str, Any] = {
            "x": model.width, "normed": model.width, "made": len(model.arrays["layers.0.qkv"]),
            "q": model.width, "attended": model.width, "added": model.width,
            "gate_up": 2 * model.hidden, "inside": model.hidden, "logits": len(model.words),
            "parts": (splits, *heads), "logs": (splits, model.heads), "all_logs": model.heads,
        }  # fmt: skip
        self.buffers = {name: gpuarray.zeros(shape, np.float32) for name, shape in rows.items()}
        self.state = gpuarray.zeros(2, np.int32)  # the token to read, and its position
        self.tokens = gpuarray.zeros(model.window + 1, np.int32)
        self.launches = list(self._launches())

    def step(self) -> None:
        """Queue what makes logits of the token in self.state at its position."""
        for call, addresses, after in self.launches:
            call(self.stream, addresses, after)

    @property
    def logits(self) -> np.ndarray:
        """Return the logits of the last step, on the host."""
        self.stream.synchronize()
        return self.buffers["logits"].get()

    def read(self, tokens: Iterable[int], position: int = 0) -> None:
        """Queue the steps of a text's tokens, which begins at this position."""
        for at, token in enumerate(tokens, position):
            self.say(token, at)
            self.step()

    def texts(
        self, prompt: str, seed: int = 0, temperature: float = 0.5, most: int = 40
    ) -> Generator[str, None, None]:
        """Yield a text that begins with the prompt, token by token. The same seed draws the same
        text. temperature: 0 takes the likeliest token each time. most: of how many tokens, the
        likeliest, one is drawn."""
        model = self.model
        tokens = [END, *model.words.encode(prompt)]
        if len(tokens) >= model.window:
            raise ValueError(f"the prompt has {len(tokens)} tokens; pass fewer than {model.window}")
        if not temperature >= 0 or most < 1:
            raise ValueError("pass a temperature of 0 or greater, and most of 1 or greater")
        yield model.words.decode(tokens)
        draw = self._drawing(seed, temperature, most)
        self.read(tokens[:-1])
        self.say(tokens[-1], len(tokens) - 1)
        whole = Graph(self.stream, lambda: self._queue(draw)) if self.by_graph else None
        try:
            for _ in range(len(tokens), model.window):
                if whole:
                    whole.launch()
                else:
                    self._queue(draw)
                token = self._said()
                if token == END:
                    return
                yield model.words.strings[token]
        finally:
            self.stream.synchronize()
            if whole:
                whole.close()

    def _queue(self, draw: KernelCall) -> None:
        self.step()
        draw(self.stream, self._places("logits", self.state), self._places(self.tokens))

    def say(self, token: int, position: int) -> None:
        """Queue the token to read next, and its position."""
        self.stream.synchronize()
        cuda.memcpy_htod(self.state.gpudata, np.array([token, position], np.int32))

    def _said(self) -> int:
        """Return the token that was drawn."""
        self.stream.synchronize()
        return int(self.state.get()[0])

    def _places(self, *names: Any) -> tuple[int, ...]:
        """Return addresses of arrays, or of those with these names."""
        found = (
            self.buffers.get(n, self.arrays.get(n)) if isinstance(n, str) else n for n in names
        )
        return tuple(map(address, found))

    def _drawing(self, seed: int, temperature: float, most: int) -> KernelCall:
        size = len(self.model.words)
        choices = {"BLOCK": DRAWERS, "EACH": ceil_divide(size, DRAWERS)}
        told = size, np.float32(temperature), np.int32(min(most, size)), np.uint32(seed % 2**32)
        return KernelCall("decode/sample.cu", choices, (1,), (DRAWERS,), *told)

    def _launches(self) -> Iterator[Launch]:
        """Yield the launches of a step: calls, their addresses, and the addresses after."""
        model, state, position = self.model, address(self.state), address(self.state) + 4
        embed = KernelCall(
            "decode/embed.cu", {}, (ceil_divide(model.width, BLOCK),), (BLOCK,), model.width
        )
        yield embed, self._places("embedding", "x"), (*self._places("embedding.scales"), state)
        added: str | None = None
        for number in range(model.layers):
            name = f"layers.{number}"
            yield self._norm(f"{name}.attention_norm", added)
            yield from self._attention(name, number, position)
            yield self._norm(f"{name}.network_norm", "added")
            yield self._product(f"{name}.gate_up", "normed", "gate_up")
            grid = (ceil_divide(model.hidden, 4 * BLOCK),)
            call = KernelCall("decode/swiglu.cu", {}, grid, (BLOCK,), model.hidden)
            yield call, self._places("gate_up", "inside"), ()
            added = "added"
            yield self._product(f"{name}.down", "inside", added)
        yield self._norm("last_norm", added)
        yield self._product("embedding", "normed", "logits")

    def _norm(self, name: str, added: str | None) -> Launch:
        """Return the launch that normalises x, to which `added` is added first."""
        arrays = [self.buffers["x"], self.arrays[name]]
        arrays += [self.buffers[added]] if added else []
        call = norm((1, self.model.width), "float32", EPSILON, *arrays)
        return call, self._places("x", "normed"), self._places(name, added or "x")

    def _product(self, name: str, x: str, y: str) -> Launch:
        """Return the launch that multiplies x by a matrix."""
        call = thin(self.buffers[x], self.arrays[name], None, True)
        return call, self._places(name, y), (*self._places(x, name + ".scales"), 0)

    def _attention(self, name: str, number: int, position: int) -> Iterator[Launch]:
        """Yield the launches of a layer's attention."""
        model = self.model
        keys, values = (address(self.cache[number, side]) for side in range(2))
        heads = model.heads + 2 * model.key_heads
        yield self._product(f"{name}.qkv", "normed", "made")
        sizes = model.heads, model.key_heads, model.window
        grid, block = (heads,), (model.head // 2,)
        choices = {"HEAD": model.head, "PAGE": PAGE}
        call = KernelCall("decode/rotary.cu", choices, grid, block, *sizes)
        pages = keys, values, address(self.table)
        yield call, self._places("made", "q"), (*pages, *self._places("turns"), position)
        fold = model.heads // model.key_heads
        choices |= {"FOLD": fold, "BLOCK": BLOCK}
        told = model.heads, model.window, np.float32(model.head**-0.5)
        call = KernelCall(
            "decode/attend.cu", choices, (model.key_heads, self.splits), (BLOCK,), *told
        )
        out = "parts" if self.splits > 1 else "attended"
        yield call, self._places("q", out), (*pages, position, *self._places("logs"))
        if self.splits > 1:
            rows = model.heads, model.head, self.splits
            call = KernelCall(
                "attention/merge.cu", {"Out": "float"}, (model.heads,), (model.head,), *rows
            )
            yield call, self._places("parts", "logs", "attended"), self._places("all_logs")
        yield self._product(f"{name}.attended", "attended", "added")
