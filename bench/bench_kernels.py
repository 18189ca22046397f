"""How fast the software GPU runs eight of the course's kernels: plain, counted and watched.

    python bench/bench_kernels.py    # make bench writes the table in softgpu/docs/results.md

All on one core, in code in full, by the processor's time: other programs change it little.
"""

import platform
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Speed", "best_seconds", "measured", "write"]

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "softgpu/docs/results.md"
WAYS = "plain", "counted", "watched"
REPEATS = 5
HEAD = """\
| kernel | warp instructions | plain, million/s | GB/s | counted, million/s | watched, million/s |
|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    """A launch: input arrays, then the result to expect, then numbers."""

    file: str
    inputs: tuple[np.ndarray, ...]
    expected: np.ndarray
    numbers: tuple
    grid: tuple[int, ...]
    block: tuple[int, int, int] = (256, 1, 1)
    shared: int = 0
    tolerance: float = 1e-5  # relative, and absolute in units of the largest value


@dataclass(frozen=True)
class Speed:
    """What a launch took, in seconds of one core, in each of WAYS."""

    case: Case
    instructions: int  # of warps, as PTX has them
    seconds: dict[str, float]

    def rate(self, way: str) -> float:
        return self.instructions / self.seconds[way]

    def times(self, way: str) -> float:
        """How many times a plain launch's seconds."""
        return self.seconds[way] / self.seconds["plain"]

    @property
    def bytes(self) -> int:
        """Of all arrays, once."""
        return sum(array.nbytes for array in (*self.case.inputs, self.case.expected))

    def row(self) -> str:
        rates = [f"{self.rate(way) / 1e6:,.1f}" for way in WAYS]
        rates.insert(1, f"{self.bytes / self.seconds['plain'] / 1e9:.2f}")
        return f"| `{self.case.file}` | {self.instructions:,} | {' | '.join(rates)} |"


def cases() -> list[Case]:
    random = np.random.default_rng(0)

    def drawn(*shape, dtype=np.float32):
        return random.uniform(-1, 1, shape).astype(dtype)

    n, side, keys = 1 << 20, 256, 128
    x, y = drawn(2, n)
    table, rows = x.reshape(512, -1), x.reshape(-1, 1024)
    a, b = drawn(2, side, side)
    c, d = drawn(2, side, side, dtype=np.float16)
    q, k, v = drawn(3, 4, keys, 64)
    long, float_ = np.int64, np.float32
    exps = np.exp(rows.astype(float))
    scores = np.exp(np.einsum("uqs,uks->uqk", q, k, dtype=float) / 8)
    products = long(side), long(side), long(side)
    return [
        Case("first/add.cu", (x, y), x + y, (long(n),), (n // 256, 1)),
        Case(
            "reduce/shared.cu", (x,), x.reshape(-1, 256).sum(1, dtype=float), (long(n),),
            (n // 256, 1), shared=1024,
        ),
        Case(
            "higherdim/columns.cu", (table,), table.sum(0, dtype=float),
            (long(1), long(512), long(n // 512)), (n // 512 // 256, 1),
        ),
        Case(
            "softmax/online.cu", (rows,), exps / exps.sum(1, keepdims=True),
            (long(len(rows)), long(1024)), (len(rows), 1),
        ),
        Case(
            "gemm/shared.cu", (a, b), a.astype(float) @ b, products, (side // 32, side // 32),
            (32, 32, 1),
        ),
        Case(
            "gemm/registers.cu", (a, b), a.astype(float) @ b, products, (side // 128, side // 128),
            (16, 16, 1),
        ),
        Case(
            "gemm/mma.cu", (c, d), c.astype(float) @ d.astype(float), products,
            (side // 64, side // 64), (128, 1, 1), tolerance=2e-3,
        ),
        Case(
            "attention/fused.cu", (q, k, v),
            np.einsum("uqk,uks->uqs", scores / scores.sum(2, keepdims=True), v),
            (long(keys), long(keys), long(64), float_(1 / 8)), (keys, 4), (128, 1, 1), 4 * keys,
        ),
    ]  # fmt: skip


def measured() -> list[Speed]:
    """The Speed of each of the kernels, whose results are compared first."""
    from softgpu.loader import Engine

    engine = Engine.as_driver()
    engine.set_threads(1)
    try:
        with engine.tier("full"):
            return [_speed(case) for case in cases()]
    finally:
        engine.set_threads(0)


def _speed(case: Case) -> Speed:
    import pycuda.driver as cuda

    from helpers import sources, xray

    kernel = sources.kernel(case.file)
    library = xray.launch.target_of(kernel).library
    dtype = np.float16 if case.inputs[0].dtype == np.float16 else np.float32
    out = np.zeros(case.expected.shape, dtype)
    arrays = [cuda.to_device(array) for array in (*case.inputs, out)]
    how = {"grid": case.grid, "block": case.block, "shared": case.shared}

    def launch():
        kernel(*arrays, *case.numbers, **how)
        cuda.Context.synchronize()

    seconds = {"plain": best_seconds(launch, REPEATS, time.process_time)}
    cuda.memcpy_dtoh(out, arrays[-1])
    most = np.abs(case.expected).max()
    np.testing.assert_allclose(out, case.expected, case.tolerance, case.tolerance * most)
    library.sg_profile_begin(0)
    seconds["counted"] = best_seconds(launch, REPEATS, time.process_time)
    library.sg_profile_end()
    library.sg_sanitize_all(1)
    seconds["watched"] = best_seconds(launch, REPEATS, time.process_time)
    library.sg_sanitize_all(0)
    report = xray.profile(kernel, *arrays, *case.numbers, **how)
    return Speed(case, report.total["instructions"], seconds)


def best_seconds(action, repeats=7, clock=time.perf_counter) -> float:
    """The shortest of several runs, after one to warm up."""
    action()
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)


def write(speeds: list[Speed], beside: Iterable[str] = ()) -> None:
    """Put the table into the page, between its marks; beside: paragraphs on other programs."""
    table = HEAD + "\n".join(speed.row() for speed in speeds)
    text = "\n\n".join([table, f"On one core of: {_processor()}.", *beside])
    page, count = re.subn(
        r"<!-- speed -->.*?<!-- end -->",
        lambda _: f"<!-- speed -->\n\n{text}\n\n<!-- end -->",
        PAGE.read_text(),
        flags=re.DOTALL,
    )
    assert count == 1, f"{PAGE} needs one place between <!-- speed --> and <!-- end -->"
    PAGE.write_text(page)


def _processor() -> str:
    """What this machine's processor calls itself."""
    found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


if __name__ == "__main__":
    import helpers.autoinit as gpu

    assert gpu.is_software, "this measures the software GPU: HELPERS_DEVICE=software"
    print("\n".join(speed.row() for speed in measured()))
