/* The calls of the driver that allocate, free and describe memory. */
#include "internal.h"

static CUresult allocate(size_t bytes, MemoryKind kind, unsigned flags, uint64_t *address)
{
    NEED_CONTEXT(context);
    CUresult result = capture_refuse_unsafe();
    if (result) return result;
    driver_lock();
    result = memory_allocate(context, context->device, bytes, kind, flags, address);
    driver_unlock();
    return result;
}

/* What this context, and the one that has memory at the address, have left to do may need it. */
static void wait_for_users(uint64_t address)
{
    CUresult error;
    const Context *context = current_context(&error);
    if (!context || device_count() == 1) return;
    driver_lock();
    const Allocation *found = memory_find(address);
    void *owner = found && found->owner ? found->owner->handle : NULL;
    driver_unlock();
    tasks_wait_all(context->handle);
    tasks_wait_all(owner);
}

/* Frees what begins at the address if it is of one of two kinds, or from a pool. */
static CUresult release(uint64_t address, MemoryKind kind, MemoryKind other)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find(address);
    bool right = found && found->begin == address &&
                 (found->kind == kind || found->kind == other || found->pool);
    if (right) memory_free(address);
    driver_unlock();
    return right ? CUDA_SUCCESS
                 : fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not the beginning of an allocation",
                        (unsigned long long)address);
}

CUAPI cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{ return allocate(bytes, DEVICE_MEMORY, 0, out); }

CUAPI cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                         unsigned element)
{
    if (element != 4 && element != 8 && element != 16)
        return fail(CUDA_ERROR_INVALID_VALUE, "the element size is 4, 8 or 16 bytes");
    size_t padded = round_up(width, ALLOCATION_ALIGN);
    if (height && padded > SIZE_MAX / 2 / height) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    CUresult result = allocate(padded * height, DEVICE_MEMORY, 0, out);
    if (!result) *pitch = padded;
    return result;
}

CUAPI cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    if (flags != 1 && flags != 2)
        return fail(CUDA_ERROR_INVALID_VALUE, "flags must be attach GLOBAL or HOST");
    return allocate(bytes, MANAGED_MEMORY, flags, out);
}

CUresult memory_release(uint64_t address)
{
    if (!address) return CUDA_SUCCESS;
    return release(address, DEVICE_MEMORY, MANAGED_MEMORY);
}

CUAPI cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = capture_refuse_unsafe();
    if (result) return result;
    wait_for_users(address);
    return memory_release(address);
}

CUAPI cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    NEED_CONTEXT(context);
    if (flags & ~7u) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    if (!bytes) { /* as the hardware's driver does */
        *out = NULL;
        return CUDA_SUCCESS;
    }
    uint64_t address;
    CUresult result = allocate(bytes, HOST_MEMORY, flags | 2, &address);
    if (!result) *out = (void *)address;
    return result;
}

CUAPI cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUAPI cuMemFreeHost(void *pointer)
{
    if (!pointer) return CUDA_SUCCESS;
    CUresult result = capture_refuse_unsafe();
    if (result) return result;
    wait_for_users((uint64_t)pointer);
    return release((uint64_t)pointer, HOST_MEMORY, HOST_MEMORY);
}

CUAPI cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    NEED_CONTEXT(context);
    uint64_t begin = (uint64_t)pointer;
    if (!pointer || !bytes || begin + bytes < begin || flags & ~15u)
        return fail(CUDA_ERROR_INVALID_VALUE, NULL);
    driver_lock();
    CUresult result =
        memory_add_range(context, begin, begin + bytes, REGISTERED_MEMORY, flags | 2, false);
    driver_unlock();
    return result;
}

CUAPI cuMemHostUnregister(void *pointer)
{
    NEED_CONTEXT(context);
    wait_for_users((uint64_t)pointer);
    driver_lock();
    const Allocation *found = memory_find((uint64_t)pointer);
    CUresult result = CUDA_SUCCESS;
    if (!found || found->kind != REGISTERED_MEMORY)
        result = fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, NULL);
    else if (found->begin != (uint64_t)pointer)
        result = fail(CUDA_ERROR_INVALID_VALUE, "not the beginning of the registered memory");
    else memory_remove_range(found->begin);
    driver_unlock();
    return result;
}

/* Copies out the page-locked or registered allocation around a host pointer. */
static CUresult host_allocation(const void *pointer, Allocation *out)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find((uint64_t)pointer);
    bool right = found && (found->kind == HOST_MEMORY || found->kind == REGISTERED_MEMORY);
    if (right) *out = *found;
    driver_unlock();
    return right ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "not page-locked host memory");
}

CUAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer, unsigned flags)
{
    Allocation found;
    (void)flags;
    CUresult result = host_allocation(pointer, &found);
    if (!result) *out = (CUdeviceptr)pointer;
    return result;
}

CUAPI cuMemHostGetFlags(unsigned *out, void *pointer)
{
    Allocation found;
    CUresult result = host_allocation(pointer, &found);
    if (!result) *out = found.flags;
    return result;
}

CUAPI cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find(address);
    if (found && base) *base = found->begin;
    if (found && bytes) *bytes = found->end - found->begin;
    driver_unlock();
    return found ? CUDA_SUCCESS
                 : fail(CUDA_ERROR_NOT_FOUND, "0x%llx is in no allocation",
                        (unsigned long long)address);
}

CUAPI cuMemGetInfo_v2(size_t *free, size_t *total)
{
    NEED_CONTEXT(context);
    Memory machine = machine_memory();
    driver_lock();
    size_t part = machine.total / device_count(), used = budget_held(context->device);
    *free = MIN(budget_free(machine), part > used ? part - used : 0);
    *total = part;
    driver_unlock();
    return CUDA_SUCCESS;
}

CUAPI cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags)
{
    NEED_CONTEXT(context);
    if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    if ((flags != 1 && flags != 2 && flags != 4) || (flags == 4 && !stream))
        return fail(CUDA_ERROR_INVALID_VALUE, "attach flags");
    driver_lock();
    const Allocation *found = memory_find(address);
    bool right = found && found->kind == MANAGED_MEMORY && found->begin == address &&
                 (!bytes || bytes == found->end - found->begin);
    driver_unlock();
    return right ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "not managed memory");
}
