"""The current context, the primary one, and what is asked of streams."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_uint, c_uint64, c_void_p

import pytest

from tests.softgpu.driver.harness import only_driver

INVALID_VALUE, INVALID_CONTEXT, INVALID_HANDLE, DESTROYED = 1, 201, 400, 709


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
