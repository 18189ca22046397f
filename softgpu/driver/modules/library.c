/* Libraries: modules of no context. One has a module in each context that asks it for something,
   and a kernel of it is that module's in the context that uses it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct Library {
    void *handle;
    char *image;
    size_t bytes;
    pthread_mutex_t loading;
    void **modules; /* one for each context; the first may still be of none */
    size_t count;
    struct LibraryKernel *kernels; /* those that were asked for */
} Library;

typedef struct LibraryKernel {
    struct LibraryKernel *next;
    void *handle;
    Library *library;
    char *name;
} LibraryKernel;

#define NEED_LIBRARY(library, handle)                                                              \
    Library *library = handle_object(LIBRARY, handle);                                             \
    if (!library) return fail(CUDA_ERROR_INVALID_HANDLE, "no such library")
#define NEED_LIBRARY_KERNEL(kernel, handle)                                                        \
    LibraryKernel *kernel = handle_object(LIBRARY_KERNEL, handle);                                 \
    if (!kernel) return fail(CUDA_ERROR_INVALID_HANDLE, "no such kernel")

/* Loads the image once more. */
static CUresult load_into(Library *library, Context *context, Module **out)
{
    void **modules = realloc(library->modules, (library->count + 1) * sizeof *modules);
    if (!modules) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    library->modules = modules;
    CUresult result = module_load(context, library->image, library->bytes, out);
    if (!result) modules[library->count++] = (*out)->handle;
    return result;
}

/* The library's module in a context; NULL: in any. */
static CUresult module_in(Library *library, Context *context, Module **out)
{
    CUresult result = CUDA_SUCCESS;
    *out = NULL;
    pthread_mutex_lock(&library->loading);
    for (size_t i = 0; i < library->count && !*out; i++) {
        Module *module =
            handle_object(MODULE, library->modules[i]); /* NULL: went with its context */
        if (!module || (context && module->owner && module->owner != context)) continue;
        if (context) module->owner = context;
        *out = module;
    }
    if (!*out) result = load_into(library, context, out);
    pthread_mutex_unlock(&library->loading);
    return result;
}

static CUresult module_here(Library *library, Module **out)
{
    NEED_CONTEXT(context);
    return module_in(library, context, out);
}

static void library_free(Library *library)
{
    handle_drop(library->handle);
    for (LibraryKernel *k = library->kernels, *next; k; k = next) {
        next = k->next;
        handle_drop(k->handle);
        free(k->name);
        free(k);
    }
    for (size_t i = 0; i < library->count; i++) module_unload(library->modules[i]);
    pthread_mutex_destroy(&library->loading);
    free(library->modules);
    free(library->image);
    free(library);
}

static CUresult library_new(void **out, char *image, size_t bytes)
{
    Module *module;
    Library *library = image ? calloc(1, sizeof *library) : NULL;
    if (!library) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    library->image = image;
    library->bytes = bytes;
    pthread_mutex_init(&library->loading, NULL);
    CUresult result = load_into(library, NULL, &module);
    if (result) {
        library_free(library);
        return result;
    }
    *out = library->handle = handle_new(LIBRARY, library);
    return CUDA_SUCCESS;
}

CUAPI cuLibraryLoadData(void **out, const void *code, const int *options, void **values,
                        unsigned count, const int *library_options, void **library_values,
                        unsigned library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!code) return fail(CUDA_ERROR_INVALID_VALUE, "no image");
    size_t bytes = module_image_bytes(code);
    char *image = calloc(1, bytes + 1);
    if (image) memcpy(image, code, bytes);
    CUresult result = library_new(out, image, bytes);
    module_tell_log(result, count, options, values);
    return result;
}

CUAPI cuLibraryLoadFromFile(void **out, const char *path, const int *options, void **values,
                            unsigned count, const int *library_options, void **library_values,
                            unsigned library_count)
{
    (void)library_options, (void)library_values, (void)library_count;
    char *image;
    size_t bytes;
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = module_read_file(path, &image, &bytes);
    if (!result) result = library_new(out, image, bytes);
    module_tell_log(result, count, options, values);
    return result;
}

CUAPI cuLibraryUnload(void *handle)
{
    NEED_LIBRARY(library, handle);
    library_free(library);
    return CUDA_SUCCESS;
}

CUAPI cuLibraryGetModule(CUmodule *out, void *handle)
{
    NEED_LIBRARY(library, handle);
    Module *module;
    CUresult result = module_here(library, &module);
    if (!result) *out = module->handle;
    return result;
}

CUAPI cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, void *handle, const char *name)
{
    CUmodule module;
    CUresult result = cuLibraryGetModule(&module, handle);
    return result ? result : cuModuleGetGlobal_v2(address, bytes, module, name);
}

CUAPI cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, void *handle, const char *name)
{
    NEED_LIBRARY(library, handle);
    (void)library, (void)address, (void)bytes;
    return fail(CUDA_ERROR_NOT_FOUND, "the library has no managed variable named '%s'", name);
}

CUAPI cuLibraryGetUnifiedFunction(void **out, void *handle, const char *name)
{
    NEED_LIBRARY(library, handle);
    (void)library, (void)out;
    return fail(CUDA_ERROR_NOT_FOUND, "the library has no unified function named '%s'", name);
}

/* ---- kernels ---- */

/* For what is the same in all contexts. */
static CUresult any_module(Library *library, Module **out)
{
    CUresult none;
    return module_in(library, current_context(&none), out);
}

static CUresult library_kernel(Library *library, const char *name, void **out)
{
    pthread_mutex_lock(&library->loading);
    LibraryKernel *kernel = library->kernels;
    while (kernel && strcmp(kernel->name, name)) kernel = kernel->next;
    if (!kernel && (kernel = calloc(1, sizeof *kernel))) {
        *kernel = (LibraryKernel){library->kernels, NULL, library, strdup(name)};
        kernel->handle = handle_new(LIBRARY_KERNEL, kernel);
        library->kernels = kernel;
    }
    pthread_mutex_unlock(&library->loading);
    if (!kernel) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *out = kernel->handle;
    return CUDA_SUCCESS;
}

CUAPI cuLibraryGetKernel(void **out, void *handle, const char *name)
{
    NEED_LIBRARY(library, handle);
    Module *module;
    Kernel *kernel;
    CUresult result = any_module(library, &module);
    if (!result) result = module_kernel(module, name, &kernel);
    return result ? result : library_kernel(library, name, out);
}

CUAPI cuLibraryGetKernelCount(unsigned *count, void *handle)
{
    NEED_LIBRARY(library, handle);
    Module *module;
    CUresult result = any_module(library, &module);
    return result ? result : cuModuleGetFunctionCount(count, module->handle);
}

CUAPI cuLibraryEnumerateKernels(void **out, unsigned room, void *handle)
{
    NEED_LIBRARY(library, handle);
    Module *module;
    CUresult result = any_module(library, &module);
    for (Kernel *k = result ? NULL : module->kernels; k && room && !result; k = k->next, room--)
        result = library_kernel(library, k->name, out++);
    return result;
}

/* A function, or a library's kernel, which every call takes in its place. */
Kernel *kernel_of(void *handle, CUresult *error)
{
    Kernel *kernel = handle_object(FUNCTION, handle);
    LibraryKernel *named = kernel ? NULL : handle_object(LIBRARY_KERNEL, handle);
    Module *module;
    *error = CUDA_SUCCESS;
    if (!kernel && !named) *error = fail(CUDA_ERROR_INVALID_HANDLE, "no such function");
    if (named && !(*error = module_here(named->library, &module)))
        *error = module_kernel(module, named->name, &kernel);
    return *error ? NULL : kernel;
}

CUAPI cuKernelGetFunction(CUfunction *out, void *handle)
{
    NEED_LIBRARY_KERNEL(named, handle);
    NEED_KERNEL(kernel, named->handle);
    *out = kernel->handle;
    return CUDA_SUCCESS;
}

ANSWERS(cuKernelGetLibrary, (void **out, void *handle), NEED_LIBRARY_KERNEL(kernel, handle),
        *out = kernel->library->handle)

CUAPI cuKernelGetName(const char **out, void *handle)
{
    if (!handle) return fail(CUDA_ERROR_INVALID_VALUE, "no function is given");
    NEED_LIBRARY_KERNEL(kernel, handle);
    *out = kernel->name;
    return CUDA_SUCCESS;
}
