"""What stopped a launch before its end, as the driver says (enum FaultKind of driver/runtime.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import contract
from .contract import ffi
from .phrases import Said

__all__ = ["Fault", "FaultKind", "last_fault"]

FaultKind = contract.codes("FaultKind", "FAULT_")


@dataclass(frozen=True)
class Fault:
    """kind: a FaultKind; site: of the kernel, in any build; loop: the line of the loop that ran
    when the time was up, or 0; what: in the driver's words."""

    kind: int
    site: int
    loop: int
    limit_s: float
    where: str
    what: Said

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def last_fault(runtime: Any) -> Fault:
    """That of the last launch; of the kind NO_FAULT if it has ended well, or was never begun."""
    found = ffi.new("Fault *")
    runtime.sg_last_fault(found)
    where, what = (ffi.string(text).decode() for text in (found.where, found.what))
    said = Said(what, FaultKind(found.kind), {"what": what})
    return Fault(found.kind, found.site, found.loop, found.limit_s, where, said)
