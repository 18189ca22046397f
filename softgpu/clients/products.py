"""PyTorch's products of halves or bfloat16, with the bits of cuBLAS on an H100's tensor cores.

A tensor core cuts off what does not fit beside the largest of 16 products; a CPU does not. Where a
sum is near 0, programs that compare their own kernel with PyTorch's product see the difference.
Where a program allows TF32, floats are rounded to it; their sums are the CPU's.
"""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch.nn.functional import pad

from ..loader import Engine

__all__ = ["product"]

_NAMES = {"__matmul__", "bmm", "linear", "matmul", "mm"}
_TYPES = torch.float16, torch.bfloat16
_ROWS, _COLUMNS, _DEPTH = 16, 8, 16
"""The units of sg_product."""
_MOST = 1 << 31
"""Multiply-adds: 2 s of a core. A larger product is PyTorch's own."""


def product(name: str, args: tuple, kwargs: dict[str, Any]) -> torch.Tensor | None:
    """The result of matmul, or another name of it, of such matrices or stacks; None: it is another
    operation, or is left to PyTorch."""
    if name not in _NAMES or len(args) != 2 or any(v is not None for v in kwargs.values()):
        return None
    a, b = args
    with torch._C.DisableTorchFunction():
        if not _is_product(a, b):
            return None
        b = b if name == "linear" else b.mT
        stack = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        if a.shape[-1] != b.shape[-1] or not 0 < _work(stack, a, b) <= _MOST:
            return None
        if a.dtype == torch.float32:
            return torch.matmul(_tf32(a), _tf32(b).mT)
        flat = [x.expand(*stack, *x.shape[-2:]).reshape(-1, *x.shape[-2:]) for x in (a, b)]
        sums = torch.stack([_sums(x, y) for x, y in zip(*flat, strict=True)])
        return sums.view(*stack, a.shape[-2], b.shape[-2]).to(a.dtype)


def _is_product(a: Any, b: Any) -> bool:
    tensors = isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)
    if not tensors or a.dtype != b.dtype or min(a.dim(), b.dim()) < 2:
        return False
    in_tf32 = a.dtype == torch.float32 and torch.get_float32_matmul_precision() != "highest"
    if not in_tf32 and a.dtype not in _TYPES:
        return False
    return not (torch.is_grad_enabled() and (a.requires_grad or b.requires_grad))


def _work(stack: torch.Size, a: torch.Tensor, b: torch.Tensor) -> int:
    return stack.numel() * a.shape[-2] * b.shape[-2] * a.shape[-1]


def _tf32(x: torch.Tensor) -> torch.Tensor:
    """Rounded to 10 bits of fraction, a tie to the even one."""
    bits = x.contiguous().view(torch.int32)
    rounded = ((bits + 0xFFF + (bits >> 13 & 1)) & -(1 << 13)).view(torch.float32)
    return torch.where(x.isnan(), x, rounded)


def _sums(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The products of each line of a with each line of b, in float32."""
    (m, k), n = a.shape, b.shape[0]
    a = pad(a, (0, -k % _DEPTH, 0, -m % _ROWS)).contiguous()
    b = pad(b, (0, -k % _DEPTH, 0, -n % _COLUMNS)).contiguous()
    sums = torch.zeros(b.shape[0], a.shape[0])
    sg_product = Engine.as_driver().library.sg_product
    kind = ctypes.c_uint32(a.dtype == torch.bfloat16)

    def panel(b: torch.Tensor, sums: torch.Tensor) -> None:
        sizes = (ctypes.c_size_t(size) for size in (a.shape[0], b.shape[0], a.shape[1]))
        sg_product(kind, *sizes, *(ctypes.c_void_p(x.data_ptr()) for x in (a, b, sums)))

    columns = -(-n // (_COLUMNS * torch.get_num_threads())) * _COLUMNS
    with ThreadPoolExecutor() as pool:
        list(pool.map(panel, b.split(columns), sums.split(columns)))
    return sums[:n, :m].mT
