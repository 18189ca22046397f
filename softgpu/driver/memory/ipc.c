/* Memory and events of other processes, by handles of 64 bytes. */
#include <string.h>
#include <unistd.h>

#include "driver.h"

typedef struct {
    char kind[8];
    int device;
    union {
        SharedPlace place;
        SharedFile of;
    };
} Known;

_Static_assert(sizeof(Known) <= sizeof(IpcHandle), "it fits");
static Known *known(IpcHandle *handle) { return (Known *)handle; }

static const char MEMORY_KIND[8] = "memory", EVENT_KIND[8] = "event";

static CUresult check_kind(IpcHandle *handle, const char kind[8])
{
    if (!memcmp(known(handle)->kind, kind, sizeof known(handle)->kind)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_HANDLE, "this is no handle of another process's %s", kind);
}

static void begin(IpcHandle *handle, const char kind[8], int device)
{
    memset(handle, 0, sizeof *handle);
    memcpy(known(handle)->kind, kind, sizeof known(handle)->kind);
    known(handle)->device = device;
}

/* ---- the driver calls ---- */

CUAPI cuIpcGetMemHandle(IpcHandle *out, CUdeviceptr address)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find(address);
    CUresult result;
    if (!found || found->begin != address || !memory_is_shareable(found))
        result = fail(CUDA_ERROR_INVALID_VALUE,
                      "0x%llx is not the beginning of an allocation by cuMemAlloc",
                      (unsigned long long)address);
    else {
        begin(out, MEMORY_KIND, found->device);
        result = memory_share(address, &known(out)->place);
    }
    driver_unlock();
    return result;
}

CUAPI cuIpcOpenMemHandle_v2(CUdeviceptr *out, IpcHandle handle, unsigned flags)
{
    enum { LAZY_ENABLE_PEER_ACCESS = 1 };
    NEED_CONTEXT(context);
    if (flags != LAZY_ENABLE_PEER_ACCESS)
        return fail(CUDA_ERROR_INVALID_VALUE, "flags must be CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS");
    CUresult result = check_kind(&handle, MEMORY_KIND);
    if (result) return result;
    if (!is_device(known(&handle)->device))
        return fail(CUDA_ERROR_INVALID_DEVICE,
                    "the memory is of device %d: give this process SOFTGPU_DEVICES=%d or more",
                    known(&handle)->device, known(&handle)->device + 1);
    driver_lock();
    result = memory_import(context, known(&handle)->device, &known(&handle)->place, out);
    driver_unlock();
    return result;
}

CUAPI cuIpcCloseMemHandle(CUdeviceptr address)
{
    NEED_CONTEXT(context);
    tasks_wait_all(context->handle);
    driver_lock();
    const Allocation *found = memory_find(address);
    bool right = found && found->begin == address && found->kind == IMPORTED_MEMORY;
    if (right) memory_close(address);
    driver_unlock();
    return right ? CUDA_SUCCESS
                 : fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no open memory of another process",
                        (unsigned long long)address);
}

CUAPI cuIpcGetEventHandle(IpcHandle *out, CUevent event)
{
    NEED_CONTEXT(context);
    CUresult result = event_check_shareable(event);
    if (result) return result;
    begin(out, EVENT_KIND, context->device);
    driver_lock();
    result = shared_file(&known(out)->of);
    driver_unlock();
    return result;
}

/* What was recorded in any process has ended: so such an event needs no more than its owner. */
CUAPI cuIpcOpenEventHandle(CUevent *out, IpcHandle handle)
{
    int descriptor;
    NEED_CONTEXT(context);
    CUresult result = check_kind(&handle, EVENT_KIND);
    if (!result) result = shared_open(&known(&handle)->of, &descriptor);
    if (result) return result;
    close(descriptor);
    return cuEventCreate(out, EVENT_DISABLE_TIMING);
}
