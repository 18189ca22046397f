"""NVIDIA's libraries beside the driver, as our own under their names: made when first asked for.

A program of `softgpu run` finds those that it calls. A client that looks for them by name finds
those that `softgpu.install(libraries=("cublas", ...))` names.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import re
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .. import build, cache
from ..toolkit import Toolkit

__all__ = ["LIBRARIES", "Library", "called_by", "include_folders", "missing_header", "serve"]

_FOLDER = Path(__file__).parent
# Here, unlike in kernels, a*b+c may be one operation; complex ones are as a GPU does them.
_FLAGS = (
    "-std=c++17 -O1 -fPIC -fvisibility=hidden -fcx-limited-range -pthread -Wall -Wextra"
).split()
_STATIC = "-static-libstdc++", "-static-libgcc"
_served: dict[str, ctypes.CDLL] = {}


@dataclass(frozen=True)
class Library:
    """One of them, what its functions are called, and who has its headers."""

    name: str
    version: int
    calls: str
    headers: str
    package: str
    inside: str = ""  # another one, which has its functions
    uses: str = ""  # a wheel with headers and one library, which does its work

    @property
    def soname(self) -> str:
        return f"lib{self.name}.so.{self.version}"

    def built(self) -> Path:
        """The library; where the cache does not have it, this machine's compiler makes it."""
        if self.inside:
            return self._leading_to(LIBRARIES[self.inside], self.soname)
        digest = hashlib.sha256(" ".join([*_FLAGS, *self._using()]).encode())
        for path in sorted({*_FOLDER.glob("*.h"), *(_FOLDER / self.name).iterdir()}):
            if path.is_file():
                digest.update(path.read_bytes())
        return cache.made_once(f"{digest.hexdigest()[:32]}-{self.soname}", self._make)

    def _make(self, made: Path) -> None:
        compiler = _compiler()

        def compiled(source: Path) -> Path:
            target = made.with_name(f"{source.stem}.o")
            build.run_compiler([compiler, *_FLAGS, *self._using()[:2], "-c", source, "-o", target])
            return target

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiled, (_FOLDER / self.name).glob("*.cpp")))
        options = ["-shared", "-pthread", f"-Wl,-soname,{self.soname}", "-Wl,-Bsymbolic,-z,now"]
        options += self._using()[2:]
        build.run_compiler([compiler, *_STATIC, *objects, build.build(), *options, "-o", made])

    def _using(self) -> list[str]:
        """What tells a compiler, and what a linker, of the library that does its work."""
        if not self.uses:
            return []
        spec = importlib.util.find_spec(self.uses.replace("-", "_"))
        if not (spec and spec.origin):
            raise build.BuildError(f"{self.soname} needs {self.uses}: pip install {self.uses}")
        wheel = Path(spec.origin).parent
        (library,) = wheel.glob("lib/lib*.so")
        return ["-isystem", f"{wheel}/include", str(library), f"-Wl,-rpath,{library.parent}"]

    def alias(self) -> Path:
        """One that leads to it by the name without a version."""
        return self._leading_to(self, f"lib{self.name}.so")

    @staticmethod
    def _leading_to(library: Library, name: str) -> Path:
        """An empty library of this name that needs another one."""

        def make(made: Path) -> None:
            build.make_alias(made, name, library.built())

        return cache.made_once(f"{library.soname}-{name}", make)


LIBRARIES = {
    library.name: library
    for library in [
        Library(
            "cublas", 13, r"cublas(?!Lt)\w+", "cublas", "nvidia-cublas", uses="scipy-openblas64"
        ),
        Library("cublasLt", 13, r"cublasLt\w+", "cublasLt", "nvidia-cublas", inside="cublas"),
        Library("curand", 10, r"curand[A-Z]\w+", "curand", "nvidia-curand"),
        Library("cufft", 12, r"cufft[A-Z]\w+", "cufft", "nvidia-cufft"),
        Library("nvidia-ml", 1, r"nvml[A-Z]\w+", "nvml", "nvidia-nvml-dev"),
    ]
}


def _compiler() -> str:
    for name in filter(None, (os.environ.get("CXX"), "g++", "c++", "clang++")):
        if shutil.which(name):
            return name
    raise build.BuildError("no C++ compiler found: sudo apt install g++")


def called_by(program: Path) -> list[Library]:
    """The libraries whose functions a compiled program names."""
    text = program.read_bytes()
    return [
        library
        for library in LIBRARIES.values()
        if re.search(rb"\0(?:%b)\0" % library.calls.encode(), text)
    ]


def include_folders(toolkit: Toolkit) -> list[str]:
    """Where NVIDIA's wheels have the headers, and the toolkit has NVTX's."""
    spec = importlib.util.find_spec("nvidia")
    places = (spec and spec.submodule_search_locations) or ()
    folders = [*(f"{place}/cu13/include" for place in places)]
    folders += [f"{include}/nvtx3" for include in (*toolkit.include, *folders)]
    return [folder for folder in folders if os.path.isdir(folder)]


def missing_header(message: str) -> str:
    """Where to get a header that a compiler did not find, as a line more; or nothing."""
    missing = re.search(r"fatal error: (\w+)\S*\.h: No such file", message)
    for library in LIBRARIES.values():
        if missing and re.match(library.headers, missing[1]):
            return f"\nIts header is in NVIDIA's wheel: pip install {library.package}"
    return ""


def serve(libraries: Iterable[Library], aliases: bool = False) -> None:
    """Load these libraries. `aliases`: for clients that open them by name, with a version or not;
    else for a program that is loaded next, which sees their functions, and of what they use."""
    wanted = [part for one in libraries for part in (LIBRARIES.get(one.inside), one) if part]
    for library in wanted:
        for name, path in [(library.soname, library.built)] + [
            (f"lib{library.name}.so", library.alias)
        ] * aliases:
            if name not in _served:
                mode = os.RTLD_NOW | (0 if aliases else os.RTLD_GLOBAL)
                _served[name] = ctypes.CDLL(str(path()), mode=mode)
