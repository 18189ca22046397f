"""Mistakes of the software GPU's own, in words: what nobody was refused for, but what failed."""

from __future__ import annotations

import traceback
from pathlib import Path

from .ptx.program import InternalError

__all__ = ["own_mistake"]


def own_mistake(error: BaseException) -> str:
    """An exception that is no refusal: what the software GPU was at, and what failed there, each
    with its lines of Python."""
    at, chain = "", []
    link: BaseException | None = error
    while link:
        if isinstance(link, InternalError):
            at = f" on {link}"
        else:
            chain.append(f"{type(link).__name__}: {link}{_places(link)}")
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return (
        f"the software GPU failed{at}: {', after '.join(chain)}. This is a mistake of its own:"
        " please report it, with what the environment variable SOFTGPU_DEBUG=1 makes it print"
    )


def _places(error: BaseException) -> str:
    """The line that raised an exception and, if another one, what called it first: an emitter."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames]
    return f" ({', from '.join(dict.fromkeys([*places[-1:], *places[1:2]]))})" if places else ""
