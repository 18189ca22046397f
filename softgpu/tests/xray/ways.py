"""One launch in each way that a kernel runs: plain, counted, watched. All give the same answers, to
the bit, unless the sanitizer says why not."""

from contextlib import contextmanager

import numpy as np

from softgpu import settings
from softgpu.loader import Engine
from softgpu.xray import launch, sanitize

__all__ = ["differing", "in_order"]


@contextmanager
def in_order():
    """Blocks run one after the other, so that sums of floats are added up in one order."""
    engine = Engine.as_driver()
    engine.set_threads(1)
    try:
        yield
    finally:
        engine.set_threads(settings.threads())


def differing(kernel, *args, grid, block, shared=0, found=None, **options):
    """What a kernel leaves in memory, also in its module's variables, counted or watched and not
    when it runs plainly, in words; "" where nothing is, or where the sanitizer has a finding.

    found: a list that gets the findings; options: what xray.sanitize takes."""
    answers = {}
    engine, function = Engine.as_driver(), launch.target_of(kernel).function

    def keeps(way):
        def keep(_read):
            variables = np.frombuffer(engine.variables(function), np.uint8)
            answers[way] = {"the module's variables": variables, **_memory(args)}

        return keep

    shape = {"grid": grid, "block": block, "shared": shared}
    together = {"cooperative": options.get("cooperative", False)}
    findings = sanitize(kernel, *args, **shape, **options, after=keeps("watched"))
    if found is not None:
        found += findings
    if findings:
        return ""
    _launched(kernel, args, **shape, **together, after=keeps("plain"))
    with _counted(engine.runtime):
        _launched(kernel, args, **shape, **together, after=keeps("counted"))
    plain = answers["plain"]
    return "".join(
        _told(way, where, answers[way][where], want)
        for way in ("counted", "watched")
        for where, want in plain.items()
    )


def _memory(args):
    """What the allocations hold that arguments lead to."""
    import pycuda.driver as cuda

    found = {}
    for argument in args:
        address = launch.address_of(argument)
        if address is not None and not isinstance(argument, np.generic):
            begin, size = cuda.mem_get_address_range(address)
            found.setdefault(begin, cuda.from_device(begin, (size,), np.uint8))
    return {f"allocation {number}": content for number, content in enumerate(found.values())}


@contextmanager
def _counted(runtime):
    """As in xray.profile, without its report, which assembles the whole module for each."""
    runtime.sg_profile_begin(0)
    try:
        yield
    finally:
        told = runtime.sg_profile_end()
    assert told.launches == 1


def _launched(kernel, args, grid, block, shared, cooperative, after):
    target = launch.target_of(kernel)
    target.engine.runtime.sg_cooperative(cooperative)
    try:
        sides = launch.shape("grid", grid), launch.shape("block", block)
        target.launch(args, *sides, shared, after=after)
    finally:
        target.engine.runtime.sg_cooperative(0)


def _told(way, where, got, want):
    """Which bytes differ there."""
    at = np.flatnonzero(got != want)
    if not len(at):
        return ""
    first = at[0] // 8 * 8
    words = [bytes(some[first : first + 8]).hex(" ", 4) for some in (got, want)]
    return (
        f"{way}, {where}: {len(at)} of {len(want)} bytes differ;"
        f" at byte {first} stands {words[0]}, plainly {words[1]}\n"
    )
