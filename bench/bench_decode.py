"""The cases of bench_gpu that a language model needs for a word. linear: a matrix times one row, in
halves, and in weights of 8 and 4 bits; PyTorch widens int8 to halves first, or compiles that away.
word: a step of helpers/transformer's model, as one CUDA graph. PyTorch has halves there, which are
faster than its int8, and runs eagerly, compiled, and compiled in a CUDA graph."""

from functools import partial

import numpy as np

from helpers import blocks, checks, ops
from helpers.transformer import model as models
from helpers.transformer import reference
from helpers.transformer.graph import Graph
from helpers.transformer.speaker import Speaker

from pycuda import gpuarray  # isort: skip

__all__ = ["TOPICS", "cases"]

TOPICS = "linear", "word"
POSITIONS = 15, 255  # of a word's step: first, and last, what a cache of 256 holds
SHAPES = (4096, 4096), (14336, 4096), (4096, 14336)  # n, k: layers of a model of 8 billion weights
KINDS = "float16", "int8", "e4m3", "mxfp8", "nvfp4"


def cases(topic, torch, cupy, allocator):
    """What bench_products.cases yields."""
    if torch:
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    if topic == "word":
        yield from (_word(position, torch) for position in POSITIONS)
        return
    for n, k in SHAPES:
        for kind in KINDS:
            yield _case(n, k, kind, torch, allocator)


def _case(n, k, kind, torch, allocator):
    random = np.random.default_rng(1)
    made, x = (random.standard_normal(shape, np.float32) for shape in ((n, k), (1, k)))
    x, scales = x.astype(np.float16), random.random(n, np.float32) / 64 + 0.01
    of_blocks = None
    if kind in blocks.BLOCKS:
        weights, of_blocks, *_ = getattr(blocks, kind)(made)
        exact = getattr(blocks, f"from_{kind}")(weights, of_blocks)
    else:
        weights, exact = checks.operand(made, kind)
    asked = kind if weights.dtype == np.uint8 else None
    on_gpu = [None if a is None else gpuarray.to_gpu(a, allocator) for a in (x, weights, scales)]
    last = None if of_blocks is None else gpuarray.to_gpu(of_blocks, allocator)
    runs = {"ours": lambda: ops.linear(*on_gpu, asked, last)}
    if torch and kind in ("float16", "int8"):
        tensors = [torch.as_tensor(a, device="cuda") for a in on_gpu]
        runs["PyTorch"] = partial(_by_torch, torch, *tensors)
        compiled = torch.compile(_by_torch, dynamic=False)
        runs["compiled"] = partial(compiled, torch, *tensors)

    def check(who, got):
        got = got.cpu().numpy() if hasattr(got, "cpu") else got.get()
        want, size = (f(x).astype(float) @ f(exact).T * scales for f in (np.array, np.abs))
        within = checks.dot_tolerance(want, size, k + 1, "float16", "float32")
        within += 3 * checks.roundoff("float16") * np.abs(want)  # PyTorch's scales are halves
        checks.assert_close(got, want, within, f"{who}, linear {kind}")

    moved = sum(a.nbytes for a in (x, weights, scales)) + 2 * n + getattr(of_blocks, "nbytes", 0)
    return f"linear {n}x{k} {kind}", n * k, moved, runs, check


def _by_torch(torch, x, weights, scales):
    return torch.nn.functional.linear(x, weights.to(x.dtype)) * scales.to(x.dtype)


def _word(position, torch):
    model = models.load()
    tokens = np.random.default_rng(1).integers(1, len(model.words), position + 1).tolist()
    speaker, exact = Speaker(model), reference.Exact(model)
    speaker.read(tokens)
    for token in tokens:
        want, error = exact.step(token)
    speaker.say(token, position)
    whole = Graph(speaker.stream, speaker.step)

    def ours():
        whole.launch()
        return speaker.buffers["logits"]

    runs = {"ours": ours}
    if torch:
        network = Network(torch, model)
        for at, token in enumerate(tokens):
            network.step(*network.tensors(token, at))
        told = network.tensors(token, position)

        def step():
            return network.step(*told)

        compiled = torch.compile(step, dynamic=False)
        runs |= {"PyTorch": step, "compiled": compiled, "a graph": _captured(torch, compiled)}

    def check(who, got):
        got = got.cpu().numpy() if hasattr(got, "cpu") else got.get()
        of_halves = checks.roundoff("float16") / checks.roundoff("float32")
        within = 6 * error * (1 if who == "ours" else of_halves)
        checks.assert_close(got, want, within, f"{who}, word {position}")

    return f"word {position}", model.nbytes, model.nbytes, runs, check


def _captured(torch, step):
    """A step as a CUDA graph, which was run before."""
    for _ in range(3):
        step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        logits = step()

    def run():
        graph.replay()
        return logits

    return run


class Network:
    """The model in PyTorch, in halves, with a cache for all positions."""

    def __init__(self, torch, model):
        self.torch, self.model = torch, model
        put = partial(torch.as_tensor, device="cuda", dtype=torch.float16)
        self.arrays = {
            name: put(model.matrix(name) if name + ".scales" in model.arrays else array)
            for name, array in model.arrays.items()
        }
        self.turns = put(reference.turns(model.window, model.head))
        self.cache = put(np.zeros((model.layers, 2, model.key_heads, model.window, model.head)))
        self.places = torch.arange(model.window, device="cuda")

    def tensors(self, *numbers):
        return [self.torch.tensor([number], device="cuda") for number in numbers]

    def step(self, token, position):
        """The logits after a token at a position."""
        x = self.arrays["embedding"][token]
        for layer in range(self.model.layers):
            name = f"layers.{layer}"
            found = self._attention(layer, self._norm(x, f"{name}.attention_norm"), position)
            x = x + self._linear(found, f"{name}.attended")
            made = self._linear(self._norm(x, f"{name}.network_norm"), f"{name}.gate_up")
            gate, passing = made.chunk(2, -1)
            inside = self.torch.nn.functional.silu(gate) * passing
            x = x + self._linear(inside, f"{name}.down")
        return self._linear(self._norm(x, "last_norm"), "embedding")[0].float()

    def _linear(self, x, name):
        return self.torch.nn.functional.linear(x, self.arrays[name])

    def _norm(self, x, name):
        wide = x.float()
        mean = (wide * wide).mean(-1, keepdim=True)
        return (wide * self.torch.rsqrt(mean + models.EPSILON)).half() * self.arrays[name]

    def _attention(self, layer, x, position):
        heads, key_heads, head = self.model.heads, self.model.key_heads, self.model.head
        made = self._linear(x, f"layers.{layer}.qkv").view(-1, head)
        cosine, sine = self.turns[position][0].unbind(-1)
        a, b = made[: heads + key_heads].chunk(2, -1)
        turned = self.torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)
        new = turned[heads:], made[heads + key_heads :]
        for side, rows in zip(self.cache[layer], new):
            side.index_copy_(1, position, rows[:, None])
        q = turned[:heads].view(1, key_heads, -1, head)
        seen = (self.places <= position).expand(q.shape[2], -1)
        attended = self.torch.nn.functional.scaled_dot_product_attention
        return attended(q, *self.cache[layer][:, None], attn_mask=seen).reshape(1, -1)
