"""How near helpers.ops and the libraries come to the floor, as recorded."""

from helpers import peers
from softgpu.tests.facts import refused


def test_every_large_case_is_in_the_headline():
    rows = {}
    for row in peers._large():
        rows.setdefault(row["topic"], []).append(row)
    limited = {"sum", "rowsum", "colsum", "softmax", "add", "less", "im2col", "col2im"}
    assert set(rows) == limited | {"gemm", "conv2d", "attention", "attention_backward"}
    shown = repr(peers.headline())
    for name in peers.TOPICS.values():
        assert f"{name}: helpers.ops" in shown
    assert "NVIDIA H200" in shown and "torch" in shown
    assert "cuDNN" not in shown  # one of PyTorch's back ends: the fastest of them counts


def test_back_ends_are_told_apart_within_a_topic():
    shown = repr(peers.shares("attention"))
    for name in "helpers.ops", *peers.BACK_ENDS:
        assert name in shown


def test_topics_come_and_go(tmp_path, monkeypatch):
    text = (peers.bench.RECORDED / "peers.csv").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("softmax,")]
    scan = [line.replace("sum", "scan") for line in lines if line.startswith("sum,")]
    (tmp_path / "peers.csv").write_text("\n".join(lines + scan))
    monkeypatch.setattr(peers.bench, "RECORDED", tmp_path)
    shown = repr(peers.headline())
    assert "scan: helpers.ops" in shown and "softmax" not in shown


def test_cases_of_a_topic_without_what_they_share():
    shown = repr(peers.shares("add", "int8"))
    assert "transposed scaled: helpers.ops" in shown and "float32" not in shown
    assert "2^10" not in shown  # a launch, not a kernel


def test_unknown_topic_is_refused():
    with refused(ValueError, "'mean'", "sum, rowsum"):
        peers.shares("mean")
