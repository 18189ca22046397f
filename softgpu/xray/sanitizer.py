"""Run a kernel once with every access watched: what it does wrong, by source line."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from ..advice import line_name
from ..findings import FOLDED, Finding, Findings
from ..loader import Engine
from ..telling import last_findings
from ..words import Report
from .launch import address_of, byte_count, is_call, one_at_a_time, shape, target_of

__all__ = ["Finding", "ShownFindings", "sanitize"]


class ShownFindings(Findings):
    """Findings that a notebook shows."""

    def _repr_html_(self) -> str:
        more = "".join(f"<p>{said}</p>" for said in self.more)
        if self.clean:
            clean = Report.CLEAN(kernel=f"<code>{escape(self.kernel)}</code>")
            return f"<p>{clean}</p>{more}"
        rows = "".join(self._row(finding) for finding in self)
        head = _html_row("th", ("finding", "line", "what happened", "times"))
        title = f"<p>kernel <code>{escape(self.kernel)}</code></p>"
        return f"{FOLDED}{title}<table>{head}{rows}</table>{more}"

    @staticmethod
    def _row(f: Finding) -> str:
        lines = "<br>".join(
            f"{escape(line_name(file, line))} <code>{escape(source)}</code>"
            for (file, line), source in f.places.items()
            if line
        )
        said = f"{escape(f.message)}.<br>{escape(f.advice)}"
        return _html_row("td", (escape(f.kind), lines, said, f.count))


def _html_row(tag: str, cells: Iterable[object]) -> str:
    return "<tr>" + "".join(f"<{tag} style='text-align:left'>{c}</{tag}>" for c in cells) + "</tr>"


def sanitize(
    kernel: Any,
    *args: Any,
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
    shared: int = 0,
    uninitialised: Any = (),
    cooperative: bool = False,
    debug: bool = False,
    after: Callable[[Callable[[Any], np.ndarray]], object] | None = None,
) -> ShownFindings:
    """Launch a kernel once, watched; what it does wrong, as a list. The arguments do not change.

    kernel: a pair (CUDA source, name) or a PyCUDA function; beside a real GPU one of the course's.
    Or, alone, a function that launches a kernel in a way of its own, whose arguments do change:
    `lambda: add[grid](x, y, n)`.
    uninitialised: arrays among the arguments that are to count as never written. Arrays fresh from
    gpuarray.empty count so anyway where the software GPU is PyCUDA's driver.
    cooperative: all blocks are there at once, and can meet: grid.sync().
    debug: compile the kernel again without optimisation (-G), which also runs accesses that the
    compiler leaves out because nothing needs them.
    after: called before the arguments are put back, with read(array), which returns as a NumPy
    array what an array on the GPU holds then; not called where a fault ended the launch."""
    if grid is None and is_call(kernel):
        return _sanitize_call(kernel)
    if not isinstance(uninitialised, (list, tuple)):
        uninitialised = [uninitialised]
    for array in uninitialised:
        is_array = hasattr(array, "nbytes") and not isinstance(array, np.generic)
        if not is_array or address_of(array) is None:
            name = type(array).__name__
            raise TypeError(f"uninitialised= takes arrays on the GPU, not a value of type {name}")
    grid, block = shape("grid", grid), shape("block", block)
    shared = byte_count("shared", shared)
    target = target_of(kernel, debug)
    types = [
        None if isinstance(a, np.generic) else getattr(getattr(a, "array", a), "dtype", None)
        for a in args
    ]
    runtime = target.engine.runtime

    def ready(address: Callable[[Any], int]) -> None:
        """Just before the launch: address(argument) is where the kernel will find it."""
        for array in uninitialised:
            runtime.sg_sanitize_unwritten(address(array), array.nbytes)
        for array in map(_bounded, args):
            if array is not None:
                runtime.sg_sanitize_bounds(address(array), array.nbytes)

    ended = []

    def ends(read: Callable[[Any], np.ndarray]) -> None:
        ended.append(True)
        if after:
            after(read)

    with one_at_a_time:
        runtime.sg_sanitize(1)
        runtime.sg_cooperative(cooperative)
        try:
            target.launch(args, grid, block, shared, ready, ends)
        except Exception:
            if ended or last_findings(target.engine) is None:  # after's own; refused, not run
                raise
        finally:
            runtime.sg_cooperative(0)
            runtime.sg_sanitize(0)
        found = last_findings(target.engine, ShownFindings, types, bool(ended))
    assert isinstance(found, ShownFindings)  # a launch was watched
    return found


def _sanitize_call(launch: Callable[[], object]) -> ShownFindings:
    """What is wrong with the last kernel that launch() launches."""
    engine = Engine.in_use()
    if engine is None:
        raise RuntimeError("a call can be sanitized on the software GPU only: softgpu.install()")
    has_ended = False
    with one_at_a_time:
        engine.runtime.sg_sanitize(1)
        engine.runtime.sg_sanitize_stay()
        try:
            launch()
            has_ended = True
        except Exception:
            if last_findings(engine) is None:  # its own; nothing was launched
                raise
        finally:
            engine.runtime.sg_sanitize(0)
        found = last_findings(engine, ShownFindings, has_ended=has_ended)
    if not isinstance(found, ShownFindings):
        raise ValueError("sanitize takes a call that launches a kernel; this one launched none")
    return found


def _bounded(argument: Any) -> Any:
    """The array that an argument is or views and that ends where it does, whatever lies around it:
    it says so by an attribute `bounded`. None: there is none."""
    while argument is not None and not getattr(argument, "bounded", False):
        argument = getattr(argument, "base", None)
    return argument
