"""What a kernel makes of a picture, where its exercise is about one: before, yours, expected."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .launches import Launch, Out
from .verdict import Refused

__all__ = ["Seen", "cat", "picture"]


@dataclass
class Seen:
    """A picture, the launch that makes another of it, and the shape of that one."""

    before: np.ndarray
    launch: Launch
    shape: tuple


def cat(height: int, width: int) -> np.ndarray:
    """A cat in shades from 0 to 1."""
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    side = abs(x)
    head = (x / 0.75) ** 2 + ((y - 0.15) / 0.65) ** 2 < 1
    ears = (abs(side - 0.5) < 0.32 * (y + 0.95)) & (y < 0)
    eyes = ((side - 0.3) / 0.15) ** 2 + (y / 0.14) ** 2 < 1
    pupils = ((side - 0.3) / 0.05) ** 2 + (y / 0.13) ** 2 < 1
    nose = (side < 0.42 - y) & (y > 0.3)
    grey = 0.25 + 0.1 * y
    fur = 0.55 + 0.15 * np.cos(2 * x)
    for part, shade in (head | ears, fur), (eyes, 1), (pupils, 0), (nose, 0.2):
        grey = np.where(part, shade, grey)
    return grey.astype(np.float32)


def picture(find: Callable[[], Seen | list[Seen]], kernel: Any, target: Any) -> Any:
    """Pictures side by side, drawn from one launch more: of several the first that is wrong, which
    the caption then names. None where it left nothing."""
    from .. import plots
    from .running import Run

    found = find()
    several = found if isinstance(found, list) else [found]
    for seen in several:
        run = Run(kernel, seen.launch, np.random.default_rng(0), target)
        try:
            run.run()
        except Refused:  # it is wrong here, too, and what it left is what we want to see
            break
    (out,) = (array for array in seen.launch.arguments if isinstance(array, Out))
    if not (left := run.outputs()):
        return None
    expected = np.asarray(out.expected, float).reshape(seen.shape)
    yours = np.frombuffer(left[0], out.dtype).reshape(seen.shape)
    ends = expected.min(), expected.max()
    larger = np.ones(2 * [max(1, len(seen.before) // len(expected))])  # where the result is small
    images = [seen.before, np.kron(yours, larger), np.kron(expected, larger)]
    what = f", {seen.launch.what}" * (len(several) > 1)
    titles = ["before", f"yours{what}", "expected"]
    return plots.pictures(images, titles, [(seen.before.min(), seen.before.max()), ends, ends])
