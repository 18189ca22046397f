"""What every warp of a launch did, line by line, as the software GPU recorded it."""

import ctypes
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from softgpu import contract
from softgpu.contract import ffi
from softgpu.declarations import short_name
from softgpu.telling import last_findings
from softgpu.xray.launch import address_of, byte_count, one_at_a_time, shape, target_of

__all__ = ["Access", "Recording", "RecordedStep", "record"]

_RECORDED = contract.dtype("Recorded")
_STEP, _VALUE, _ACCESS, _SHUFFLE, _BARRIER = range(5)
_SPACES = contract.names("Space", "SPACE_")
_KINDS = {"float": "f", "int": "i", "unsigned": "u", "bool": "u"}
_NEAR = 4096  # bytes: so far from an array, what is outside counts as meant for it
_BUILD = contract.values("Build", "BUILD_")["record"]


@dataclass
class Array:
    """An argument in memory, as it was before the launch."""

    name: str
    address: int
    values: np.ndarray


@dataclass
class Access:
    """What some lanes of a warp did at once. what: "load", "store", "atomic", "shuffle", "barrier".

    array: the number of the argument; -1: shared memory; -2: neither. index, value: of each active
    lane, element and content; of a shuffle, index is the lane that is read."""

    what: str
    mask: int
    array: int = -2
    bytes: int = 0  # of an element
    index: np.ndarray | None = None
    value: np.ndarray | None = None


@dataclass
class RecordedStep:
    """A warp at a line. values: {number of a variable: what the lanes of a mask got}."""

    warp: int  # through all blocks
    line: int
    mask: int
    values: dict = field(default_factory=dict)
    accesses: list = field(default_factory=list)


@dataclass
class Recording:
    """A launch: steps in the order in which they happened. lines: {number: text}, of a file."""

    kernel: str
    grid: tuple
    block: tuple
    arguments: list  # (name, value) of those that are numbers
    arrays: list
    variables: list  # (name, kind)
    lines: dict
    steps: list
    findings: list
    incomplete: bool
    file: str

    @property
    def warps(self):
        """Of a block."""
        return -(-int(np.prod(self.block)) // 32)

    def accesses(self, what, array):
        """(step, access) of all accesses of a kind to an argument, or to shared memory (-1)."""
        for step in self.steps:
            for access in step.accesses:
                if access.what == what and access.array == array:
                    yield step, access


def lanes_of(mask):
    """The numbers of the lanes of a mask."""
    return [lane for lane in range(32) if mask >> lane & 1]


def record(kernel, *args, grid, block, shared=0):
    """Launch a kernel once, recorded and sanitized: a Recording. The arguments do not change.

    It is compiled without optimisation, so that it does line after line, and with its variables; a
    plain function of PyCUDA's, whose source nobody has, as it is."""
    from ..kernels import Kernel
    from ..xray import function_of

    grid, block = shape("grid", grid), shape("block", block)
    shared = byte_count("shared", shared)
    kernel = function_of(kernel)
    target = target_of(kernel, debug=isinstance(kernel, Kernel))
    runtime, arrays = target.engine.runtime, {}
    ended: list = []

    def ready(address):
        for number, argument in enumerate(args):
            inner = getattr(argument, "array", argument)
            if not isinstance(argument, np.generic) and hasattr(inner, "dtype"):
                at = address_of(argument) and address(argument)
                if at:
                    content = ctypes.string_at(at, inner.nbytes)
                    values = np.frombuffer(content, inner.dtype)
                    arrays[number] = Array(f"argument {number + 1}", at, values)

    with one_at_a_time:
        runtime.sg_sanitize(_BUILD)
        try:
            target.launch(args, grid, block, shared, ready, ended.append)
        except Exception:
            if ended or last_findings(target.engine) is None:  # refused, not run
                raise
        finally:
            runtime.sg_sanitize(0)
        made = getattr(target, "kernel", target.function)
        source = getattr(made, "source", "")
        return _Reader(target.engine, args, arrays, grid, block, bool(ended)).recording(source)


class _Reader:
    """Makes a Recording of the last recorded launch."""

    def __init__(self, engine, args, arrays, grid, block, has_ended):
        handle, threads = ffi.new("void **"), ffi.new("uint32_t *")
        name = ffi.string(engine.runtime.sg_sanitize_kernel(handle, threads)).decode()
        self.module = engine.modules[handle[0]]
        code = self.module.code(name, "record")
        self.name, self.notes, self.sites = name, code.notes, code.sites
        self.args, self.arrays, self.grid, self.block = args, arrays, grid, block
        self.findings = last_findings(engine, types=[None] * len(args), has_ended=has_ended)
        count, incomplete = ffi.new("uint32_t *"), ffi.new("uint32_t *")
        events = engine.runtime.sg_recorded(count, incomplete)
        size = _RECORDED.itemsize * count[0]
        content = bytes(ffi.buffer(events, size)) if size else b""
        self.events, self.incomplete = np.frombuffer(content, _RECORDED), bool(incomplete[0])
        self.file = self.module.program.functions[name].source.file
        self.known = self.notes["variables"]
        self.fractions = set(self._shared_fractions())

    def _shared_fractions(self):
        """The bytes of shared memory where floats begin: nvcc stores constants as whole numbers."""
        for event in self.events[self.events["kind"] == _ACCESS]:
            if _SPACES[event["space"]] == "shared" and self._is_float(event):
                yield from map(int, event["lanes"][lanes_of(int(event["mask"]))])

    def _is_float(self, event):
        """Whether PTX calls what is accessed floats."""
        return self.notes["types"][event["place"]][0] == "f"

    def recording(self, source):
        declared = self.module.declarations.parameters(self.name) or []
        names = [parameter.name for parameter in declared]
        for number, array in self.arrays.items():
            if number < len(names):
                array.name = names[number]
        numbers = [
            (names[n], argument)
            for n, argument in enumerate(self.args)
            if isinstance(argument, np.generic) and n < len(names)
        ]
        steps = self._steps()
        return Recording(
            kernel=short_name(self.name),
            grid=self.grid,
            block=self.block,
            arguments=numbers,
            arrays=list(self.arrays.values()),
            variables=[(name, kind) for name, kind, *_ in self.known],
            lines=self._lines(source, steps),
            steps=steps,
            findings=list(self.findings or ()),
            incomplete=self.incomplete,
            file=Path(self.file).name,
        )

    def _lines(self, source, steps):
        """Lines from the first to the last that did something, as their author wrote them."""
        texts = self.module.source_lines
        found = dict(enumerate(source.splitlines(), 1)) or texts.get(self.file, texts.get("", {}))
        did = [step.line for step in steps] or [1]
        return {n: found.get(n, "") for n in range(min(did), max(did) + 1)}

    def _steps(self):
        """Steps in the kernel's own file; what functions elsewhere do belongs to who calls them."""
        steps: list[RecordedStep] = []
        current: dict = {}
        passed: dict = {}
        warps = -(-int(np.prod(self.block)) // 32)
        for event in self.events:
            x, y, z = (int(n) for n in event["block"])
            block = x + self.grid[0] * (y + self.grid[1] * z)
            warp, mask = block * warps + int(event["warp"]), int(event["mask"])
            if event["kind"] == _STEP:
                place = int(event["place"])
                file, line, _ = self.notes["steps"][place]
                if file != self.file:
                    continue
                before = current.get(warp)
                goes_on = before and (before.line, before.mask) == (line, mask)
                if not goes_on or place in passed[warp]:  # a loop's next turn
                    current[warp], passed[warp] = RecordedStep(warp, line, mask), set()
                    steps.append(current[warp])
                passed[warp].add(place)
            elif warp in current:
                self._add(current[warp], event, mask)
        return steps

    def _add(self, step, event, mask):
        lanes, place = lanes_of(mask), int(event["place"])
        if event["kind"] == _VALUE:
            _, kind, size, function = self.known[place]
            own = self.module.program.functions[function].source.file == self.file
            if own and kind in _KINDS:
                step.values[place] = mask, _numbers(event, lanes, f"{_KINDS[kind]}{size}", size, 0)
        elif event["kind"] == _BARRIER:
            step.accesses.append(Access("barrier", mask))
        elif event["kind"] == _SHUFFLE:
            step.accesses.append(Access("shuffle", mask, index=event["lanes"][lanes].astype(int)))
        elif _SPACES[event["space"]] != "local":
            step.accesses += self._accesses(event, mask, lanes, place)

    def _accesses(self, event, mask, lanes, place):
        """One for each component of a vector."""
        kind, size = self.sites[place].kind, int(event["size"])
        what = {"load": "load", "store": "store"}.get(kind, "atomic")
        places = event["lanes"][lanes].astype(np.int64)
        if _SPACES[event["space"]] == "shared":
            number, known = -1, None
            has_fraction = int(places[0]) in self.fractions
        else:
            number, array = self._array_at(places)
            places = places - (array.address if array else 0)
            known = array.values.dtype if array and array.values.itemsize == size else None
            has_fraction = self._is_float(event)
        type_ = known or np.dtype("V16" if size > 8 else f"{'f' if has_fraction else 'i'}{size}")
        for at in range(0, min(int(event["bytes"]), 16), size):
            index = (places + at) // size
            yield Access(what, mask, number, size, index, _numbers(event, lanes, type_, size, at))

    def _array_at(self, places):
        """The argument that most likely was meant."""
        first = int(places[0])
        for far in (0, _NEAR):
            for number, array in enumerate(self.arrays.values()):
                if -far <= first - array.address < array.values.nbytes + far:
                    return number, array
        return -2, None


def _numbers(event, lanes, type_, size, at):
    """The values of some lanes, from a byte on, as numbers."""
    content = event["values"].reshape(32, 16)[lanes, at : at + size]
    return np.ascontiguousarray(content).view(type_)[:, 0]
