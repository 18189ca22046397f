/* What the host's code registers before main(): binaries with kernels, the kernels, the variables.

   A binary is loaded when something of it is first asked for. Libraries are loaded by calls. */
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

typedef struct Symbol Symbol;

typedef struct Binary {
    const void *image;
    struct {
        CUmodule module;
        unsigned context; /* the number of that which it is loaded into; 0: none yet */
    } on[MOST_DEVICES];
    Symbol *managed; /* variables that the host reads through a pointer of its own */
} Binary;

struct Symbol {
    const void *host; /* what the host has as the name of it */
    const char *name;
    Binary *binary;
    Symbol *older, *next_managed;
};

static void *symbols; /* a tree by `host` */
static Symbol *newest;
static Binary **binaries;
static size_t count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int by_host(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const Symbol *)a)->host, y = (uintptr_t)((const Symbol *)b)->host;
    return x < y ? -1 : x > y;
}

static Symbol *new_symbol(Binary *binary, const void *host, const char *name)
{
    Symbol *symbol = calloc(1, sizeof *symbol);
    if (!symbol) return NULL;
    *symbol = (Symbol){.host = host, .name = name, .binary = binary};
    pthread_mutex_lock(&mutex);
    tsearch(symbol, &symbols, by_host);
    symbol->older = newest;
    newest = symbol;
    pthread_mutex_unlock(&mutex);
    return symbol;
}

/* ---- loading, with `mutex` held ---- */

static CUresult load(Binary *binary)
{
    int device = current_device();
    unsigned context = context_number();
    if (binary->on[device].context == context) return CUDA_SUCCESS;
    CUresult result = ready() ?: cuModuleLoadData(&binary->on[device].module, binary->image);
    if (!result) binary->on[device].context = context;
    for (Symbol *s = binary->managed; s && !result; s = s->next_managed) {
        CUdeviceptr address;
        result = cuModuleGetGlobal(&address, NULL, binary->on[device].module, s->name);
        if (!result) *(void **)s->host = (void *)(uintptr_t)address;
    }
    return result;
}

static CUresult find(const void *host, Symbol **out)
{
    Symbol **found = tfind(&(Symbol){.host = host}, &symbols, by_host);
    *out = found ? *found : NULL;
    return found ? load((*found)->binary) : CUDA_ERROR_NOT_FOUND;
}

CUresult function_of(const void *host, CUfunction *out)
{
    Symbol *symbol;
    pthread_mutex_lock(&mutex);
    CUresult result = find(host, &symbol);
    if (!result)
        result =
            cuModuleGetFunction(out, symbol->binary->on[current_device()].module, symbol->name);
    pthread_mutex_unlock(&mutex);
    if (result != CUDA_ERROR_NOT_FOUND) return result;
    const bool is_of_library = !cuKernelGetFunction(out, (CUkernel)host);
    return is_of_library ? CUDA_SUCCESS : (CUresult)cudaErrorInvalidDeviceFunction;
}

CUresult variable_of(const void *host, CUdeviceptr *out, size_t *bytes)
{
    Symbol *symbol;
    pthread_mutex_lock(&mutex);
    CUresult result = find(host, &symbol);
    if (!result)
        result = cuModuleGetGlobal(out, bytes, symbol->binary->on[current_device()].module,
                                   symbol->name);
    pthread_mutex_unlock(&mutex);
    return result == CUDA_ERROR_NOT_FOUND ? (CUresult)cudaErrorInvalidSymbol : result;
}

const void *host_of(CUfunction function)
{
    CUmodule module;
    const char *name;
    if (cuFuncGetModule(&module, function) || cuFuncGetName(&name, function)) return NULL;
    pthread_mutex_lock(&mutex);
    const Symbol *symbol = newest;
    while (symbol &&
           (symbol->binary->on[current_device()].module != module || strcmp(symbol->name, name)))
        symbol = symbol->older;
    pthread_mutex_unlock(&mutex);
    return symbol ? symbol->host : NULL;
}

/* ---- what nvcc writes calls of ---- */

/* What it points to: a magic number, a version, the binary. */
typedef struct {
    int magic, version;
    const void *image, *file;
} Wrapper;

EXPORT void **__cudaRegisterFatBinary(const Wrapper *wrapper)
{
    Binary *binary = calloc(1, sizeof *binary);
    Binary **more = realloc(binaries, (count + 1) * sizeof *binaries);
    if (!binary || !more) abort();
    binary->image = wrapper->image;
    binaries = more;
    binaries[count++] = binary;
    return (void **)binary;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

/* At the end of the process, when Python may be gone: what is loaded goes with it. */
EXPORT void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

EXPORT char __cudaInitModule(void **handle)
{
    pthread_mutex_lock(&mutex);
    CUresult result = load((Binary *)handle);
    pthread_mutex_unlock(&mutex);
    return !told(result);
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int limit, void *tid, void *bid, void *block, void *grid,
                                   int *warp)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    new_symbol((Binary *)handle, host, name);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    new_symbol((Binary *)handle, host, name);
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                     int ext, size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)bytes, (void)constant, (void)global;
    Binary *binary = (Binary *)handle;
    Symbol *symbol = new_symbol(binary, host, name);
    if (!symbol) return;
    symbol->next_managed = binary->managed;
    binary->managed = symbol;
}

/* ---- libraries ---- */

FORWARD(cudaLibraryLoadData, cuLibraryLoadData)
FORWARD(cudaLibraryLoadFromFile, cuLibraryLoadFromFile)
FORWARD(cudaLibraryUnload, cuLibraryUnload)
FORWARD(cudaLibraryGetKernel, cuLibraryGetKernel)
FORWARD(cudaLibraryGetKernelCount, cuLibraryGetKernelCount)
FORWARD(cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels)
FORWARD(cudaLibraryGetGlobal, cuLibraryGetGlobal)
FORWARD(cudaLibraryGetManaged, cuLibraryGetManaged)
FORWARD(cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction)

CUDART cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute,
                                       int value, int device)
{
    return CALL(
        cuKernelSetAttribute((CUfunction_attribute)attribute, value, (CUkernel)kernel, device));
}
