"""Fat binaries, as nvcc puts them into programs: the PTX for our device is taken out of them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib import import_module

from . import cubin
from .program import PtxError

__all__ = ["MAGIC", "ptx_for"]

MAGIC = b"\x50\xed\x55\xba"
_HEAD = struct.Struct("<4sHHQ")  # magic, version, bytes of this, bytes of all entries
_ENTRY = struct.Struct("<HHIQIIHHI8xQ8xQ")
_PTX, _MACHINE_CODE = 1, 2
_ZSTD, _LZ4 = 0x8000, 0x2000


def _entries(image: bytes) -> Iterator[tuple[int, int, int, bytes, int]]:
    """(kind, architecture, flags, content, its bytes unpacked) of each entry."""
    at = 0
    while image[at : at + 4] == MAGIC and len(image) - at >= _HEAD.size:
        _, _, head_bytes, bytes_ = _HEAD.unpack_from(image, at)
        at += head_bytes
        end = at + bytes_
        while at + _ENTRY.size <= min(end, len(image)):
            kind, _, head, padded, packed, _, _, _, arch, flags, unpacked = _ENTRY.unpack_from(
                image, at
            )
            content = image[at + head : at + head + (packed or padded)]
            yield kind, arch, flags, content, unpacked
            at += head + padded
        at = max(at, end)


def _unpacked(content: bytes, flags: int, bytes_: int) -> bytes:
    """The content of an entry, whose compression the flags name."""
    for flag, module, unpack in (
        (_ZSTD, "zstandard", lambda m: m.ZstdDecompressor().decompress(content, bytes_)),
        (_LZ4, "lz4.block", lambda m: m.decompress(content, uncompressed_size=bytes_)),
    ):
        if flags & flag:
            try:
                return unpack(import_module(module))
            except ImportError:
                raise PtxError(
                    f"this program's kernels are compressed: pip install {module.partition('.')[0]}"
                    ", or compile it with nvcc --no-compress"
                ) from None
    return content


def ptx_for(image: bytes, arch: int) -> str:
    """The PTX for the newest architecture up to `arch` (such as 90); else that in machine code."""
    found = list(_entries(image))
    usable = [entry for entry in found if entry[0] == _PTX and entry[1] <= arch]
    for kind, made_for, flags, content, bytes_ in found:
        if not usable and kind == _MACHINE_CODE and made_for == arch:
            return cubin.ptx_of(_unpacked(content, flags, bytes_))
    if not usable:
        has = ", ".join(f"{'PTX' if kind == _PTX else 'machine code'} of sm_{a}"
                        for kind, a, *_ in found) or "nothing"  # fmt: skip
        raise PtxError(
            f"the program holds {has}, and no PTX that sm_{arch} can run: compile it with"
            f" nvcc -gencode arch=compute_{arch},code=compute_{arch}"
        )
    _, _, flags, content, bytes_ = max(usable, key=lambda entry: entry[1])
    return _unpacked(content, flags, bytes_).rstrip(b"\0").decode(errors="replace")
