"""Pools, what is known of pointers, and copies that find out where memory is."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import numpy as np
import pytest

from softgpu.tests.driver.harness import only_driver

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, NOT_SUPPORTED = 1, 2, 101, 801
THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH = range(4, 9)
(CONTEXT, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER, _, SYNC, BUFFER_ID, MANAGED, ORDINAL, _, START,
 SIZE) = range(1, 13)  # fmt: skip
POOL = 17
ON_HOST, ON_DEVICE = 1, 2


class Location(ctypes.Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class Properties(ctypes.Structure):
    _fields_ = [
        ("allocation", c_int), ("handles", c_int), ("location", Location), ("security", c_void_p),
        ("most", c_size_t), ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 54),
    ]  # fmt: skip


@pytest.fixture
def driver():
    driver = only_driver()
    yield driver
    driver.free_all()


def new_pool(driver, most=0, location=(1, 0)):
    pool = c_void_p()
    driver.call(
        "cuMemPoolCreate", byref(pool), byref(Properties(1, 0, Location(*location), most=most))
    )
    return pool


def take(driver, size, pool=None):
    address = c_uint64()
    if pool is None:
        driver.call("cuMemAllocAsync", byref(address), c_size_t(size), None)
    else:
        driver.call("cuMemAllocFromPoolAsync", byref(address), c_size_t(size), pool, None)
    return address.value


def of_pool(driver, pool, attribute):
    value = c_uint64()
    driver.call("cuMemPoolGetAttribute", pool, attribute, byref(value))
    return value.value


def of_pointer(driver, address, attribute):
    value = c_uint64()
    driver.call("cuPointerGetAttribute", byref(value), attribute, c_uint64(address))
    return value.value


def test_a_pool_counts_what_is_in_use(driver):
    pool = new_pool(driver, most=1 << 20)
    first, second = take(driver, 1000, pool), take(driver, 3000, pool)
    driver.call("cuMemFreeAsync", c_uint64(first), None)
    assert [of_pool(driver, pool, a) for a in (USED, USED_HIGH)] == [3000, 4000]
    driver.call("cuMemPoolSetAttribute", pool, USED_HIGH, byref(c_uint64(0)))
    assert of_pool(driver, pool, USED_HIGH) == 3000
    high = pool, USED_HIGH, byref(c_uint64(5))
    assert driver.raw("cuMemPoolSetAttribute", *high) == INVALID_VALUE
    driver.call("cuMemPoolSetAttribute", pool, THRESHOLD, byref(c_uint64(99)))
    assert of_pool(driver, pool, THRESHOLD) == 99
    much = byref(c_uint64()), c_size_t(1 << 20), pool, None
    assert driver.raw("cuMemAllocFromPoolAsync", *much) == OUT_OF_MEMORY
    assert of_pointer(driver, second, POOL) == pool.value
    driver.free(second)  # as well as by cuMemFreeAsync
    assert of_pool(driver, pool, USED) == 0
    driver.call("cuMemPoolDestroy", pool)


def test_a_pool_reserves_pieces_until_the_host_has_waited(driver):
    pool, piece = new_pool(driver), 32 << 20

    def reserved():
        return of_pool(driver, pool, RESERVED), of_pool(driver, pool, RESERVED_HIGH)

    assert reserved() == (0, 0)
    small, large = take(driver, 1000, pool), take(driver, piece, pool)
    assert reserved() == (2 * piece, 2 * piece)
    driver.free(large)
    assert reserved() == (2 * piece, 2 * piece)
    driver.call("cuMemPoolTrimTo", pool, c_size_t(piece + 1))
    assert reserved() == (2 * piece, 2 * piece)
    driver.call("cuMemPoolSetAttribute", pool, THRESHOLD, byref(c_uint64(2**64 - 1)))
    driver.call("cuCtxSynchronize")
    assert reserved() == (2 * piece, 2 * piece)
    driver.call("cuMemPoolSetAttribute", pool, THRESHOLD, byref(c_uint64(0)))
    driver.call("cuStreamSynchronize", None)
    assert reserved() == (piece, 2 * piece)
    driver.call("cuMemPoolSetAttribute", pool, RESERVED_HIGH, byref(c_uint64(0)))
    driver.free(small)
    assert reserved() == (piece, piece)
    driver.call("cuMemPoolTrimTo", pool, c_size_t(0))
    assert reserved() == (0, piece)
    driver.call("cuMemPoolDestroy", pool)


def test_no_bytes_of_a_pool_are_at_no_address(driver):
    pool = new_pool(driver)
    assert take(driver, 0, pool) == take(driver, 0) == 0
    assert of_pool(driver, pool, USED) == 0
    driver.call("cuMemFreeAsync", c_uint64(0), None)


def test_memory_outlives_its_pool(driver):
    pool = new_pool(driver)
    address = take(driver, 64, pool)
    driver.call("cuMemPoolDestroy", pool)
    assert driver.raw("cuMemPoolTrimTo", pool, c_size_t(0)) == INVALID_VALUE
    driver.call("cuMemsetD8_v2", c_uint64(address), 1, c_size_t(64))
    assert of_pointer(driver, address, POOL) == 0
    driver.free(address)


def test_the_pool_of_the_device(driver):
    default, current, pool = c_void_p(), c_void_p(), new_pool(driver)
    driver.call("cuDeviceGetDefaultMemPool", byref(default), 0)
    assert driver.raw("cuMemPoolDestroy", default) == INVALID_VALUE
    driver.call("cuDeviceSetMemPool", 0, pool)
    driver.call("cuDeviceGetMemPool", byref(current), 0)
    assert current.value == pool.value != default.value
    address = take(driver, 64)
    assert of_pointer(driver, address, POOL) == pool.value
    driver.free(address)
    driver.call("cuMemPoolDestroy", pool)
    driver.call("cuMemGetMemPool", byref(current), byref(Location(1, 0)), 1)
    assert current.value == default.value
    assert driver.raw("cuDeviceGetMemPool", byref(current), 1) == INVALID_DEVICE


def test_pools_in_other_places(driver):
    host = new_pool(driver, location=(2, 0))
    address = take(driver, 64, host)
    assert of_pointer(driver, address, MEMORY_TYPE) == ON_HOST
    driver.call("cuMemFreeAsync", c_uint64(address), None)
    assert driver.raw("cuDeviceSetMemPool", 0, host) == INVALID_VALUE
    driver.call("cuMemPoolDestroy", host)
    for properties, code in (
        (Properties(1, 0, Location(1, 1)), INVALID_DEVICE),
        (Properties(1, 1, Location(1, 0)), NOT_SUPPORTED),
        (Properties(3, 0, Location(1, 0)), INVALID_VALUE),
    ):
        assert driver.raw("cuMemPoolCreate", byref(c_void_p()), byref(properties)) == code


def test_what_is_known_of_device_memory(driver):
    address = driver.allocate(100)
    inside = address + 40
    assert of_pointer(driver, inside, CONTEXT) == driver.context.value
    assert of_pointer(driver, inside, MEMORY_TYPE) == ON_DEVICE
    assert of_pointer(driver, inside, DEVICE_POINTER) == inside
    assert of_pointer(driver, inside, MANAGED) == 0
    assert of_pointer(driver, inside, ORDINAL) == 0
    assert (of_pointer(driver, inside, START), of_pointer(driver, inside, SIZE)) == (address, 100)
    value = c_uint64()
    at = byref(value), HOST_POINTER, c_uint64(inside)
    assert driver.raw("cuPointerGetAttribute", *at) == INVALID_VALUE
    before = of_pointer(driver, address, BUFFER_ID)
    driver.free(address)
    assert (
        driver.raw("cuPointerGetAttribute", byref(value), START, c_uint64(inside)) == INVALID_VALUE
    )
    again = driver.allocate(100)
    assert of_pointer(driver, again, BUFFER_ID) != before


def test_what_is_known_of_managed_and_host_memory(driver):
    managed, host = c_uint64(), c_void_p()
    driver.call("cuMemAllocManaged", byref(managed), c_size_t(64), 1)
    driver.call("cuMemAllocHost_v2", byref(host), c_size_t(64))
    assert of_pointer(driver, managed.value, MEMORY_TYPE) == ON_DEVICE
    assert of_pointer(driver, managed.value, MANAGED) == 1
    assert of_pointer(driver, managed.value, HOST_POINTER) == managed.value
    assert of_pointer(driver, host.value, MEMORY_TYPE) == ON_HOST
    driver.call("cuMemAdvise_v2", managed, c_size_t(64), 1, Location(1, 0))
    driver.call("cuMemPrefetchAsync_v2", managed, c_size_t(64), Location(2, 0), 0, None)
    wrong = c_uint64(host.value), c_size_t(64), 1, Location(1, 0)
    assert driver.raw("cuMemAdvise_v2", *wrong) == INVALID_VALUE
    for place, code in ((0, 0), (-1, 0), (9, INVALID_DEVICE)):  # as CUDA had it until 12.1
        assert driver.raw("cuMemAdvise", managed, c_size_t(64), 1, place) == code
        assert driver.raw("cuMemPrefetchAsync", managed, c_size_t(64), place, None) == code
    driver.free(managed.value)
    driver.call("cuMemFreeHost", host)


def test_several_attributes_of_a_pointer_that_nobody_knows(driver):
    kind, ordinal, start = c_uint(9), c_int(9), c_uint64(9)
    places = (c_void_p * 3)(*map(ctypes.addressof, (kind, ordinal, start)))
    wanted = (c_int * 3)(MEMORY_TYPE, ORDINAL, START)
    driver.call("cuCtxPopCurrent_v2", None)
    driver.call("cuPointerGetAttributes", 3, wanted, places, c_uint64(ctypes.addressof(kind)))
    driver.call("cuCtxSetCurrent", driver.context)
    assert (kind.value, ordinal.value, start.value) == (0, -2, 0)
    address = driver.allocate(64)
    driver.call("cuPointerGetAttributes", 3, wanted, places, c_uint64(address))
    assert (kind.value, ordinal.value, start.value) == (ON_DEVICE, 0, address)
    wanted[0] = 5
    three = 3, wanted, places, c_uint64(address)
    assert driver.raw("cuPointerGetAttributes", *three) == INVALID_VALUE


def test_copies_find_out_where_memory_is(driver):
    source, back = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    first, second = driver.allocate(64), driver.allocate(64)
    ways = [(first, source.ctypes.data), (second, first), (back.ctypes.data, second)]
    for to, origin in ways:
        driver.call("cuMemcpyAsync", c_uint64(to), c_uint64(origin), c_size_t(64), None)
    assert (back == source).all()
    past = c_uint64(first + 32), c_uint64(second), c_size_t(64)
    assert driver.raw("cuMemcpy", *past) == INVALID_VALUE
    to, origins = (list(column) for column in zip(*ways))
    back[:] = 0
    stream = c_void_p()
    driver.call("cuStreamCreate", byref(stream), 0)
    batch = (
        (c_uint64 * 3)(*to), (c_uint64 * 3)(*origins), (c_size_t * 3)(64, 64, 64), c_size_t(3),
        None, None, c_size_t(0),
    )  # fmt: skip
    driver.call("cuMemcpyBatchAsync_v2", *batch, stream)
    assert (back == source).all()
    assert driver.raw("cuMemcpyBatchAsync_v2", *batch, None) == INVALID_VALUE
    back[:] = 0
    failed = c_size_t(0)  # which copy, until CUDA 12.9
    driver.call("cuMemcpyBatchAsync", *batch, byref(failed), stream)
    assert (back == source).all() and failed.value == 2**64 - 1
    driver.call("cuStreamDestroy_v2", stream)


def test_a_tensor_map_gets_another_address_wherever_it_lies(driver):
    first, second = driver.allocate(4096), driver.allocate(4096)
    room = ctypes.create_string_buffer(512)
    odd = -(-ctypes.addressof(room) // 64) * 64 + 16
    maps = c_void_p(odd), c_void_p(odd + 128)
    shape = (c_uint64 * 1)(1024), (c_uint64 * 1)(4), (c_uint * 1)(64), (c_uint * 1)(1)
    for target, address in zip(maps, (first, second)):
        driver.call("cuTensorMapEncodeTiled", target, 7, 1, c_uint64(address), *shape, 0, 0, 0, 0)
    before, wanted = (ctypes.string_at(one.value, 128) for one in maps)
    driver.call("cuTensorMapReplaceAddress", maps[0], c_void_p(second))
    assert ctypes.string_at(maps[0].value, 128) == wanted != before
    assert driver.raw("cuTensorMapReplaceAddress", None, c_void_p(second)) == INVALID_VALUE
