/* Memory and events of other processes, by handles of 64 bytes. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

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
    return fail(CUDA_ERROR_INVALID_HANDLE, "this is no handle of another process's %s (%s)", kind,
                kind == MEMORY_KIND ? "cuIpcGetMemHandle" : "cuIpcGetEventHandle");
}

static void begin(IpcHandle *handle, const char kind[8], int device)
{
    memset(handle, 0, sizeof *handle);
    memcpy(known(handle)->kind, kind, sizeof known(handle)->kind);
    known(handle)->device = device;
}

/* Moves an allocation to where other processes can map it. */
static CUresult share(uint64_t begin, SharedPlace *out)
{
    Allocation *a = &table.at[table_after(begin)];
    *out = (SharedPlace){.at = zones_offset(begin), .bytes = a->end - begin, .id = a->id};
    CUresult result = shared_file(&out->of);
    if (!result && !a->shared) result = shared_begin(out, begin);
    if (result) return result;
    table_share(a);
    written_as_a_whole(a); /* by any process */
    return CUDA_SUCCESS;
}

/* What is open in a context already; NULL: it is not. */
static Allocation *find_import(const Context *owner, const SharedPlace *origin)
{
    for (size_t i = 0; i < table.count; i++) {
        Allocation *a = &table.at[i];
        if (a->kind == IMPORTED_MEMORY && a->owner == owner && a->origin.id == origin->id &&
            a->origin.of.inode == origin->of.inode)
            return a;
    }
    return NULL;
}

/* Maps what another process shares, or what is mapped already. */
static CUresult import(Context *owner, int device, const SharedPlace *origin, uint64_t *address)
{
    Allocation *open = find_import(owner, origin);
    if (open) {
        open->opened++;
        *address = open->begin;
        return CUDA_SUCCESS;
    }
    uint64_t inside = origin->at % HOST_PAGE;
    uint64_t page = zones_place_import(inside + origin->bytes);
    if (!page) return fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
    CUresult result = shared_map(origin, page + inside);
    if (result) return result;
    *address = page + inside;
    if (table_insert((Allocation){.begin = *address,
                                  .end = *address + origin->bytes,
                                  .kind = IMPORTED_MEMORY,
                                  .owner = owner,
                                  .device = device,
                                  .origin = *origin,
                                  .opened = 1}))
        return CUDA_SUCCESS;
    munmap((void *)page, inside + origin->bytes);
    return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

/* As often as it was imported; then it is gone. */
static void close_import(uint64_t begin)
{
    if (!--table.at[table_after(begin)].opened) memory_free(begin);
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
        result = share(address, &known(out)->place);
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
    result = import(context, known(&handle)->device, &known(&handle)->place, out);
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
    if (right) close_import(address);
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
