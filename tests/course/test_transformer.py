"""The language model: its file, its tokens, its step on the GPU, and the texts it writes."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import autoinit  # noqa: F401  (before PyCUDA is imported)
from helpers.transformer import model, reference, speaker, tokens, writing
from softgpu.tests.facts import refused

SPEAKS = "COFFEE, n. A kind of drink that is"
SURE = 6  # standard deviations: more than one of a billion errors would be larger


@pytest.fixture(scope="module")
def ours():
    return model.load()


@pytest.fixture(scope="module")
def speaks(ours):
    return speaker.Speaker(ours)


def test_the_file_is_small_and_whole(ours, tmp_path):
    assert model.FILE.stat().st_size < 3e6 and 2e6 < ours.nbytes < 3e6
    matrices = {name for name in ours.arrays if name + ".scales" in ours.arrays}
    assert len(matrices) == 1 + 4 * ours.layers
    for name in matrices:
        codes, scales = ours.arrays[name], ours.arrays[name + ".scales"]
        assert codes.dtype == np.int8 and scales.dtype == np.float32
        assert scales.shape == codes.shape[:1] and (abs(codes).max(1) == 127).all()
    broken = tmp_path / "model.npz"
    broken.write_bytes(model.FILE.read_bytes()[:-1])
    with refused(ValueError, broken, "SHA-256"):
        model.load(broken)


def test_text_becomes_tokens_and_comes_back(ours):
    for text in ("COFFEE, n. ", "one\ntwo  three", "a{b}~c;'\"--12.5%", "naïve “café” — x"):
        encoded = ours.words.encode(text)
        assert ours.words.decode(encoded) == tokens.plain(text)
        assert len(encoded) <= len(text) and tokens.END not in encoded
    assert len(ours.words.encode(SPEAKS)) <= len(SPEAKS) / 2


@pytest.mark.parametrize("splits", [1, 3])
def test_each_step_has_the_logits_of_float64(ours, speaks, splits):
    some = speaks if splits == 1 else speaker.Speaker(ours, splits)
    exact = reference.Exact(ours)
    for position, token in enumerate([tokens.END, *ours.words.encode(SPEAKS)]):
        some.read([token], position)
        want, error = exact.step(token)
        assert (abs(some.logits - want) < SURE * error).all(), position
        assert error.max() < 1e-5 * np.ptp(want)


def test_pages_may_lie_in_any_order(ours, speaks):
    other = speaker.Speaker(ours, 2)
    other.table.set(np.roll(other.table.get()[::-1], 3))
    read = [tokens.END, *ours.words.encode(SPEAKS)]
    assert len(read) > speaker.PAGE
    for some in speaks, other:
        some.read(read)
    error = 1e-5 * np.ptp(speaks.logits)
    assert (abs(other.logits - speaks.logits) < error).all()


def test_a_wrong_step_is_outside_the_bound(ours, speaks):
    exact = reference.Exact(ours)
    first, second = tokens.END, ours.words.encode("A")[0]
    exact.step(first)
    want, error = exact.step(second)
    speaks.read([first])
    speaks.read([second], 2)  # a position off by one, and a slot that nothing has been written to
    assert (abs(speaks.logits - want) > SURE * error).any()


def test_the_model_writes_as_numpy_would(ours, speaks):
    pieces = list(speaks.texts("LAPTOP, n.", seed=1, temperature=0.5, most=20))
    told = [tokens.END, *ours.words.encode(pieces[0])]
    exact, encoded = reference.Exact(ours), {s: i for i, s in enumerate(ours.words.strings)}
    for token in told[:-1]:
        exact.step(token)
    last = told[-1]
    for position, piece in enumerate([*pieces[1:], ""], len(told) - 1):
        if position + 1 == ours.window:
            break
        logits, _ = exact.step(last)
        last, margin = reference.draw(logits, 0.5, 20, reference.uniform(1, position))
        assert last == encoded[piece] or margin < 1e-4
        last = encoded[piece]
    assert len(pieces) > 5


def test_a_seed_gives_the_same_text_by_a_graph_and_by_launches(ours, speaks):
    one = "".join(speaks.texts("BUG, n.", seed=7))
    assert one == "".join(speaker.Speaker(ours, graph=False).texts("BUG, n.", seed=7))
    assert one == "".join(speaks.texts("BUG, n.", seed=7))
    assert one != "".join(speaks.texts("BUG, n.", seed=8))
    assert one.startswith("BUG, n.") and 20 < len(one)


def test_a_text_ends_with_the_window(ours):
    speaks = speaker.Speaker(replace(ours, window=40))
    long = "the " * 36
    pieces = list(speaks.texts(long.strip(), temperature=0))
    assert len(pieces) <= 5
    with refused(ValueError, 40):
        next(speaks.texts(long * 2))
    with refused(ValueError, 0, 1):
        next(speaks.texts("A", temperature=-1))


def test_a_step_is_clean(ours, watched):
    some = speaker.Speaker(ours, splits=2, graph=False)
    some.read([tokens.END, *ours.words.encode("LOVE, n.")])
    assert np.isfinite(some.logits).all()


def test_a_text_is_written_until_somebody_stops_it(speaks, capsys):
    class Stopped:
        def texts(self, *told):
            for number, piece in enumerate(speaks.texts(*told)):
                if number == 3:
                    raise KeyboardInterrupt
                yield piece

    told = SPEAKS, 1, 0.5
    first = [piece for piece, _ in zip(speaks.texts(*told), range(3))]
    for who in Stopped(), Stopped():
        writing.write(*told, speaker=who)
        assert capsys.readouterr().out.startswith("".join(first) + " [")
    writing.write(*told, speaker=speaks)
    assert capsys.readouterr().out == "".join(speaks.texts(*told)) + "\n"
