"""Train the language model of helpers/transformer: model.int8.npz.

It learns to write definitions from two dictionaries that make fun of their words, Ambrose Bierce's
Devil's Dictionary (1911) and the Jargon File, and English from six novels by Jane Austen (1811 to
1817). All are in the public domain, and Debian ships them:

    apt-get download dict-devil dict-jargon r-cran-janeaustenr
    python scripts/train_transformer.py . --to helpers/transformer/model.int8.npz

It needs PyTorch, which the course does not, and dpkg-deb. It uses a GPU if there is one: a minute
on an H100, and 1.8 s a step on two threads of a CPU, 44 minutes."""

import argparse
import gzip
import math
import random
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from helpers.transformer.tokens import END, PIECE, Vocabulary, plain

VOCABULARY, WIDTH, LAYERS, HEADS, KEY_HEADS, HIDDEN, WINDOW = 1024, 256, 4, 8, 2, 640, 256
HEAD = WIDTH // HEADS
ROTARY_BASE, EPSILON = 10000.0, 1e-5
SHARES = {"devil": 0.2, "jargon": 0.3, "austen": 0.5}  # of what is read
HELD_OUT = 20  # one text of so many is not trained on
PEOPLES = re.compile(r"negr|nigg|\bjew|hebrew|\bindian|chin(a|ese)|squaw|savage|\brape|\bfuck|shit")
HEADWORDS = "COFFEE COMPUTER DEADLINE KERNEL LAPTOP MEETING MEMORY PROFESSOR PYTHON STUDENT"
LEAST, MOST = 40, 1500  # characters of a text


def unpacked(packages, name):
    """Return the folder of a Debian package's files."""
    (package,) = Path(packages).glob(f"{name}_*.deb")
    folder = tempfile.mkdtemp()
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    return Path(folder)


def dictionary(packages, name):
    """Return the text of a package of dictd."""
    (path,) = unpacked(packages, f"dict-{name}").rglob("*.dict.dz")
    return plain(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))


def joined(lines):
    """Return lines of prose as one."""
    return re.sub(r"\s+", " ", " ".join(lines)).strip()


def devil(packages):
    """Yield Bierce's definitions, without verses and quotations, which are indented."""
    text = dictionary(packages, "devil")
    for entry in re.split(r"\n(?=[A-Z][A-Z' -]+, [a-z.]+ )", text)[1:]:
        yield joined(line for line in entry.splitlines() if not line.startswith("   "))


def jargon(packages):
    """Yield the Jargon File's definitions, each sense by itself, headed as Bierce's are, and the
    paragraphs after them."""
    entries = re.split(r"\n\n(?=\S)", dictionary(packages, "jargon"))
    for entry in entries:
        head, _, rest = entry.partition("\n")
        kind, _, body = rest.partition("\n\n")
        kind = re.search(r"\b(n|v|adj|vt|vi|adv)\.", kind)
        if not kind or not re.fullmatch(r"[A-Za-z' -]+", head):
            continue
        body = re.sub(r"[{}]|\[[^]]*\]", "", body)
        for at, sense in enumerate(re.split(r"\n\n", body)):
            number, sense = re.match(r"(\d+[a-z]?\. )?(.*)", joined(sense.splitlines())).groups()
            if sense[:1].isupper() and "http" not in sense and "See " not in sense[:5]:
                defines = number or at == 0
                yield f"{head.upper()}, {kind[0]} {sense}" if defines else sense


def austen(packages):
    """Yield paragraphs of Austen's novels, from the strings of R's data."""
    (path,) = unpacked(packages, "r-cran-janeaustenr").rglob("Rdata.rdb")
    data, at, lines = path.read_bytes(), 0, []
    while at < len(data):  # each object: 4 bytes of its size, and one byte of its kind, if not zlib
        unzip = zlib.decompressobj()
        try:
            made = unzip.decompress(data[at + 4 :])
        except zlib.error:
            at += 1
            continue
        at = len(data) - len(unzip.unused_data)
        strings = re.finditer(rb"\x00\x04?[\x00-\x04]\x09", made)
        for found in strings:
            size = int.from_bytes(made[found.end() : found.end() + 4], "big", signed=True)
            lines.append(made[found.end() + 4 :][: max(size, 0)].decode("utf-8", "replace"))
    for paragraph in "\n".join(lines).split("\n\n"):
        yield joined([plain(paragraph)])


def texts(packages):
    """Return the texts to train on and those held out, by their source."""
    train, held = {}, {}
    for source in (devil, jargon, austen):
        name, kept = source.__name__, []
        for text in source(packages):
            if len(text) > MOST:
                text = text[:MOST].rpartition(". ")[0] + "."
            if len(text) >= LEAST and not PEOPLES.search(text.lower()):
                kept.append(text)
        train[name] = [text for i, text in enumerate(kept) if i % HELD_OUT]
        held[name] = kept[::HELD_OUT]
    return train, held


def vocabulary(train):
    """Return the Vocabulary of some texts: join the most frequent pair of neighbours, again and
    again, in texts of each source by its share."""
    counts: Counter = Counter()
    for name, some in train.items():
        pieces = Counter(piece for text in some for piece in PIECE.findall(text))
        whole = sum(pieces.values())
        counts.update({p: n * SHARES[name] * 1e6 / whole for p, n in pieces.items()})
    words, frequency = [list(piece) for piece in counts], list(counts.values())
    pairs, found = Counter(), defaultdict(set)
    for i, word in enumerate(words):
        for pair in zip(word, word[1:]):
            pairs[pair] += frequency[i]
            found[pair].add(i)
    strings = ["", "\n", *map(chr, range(ord(" "), ord("~") + 1))]
    while len(strings) < VOCABULARY:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        strings.append("".join(best))
        for i in found.pop(best):
            word = words[i]
            for pair in zip(word, word[1:]):
                pairs[pair] -= frequency[i]
            at = 0
            while at < len(word) - 1:
                if (word[at], word[at + 1]) == best:
                    word[at : at + 2] = ["".join(best)]
                at += 1
            for pair in zip(word, word[1:]):
                pairs[pair] += frequency[i]
                found[pair].add(i)
        del pairs[best]
    return Vocabulary(strings)


class Norm(nn.Module):
    """RMSNorm."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return F.rms_norm(x, (WIDTH,), self.weight, EPSILON)


def rotated(x, turns):
    """Return x[..., position, head] with each pair (i, i + head / 2) turned by its position."""
    a, b = x.chunk(2, -1)
    cosine, sine = turns
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)


class Layer(nn.Module):
    """Attention, then a SwiGLU network."""

    def __init__(self):
        super().__init__()
        self.attention_norm, self.network_norm = Norm(), Norm()
        self.qkv = nn.Linear(WIDTH, (HEADS + 2 * KEY_HEADS) * HEAD, bias=False)
        self.attended = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate_up = nn.Linear(WIDTH, 2 * HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x, turns, dropout):
        batch, length, _ = x.shape
        heads = self.qkv(self.attention_norm(x)).view(batch, length, -1, HEAD).transpose(1, 2)
        q, k, v = heads.split((HEADS, KEY_HEADS, KEY_HEADS), 1)
        made = F.scaled_dot_product_attention(
            rotated(q, turns), rotated(k, turns), v, is_causal=True, enable_gqa=True
        )
        made = self.attended(made.transpose(1, 2).reshape(batch, length, WIDTH))
        x = x + F.dropout(made, dropout, self.training)
        gate, up = self.gate_up(self.network_norm(x)).chunk(2, -1)
        return x + F.dropout(self.down(F.silu(gate) * up), dropout, self.training)


class Model(nn.Module):
    """The transformer; its embeddings are also the last product's weights."""

    def __init__(self, dropout):
        super().__init__()
        self.dropout = dropout
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.last_norm = Norm()
        steps = ROTARY_BASE ** (-torch.arange(HEAD // 2) * 2 / HEAD)
        angles = torch.arange(WINDOW)[:, None] * steps
        self.register_buffer("cosine", angles.cos(), persistent=False)
        self.register_buffer("sine", angles.sin(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.ndim == 2:
                shrink = math.sqrt(2 * LAYERS) if "attended" in name or "down" in name else 1
                nn.init.normal_(weight, std=0.02 / shrink)

    def forward(self, tokens):
        length = tokens.shape[1]
        turns = self.cosine[:length], self.sine[:length]
        x = F.dropout(self.embedding(tokens), self.dropout, self.training)
        for layer in self.layers:
            x = layer(x, turns, self.dropout)
        return F.linear(self.last_norm(x), self.embedding.weight)


def stream_of(some, words):
    """Return texts in a random order as one array of tokens, each after an END."""
    some = list(some)
    random.Random(0).shuffle(some)
    return torch.tensor([token for text in some for token in [END, *words.encode(text)]])


def windows(streams, batch, make):
    """Return random windows of the streams, by their shares, and what follows each token."""
    names = list(SHARES)
    rows = []
    for name in random.choices(names, [SHARES[name] for name in names], k=batch):
        at = random.randrange(len(streams[name]) - WINDOW)
        rows.append(streams[name][at : at + WINDOW + 1])
    rows = torch.stack(rows).to(make)
    return rows[:, :-1], rows[:, 1:]


@torch.no_grad()
def losses(model, held, words, make):
    """Return, by source, the mean loss in nats per token of the texts held out, and per byte."""
    model.eval()
    found = {}
    for name, some in held.items():
        total = tokens = 0
        for text in some:
            row = torch.tensor([END, *words.encode(text), END])[: WINDOW + 1].to(make)
            made = model(row[None, :-1])[0].float()
            total += F.cross_entropy(made, row[1:], reduction="sum").item()
            tokens += len(row) - 1
        letters = sum(len(words.decode(words.encode(t)[: WINDOW - 1])) + 1 for t in some)
        found[name] = total / tokens, total / letters / math.log(2)
    model.train()
    return found


def optimizers(model, rate):
    """Return Muon for the layers' matrices, AdamW for the rest."""
    matrices = [w for name, w in model.layers.named_parameters() if w.ndim == 2]
    ours = set(map(id, matrices))
    rest = [w for w in model.parameters() if id(w) not in ours]
    return [
        torch.optim.Muon(matrices, lr=rate * 5, weight_decay=0.1, momentum=0.95),
        torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.95), weight_decay=0.01),
    ]


def train(model, streams, told, make, report):
    """Train for `steps` steps of `batch` windows: warm up, then let the rate fall to 0."""
    both = optimizers(model, told.rate)
    plans = [
        torch.optim.lr_scheduler.LambdaLR(
            one, lambda step: min((step + 1) / 100, 1.05 - step / told.steps)
        )
        for one in both
    ]
    begin = time.time()
    for step in range(told.steps):
        tokens, following = windows(streams, told.batch, make)
        with torch.autocast(make, torch.bfloat16, enabled=make == "cuda"):
            made = model(tokens)
        loss = F.cross_entropy(made.float().flatten(0, 1), following.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        for one, plan in zip(both, plans):
            one.step()
            plan.step()
            one.zero_grad(set_to_none=True)
        if (step + 1) % 20 == 0:
            print(
                f"step {step + 1}: loss {loss.item():.3f}, {time.time() - begin:.0f} s", flush=True
            )
        if (step + 1) % 500 == 0 or step + 1 == told.steps:
            report()


def in_int8(weight):
    """Return a matrix in int8, with a float32 scale for each row."""
    weight = weight.detach().float().cpu().numpy()
    scales = np.abs(weight).max(1) / np.float32(127)
    return np.rint(weight / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def save(model, words, path):
    """Write the weights: matrices in int8, `NAME.scales` beside them, norms in float32. The
    model then has the weights as they were rounded."""
    arrays = {"vocabulary": np.array("\0".join(words.strings).encode())}
    arrays["shape"] = np.array([HEADS, KEY_HEADS, WINDOW], np.int32)
    for name, weight in model.named_parameters():
        name = name.removesuffix(".weight")
        if weight.ndim == 2:
            codes, scales = in_int8(weight)
            arrays[name], arrays[name + ".scales"] = codes, scales
            weight.data = torch.from_numpy(codes * scales[:, None]).to(weight)
        else:
            arrays[name] = weight.detach().float().cpu().numpy()
    np.savez_compressed(path, **arrays)


@torch.no_grad()
def sample(model, words, prompt, make, temperature=0.5):
    """Return a text that begins with the prompt."""
    model.eval()
    tokens = [END, *words.encode(prompt)]
    while len(tokens) < WINDOW:
        made = model(torch.tensor(tokens).to(make)[None])[0, -1].float()
        one = torch.multinomial(F.softmax(made / temperature, 0), 1).item()
        if one == END:
            break
        tokens.append(one)
    return words.decode(tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", help="the folder with Debian's packages")
    parser.add_argument("--to", default="model.int8.npz")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--dropout", type=float, default=0.1)
    told = parser.parse_args()
    torch.manual_seed(0)
    random.seed(0)
    make = "cuda" if torch.cuda.is_available() else "cpu"
    trained, held = texts(told.packages)
    words = vocabulary(trained)
    streams = {name: stream_of(some, words) for name, some in trained.items()}
    model = Model(told.dropout).to(make)
    weights = sum(weight.numel() for weight in model.parameters())
    print({name: len(tokens) for name, tokens in streams.items()}, f"{weights} weights")

    def report():
        for name, (token, byte) in losses(model, held, words, make).items():
            print(f"  held out of {name}: {token:.3f} nats a token, {byte:.3f} bits a byte")

    train(model, streams, told, make, report)
    save(model, words, told.to)
    print("rounded to int8:")
    report()
    for head in HEADWORDS.split():
        print(sample(model, words, f"{head}, n.", make), "\n")


if __name__ == "__main__":
    main()
