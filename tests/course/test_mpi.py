"""Operations of several processes, which a real MPI starts."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import mpi
from tests import ROOT

pytestmark = pytest.mark.slow

MPIEXEC = Path(sys.executable).parent / "mpiexec"

pytest.importorskip("mpi4py", reason="no MPI: pip install '.[mpi]'")

BEGIN = """
import os, time
import numpy as np
from mpi4py import MPI
from helpers import autoinit, mpi, ops
from pycuda import gpuarray
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
rng = np.random.default_rng(1)
def drawn(*shape, dtype=np.float32):
    numbers = rng.normal(size=(size, *shape)) * 10.0 ** rng.integers(-3, 4, shape)
    return list(numbers.astype(dtype))
def in_order(numbers):
    wide = {"float16": np.float32, "int32": np.int64}.get(numbers[0].dtype.name, numbers[0].dtype)
    total = numbers[0].astype(wide)
    for x in numbers[1:]:
        total = total + x.astype(wide)
    return total.astype(numbers[0].dtype)
def say(*words):
    os.write(1, (" ".join([f"{rank}:", *map(str, words)]) + chr(10)).encode())
def refused(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (TypeError, ValueError) as error:
        say(error)
def noting(call, *arguments):
    try:
        call(*arguments)
    except TimeoutError as error:  # beside the program: mpiexec may end before it has passed it on
        with open(f"{__file__} {rank}", "w") as file:
            file.write(str(error))
        raise
"""


def run(script, tmp_path, ranks=4, options=(), **environment):
    """What MPI's processes come to that run a script from a folder with a space in its name."""
    folder = tmp_path / "of ranks"
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(BEGIN + script)
    own = {"HELPERS_DEVICE": "software", "SOFTGPU_DEVICES": "4", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [MPIEXEC, *options, "-n", str(ranks), sys.executable, folder / "program.py"],
        env=os.environ | own | environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip


def noted(tmp_path):
    """What ranks have noted as they lost another."""
    return "".join(path.read_text() for path in (tmp_path / "of ranks").glob("program.py *"))


def told(*arguments, **environment):
    """What they print, by rank."""
    done = run(*arguments, **environment)
    assert not done.returncode, done.stderr
    return sorted(done.stdout.splitlines())


APART = """
def apart():
    return mpi.Member(os.getpid(), "elsewhere", f"machine {rank // 2}", "0000:00:00.0")
mpi._myself = apart
"""  # two machines, each with two ranks


@pytest.mark.parametrize("ranks, devices, place", [(4, 4, ""), (3, 1, ""), (4, 4, APART)])
def test_every_rank_gets_the_same_bits_as_devices_do(ranks, devices, place, tmp_path):
    look = (
        place
        + """
for dtype in np.float16, np.float32, np.float64, np.int32:
    for shape in (1,), (7, 33), (131075,):
        numbers = drawn(*shape, dtype=dtype)
        x = gpuarray.to_gpu(numbers[rank])
        total = ops.all_reduce(x, comm).get()
        assert total.tobytes() == in_order(numbers).tobytes(), (dtype, shape)
        assert (x.get() == numbers[rank]).all()
numbers = drawn(3 * size, 5)
x = gpuarray.to_gpu(numbers[rank])
assert (ops.reduce_scatter(x, comm).get() == in_order(numbers)[3 * rank : 3 * rank + 3]).all()
assert (ops.all_gather(x, comm).get() == np.concatenate(numbers)).all()
for root in 0, size - 1:
    copy = ops.broadcast(x if rank == root else None, comm=comm, root=root)
    assert (copy.get() == numbers[root]).all()
say("done", mpi.team(comm).can_open_ours[0])
"""
    )
    near = [rank < 2 or not place for rank in range(ranks)]
    expected = [f"{rank}: done {near[rank]}" for rank in range(ranks)]
    assert told(look, tmp_path, ranks, SOFTGPU_DEVICES=str(devices)) == expected


def test_ranks_take_devices_in_turn_and_read_over_links(tmp_path):
    look = """
import softgpu
x = gpuarray.to_gpu(drawn(64)[rank])
softgpu.link_bytes()
ops.all_reduce(x, comm)
say(autoinit.name[-6:], [into[rank] for into in softgpu.link_bytes()])
"""
    bytes_in = [[0 if of == by else 256 for of in range(4)] for by in range(4)]
    assert told(look, tmp_path) == [f"{by}: {by} of 4 {bytes_in[by]}" for by in range(4)]


def test_arrays_of_a_pool_are_read_where_they_lie(tmp_path):
    look = """
from pycuda.tools import DeviceMemoryPool
pool = DeviceMemoryPool()
kept = [gpuarray.to_gpu(np.full(100, i + rank, np.float32), pool.allocate) for i in range(3)]
say([float(ops.all_reduce(x[8:], comm).get()[0]) for x in kept])
del kept, pool  # before the context
"""
    assert told(look, tmp_path, 2) == ["0: [1.0, 3.0, 5.0]", "1: [1.0, 3.0, 5.0]"]


def test_what_one_rank_does_wrong_all_ranks_are_told(tmp_path):
    look = """
x = gpuarray.to_gpu(np.zeros(8, np.float32))
refused(ops.all_reduce, 1 if rank == 1 else x, comm)
refused(ops.all_reduce, x[:4] if rank == 2 else x, comm)
refused(ops.reduce_scatter, x[:7], comm)
refused(ops.broadcast, x, comm=comm, root=4)
"""
    lines = told(look, tmp_path)
    words = [
        "rank 1: x: expected a pycuda GPUArray, got int",
        "rank 2's array is float32 of shape (4,), rank 0's is float32 of shape (8,)",
        "rank 0: reduce_scatter: 7 rows are not to be divided by 4",
        "broadcast: root 4 is not among the ranks, 0 to 3",
    ]
    for rank in range(4):
        mine = [line for line in lines if line.startswith(f"{rank}: ")]
        assert len(mine) == 4
        assert all(any(expected in line for line in mine) for expected in words)


def test_a_rank_that_never_comes_is_named(tmp_path):
    look = """
x = gpuarray.to_gpu(np.zeros(8, np.float32))
ops.all_reduce(x, comm)
mpi.PATIENCE = 2
if rank == 2:
    time.sleep(60)
noting(ops.all_reduce, x, comm)
"""
    begin = time.monotonic()
    done = run(look, tmp_path)
    assert done.returncode and time.monotonic() - begin < mpi.PATIENCE
    assert re.search(r"\b2 \(\w+ \d+\b", noted(tmp_path)) and "2 s" in noted(tmp_path)


def test_a_rank_that_ends_is_named(tmp_path):
    """Without a word; where one is killed, mpiexec ends the others, mostly before they say so."""
    look = """
x = gpuarray.to_gpu(np.zeros(8, np.float32))
ops.all_reduce(x, comm)
if rank == 1:
    os._exit(0)
noting(ops.all_reduce, x, comm)
"""
    begin = time.monotonic()
    done = run(look, tmp_path, options=["-disable-auto-cleanup"])
    assert done.returncode and time.monotonic() - begin < mpi.PATIENCE
    assert re.search(r"\b1 \(\w+ \d+\b", noted(tmp_path)), done
    assert not re.search(r"\d s\b", noted(tmp_path))  # it has ended: nobody waits for it
