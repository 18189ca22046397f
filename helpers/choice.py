"""What to run on and what to compile with. Standard library only, so that the set-up can choose
before anything is installed."""

import os
from collections.abc import Sequence

from softgpu.toolkit import Toolkit, ToolkitError, find_toolkit, gpu_driver_version

__all__ = ["SettingError", "choose", "local_rank"]

# of MPICH, Open MPI and Slurm
LOCAL_RANKS = "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"


class SettingError(RuntimeError):
    """An environment variable asks for what there is not."""


def setting(name: str, *choices: str) -> str:
    """The value of an environment variable: one of the choices, or empty."""
    value = os.environ.get(name, "")
    if value and value not in choices:
        raise SettingError(f"{name}={value}: expected {' or '.join(choices)}")
    return value


def choose(wheels: Sequence[str] | None = None) -> tuple[tuple[int, int] | None, Toolkit]:
    """What to run on and what to compile with: the GPU driver's CUDA version (None: the software
    GPU), and a Toolkit. HELPERS_DEVICE=gpu or software, and HELPERS_TOOLKIT=machine or wheel, leave
    only that one to choose from."""
    device = setting("HELPERS_DEVICE", "gpu", "software")
    origin = setting("HELPERS_TOOLKIT", "machine", "wheel")
    driver = gpu_driver_version() if device != "software" else None
    if device == "gpu" and not driver:
        raise SettingError("HELPERS_DEVICE=gpu, but there is no working NVIDIA driver with a GPU")
    try:
        return driver, find_toolkit(driver, wheels, origin)
    except ToolkitError as error:
        if device == "gpu" or not driver:
            raise ToolkitError(f"{error}; `make lab` does") from None
        return None, find_toolkit(None, wheels, origin)


def local_rank() -> int:
    """Which of the processes this is that one command has started on this machine; alone: 0."""
    return int(next((os.environ[name] for name in LOCAL_RANKS if name in os.environ), 0))
