"""Where a barrier belongs between two accesses that race.

The sanitized build says how control flows between its sites. Two accesses that some path without a
barrier leads from one to the other on need one there: between the two, or where a loop comes round.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from .phrases import Said
from .words import Advice, Does

__all__ = ["Barriers", "line_name"]

WARP, BLOCK = 1, 2  # what meets at a site: the lanes of a warp, the threads of the block
DOES = tuple(Does)
_KINDS = ({"load"}, {"store"}, {"load", "store", "atomic", "red"})


def line_name(file: str, line: int) -> str:
    """A line's number, after the name of a file that is not the kernel's own."""
    return str(line) if Path(file).suffix in ("", ".cu") else f"{Path(file).name}:{line}"


class _Flow:
    """Paths between the sites of a kernel."""

    def __init__(self, notes: dict):
        self.targets = notes["flow"]
        self.places = [(function, block) for function, block, _ in notes["places"]]
        self.meets = [meets for _, _, meets in notes["places"]]
        self.sites = defaultdict(list)
        for site, place in enumerate(self.places):
            self.sites[place].append(site)

    def leads(self, starts, ends, level: int) -> bool:
        """Whether a path leads from one of the sites to another at which nobody meets."""
        left = [(self.places[site], site) for site in starts]
        seen: set[tuple] = set()
        while left:
            place, after = left.pop()
            for site in self.sites[place]:
                if site <= after:
                    continue
                if site in ends:
                    return True
                if self.meets[site] >= level:
                    break
            else:
                function, block = place
                further = {(function, t) for t in self.targets[function][block] if t >= 0} - seen
                seen |= further
                left += [(target, -1) for target in further]
        return False


class Barriers:
    """Advice on barriers for the findings of one kernel."""

    def __init__(self, code):
        self.sites = code.sites
        self.flow = _Flow(code.notes)

    def advice(self, f, barrier: str, level: int) -> Said:
        """Where to put a barrier, for a finding with two sides."""
        (upper, does_upper), (lower, does_lower) = self._sides(f)
        does = {does_upper, does_lower}
        first, second = self._accesses(f)
        direct = self.flow.leads(first, second, level)
        carried = self.flow.leads(second, first, level)
        if self._line(upper) == self._line(lower):
            if does == {1}:
                return Advice.OWN_PLACE()
            if 0 not in does or (carried and not direct):
                return Advice.BETWEEN(barrier=barrier)
            turns = Advice.END_OF_LOOP_OR_READ if carried else Advice.READ_THEN_WRITE
            return turns(barrier=barrier)
        line, other = (line_name(*self._line(site)) for site in (upper, lower))
        if not carried:
            return Advice.BETWEEN(barrier=barrier)
        if direct:
            return Advice.BETWEEN_AND_END_OF_LOOP(barrier=barrier, line=line)
        both = {"does": DOES[does_upper](), "other_does": DOES[does_lower]()}
        return Advice.END_OF_LOOP(barrier=barrier, line=line, other=other, **both)

    def shared(self, f, g) -> bool:
        """Whether one barrier of the block would end both of two races."""
        for order in (1, -1):
            first, second = (self._accesses(race)[::order] for race in (f, g))
            if self.flow.leads(first[0], second[1], BLOCK) and self.flow.leads(
                second[0], first[1], BLOCK
            ):
                return True
        return False

    def _line(self, site: int) -> tuple[str, int]:
        known = self.sites[site]
        return known.file, known.line

    def _sides(self, f) -> list[tuple[int, int]]:
        """(site, what it does) of both sides, in the order of the source."""
        sides = [(f.site, f.access), (f.other_site, f.other_access)]
        (file, line), (other_file, other) = (self._line(site) for site, _ in sides)
        if file == other_file and line != other:
            return sorted(sides, key=lambda side: self._line(side[0]))
        if line == other:  # in one line, reading comes first
            return sorted(sides, key=lambda side: side[1])
        return sorted(sides)

    def _accesses(self, f) -> list[set[int]]:
        """All sites that do the same in the same lines: loops are unrolled, functions inlined."""
        return [
            {
                number
                for number, known in enumerate(self.sites)
                if (known.file, known.line) == self._line(site) and known.kind in _KINDS[does]
            }
            for site, does in self._sides(f)
        ]
