"""What Nsight Compute counts for ldmatrix, stmatrix (probes.cu) and products, on an H200.

matrices.csv: wavefronts and conflicts in shared memory; products.csv: machine instructions of each
tensor pipe for one product of a warp. record.py fills them anew, for the launches they name."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from softgpu.xray.report import TENSOR

from .case import module
from .patterns import PATTERNS, pattern

__all__ = ["METRICS", "PIPES", "Matrices", "Products", "matrices", "offsets", "products", "save"]

METRICS = [
    f"l1tex__data_{what}_mem_shared_op_{op}.sum"
    for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")
    for op in ("ld", "st")
]
PIPES = {f"sm__inst_executed_pipe_tensor_op_{pipe}.sum": pipe for pipe in TENSOR}
_HERE = Path(__file__).parent
_AT_ONCE = 4  # forms that one nvcc compiles
_COUNTED = """
extern "C" __global__ void count_{entry}(unsigned *out)
{{
    unsigned d[I_{entry}::words], sum = 0;
    for (unsigned f = 0; f < 4; f++) {{
        I_{entry}::run(f, d);
        for (unsigned x : d) sum += x;
    }}
    out[threadIdx.x] = sum;
}}
"""


class Launch:
    """A launch of a `kernel`, by its name."""

    grid: tuple
    block: tuple
    shared = 0

    def launch(self):
        self.function()(*self.passed(), grid=self.grid, block=self.block, shared=self.shared)

    def profiled(self):
        """Launches it in the profile build: its Report."""
        from helpers import xray

        shape = {"grid": self.grid, "block": self.block, "shared": self.shared}
        return xray.profile(self.function(), *self.passed(), **shape)


@dataclass(frozen=True)
class Matrices(Launch):
    """ldmatrix, then stmatrix, of rows at these places."""

    kernel: str
    loads: str
    stores: str
    grid = (1, 1)
    block = (32, 1, 1)
    shared = 48 << 10

    @property
    def name(self):
        return f"{self.kernel}: {self.loads} / {self.stores}"

    def function(self):
        return module("probes.cu").get_function(self.kernel)

    def passed(self):
        import pycuda.driver as cuda

        tables = (np.array(offsets(at), np.int32) for at in (self.loads, self.stores))
        return [*map(cuda.to_device, tables), cuda.mem_alloc(4 * 32)]


@dataclass(frozen=True)
class Products(Launch):
    """Four products of each of four warps."""

    name: str
    made = 16
    grid = (2, 1)
    block = (64, 1, 1)

    @property
    def kernel(self):
        from softgpu.tests.conformance.products import FORMS

        return f"count_{FORMS[self.name].entry}"

    def function(self):
        names = [*products()]
        return _counting(names.index(self.name) // _AT_ONCE).get_function(self.kernel)

    def passed(self):
        import pycuda.driver as cuda

        return [cuda.mem_alloc(4 * 64)]


@cache
def _counting(batch):
    """The module of some forms' kernels."""
    from pycuda.compiler import SourceModule

    from softgpu.tests.conformance.products import FORMS, PREAMBLE

    forms = [FORMS[name] for name in [*products()][batch * _AT_ONCE :][:_AT_ONCE]]
    text = "".join(form.source() + _COUNTED.format(entry=form.entry) for form in forms)
    options = ["-fmad=false", "-std=c++17", "-w"]
    return SourceModule(PREAMBLE + text, options=options, no_extern_c=True, arch="sm_90")


def offsets(name):
    """The byte offset of each lane's row, of 16 bytes: a pattern, or places in a tile."""
    if name in PATTERNS:
        rows = pattern(name)
    elif name.startswith("stride"):
        rows = [lane * int(name.split()[1]) for lane in range(32)]
    else:
        shape, _, width = name.partition(",")[0].split()
        rows = _rows(shape, int(width), name)
    return [16 * max(row, 0) for row in rows]


def _rows(shape, width, name):
    swizzled, step = "exclusive or" in name, width + ("padded" in name)
    for lane in range(32):
        row, piece = (lane, 0) if shape == "rows" else (lane % 16, lane // 16)
        yield row * step + (piece ^ lane % min(width, 8) if swizzled else piece)


def matrices():
    """{Matrices: {metric: value}}"""
    with (_HERE / "matrices.csv").open(newline="") as file:
        return {
            Matrices(row["kernel"], row["loads"], row["stores"]): {m: int(row[m]) for m in METRICS}
            for row in csv.DictReader(file)
        }


def products():
    """{instruction: (pipe, machine instructions)}"""
    with (_HERE / "products.csv").open(newline="") as file:
        return {row["form"]: (row["pipe"], int(row["count"])) for row in csv.DictReader(file)}


def save(of_matrices, of_products):
    """Writes both tables, of what was counted: {launch: {metric: value}}."""
    rows = [[c.kernel, c.loads, c.stores, *found.values()] for c, found in of_matrices.items()]
    _write("matrices.csv", ["kernel", "loads", "stores", *METRICS], rows)
    rows = []
    for case, found in of_products.items():
        metric = max(PIPES, key=found.get)
        rows.append([case.name, PIPES[metric], found[metric] // case.made])
    _write("products.csv", ["form", "pipe", "count"], rows)


def _write(name, head, rows):
    with (_HERE / name).open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
