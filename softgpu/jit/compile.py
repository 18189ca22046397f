"""LLVM text to machine code, kept on disk between processes."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import tempfile
from dataclasses import astuple
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from . import copies, floating, integer, memory, profile, sanitize, warp  # noqa: F401  (they register themselves)
from .emit import ModuleText, symbol
from .layout import Layout, Site

__all__ = ["KernelCode"]


@cache
def _target_machine():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        features["prefer-256-bit"] = False
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features.flatten(), opt=2
    )


@cache
def _version() -> bytes:
    """Changes whenever cached code would be out of date."""
    digest = hashlib.sha256(llvmlite.__version__.encode())
    digest.update(llvm.get_host_cpu_name().encode())
    digest.update(llvm.get_host_cpu_features().flatten().encode())
    for folder in (Path(__file__).parent, Path(__file__).parent.parent / "ptx"):
        for path in sorted(folder.glob("*.py")):
            digest.update(path.read_bytes())
    return digest.digest()


def _optimise(module) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(_target_machine(), options)
    builder.getModulePassManager().run(module, builder)


def _object_code(text: str) -> bytes:
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_process_triple()
    module.data_layout = str(_target_machine().target_data)
    module.verify()
    _optimise(module)
    return _target_machine().emit_object(module)


_engines: list = []  # loaded code stays for the life of the process
_loaded: dict[tuple[str, int], int] = {}  # where it is, by key and the driver it calls into


def _load(object_code: bytes, name: str) -> int:
    """Put object code into memory; the address of its kernel."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(object_code))
    engine.finalize_object()
    _engines.append(engine)
    return engine.get_function_address(name)


def _write_atomically(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(temporary, path)


class KernelCode:
    """One build of one kernel: its sites at once, its machine code when asked for.

    `text`: the digest of the module's text. `notes`: what an instrumented build says of the code;
    "counters": how many it needs. All of it comes from the file `cache_folder`/key.o if there is
    one: a line of JSON, then the object.
    """

    def __init__(self, text: bytes, layout: Layout, kernel: str, build: str, cache_folder: Path):
        self.kernel = kernel
        self.layout = layout
        key = hashlib.sha256(_version())
        for part in (text, kernel.encode(), build.encode()):
            key.update(len(part).to_bytes(8, "little") + part)
        self._key = key.hexdigest()
        self._path = cache_folder / f"{self._key}.o"
        self._emitted = ""
        self._object = b""
        try:
            header, _, self._object = self._path.read_bytes().partition(b"\n")
            known = json.loads(header)
            if known["digest"] != hashlib.sha256(self._object).hexdigest():
                raise ValueError("a damaged file")
            self.sites = [Site(*fields) for fields in known["sites"]]
            self._symbols = known["symbols"]
            self.notes = known["notes"]
        except (OSError, ValueError, TypeError, KeyError):  # not there, or not readable
            module_text = ModuleText(layout, build)
            self._emitted = module_text.emit(kernel)
            self.sites = module_text.sites
            self.notes = module_text.notes
            self._symbols = [name for name in module_text.declared if name.startswith("sg_")]

    def address(self, library: ctypes.CDLL) -> int:
        """Where the machine code is, ready to be called; `library`: the driver it calls into."""
        for name in self._symbols:
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
        if self._emitted:
            self._object = _object_code(self._emitted)
            known = {
                "digest": hashlib.sha256(self._object).hexdigest(),
                "sites": [astuple(site) for site in self.sites],
                "symbols": self._symbols,
                "notes": self.notes,
            }
            _write_atomically(self._path, json.dumps(known).encode() + b"\n" + self._object)
            self._emitted = ""
        key = self._key, library._handle
        if key not in _loaded:
            _loaded[key] = _load(self._object, symbol(self.kernel))
        return _loaded[key]
