"""Every arrow between files runs down: no two of them need each other, however far apart, and a
folder calls only those below it, in the order in which softgpu/README.md lists them."""

import ast
import graphlib
import importlib
import os
import re
import subprocess
import sys
import traceback

import pytest

from softgpu import build
from softgpu.tests import ROOT
from softgpu.tests.facts import missing

# later ones import earlier ones
PACKAGES = ["softgpu", "helpers", "exercises", "scripts", "bench", "publish", "tests"]
DRIVER = ROOT / "softgpu/driver"


def rooms(folder):
    """The folders of softgpu's `driver` or `jit`, from the top down."""
    listed = re.findall(rf"^\| `{folder}/(\w+)/`", (ROOT / "softgpu/README.md").read_text(), re.M)
    there = [path for path in (ROOT / "softgpu" / folder).iterdir() if path.name[0] not in "._"]
    assert sorted(listed) == sorted(path.name for path in there if path.is_dir())
    return listed


def climbing(needs, room_of, order):
    """The arrows {name: the names that it needs} that run up, between rooms in order."""
    floor = {room: at for at, room in enumerate(order)}
    return [
        (name, other)
        for name, others in needs.items()
        for other in others
        if room_of(name) in floor and floor.get(room_of(other), -1) < floor[room_of(name)]
    ]


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}


def package_of(name):
    """The one of PACKAGES that a module is in; softgpu/tests are tests like others."""
    return "tests" if name.startswith("softgpu.tests") else name.split(".")[0]


OF_SOFTGPU = [name for name in MODULES if package_of(name) == "softgpu"]


def imported(name):
    """Our modules that a module imports, in functions too."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) + 1 - node.level]
            source = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            if package == "softgpu.headers" and f"{package}.{source}" in MODULES:
                source = f"{package}.{source}"  # they run alone
            inner = {f"{source}.{alias.name}" for alias in node.names} & MODULES.keys()
            yield from inner
            if source in MODULES and len(inner) < len(node.names):
                yield source


def included(path):
    """The driver's headers that one of its files includes, by their places in it."""
    for name in re.findall(r'^#include "([\w/]+\.h)"', path.read_text(), re.MULTILINE):
        beside = path.parent / name
        yield str((beside if beside.exists() else DRIVER / name).relative_to(DRIVER))


def circle(needs):
    """A circle in {name: the names that it needs}, or None."""
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return " -> ".join(error.args[1])
    return None


def test_no_modules_import_each_other():
    needs = {name: set(imported(name)) for name in MODULES}
    assert {"softgpu.cache", "softgpu.jit.emit.module_text"} <= needs["softgpu.jit.compile"]
    assert needs["softgpu.headers.reach"] == {"softgpu.headers.index"}
    assert circle(needs) is None
    for name, others in needs.items():
        above = PACKAGES[PACKAGES.index(package_of(name)) + 1 :]
        assert not [other for other in others if package_of(other) in above], name


def test_softgpu_is_without_the_course():
    for name in OF_SOFTGPU:
        tree = ast.parse(MODULES[name].read_text())
        nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        absolute = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
        absolute |= {n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
        assert not any(module.startswith("softgpu.tests") for module in absolute), name
        assert not {module.split(".")[0] for module in absolute} & {*PACKAGES[1:]}, name


def test_nothing_but_the_command_and_clients_autotuners_needs_xray():
    rest = [name for name in OF_SOFTGPU if not name.startswith("softgpu.xray")]
    needing = {name for name in rest for other in imported(name) if "softgpu.xray" in other}
    assert needing == {"softgpu.run", "softgpu.clients.calls"}


def test_the_compilers_folders_import_only_those_below_them():
    needs = {
        name: {other for other in imported(name) if other.startswith("softgpu.jit.")}
        for name in MODULES
        if name.startswith("softgpu.jit.")
    }
    assert "softgpu.jit.analysis.flow" in needs["softgpu.jit.emit.function"]
    assert not climbing(needs, lambda name: name.split(".")[2], rooms("jit"))


def test_no_headers_include_each_other():
    needs = {str(path.relative_to(DRIVER)): set(included(path)) for path in DRIVER.rglob("*.[ch]")}
    assert "runtime.h" in needs["driver.h"] and "run/mbarrier.h" in needs["watch/phases.c"]
    assert circle(needs) is None


def refusal(room, header):
    """Why the compiler refuses a header in a file of a room of the driver; None: it takes it."""
    command = [*build.compiling(room), "-fsyntax-only", "-x", "c", "-include", header, os.devnull]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stderr if result.returncode else None


def interfaces():
    """The header of each room of the driver that others call, from the lowest room up."""
    headers = {room: DRIVER / room / f"{room}.h" for room in reversed(rooms("driver"))}
    return {room: f"{room}/{room}.h" for room, path in headers.items() if path.exists()}


def test_the_compiler_refuses_a_room_above():
    order = list(reversed(rooms("driver")))
    numbers = re.findall(r"^#define ROOM_(\w+) \d+$", (DRIVER / "driver.h").read_text(), re.M)
    assert [name.lower() for name in numbers] == order
    assert {"base", "streams", "memory", "modules", "run"} <= set(interfaces())
    for room, header in interfaces().items():
        at = order.index(room)
        assert refusal(room, header) is None
        if at > 1:
            assert not missing(refusal(order[at - 1], header), "#error", f"{room}/")


def test_the_compiler_refuses_what_is_private_to_a_room():
    private = sorted(DRIVER.glob("*/internal.h"))
    assert len(private) >= 4
    for path in private:
        header = str(path.relative_to(DRIVER))
        assert refusal(path.parent.name, header) is None
        assert not missing(refusal("api", header), "#error", f"{path.parent.name}/")


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) is None
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == "a -> c -> b -> a"


def test_an_arrow_that_climbs_is_found():
    needs = {"attic/a": {"cellar/b"}, "cellar/b": {"attic/a", "c"}}
    found = climbing(needs, lambda name: name.split("/")[0], ["attic", "cellar"])
    assert set(found) == {("cellar/b", "attic/a"), ("cellar/b", "c")}


@pytest.mark.long
def test_every_module_can_be_the_first_to_be_imported():
    import llvmlite.binding  # noqa: F401  (what takes long, once)
    import matplotlib.figure  # noqa: F401
    import numpy  # noqa: F401

    for name in OF_SOFTGPU:
        child = os.fork()
        if not child:
            for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == "softgpu"]:
                del sys.modules[loaded]
            try:
                importlib.import_module(name)
            except BaseException as error:
                if isinstance(error, ModuleNotFoundError) and error.name == "torch":
                    os._exit(0)  # a client's, which need not be here
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, name
