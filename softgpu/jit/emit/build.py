"""A build of a kernel: how its functions are emitted, and the passes over each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..analysis.found import Pass

__all__ = ["Build", "Mode"]


@dataclass(frozen=True)
class Mode:
    """How a function is emitted, as its build, tier and size determine."""

    through_driver: bool = False  # every access and barrier is a call to the driver
    instrumented: bool = False  # hooks see each access, so none may be in a shared routine
    malloc: str = "sg_malloc"
    quick: bool = False  # compile fast, even if the code runs slower
    large: bool = False  # as in size.py

    @property
    def by_driver(self) -> bool:
        """Whether every access is a call to the driver."""
        return self.through_driver or self.quick

    @property
    def is_short(self) -> bool:
        """Whether small code matters more than fast code."""
        return self.quick or self.large

    @property
    def is_fast(self) -> bool:
        """Whether fast paths are worth the extra code."""
        return not (self.by_driver or self.large)

    @property
    def within_routine(self) -> Mode:
        """Return the mode in which quick or large code emits a routine shared by instructions."""
        return replace(self, quick=False, through_driver=self.by_driver)

    @property
    def has_routines(self) -> bool:
        """Whether accesses of one kind share a routine."""
        return self.is_short and not self.instrumented


@dataclass(frozen=True)
class Build:
    """A kind of code. The last pass creates the emitter, from the results of the others."""

    mode: Mode
    passes: tuple[Pass, ...]

    @property
    def rewrites(self) -> bool:
        """Whether a pass rewrites functions before they are emitted."""
        return any(step.rewrites for step in self.passes)
