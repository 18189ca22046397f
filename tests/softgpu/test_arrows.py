"""Every arrow between files runs down: no two of them need each other, however far apart."""

import ast
import graphlib
import importlib
import os
import re
import sys
import traceback

from tests import ROOT

PACKAGE = ROOT / "softgpu"
DRIVER = PACKAGE / "driver"


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imported(name):
    """The modules of the package that a module imports, in functions too."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level]
            source = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            inner = {f"{source}.{alias.name}" for alias in node.names} & MODULES.keys()
            yield from inner
            if source in MODULES and len(inner) < len(node.names):
                yield source


def included(path):
    """The driver's headers that one of its files includes."""
    return re.findall(r'^#include "(\w+\.h)"', path.read_text(), re.MULTILINE)


def circle(needs):
    """A circle in {name: the names that it needs}, or None."""
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return " -> ".join(error.args[1])
    return None


def test_no_modules_import_each_other():
    needs = {name: set(imported(name)) for name in MODULES}
    assert {"softgpu.cache", "softgpu.jit.memory"} <= needs["softgpu.jit.compile"]
    assert circle(needs) is None


def test_no_headers_include_each_other():
    needs = {path.name: set(included(path)) for path in sorted(DRIVER.glob("*.h"))}
    assert "runtime.h" in needs["driver.h"]
    assert circle(needs) is None


def test_the_sanitizers_files_call_only_those_above_them_in_its_header():
    """Its header declares what each offers, file by file: later ones call earlier ones only."""
    titles = re.split(r"/\* ---- (?:(\w+)\.c: )?", (DRIVER / "sanitize.h").read_text())
    sections = list(zip(titles[1::2], titles[2::2], strict=True))
    offers = {file: set(re.findall(r"^\w[\w *]*?(\w+)\(", text, re.M)) for file, text in sections}
    order = [file for file, _ in sections if file]
    assert {"order", "report", "shadow", "sanitize"} <= set(order)
    assert "report_unwritten" in offers["report"]
    for at, file in enumerate(order):
        words = set(re.findall(r"\w+", (DRIVER / f"{file}.c").read_text()))
        assert not words & set().union(*(offers[later] for later in order[at + 1 :])), file


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) is None
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == "a -> c -> b -> a"


def test_every_module_can_be_the_first_to_be_imported():
    import llvmlite.binding  # noqa: F401  (what takes long, once)
    import numpy  # noqa: F401

    for name in MODULES:
        child = os.fork()
        if not child:
            for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == "softgpu"]:
                del sys.modules[loaded]
            try:
                importlib.import_module(name)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, name
