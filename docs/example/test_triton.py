"""A kernel of tiles, with PyTorch's tensors."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
triton = pytest.importorskip("triton", reason="Triton is not installed")
tl = triton.language


@triton.jit
def row_sums(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    place = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + place, place < n, 0.0)
    tl.store(out + row, tl.sum(values))


@pytest.mark.parametrize("n", [1, 33, 1000])
def test_row_sums(n):
    x = torch.ones(7, n, device="cuda")
    out = torch.empty(7, device="cuda")
    row_sums[(7,)](x, out, n, BLOCK=triton.next_power_of_2(n))
    assert (out == n).all()
