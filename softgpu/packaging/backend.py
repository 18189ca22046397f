"""Makes the wheel: setuptools', with the driver in it, so that installing compiles nothing."""

import os
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_wheel",
    "platform",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

LEAST = 28  # the glibc, 2.28, that llvmlite's and NumPy's wheels need anyway


class UnsupportedOperation(Exception):
    """What pip understands of a backend that makes no source distribution."""


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None
) -> str:
    """A wheel for every Python, on machines that the libraries in it run on."""
    os.environ.pop("SOFTGPU_BUILD", None)
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from softgpu import build, clients

    libraries = [build.build(), clients.build_ahead()]
    with tempfile.TemporaryDirectory() as folder:  # nothing of an earlier wheel is in it
        settings = {
            "--global-option": ["build", f"--build-base={folder}"],
            "--build-option": [f"--plat-name={platform(libraries)}"],
            **(config_settings or {}),
        }
        return build_meta.build_wheel(wheel_directory, settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    raise UnsupportedOperation("softgpu is built in its repository: pip install CHECKOUT/softgpu")


def platform(libraries: Iterable[Path]) -> str:
    """The tag of machines whose glibc has all that these libraries were linked with."""
    needed = [
        int(minor)
        for library in libraries
        for minor in re.findall(rb"\0GLIBC_2\.(\d+)", library.read_bytes())
    ]
    return f"manylinux_2_{max([LEAST, *needed])}_{os.uname().machine}"
