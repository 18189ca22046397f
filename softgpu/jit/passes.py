"""From a function of PTX to LLVM text: for each build, all passes in the order in which they run.

Given are the `function`, its kernel's `layout`, and whether its calls may exit (`calls_may_exit`),
which functions may look at memory for their callers (`watchers`), and in which lanes meet
(`meeters`).
The function that a pass runs says what it finds. The last one writes.
"""

from __future__ import annotations

from . import instructions  # noqa: F401  (they register themselves)
from .analysis.ahead import Ahead, plan_ahead
from .analysis.flow import (
    blocks_in_order,
    live_registers,
    protected_registers,
    registers_read,
    spinning_loops,
    waiting_blocks,
    waits_for_nothing_else,
)
from .analysis.found import Found, Pass
from .analysis.masks import find_masks
from .analysis.merging import merged_accesses
from .analysis.nans import plan_nans
from .analysis.origins import Origins
from .analysis.polling import find_constants, find_expected, find_polling, find_updated
from .analysis.proof import find_proofs
from .analysis.size import is_large
from .analysis.strides import strides_along_x
from .analysis.sums import find_sums
from .analysis.turns import find_turns, looping_blocks
from .analysis.undefined import find_undefined
from .analysis.unfenced import find_unfenced
from .analysis.unfinished import find_unfinished
from .analysis.uniform import divergent_ends, find_varying
from .analysis.unrolling import as_ptxas_unrolls
from .analysis.uses import Uses
from .builds.profile import ProfiledEmitter
from .builds.proven import ProvingEmitter
from .builds.record import RecordedEmitter
from .builds.sanitize import SanitizedEmitter
from .emit.build import Build, Mode
from .emit.function import FunctionEmitter
from .emit.module_text import ModuleText

__all__ = ["BUILDS"]

_FLOW = (
    Pass("blocks", ("function", "calls_may_exit", "watchers", "meeters"), blocks_in_order),
    Pass("live", ("blocks",), live_registers),
    Pass("varying", ("function", "blocks", "live"), find_varying),
)
_UNROLLED = (*_FLOW, Pass("copies", ("function", "varying"), as_ptxas_unrolls, rewrites=True))
_COMMON = (
    *_FLOW,
    Pass("large", ("function", "blocks"), is_large),
    Pass("divergent", ("blocks", "varying"), divergent_ends),
    Pass("waiting", ("blocks", "divergent"), waiting_blocks),
    Pass("spinning", ("blocks",), spinning_loops),
    Pass("only_waits", ("blocks",), waits_for_nothing_else),
    Pass("protected", ("live", "waiting"), protected_registers),
    Pass("nans", ("blocks", "live"), plan_nans),
    Pass("read_somewhere", ("function",), registers_read),
    Pass("turns", ("function", "blocks"), find_turns),
    Pass("masks", ("function",), find_masks),
)
_AHEAD = Pass("ahead", ("function", "blocks", "waiting"), plan_ahead)
_NEVER_AHEAD = Pass("ahead", (), Ahead)
_PROVING = (
    Pass("sums", ("function", "varying"), find_sums, fast=True),
    Pass("strides", ("function",), strides_along_x, fast=True),
    Pass("looping", ("blocks",), looping_blocks, fast=True),
    Pass("proofs", ("blocks", "varying", "strides", "looping"), find_proofs, fast=True),
)
_POLLING = (
    Pass("constants", ("function",), find_constants),
    Pass("polling", ("function", "blocks", "constants", "layout"), find_polling),
)
_PROFILING = (
    *_PROVING,
    _NEVER_AHEAD,
    Pass("merged", ("function", "blocks", "layout"), merged_accesses),
    *_POLLING,
)
_SANITIZING = (
    *_POLLING,
    Pass("origins", ("function", "layout"), Origins),
    Pass("uses", ("function",), Uses),
    Pass("expected", ("function",), find_expected),
    Pass("updated", ("function",), find_updated),
    Pass("unfinished", ("blocks",), find_unfinished),
    Pass("unfenced", ("blocks", "layout"), find_unfenced),
    Pass("undefined", ("blocks",), find_undefined),
)
_WRITING = """function copies blocks varying large divergent waiting spinning only_waits protected
nans read_somewhere masks""".split()
"""What every emitter needs; `copies`: of unrolled loops, of what; None: added."""


def _written(emitter: type[FunctionEmitter], *needs: str) -> Pass:
    """The last pass of a build."""

    def write(text: ModuleText, found: Found) -> str:
        return emitter(text, found).emit()

    return Pass("llvm", (*_WRITING, *needs), write)


_WATCHED = Mode(through_driver=True, instrumented=True, malloc="sg_sanitize_malloc")
_PROVEN = "sums strides ahead looping proofs".split()
_WATCHES = "origins uses polling expected updated unfinished unfenced undefined".split()

BUILDS = {
    "plain": Build(Mode(), (*_COMMON, *_PROVING, _AHEAD, _written(ProvingEmitter, *_PROVEN))),
    "profile": Build(
        Mode(instrumented=True),
        (
            *_UNROLLED,
            *_COMMON,
            *_PROFILING,
            _written(ProfiledEmitter, *_PROVEN, "merged", "polling"),
        ),
    ),
    "sanitize": Build(_WATCHED, (*_COMMON, *_SANITIZING, _written(SanitizedEmitter, *_WATCHES))),
    "record": Build(_WATCHED, (*_COMMON, *_SANITIZING, _written(RecordedEmitter, *_WATCHES))),
}
"""The kinds of code that there are of a kernel."""
