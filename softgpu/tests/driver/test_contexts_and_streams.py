"""The current context, the primary one, and what is asked of streams."""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p

import pytest

from softgpu.tests.driver.harness import only_driver
from softgpu.tests.facts import missing

INVALID_VALUE, INVALID_CONTEXT, UNSUPPORTED_LIMIT, INVALID_HANDLE, DESTROYED = 1, 201, 215, 400, 709


@pytest.fixture
def driver():
    return only_driver()


def current(driver):
    context = c_void_p()
    driver.call("cuCtxGetCurrent", byref(context))
    return context.value


def test_setting_a_context_takes_the_place_of_the_top_one(driver):
    other = c_void_p()
    driver.call("cuCtxCreate_v4", byref(other), None, 0, 0)
    assert current(driver) == other.value
    driver.call("cuCtxSetCurrent", driver.context)
    driver.call("cuCtxSetCurrent", other)
    driver.call("cuCtxSetCurrent", None)  # removes it; below lies the first
    assert current(driver) == driver.context.value
    driver.call("cuCtxPopCurrent_v2", None)
    assert current(driver) is None
    driver.call("cuCtxSetCurrent", driver.context)
    driver.call("cuCtxDestroy_v2", other)
    assert driver.raw("cuCtxSetCurrent", other) == INVALID_CONTEXT
    assert driver.raw("cuCtxDestroy_v2", other) == INVALID_CONTEXT
    assert current(driver) == driver.context.value


def test_a_destroyed_context_is_no_longer_current(driver):
    other = c_void_p()
    driver.call("cuCtxCreate_v4", byref(other), None, 0, 0)
    driver.call("cuCtxDestroy_v2", other)
    assert current(driver) == driver.context.value


def test_contexts_differ_in_number_and_flags(driver):
    other, first, second, flags = c_void_p(), c_uint64(), c_uint64(), c_uint()
    driver.call("cuCtxCreate_v4", byref(other), None, 4, 0)
    driver.call("cuCtxGetId", None, byref(first))
    driver.call("cuCtxGetId", driver.context, byref(second))
    assert first.value != second.value
    driver.call("cuCtxGetFlags", byref(flags))
    assert flags.value == 4
    driver.call("cuCtxDestroy_v2", other)


@pytest.mark.parametrize(
    "limit, first",
    [(0, 1024), (1, 8650752), (2, 8388608), (4, 2048), (5, 64), (6, 0), (7, 232448), (8, 0)],
)
def test_limits(driver, limit, first):
    own, other, got = c_void_p(), c_void_p(), c_size_t()
    driver.call("cuCtxCreate_v4", byref(own), None, 0, 0)  # whose limits no other test has

    def value():
        driver.call("cuCtxGetLimit", byref(got), limit)
        return got.value

    assert value() == first
    if limit > 6:
        assert driver.raw("cuCtxSetLimit", limit, c_size_t(1)) == UNSUPPORTED_LIMIT
    else:
        driver.call("cuCtxSetLimit", limit, c_size_t(4096))
        assert value() == 4096
        driver.call("cuCtxCreate_v4", byref(other), None, 0, 0)
        assert value() == first
        driver.call("cuCtxDestroy_v2", other)
        assert value() == 4096
    if limit == 0:
        driver.call("cuCtxSetLimit", limit, c_size_t(524272))
        assert driver.raw("cuCtxSetLimit", limit, c_size_t(524273)) == INVALID_VALUE
        assert value() == 524272
    driver.call("cuCtxDestroy_v2", own)


@pytest.mark.parametrize("limit", [-1, 3, 9])
def test_limits_that_there_are_not(driver, limit):
    assert driver.raw("cuCtxGetLimit", byref(c_size_t()), limit) == UNSUPPORTED_LIMIT
    assert driver.raw("cuCtxSetLimit", limit, c_size_t(1)) == UNSUPPORTED_LIMIT


def test_a_context_keeps_what_it_is_told(driver):
    got = c_int()
    for thing, known, last, unknown in (
        ("Flags", [0, 0xFF], 0xFF, [0x100]),
        ("CacheConfig", [0, 1, 2, 3], 3, [-1, 4]),
        ("SharedMemConfig", [0, 1, 2], 1, [-1, 3]),  # banks of four bytes, always
    ):
        for value in known:
            driver.call(f"cuCtxSet{thing}", value)
        for value in unknown:
            assert driver.raw(f"cuCtxSet{thing}", value) == INVALID_VALUE
        driver.call(f"cuCtxGet{thing}", byref(got))
        assert got.value == last, thing
    assert driver.raw("cuDevicePrimaryCtxSetFlags_v2", 0, 0x100) == INVALID_VALUE
    assert driver.raw("cuCtxCreate_v4", byref(c_void_p()), None, 0x100, 0) == INVALID_VALUE


def test_the_state_of_the_primary_context(driver):
    context, flags, active = c_void_p(), c_uint(), c_int()

    def state():
        driver.call("cuDevicePrimaryCtxGetState", 0, byref(flags), byref(active))
        return flags.value, active.value

    assert state() == (0, 0)
    driver.call("cuDevicePrimaryCtxSetFlags_v2", 0, 2)
    driver.call("cuDevicePrimaryCtxRetain", byref(context), 0)
    assert state() == (2, 1)
    assert driver.raw("cuCtxDestroy_v2", context) == INVALID_CONTEXT
    driver.call("cuCtxPushCurrent_v2", context)
    driver.call("cuDevicePrimaryCtxSetFlags_v2", 0, 0)
    driver.call("cuDevicePrimaryCtxReset_v2", 0)
    assert state() == (0, 0)
    assert driver.raw("cuCtxSynchronize") == DESTROYED
    driver.call("cuCtxPopCurrent_v2", None)
    driver.call("cuDevicePrimaryCtxReset_v2", 0)  # there is none: nothing to do


@pytest.mark.parametrize("asked, given", [(0, 0), (-3, -3), (-99, -5), (4, 0)])
def test_priorities_of_streams_stay_in_their_range(driver, asked, given):
    stream, priority, flags, context = c_void_p(), c_int(), c_uint(), c_void_p()
    driver.call("cuStreamCreateWithPriority", byref(stream), 1, asked)
    driver.call("cuStreamGetPriority", stream, byref(priority))
    driver.call("cuStreamGetFlags", stream, byref(flags))
    driver.call("cuStreamGetCtx", stream, byref(context))
    assert (priority.value, flags.value, context.value) == (given, 1, driver.context.value)
    driver.call("cuStreamDestroy_v2", stream)
    assert driver.raw("cuStreamGetFlags", stream, byref(flags)) == INVALID_HANDLE


WINDOW, POLICY, PRIORITY, DOMAINS, DOMAIN = 1, 3, 8, 9, 10
PERSISTING, STREAMING = 2, 1


class Window(ctypes.Structure):
    _fields_ = [
        ("base", c_void_p), ("bytes", c_size_t), ("ratio", c_float), ("hit", c_int), ("miss", c_int)
    ]  # fmt: skip


class Attribute(ctypes.Union):
    _fields_ = [
        ("window", Window), ("number", c_int), ("domains", c_ubyte * 2), ("pad", c_ubyte * 64)
    ]  # fmt: skip


def attribute(driver, stream, which):
    value = Attribute(pad=(c_ubyte * 64)(*[0xAA] * 64))
    driver.call("cuStreamGetAttribute", stream, which, byref(value))
    return value


@pytest.fixture
def streams(driver):
    made = [c_void_p(), c_void_p()]
    for stream in made:
        driver.call("cuStreamCreateWithPriority", byref(stream), 1, -2)
    yield made
    for stream in made:
        driver.call("cuStreamDestroy_v2", stream)


def test_attributes_of_streams_are_what_was_set_last(driver, streams):
    stream, other = streams
    assert not any(attribute(driver, stream, WINDOW).pad)
    assert attribute(driver, stream, POLICY).number == 1
    assert attribute(driver, stream, PRIORITY).number == -2
    assert list(attribute(driver, stream, DOMAINS).domains) == [0, 1]
    window = Window(4096, 1 << 20, 0.6, PERSISTING, STREAMING)
    values = {
        WINDOW: Attribute(window=window), POLICY: Attribute(number=4),
        PRIORITY: Attribute(number=-9), DOMAINS: Attribute(domains=(2, 3)),
        DOMAIN: Attribute(number=1),
    }  # fmt: skip
    for which, value in values.items():
        driver.call("cuStreamSetAttribute", stream, which, byref(value))
    assert attribute(driver, other, PRIORITY).number == -2
    driver.call("cuStreamCopyAttributes", other, stream)
    values[PRIORITY] = Attribute(number=-5)
    for of in streams:
        assert all(
            bytes(attribute(driver, of, which)) == bytes(value) for which, value in values.items()
        )
    priority = c_int()
    driver.call("cuStreamGetPriority", other, byref(priority))
    assert priority.value == -5


def test_default_streams_have_attributes_in_each_context(driver):
    other, policy = c_void_p(), byref(Attribute(number=2))
    driver.call("cuStreamSetAttribute", None, POLICY, policy)
    assert attribute(driver, None, POLICY).number == 2
    driver.call("cuCtxCreate_v4", byref(other), None, 0, 0)
    stream = c_void_p()
    driver.call("cuStreamCreate", byref(stream), 0)
    assert attribute(driver, None, POLICY).number == 1
    driver.call("cuCtxPopCurrent_v2", None)
    assert driver.raw("cuStreamCopyAttributes", None, stream) == INVALID_VALUE
    driver.call("cuCtxDestroy_v2", other)
    driver.call("cuStreamSetAttribute", None, POLICY, byref(Attribute(number=1)))


@pytest.mark.parametrize(
    "which, value, numbers",
    [
        (WINDOW, {"window": Window(0, (128 << 20) + 1, 1, 0, 0)}, [134217729]),
        (WINDOW, {"window": Window(0, 1, 1.5, 0, 0)}, [1.5, 0, 1]),
        (WINDOW, {"window": Window(0, 1, float("nan"), 0, 0)}, ["nan", 0, 1]),
        (WINDOW, {"window": Window(0, 1, 1, 3, 0)}, [3]),
        (WINDOW, {"window": Window(0, 1, 1, 0, PERSISTING)}, [0, 1, PERSISTING]),
        (POLICY, {"number": 0}, [1, 4, 0]),
        (DOMAINS, {"domains": (0, 4)}, [0, 3, 4]),
        (DOMAIN, {"number": 2}, [0, 1, 2]),
        (2, {"number": 1}, [2]),
        (99, {}, [99]),
    ],
)
def test_attributes_of_streams_that_are_refused(driver, streams, which, value, numbers):
    given = streams[0], which, byref(Attribute(**value))
    assert driver.raw("cuStreamSetAttribute", *given) == INVALID_VALUE
    assert not missing(driver.error_text(INVALID_VALUE), *numbers)
    if numbers == [which]:
        assert driver.raw("cuStreamGetAttribute", *given) == INVALID_VALUE


def test_attributes_need_a_stream_and_a_place(driver, streams):
    calls = "cuStreamSetAttribute", "cuStreamGetAttribute"
    for call in calls:
        assert driver.raw(call, streams[0], POLICY, None) == INVALID_VALUE
        assert driver.raw(call, c_void_p(12345), POLICY, None) == INVALID_HANDLE
    assert driver.raw("cuStreamCopyAttributes", streams[0], c_void_p(12345)) == INVALID_HANDLE


def test_callbacks_run_in_their_turn(driver):
    seen, status = [], c_int(-1)
    callback = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)(lambda *told: seen.append(told))
    function = ctypes.CFUNCTYPE(None, c_void_p)(seen.append)
    driver.call("cuStreamAddCallback", None, callback, c_void_p(5), 0)
    driver.call("cuLaunchHostFunc", None, function, c_void_p(6))
    assert seen == [(None, 0, 5), 6]
    assert driver.raw("cuStreamAddCallback", None, callback, None, 1) == INVALID_VALUE
    driver.call("cuStreamIsCapturing", None, byref(status))
    assert status.value == 0


def test_errors_have_names(driver):
    name = c_char_p()
    driver.call("cuGetErrorName", 700, byref(name))
    assert name.value == b"CUDA_ERROR_ILLEGAL_ADDRESS"
    assert driver.raw("cuGetErrorName", 12345, byref(name)) == INVALID_VALUE and not name.value
