"""Hooks of instrumented builds; by default they emit nothing."""

from __future__ import annotations

from .values import Value

__all__ = ["Observer"]


class Observer:
    """Called by instruction emitters right before the event that each method names."""

    def access(self, site: int, address: Value) -> None:
        """The active lanes are about to access memory."""

    def row(self, site: int, first: Value, one_place: bool) -> None:
        """A load or store without the driver: active lane l at first + l * bytes, or all at first.

        Accesses by the driver are seen in call_checked("void", "load" or "store", ...) instead."""

    def scattered(self, site: int, address: Value) -> None:
        """The active lanes are about to load from shared memory without the driver."""

    def proven(self, access, stretch) -> None:
        """All lanes are about to access memory, which the test of their block has covered."""

    def shuffle(self, site: int, members, mode: int, b, c) -> None:
        """A shuffle under a member mask; mode as in runtime.h, b and c as in PTX."""

    def vote(self, site: int, members) -> None:
        """Any other operation of lanes under a member mask."""

    def copy(self, site: int, to: Value) -> None:
        """The active lanes start asynchronous copies to shared memory."""

    def copies_committed(self) -> None:
        """The active lanes commit their copies as a group."""

    def copies_awaited(self, groups: int) -> None:
        """The active lanes wait until at most this many groups are in flight; -1: no copy at
        all."""

    def bulk_committed(self) -> None:
        """The active lanes commit their bulk copies from shared memory as a group."""

    def bulk_awaited(self, groups: int) -> None:
        """The active lanes wait until at most this many bulk groups still read."""

    def product(self, site: int, pipe: str, count: int) -> None:
        """A matrix product, which is `count` machine instructions of a tensor pipe."""

    def products_fence(self) -> None:
        """wgmma.fence: orders earlier register writes before wgmma."""

    def products_committed(self) -> None:
        """The wgmmas started so far are committed as a group."""

    def products_awaited(self, groups: int) -> None:
        """The warp waits until at most this many wgmma groups are in flight."""

    def fence(self) -> None:
        """A memory fence."""

    def mbarriers_shown(self) -> None:
        """A fence that makes initialised mbarriers visible to bulk copies."""

    def proxy_fence(self) -> None:
        """A fence that makes what the active lanes know visible to the asynchronous proxy."""

    def warp_barrier(self, site: int, members) -> None:
        """A __syncwarp."""

    def barrier(self, site: int, number: str, threads: str, waits: bool) -> None:
        """The active lanes are about to arrive at a barrier of the block (i32 texts)."""

    def call(self, before: bool) -> None:
        """Called right before and right after a call of a device function."""
