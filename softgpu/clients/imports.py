"""What happens once a client is imported, whenever that is."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

__all__ = ["after_import", "expect_pytorch"]


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds a module as others do, and calls a function once it is executed."""

    def __init__(self, name: str, call: Callable[[ModuleType], object]):
        self.name, self.call = name, call

    def find_spec(
        self, name: str, path: object, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self.call(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def after_import(name: str, call: Callable[[ModuleType], object]) -> None:
    """Call call(module) once a module is imported; now, if it is."""
    if name in sys.modules:
        call(sys.modules[name])
    else:
        sys.meta_path.insert(0, _AfterImport(name, call))


def expect_pytorch(_: object = None) -> None:
    """Let PyTorch, once it is imported, have the software GPU as its device "cuda"."""
    after_import("torch", lambda _: import_module("softgpu.clients.pytorch").serve())
