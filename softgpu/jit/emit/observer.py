"""What an instrumented build adds to a function where something happens; here, nothing."""

from __future__ import annotations

from .values import Value

__all__ = ["Observer"]


class Observer:
    """Called by the emitters of instructions, right before what each method names."""

    def access(self, site: int, address: Value) -> None:
        """The active lanes are about to access memory."""

    def row(self, site: int, first: Value, one_place: bool) -> None:
        """A load or store without the driver: active lane l at first + l * bytes, or all at first.

        Those with the driver come by as call_checked("void", "load" or "store", ...)."""

    def shuffle(self, site: int, members, mode: int, b, c) -> None:
        """A shuffle among a member mask; mode as in runtime.h, b and c as in PTX."""

    def vote(self, site: int, members) -> None:
        """Anything else that lanes of a member mask do together."""

    def copy(self, site: int, to: Value) -> None:
        """The active lanes begin asynchronous copies to shared memory."""

    def copies_committed(self) -> None:
        """Those that the active lanes have begun are a group."""

    def copies_awaited(self, groups: int) -> None:
        """The active lanes wait until so many groups are under way at most; -1: nothing is."""

    def bulk_committed(self) -> None:
        """The bulk copies from shared memory that the active lanes have begun are a group."""

    def bulk_awaited(self, groups: int) -> None:
        """The active lanes wait until so many of these groups read at most."""

    def product(self, site: int, pipe: str, count: int) -> None:
        """A product of matrices, which is `count` machine instructions of a tensor pipe."""

    def products_fence(self) -> None:
        """wgmma.fence: registers that were written are for products."""

    def products_committed(self) -> None:
        """What wgmma has begun is a group."""

    def products_awaited(self, groups: int) -> None:
        """The warp waits until so many groups are under way at most."""

    def fence(self) -> None:
        """A memory fence."""

    def mbarriers_shown(self) -> None:
        """A fence between mbarriers that were begun and bulk copies."""

    def proxy_fence(self) -> None:
        """One between what the active lanes know of and the asynchronous proxy."""

    def warp_barrier(self, site: int, members) -> None:
        """A __syncwarp."""

    def barrier(self, site: int, number: str, threads: str, waits: bool) -> None:
        """The active lanes are about to arrive at a barrier of the block (i32 texts)."""

    def call(self, before: bool) -> None:
        """Right before, and right after, a call of a device function."""
