"""A kernel of PTX under the driver alone: it needs no compiler and no other package."""

import ctypes
from ctypes import byref, c_size_t, c_uint64, c_void_p

import pytest

PTX = b"""
.version 9.0
.target sm_90
.address_size 64
.visible .entry numbers(.param .u64 out)
{
    .reg .b32 %i;
    .reg .b64 %at, %out;
    mov.u32 %i, %tid.x;
    ld.param.u64 %out, [out];
    mad.wide.u32 %at, %i, 4, %out;
    st.global.u32 [%at], %i;
    ret;
}
"""
THREADS = 64


@pytest.mark.softgpu
def test_numbers():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, kernel, out = c_void_p(), c_void_p(), c_void_p(), c_uint64()
    numbers = (ctypes.c_uint32 * THREADS)()
    size = c_size_t(ctypes.sizeof(numbers))
    arguments = (c_void_p * 1)(ctypes.addressof(out))
    for code in (
        cuda.cuInit(0),
        cuda.cuDevicePrimaryCtxRetain(byref(context), 0),
        cuda.cuCtxSetCurrent(context),
        cuda.cuModuleLoadData(byref(module), PTX),
        cuda.cuModuleGetFunction(byref(kernel), module, b"numbers"),
        cuda.cuMemAlloc_v2(byref(out), size),
        cuda.cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 0, None, arguments, None),
        cuda.cuMemcpyDtoH_v2(numbers, out, size),
    ):
        assert code == 0
    assert list(numbers) == list(range(THREADS))
