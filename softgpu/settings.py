"""What the environment variables SOFTGPU_... say; README.md lists them."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = [
    "MOST_THREADS",
    "cache_bytes",
    "cache_folder",
    "debugged",
    "devices",
    "dump_folder",
    "headers",
    "quick_work",
    "threads",
    "timeout_s",
    "traced",
]

MOST_DEVICES = 16
MOST_THREADS = 256
"""As MOST_DEVICES and MOST_WORKERS of runtime.h, which cannot be read before there are settings."""

_LONGEST_S = 1e9
_CACHE_MB = 1024
_MOST_CACHE_MB = 1 << 30

_QUICK_WORK = {"both": 1 << 22, "quick": (1 << 64) - 1, "full": 0}
"""In turns of a warp: one takes 0.02 to 0.2 us longer in quick code, optimising 50 to 700 ms."""


def threads() -> int:
    """SOFTGPU_THREADS: how many blocks run at a time; 0, for as many as there are cores, unset."""
    return _whole("SOFTGPU_THREADS", 1, MOST_THREADS) or 0


def devices() -> int:
    """SOFTGPU_DEVICES: how many devices there are."""
    return _whole("SOFTGPU_DEVICES", 1, MOST_DEVICES) or 1


def timeout_s() -> float:
    """SOFTGPU_TIMEOUT: how long a launch may take."""
    text = os.environ.get("SOFTGPU_TIMEOUT") or "300"
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_S:  # as nan is not, either
        raise _unusable(
            "SOFTGPU_TIMEOUT", text, f"a number of seconds above 0, at most {_LONGEST_S:.0f}"
        )
    return seconds


def cache_folder() -> Path:
    """Where compiled kernels are kept: SOFTGPU_CACHE, a checkout's .cache, or the user's cache."""
    if folder := os.environ.get("SOFTGPU_CACHE"):
        return Path(folder)
    checkout = Path(__file__).parent.parent
    if (checkout / "pyproject.toml").exists():
        return checkout / ".cache" / "softgpu"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softgpu"


def cache_bytes() -> int:
    """SOFTGPU_CACHE_MB: how large that folder may get."""
    return (_whole("SOFTGPU_CACHE_MB", 1, _MOST_CACHE_MB) or _CACHE_MB) << 20


def quick_work(tier: str = "") -> int:
    """A tier, or what SOFTGPU_TIER says: how much a kernel does in code that was made quickly."""
    return _QUICK_WORK[_one_of("SOFTGPU_TIER", tuple(_QUICK_WORK), tier)]


def headers() -> str:
    """SOFTGPU_HEADERS: what nvcc reads of CUDA's headers. bin/nvcc looks at it as well."""
    return _one_of("SOFTGPU_HEADERS", ("reached", "full"))


def dump_folder() -> Path | None:
    """SOFTGPU_DUMP: where every kernel leaves what it looks like at each stage."""
    folder = os.environ.get("SOFTGPU_DUMP")
    return Path(folder) if folder else None


def traced() -> bool:
    """SOFTGPU_TRACE: whether calls of the driver are printed on stderr."""
    return bool(_whole("SOFTGPU_TRACE", 0, 1))


def debugged() -> bool:
    """SOFTGPU_DEBUG: whether Python's traceback of each refusal and failure goes to stderr."""
    return bool(_whole("SOFTGPU_DEBUG", 0, 1))


def _one_of(name: str, choices: tuple[str, ...], given: str = "") -> str:
    """What is given, or what a variable says, or the first of the choices."""
    text = given or os.environ.get(name) or choices[0]
    if text not in choices:
        raise _unusable(name, text, f"one of {', '.join(choices)}")
    return text


def _whole(name: str, least: int, most: int) -> int | None:
    """The whole number that a variable gives; None if it is not set."""
    text = os.environ.get(name)
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise _unusable(name, text, f"a whole number from {least} to {most}")
    return number


def _unusable(name: str, text: str, expected: str) -> ValueError:
    return ValueError(f"the environment variable {name}={text}: expected {expected}")
