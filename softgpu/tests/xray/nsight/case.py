"""One launch that is counted: where its kernel is, what it takes, and how it is launched."""

import hashlib
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from unittest import mock

import numpy as np

from helpers import sources

__all__ = [
    "BUSY", "INT8", "INT32", "INT64", "OWN", "SCATTERED", "UINT32",
    "Called", "Case", "below", "floats", "i32", "zeros",
]  # fmt: skip

HERE = Path(__file__).parent
OWN = ("probes.cu", "kernels.cu")  # the other cases are of the course
UINT32, INT8, INT32, INT64 = np.uint32, np.int8, np.int32, np.int64


@dataclass(frozen=True)
class Case:
    """One launch. `arguments`: arrays go to the GPU, numbers are passed."""

    name: str
    file: str  # probes.cu, kernels.cu, or a file of cuda_src
    kernel: str
    grid: tuple
    block: tuple
    arguments: list
    shared: int = 0
    choices: dict = field(default_factory=dict)

    def launch(self):
        """Launches it."""
        grid, block = ((*v, 1, 1)[:3] for v in (self.grid, self.block))
        launch = partial(self.function(), *self.passed(), grid=grid, block=block)
        _counted(partial(launch, shared=self.shared))

    def profiled(self):
        """Launches it in the profile build: its Report."""
        from helpers import autoinit, xray

        grid, block = ((*v, 1, 1)[:3] for v in (self.grid, self.block))
        own = self.file in OWN and not autoinit.is_software
        kernel = _of_source(self.file, self.kernel) if own else self.function()
        return xray.profile(kernel, *self.passed(), grid=grid, block=block, shared=self.shared)

    def function(self):
        """The compiled kernel."""
        if self.file in OWN:
            return module(self.file).get_function(self.kernel)
        return sources.kernel(self.file, **self.choices)

    @property
    def why(self):
        """Why the software GPU counts something else here, "" if it counts the same."""
        return next((reason for reason, names in UNEQUAL.items() if self.name in names), "")

    def digest(self):
        """Changes with the code of the course's kernel, not with its comments; "" for others."""
        if self.file in OWN:
            return ""
        code = _code(sources.text(self.file, **self.choices), set())
        return hashlib.sha256(code.encode()).hexdigest()[:12]

    def passed(self):
        """Arguments for one launch, arrays copied to the GPU."""
        import pycuda.driver as cuda

        return [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in self.arguments]


def _counted(launch):
    """Launches, and has ncu look at nothing else."""
    import pycuda.driver as cuda

    cuda.start_profiler()
    launch()
    cuda.stop_profiler()


@dataclass(frozen=True)
class Called:
    """One launch that a call makes, perhaps among others: call(act, *arrays on the GPU), where
    act(launch) is to launch it."""

    name: str
    file: str
    kernel: str
    call: Callable
    arguments: list
    grid = block = ()

    why, digest, choices = Case.why, Case.digest, {}

    def launch(self):
        """Makes the call."""
        self._called(_counted)

    def profiled(self):
        """Makes the call, this launch in the profile build: its Report."""
        from helpers import xray

        found = []
        self._called(lambda launch: found.append(xray.profile(launch)))
        return found[0]

    def _called(self, act):
        from pycuda import gpuarray

        arrays = [gpuarray.to_gpu(x) for x in self.arguments]
        with _first_of(self.kernel, act):
            self.call(act, *arrays)


@contextmanager
def _first_of(kernel, act):
    """The first launch of a kernel by an operation is act(launch)."""
    from helpers.ops.launch import KernelCall

    plain, seen = KernelCall.__call__, []

    def call(self, *arguments, **options):
        launch = partial(plain, self, *arguments, **options)
        if self.function.name != kernel or seen:
            return launch()
        seen.append(self)
        return act(launch)

    with mock.patch.object(KernelCall, "__call__", call):
        yield


def _code(text, seen):
    """The tokens of a text and of the course's files that it includes."""
    for name in re.findall(r'#include "(.*)"', text):
        if name not in seen:
            seen.add(name)
            text += _code((sources.ROOT / name).read_text(), seen)
    return "".join(re.sub(r"//.*", "", text).split())


@cache
def module(file):
    """One of our own files, compiled."""
    from pycuda.compiler import SourceModule

    return SourceModule(source(file), no_extern_c=True, arch="sm_90")


@cache
def _of_source(file, kernel):
    """A kernel of one of our own files, with what xray asks of one beside a real GPU."""
    return sources.kernel(source(file), kernel)


def source(file):
    """One of our own files as it is compiled."""
    path = HERE / file
    return f'#line 1 "{path}"\n{path.read_text()}'


# Cases whose counts differ, by reason.
RACE = "which thread draws which number is decided anew at each launch"
BYPASS = "a sector that goes to two lines of shared memory is sometimes fetched once"
SCATTERED = (
    "lanes of one atomic on more than 4 lines of 128 bytes: now and then a sector goes twice"
)
SUNK = "the compiler loads a maximum only where the sum beside it is not 0; here all are 0"
PAIRS = "wmma stores two neighbours at once; here they are counted one by one"
NOTHING = "a copy of no bytes, past an edge, counts a sector now and then"
UNEXPLAINED = "a few wavefronts less than the rules say; nobody has found out why"
BUSY = "of several warps at work, an access to shared memory now and then takes a wavefront more"
BOXES = "while boxes arrive, other accesses to shared memory take more wavefronts than expected"
EDGES = "past an edge, ptxas loads from shared memory only what is stored then"
TWICE = "ptxas keeps in a register what the PTX loads from shared memory twice"
UNEQUAL = {
    BUSY: {
        "elementwise/transposed.cu transposed int8",
        "gemm/packed.cu A_ALONG_K=0 B_ALONG_K=0 72x132x40",
        "attention/running.cu float32 2x3x70x64 90 keys",
        "attention/running.cu float32 2x3x70x64 90 keys causal=True",
        "attention/hopper.cu float16 1x34x300x64 200 keys",
        "attention/hopper.cu float16 1x34x300x64 200 keys causal=True",
        "attention/hopper.cu float16 2x35x128x128 130 keys",
    },
    TWICE: {"decode/attend.cu 4x32"},
    EDGES: {
        "gemm/boxes.cu 128x200x136",
        "gemm/joined.cu float32 100x600 by 72",
        "gemm/multicast.cu 500x328x264",
        "gemm/producer.cu 200x328x264",
    },
    BOXES: {"gemm/producer.cu 256x320x256", "gemm/multicast.cu 512x320x256"},
    PAIRS: {"gemm/fragments.cu 72x136x40", "gemm/fragments_shared.cu 72x136x40"},
    UNEXPLAINED: {
        "convolution/hopper.cu float16 2x64x20x20 to 128",
        "attention/gradient.cu float32 2x3x64x64 96 keys",
        "attention/gradient.cu float32 2x3x70x64 90 keys",
        "gemm/tensor.cu float16 72x40 by 136",
        "gemm/tensor.cu float16 128x128 by 192",
        "gemm/tensor_float8.cu uint8 128x128 by 192 dtype=e5m2",
    },
    NOTHING: {"convolution/tensor_weight.cu float16 2x16x12x20 to 24"},
    SUNK: {"softmax/write.cu 10 of 128"},
    RACE: {"shared_slots 1 of 96"},
    BYPASS: {"copy_16_cg: any of 200 / row"},
    SCATTERED: {
        "histogram_global 20 of 256",
        *(f"scatter_doubles 4 of 256, {bins} bins" for bins in (100, 300, 3000)),
        *(f"least_and_greatest 4 of 256, {bins} bins" for bins in (100, 300, 3000)),
        *(f"weighted_histogram 3 of 160, {bins} bins" for bins in (300, 3000)),
        *(f"union_find 4 of 256, {bins} bins" for bins in (300, 3000)),
        *(f"histogram_global 4 of 256, {bins} bins" for bins in (300, 3000)),
        *(
            f"atomic_{form}: any of {words}a / any of {words}b"
            for form, several in (
                ("add_u32", "192, 2|256, 0|256, 1|512, 1|512, 2|2000, 1|2000, 2"),
                ("add_u64", "128, 0|192, 0|256, 0|512, 0"),
                ("max_s32", "256, 0"),
            )
            for words in several.split("|")
        ),
    },
}


def floats(n, kind=np.float32):
    return np.random.default_rng(n).standard_normal(n).astype(kind)


def below(limit, n, kind=INT32):
    return np.random.default_rng((limit, n)).integers(0, limit, n).astype(kind)


def zeros(n, kind=np.float32):
    return np.zeros(n, kind)


def i32(value):
    return INT32(value)
