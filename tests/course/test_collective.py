"""Operations of several devices, in processes with four of them."""

import pytest

from softgpu.tests import python
from softgpu.tests.facts import missing

pytestmark = pytest.mark.slow

BEGIN = """
import numpy as np
from helpers import ops, ranks
from pycuda import gpuarray
rng = np.random.default_rng(1)
def placed(numbers):
    arrays = []
    for rank, x in enumerate(numbers):
        with ranks.on(rank):
            arrays.append(gpuarray.to_gpu(x))
    return arrays
def drawn(*shape, dtype=np.float32):
    numbers = rng.normal(size=(ranks.count(), *shape)) * 10.0 ** rng.integers(-3, 4, shape)
    return list(numbers.astype(dtype))
def in_order(numbers):
    wide = {"float16": np.float32, "int32": np.int64}.get(numbers[0].dtype.name, numbers[0].dtype)
    total = numbers[0].astype(wide)
    for x in numbers[1:]:
        total = total + x.astype(wide)
    return total.astype(numbers[0].dtype)
def refused(call, *arguments):
    try:
        call(*arguments)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}:", error)
"""


def told(script, devices="4"):
    """What a script with several software GPUs prints, line by line."""
    own = {"HELPERS_DEVICE": "software", "SOFTGPU_DEVICES": devices}
    done = python("-c", BEGIN + script, **own)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("devices", ["1", "2", "4", "5"])
def test_all_reduce_adds_in_order(devices):
    look = """
for dtype in np.float16, np.float32, np.float64, np.int32:
    for shape in (1,), (7, 33), (70001,), (131072,):
        numbers = drawn(*shape, dtype=dtype)
        arrays = placed(numbers)
        for rank, out in enumerate(ops.all_reduce(arrays)):
            assert out.get().tobytes() == in_order(numbers).tobytes(), (dtype, shape, rank)
            assert ranks.rank_of(out) == rank
        assert all((x.get() == y).all() for x, y in zip(arrays, numbers))
print("done")
"""
    assert told(look, devices) == ["done"]


def test_parts_are_gathered_and_scattered():
    look = """
numbers = drawn(8, 5)
arrays = placed(numbers)
for rank, part in enumerate(ops.reduce_scatter(arrays)):
    assert (part.get() == in_order(numbers)[2 * rank : 2 * rank + 2]).all()
for whole in ops.all_gather(arrays):
    assert (whole.get() == np.concatenate(numbers)).all()
for rank, copy in zip((3, 0, 2), ops.broadcast(arrays[2], (3, 0, 2))):
    assert ranks.rank_of(copy) == rank and (copy.get() == numbers[2]).all()
print(len(ops.broadcast(arrays[1])))
"""
    assert told(look) == ["4"]


def test_a_long_all_reduce_moves_what_it_must():
    """Each device reads the others' share of what it adds up, then the sums of the others."""
    look = """
import softgpu
arrays = placed(drawn(1 << 18))
softgpu.link_bytes()
ops.all_reduce(arrays)
print(softgpu.link_bytes())
"""
    part = 2 * (1 << 18) * 4 // 4
    assert told(look) == [str([[0 if a == b else part for b in range(4)] for a in range(4)])]


def test_arrays_that_do_not_belong_together_are_refused():
    look = """
a, b, c, d = placed(drawn(8))
with ranks.on(1):
    e = gpuarray.to_gpu(np.zeros(9, np.float32))
refused(ops.all_reduce, [])
refused(ops.all_reduce, [a, e])
refused(ops.all_reduce, [b, c, b])
refused(ops.reduce_scatter, [a, b, c])
refused(ops.all_reduce, [a, 1])
"""
    named = [
        ["ValueError"], ["ValueError", 1, "(9,)", 0, "(8,)"], ["ValueError", 0, 2, 1],
        ["ValueError", 8], ["TypeError", "int"],
    ]  # fmt: skip
    lines = told(look)
    assert len(lines) == len(named)
    assert not any(missing(line, *facts) for line, facts in zip(lines, named, strict=True))


STEPS = """
from helpers import sources, xray
import softgpu
count = ranks.count()
def load(name, **choices):
    kernels = []
    for rank in range(count):
        with ranks.on(rank):
            kernels.append(sources.kernel(name, **choices))
    return kernels
"""


@pytest.mark.parametrize("devices", ["1", "2", "4"])
def test_steps_of_a_ring_leave_sums_everywhere(devices):
    look = """
step_of = load("ranks/ring.cu")
for n in 1, 3, 70001:
    numbers = drawn(n)
    arrays = placed(numbers)
    softgpu.link_bytes()
    for step in range(2 * count - 2):
        for rank in range(count):
            with ranks.on(rank):
                arguments = np.int64(n), *map(np.int32, (count, rank, step))
                pair = arrays[rank - 1], arrays[rank]
                if n < 4:
                    assert not xray.sanitize(step_of[rank], *pair, *arguments, grid=7, block=64)
                step_of[rank](*pair, *arguments, grid=(7, 1), block=(64, 1, 1))
    talked = {tuple(map(int, pair)) for pair in np.argwhere(softgpu.link_bytes())}
    assert talked <= {(of, (of + 1) % count) for of in range(count)}
    assert len(talked) == (0 if count == 1 else count) or n < count
    near = sum(abs(x) for x in numbers) * count * 2.0**-23
    for x in arrays:
        assert (abs(x.get() - sum(x.astype(float) for x in numbers)) <= near).all()
        assert (x.get() == arrays[0].get()).all()
print("done")
"""
    assert told(STEPS + look, devices) == ["done"]


@pytest.mark.parametrize("devices", ["1", "2", "4"])
@pytest.mark.parametrize("play", ["play_all", "play_one_each"])
def test_two_shots_leave_sums_in_order_and_flags_that_serve_again(play, devices):
    """By one launch that plays all ranks, which can be watched, or by one on each device."""
    look = """
blocks = 5
kernels = load("ranks/two_shot.cu", RANKS=count)
flags = placed([np.zeros(count * blocks, np.uint32)] * count)
def play_all(*arguments):
    kernels[0](*arguments, grid=(blocks, count), block=(64, 1, 1))
def play_one_each(addresses, n, _, turn):
    for rank in range(count):
        with ranks.on(rank):
            kernels[rank](addresses, n, np.int32(rank), turn, grid=(blocks, 1), block=(64, 1, 1))
turn = 0
for n in 1, 3, 70001:
    turn += 1
    numbers = drawn(n)
    arrays, sums = placed(numbers), placed([np.full(n, np.nan, np.float32)] * count)
    addresses = np.array([int(x.gpudata) for x in (*arrays, *sums, *flags)], np.uint64)
    arguments = addresses, np.int64(n), np.int32(0), np.uint32(turn)
    if n < 4:
        assert not xray.sanitize(kernels[0], *arguments, grid=(1, count), block=64)
    PLAY(*arguments)
    ranks.meet(range(count))
    for out in sums:
        assert out.get().tobytes() == in_order(numbers).tobytes(), n
    assert all((x.get() == turn).all() for x in flags)
print("done")
"""
    assert told(STEPS + look.replace("PLAY", play), devices) == ["done"]


@pytest.mark.parametrize("devices", ["1", "2", "5"])
def test_steps_of_a_tree_leave_sums_everywhere(devices):
    """Of pairs, then of pairs of pairs, with the same bits on each rank."""
    look = """
step_of = load("ranks/tree.cu")
for n in 1, 70001:
    numbers = drawn(n)
    arrays, wanted = placed(numbers), list(numbers)
    for step in ranks.tree(count):
        for rank, other, adds in step:
            wanted[rank] = wanted[rank] + wanted[other] if adds else wanted[other]
            with ranks.on(rank):
                arguments = arrays[other], arrays[rank], np.int64(n), np.int32(adds)
                if n == 1:
                    before = arrays[rank].get()
                    assert not xray.sanitize(step_of[rank], *arguments, grid=2, block=64)
                    arrays[rank].set(before)
                step_of[rank](*arguments, grid=(7, 1), block=(64, 1, 1))
    near = sum(abs(x) for x in numbers) * count * 2.0**-23
    assert (abs(wanted[0] - sum(x.astype(float) for x in numbers)) <= near).all()
    for x in arrays:
        assert x.get().tobytes() == wanted[0].tobytes()
print("done")
"""
    assert told(STEPS + look, devices) == ["done"]


@pytest.mark.parametrize("devices", ["1", "2", "4"])
def test_launches_that_wait_for_each_other_add_in_order(devices):
    """As GPUs do it, each with a launch of its own; here one plays all ranks. Inboxes and flags
    serve again, also for arrays that are shorter or longer than those before."""
    look = """
from helpers.ops import together
places = range(count)
assert not together.AT_ONCE
together.PACKET_BYTES = 1 << 12
for turn, dtype in enumerate((np.float16, np.float32, np.float64, np.int32)):
    for n in 3, 5001, 301:
        numbers = drawn(n + turn % 2, dtype=dtype)
        arrays = [x[turn % 2 :] for x in placed(numbers)]  # aligned, or not
        numbers = [x[turn % 2 :] for x in numbers]
        sums = placed([np.full(n, 77, dtype)] * count)
        together.add(places, arrays, sums)
        for rank, out in enumerate(sums):
            assert out.get().tobytes() == in_order(numbers).tobytes(), (dtype, n, rank)
        assert all((x.get() == y).all() for x, y in zip(arrays, numbers))
print(*sorted({packed for _, _, packed, _ in together.team(tuple(places)).calls}))
"""
    assert told(STEPS + look, devices) == ["True" if devices == "1" else "False True"]


@pytest.mark.parametrize("step, tells", [("packets", 64), ("push", 2)])
def test_launches_that_wait_for_each_other_are_clean(step, tells):
    """Nothing is touched outside of arrays, and nothing is read before it is there."""
    look = f"""
n, blocks, aligned = 130, 2, "ALIGNED" if "{step}" == "packets" else "PACK"
kernel = load("ranks/{step}.cu", RANKS=count)[0]
told_by = placed([np.zeros(2 * count * blocks * {tells} * 4, np.uint32)] * count)
for turn in 1, 2:
    numbers = drawn(n)
    arrays, sums = placed(numbers), placed([np.full(n, np.nan, np.float32)] * count)
    every = [int(x.gpudata) for x in (*arrays, *sums, *told_by)]
    number = 65 if "{step}" == "packets" else 64
    arguments = np.array([*every, turn], np.uint64), np.int64(n), np.int64(number), np.int32(0)
    print(*xray.sanitize(kernel, *arguments, grid=(blocks, count), block=32))
    for out in sums:
        assert out.get().tobytes() == in_order(numbers).tobytes()
"""
    assert told(STEPS + look) == ["", ""]


@pytest.mark.parametrize("fenced", [0, 1])
def test_devices_exchange_numbers(fenced):
    """What the latency of a link is measured with. One launch plays both."""
    look = f"""
flags = placed([np.zeros(2, np.uint32)] * 2)
pair = np.array([int(x.gpudata) for x in flags], np.uint64)
kernel = load("bench/exchange.cu", FENCED={fenced})[0]
for first, turns in (1, 5), (6, 1):
    numbers = np.int32(0), np.uint32(first), np.int32(turns)
    kernel(pair, *numbers, grid=(2, 1), block=(1, 1, 1))
print(*(x.get() for x in flags))
"""
    assert told(STEPS + look, "2") == ["[6 0] [6 0]"]


def test_a_split_product_is_everywhere():
    look = """
for dtype in np.float32, np.float16:
    for rows, k, n in (5, 7, 3), (300, 40, 33):
        a, b = (rng.normal(size=shape).astype(dtype) for shape in ((count, rows, k), (k, n)))
        wholes = ops.split_matmul(placed(a), placed([b] * count))
        wide = np.concatenate(a), b
        want, size = (x.astype(float) @ y for x, y in (wide, map(np.abs, wide)))
        within = checks.dot_tolerance(want, size, k, dtype)
        for rank, whole in enumerate(wholes):
            checks.assert_close(whole.get(), want, within, str(dtype))
            assert ranks.rank_of(whole) == rank
            assert whole.get().tobytes() == wholes[0].get().tobytes()
softgpu.link_bytes()
wholes = ops.split_matmul(placed(a), placed([b] * count))
print(*(row[column] for row, column in zip(softgpu.link_bytes(), (1, 0, 0, 0))))
with ranks.on(1):
    other = gpuarray.to_gpu(b)
refused(ops.split_matmul, placed(a), [other] + placed([b] * count)[1:])
"""
    lines = told(STEPS + "from helpers import checks\n" + look)
    assert lines[0] == " ".join(["19800"] * 4)  # 300 rows of 33 halves, to each of the others
    assert not missing(lines[1], 1) and len(lines) == 2


def test_sums_go_where_they_are_wanted():
    look = """
numbers = drawn(1000)
arrays, sums = placed(numbers), placed([np.zeros(1000, np.float32)] * count)
given = ops.all_reduce(arrays, out=sums)
assert all(a is b for a, b in zip(given, sums))
assert all((x.get() == in_order(numbers)).all() for x in sums)
refused(ops.all_reduce, arrays, None, sums[::-1])
refused(ops.all_reduce, arrays, None, [x[:10] for x in sums])
refused(ops.all_reduce, arrays, None, arrays)
refused(ops.all_reduce, arrays[0], "a communicator", sums)
"""
    lines = told(STEPS + look)
    named = [
        ["ValueError", "0, 1, 2, 3"], ["ValueError", "(10,)", "(1000,)"], ["ValueError"],
        ["TypeError"],
    ]  # fmt: skip
    assert len(lines) == len(named)
    assert not any(missing(line, *facts) for line, facts in zip(lines, named, strict=True))
