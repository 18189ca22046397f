/* Modules: their variables and kernels, which Python reads at load; a kernel's code, which it makes
   when the kernel is asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct Variable {
    struct Variable *next;
    char *name;
    uint64_t begin;
    size_t bytes;
} Variable;

static LoadCallback on_load;
static KernelCallback on_describe, on_attributes;
static CompileCallback on_compile;
static UnloadCallback on_unload;
static Later later;

void sg_set_callbacks(LoadCallback load, KernelCallback describe, CompileCallback compile,
                      KernelCallback attributes, UnloadCallback unload, Later call_later)
{
    on_load = load;
    on_describe = describe;
    on_compile = compile;
    on_attributes = attributes;
    on_unload = unload;
    later = call_later;
}

static Kernel *kernel_named(Module *module, const char *name)
{
    Kernel *kernel = module->kernels;
    while (kernel && strcmp(kernel->name, name)) kernel = kernel->next;
    return kernel;
}

/* What is told of a kernel ends with a word that another thread may be looking for. */
#define TOLD(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELEASE)
#define IS_TOLD(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

/* ---- what Python says about a module while it loads ---- */

int sg_module_create(void *handle, size_t bytes)
{
    Module *module = handle_object(MODULE, handle);
    if (!module || module->base) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    if (!bytes) return CUDA_SUCCESS;
    module->mapped = (bytes + 4095) / 4096 * 4096;
    driver_lock();
    module->base = memory_map(module->mapped);
    CUresult result = module->base ? CUDA_SUCCESS : memory_refuse(bytes);
    driver_unlock();
    if (!result) module->bytes = bytes;
    return result;
}

void sg_module_fill(void *handle, size_t offset, const char *content, size_t bytes)
{
    Module *module = handle_object(MODULE, handle);
    if (!module || offset > module->bytes || bytes > module->bytes - offset) return;
    memcpy(module->base + offset, content, bytes);
}

int sg_module_variable(void *handle, const char *name, size_t offset, size_t bytes, int constant)
{
    Module *module = handle_object(MODULE, handle);
    if (!module) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    if (offset > module->bytes || bytes > module->bytes - offset)
        return fail(CUDA_ERROR_INVALID_VALUE, "variable %s lies outside the image", name);
    Variable *variable = calloc(1, sizeof *variable);
    if (!variable) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    variable->name = strdup(name);
    variable->begin = (uint64_t)module->base + offset;
    variable->bytes = bytes;
    CUresult result = CUDA_SUCCESS;
    if (bytes) {
        driver_lock();
        result = memory_add_range(module->owner, variable->begin, variable->begin + bytes, VARIABLE,
                                  0, constant);
        driver_unlock();
    }
    if (result) {
        free(variable->name);
        free(variable);
        return result;
    }
    variable->next = module->variables;
    module->variables = variable;
    return CUDA_SUCCESS;
}

void sg_module_relocate(void *handle, size_t offset, size_t target)
{
    Module *module = handle_object(MODULE, handle);
    if (!module || module->bytes < 8 || offset > module->bytes - 8) return;
    uint64_t value = (uint64_t)module->base + target;
    memcpy(module->base + offset, &value, 8);
}

char *sg_module_variables(void *handle, size_t *bytes)
{
    Module *module = handle_object(MODULE, handle);
    *bytes = module ? module->bytes : 0;
    return module ? module->base : NULL;
}

static void kernel_free(Kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->file_count; i++) free((char *)kernel->files[i]);
    free(kernel->files);
    free(kernel->sites);
    free(kernel->origins);
    free(kernel->param_buffer);
    free(kernel->takes);
    free(kernel->params);
    free(kernel->name);
    free(kernel->shown);
    free(kernel);
}

int sg_module_kernel(void *handle, const char *name, const char *shown)
{
    Module *module = handle_object(MODULE, handle);
    if (!module) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    Kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    kernel->module = module;
    kernel->name = strdup(name);
    kernel->shown = strdup(shown);
    for (int i = 0; i < 3; i++) kernel->block_shape[i] = 1;
    Kernel **last = &module->kernels; /* in the order of the source */
    while (*last) last = &(*last)->next;
    *last = kernel;
    return CUDA_SUCCESS;
}

/* A copy of an array, which is never NULL but where memory has run out. */
static void *copied(const void *array, uint32_t count, size_t each)
{
    void *copy = calloc(count + 1, each);
    if (copy && count) memcpy(copy, array, count * each);
    return copy;
}

void sg_kernel_describe(void *handle, const char *name, const KernelFacts *facts)
{
    Module *module = handle_object(MODULE, handle);
    Kernel *kernel = module ? kernel_named(module, name) : NULL;
    if (!kernel || kernel->takes) return; /* known already */
    uint32_t most = facts->max_threads;
    kernel->params = copied(facts->params, facts->param_count, sizeof *kernel->params);
    kernel->param_count = facts->param_count;
    kernel->param_align = facts->param_align;
    kernel->param_bytes = facts->param_bytes;
    kernel->loop_depth = facts->loop_depth;
    kernel->loop_constant = facts->loop_constant;
    kernel->few_turns = facts->few_turns;
    kernel->static_shared = facts->static_shared;
    kernel->watched_shared = facts->watched_shared;
    kernel->dynamic_align = MAX(facts->dynamic_align, 1);
    kernel->local_bytes = kernel->reported_local = facts->local_bytes;
    kernel->max_threads = most && most < BLOCK_THREADS ? most : BLOCK_THREADS;
    memcpy(kernel->cluster, facts->cluster, sizeof kernel->cluster);
    memcpy(kernel->required, facts->required, sizeof kernel->required);
    kernel->ptx_version = facts->ptx_version ? facts->ptx_version : ARCHITECTURE;
    kernel->max_dynamic_shared = BLOCK_SHARED - MIN(facts->static_shared, BLOCK_SHARED);
    kernel->carveout = -1;
    kernel->files = copied(facts->files, facts->file_count, sizeof *kernel->files);
    for (uint32_t i = 0; i < facts->file_count; i++) kernel->files[i] = strdup(facts->files[i]);
    kernel->file_count = facts->file_count;
    kernel->sites = copied(facts->sites, facts->site_count, sizeof *kernel->sites);
    kernel->site_count = facts->site_count;
    kernel->follows_pointers = facts->follows_pointers;
    kernel->runs_through = facts->runs_through;
    kernel->has_warpgroups = facts->has_warpgroups;
    TOLD(kernel->takes, strdup(facts->takes));
}

void sg_kernel_set_code(void *handle, const char *name, uint32_t build, uint32_t tier, void *entry,
                        uint32_t counter_count)
{
    Module *module = handle_object(MODULE, handle);
    Kernel *kernel = module ? kernel_named(module, name) : NULL;
    if (!kernel || build >= MAX_BUILDS || tier >= TIERS) return;
    kernel->code[build].counter_count = counter_count;
    TOLD(kernel->code[build].entry[tier], (Entry)entry);
    crash_code(entry, kernel->shown);
}

void sg_kernel_set_origins(void *handle, const char *name, const Origin *origins, uint32_t count)
{
    Module *module = handle_object(MODULE, handle);
    Kernel *kernel = module ? kernel_named(module, name) : NULL;
    if (!kernel || count != kernel->site_count || kernel->origins) return;
    kernel->origins = copied(origins, count, sizeof *origins);
}

void sg_kernel_set_attributes(void *handle, const char *name, uint32_t registers,
                              uint32_t local_bytes, uint32_t const_bytes, uint32_t max_threads)
{
    Module *module = handle_object(MODULE, handle);
    Kernel *kernel = module ? kernel_named(module, name) : NULL;
    if (!kernel) return;
    kernel->registers = registers;
    kernel->reported_local = local_bytes;
    kernel->reported_const = const_bytes;
    if (max_threads && max_threads < kernel->max_threads) kernel->max_threads = max_threads;
    TOLD(kernel->attributes_known, true);
}

/* Has Python tell what it knows of a kernel. */
static CUresult ask(KernelCallback callback, const Kernel *kernel)
{
    if (!callback) return CUDA_SUCCESS;
    clear_detail();
    CUresult result = callback(kernel->module->handle, kernel->name);
    return result ? fail_as_told(result) : CUDA_SUCCESS;
}

static CUresult kernel_describe(const Kernel *kernel)
{ return IS_TOLD(kernel->takes) ? CUDA_SUCCESS : ask(on_describe, kernel); }

static uint64_t quick_work;

uint64_t sg_quick_work(uint64_t most)
{
    uint64_t before = quick_work;
    quick_work = most;
    return before;
}

/* Python may have a build in full that is asked for quickly. */
static Entry made_code(const Code *code, enum Tier tier)
{
    Entry full = IS_TOLD(code->entry[TIER_FULL]);
    return full ? full : IS_TOLD(code->entry[tier]);
}

CUresult kernel_compile(Kernel *kernel, uint32_t build, uint64_t work, Entry *entry)
{
    if (build >= MAX_BUILDS) return fail(CUDA_ERROR_INVALID_VALUE, "there is no build %u", build);
    Code *code = &kernel->code[build];
    uint64_t done = __atomic_add_fetch(&code->work, work, __ATOMIC_RELAXED);
    bool pays = !kernel->has_warpgroups || !quick_work;
    enum Tier tier = pays && done > quick_work ? TIER_FULL : TIER_QUICK;
    if ((*entry = made_code(code, tier))) return CUDA_SUCCESS;
    clear_detail();
    CUresult result =
        on_compile ? on_compile(kernel->module->handle, kernel->name, build, tier) : 0;
    if (result) return fail_as_told(result);
    if (!(*entry = made_code(code, tier)))
        return fail(CUDA_ERROR_INVALID_IMAGE, "kernel %s was not compiled", kernel->shown);
    return CUDA_SUCCESS;
}

CUresult kernel_learn_attributes(Kernel *kernel)
{ return IS_TOLD(kernel->attributes_known) ? CUDA_SUCCESS : ask(on_attributes, kernel); }

/* ---- loading and unloading ---- */

/* The handles go first, then running launches end, then Python may free the code. */
static void module_free(Module *module)
{
    void *handle = module->handle;
    handle_drop(handle);
    for (Kernel *kernel = module->kernels; kernel; kernel = kernel->next)
        handle_drop(kernel->handle);
    driver_lock();
    for (Variable *v = module->variables, *next; v; v = next) {
        next = v->next;
        if (v->bytes) memory_remove_range(v->begin);
        free(v->name);
        free(v);
    }
    driver_unlock();
    if (on_unload && (!later || later(on_unload, handle))) on_unload(handle);
    for (Kernel *kernel = module->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        kernel_free(kernel);
    }
    driver_lock();
    if (module->base) memory_unmap(module->base, module->mapped);
    driver_unlock();
    free(module);
}

static void free_if_owned(void *handle, void *object, void *owner)
{
    (void)handle;
    if (((Module *)object)->owner == owner) module_free(object);
}

void modules_free_all(Context *owner) { handle_each(MODULE, free_if_owned, owner); }

CUresult module_load(Context *owner, const char *image, size_t bytes, Module **out)
{
    if (!on_load)
        return fail(CUDA_ERROR_NOT_SUPPORTED, "nothing that compiles kernels is attached: call "
                                              "softgpu.install() before importing pycuda");
    Module *module = calloc(1, sizeof *module);
    if (!module) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    module->owner = owner;
    module->handle = handle_new(MODULE, module);
    clear_detail();
    CUresult result = on_load(module->handle, image, bytes);
    if (result) {
        module_free(module);
        return fail_as_told(result);
    }
    *out = module;
    return CUDA_SUCCESS;
}

static CUresult load(CUmodule *out, const char *image, size_t bytes)
{
    NEED_CONTEXT(context);
    Module *module;
    CUresult result = module_load(context, image, bytes, &module);
    if (!result) *out = module->handle;
    return result;
}

/* The size of an image in memory, which the API does not tell: a fat binary and an ELF file say it
   themselves, PTX ends with a zero byte. */
size_t module_image_bytes(const void *image)
{
    const unsigned char *p = image;
    uint64_t offset;
    uint16_t head, entry, entries;
    if (!memcmp(p, "\x50\xed\x55\xba", 4)) {
        memcpy(&head, p + 6, 2);
        memcpy(&offset, p + 8, 8);
        return head + offset;
    }
    if (memcmp(p, "\177ELF", 4)) return strlen(image);
    memcpy(&offset, p + 0x28, 8);
    memcpy(&entry, p + 0x3a, 2);
    memcpy(&entries, p + 0x3c, 2);
    return MAX(offset + (size_t)entry * entries, 64); /* the head alone has so many */
}

CUAPI cuModuleLoadData(CUmodule *out, const void *image)
{
    if (!image) return fail(CUDA_ERROR_INVALID_VALUE, "no image");
    return load(out, image, module_image_bytes(image));
}

CUAPI cuModuleLoadFatBinary(CUmodule *out, const void *image)
{ return cuModuleLoadData(out, image); }

/* Options are pairs; those with log buffers get the words of an error. */
void module_tell_log(CUresult result, unsigned count, const int *options, void **values)
{
    enum { INFO_LOG_BYTES = 4, ERROR_LOG = 5, ERROR_LOG_BYTES = 6 };
    const char *words = result ? sg_error_detail() : "";
    char *buffer = NULL;
    for (unsigned i = 0; i < count; i++)
        if (options[i] == ERROR_LOG) buffer = values[i];
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == INFO_LOG_BYTES) values[i] = 0;
        if (options[i] != ERROR_LOG_BYTES) continue;
        size_t room = (size_t)values[i], length = strlen(words);
        if (length + 1 > room) length = room ? room - 1 : 0;
        if (buffer && room) {
            memcpy(buffer, words, length);
            buffer[length] = 0;
            if (length) clear_detail(); /* told once is enough */
        }
        values[i] = (void *)length;
    }
}

CUAPI cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, const int *options,
                         void **values)
{
    CUresult result = cuModuleLoadData(out, image);
    module_tell_log(result, count, options, values);
    return result;
}

CUresult module_read_file(const char *path, char **out, size_t *out_bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) return fail(CUDA_ERROR_FILE_NOT_FOUND, "%s", path);
    char *image = NULL;
    size_t bytes = 0, room = 0, got;
    do {
        room = room ? 2 * room : 65536;
        char *moved = realloc(image, room + 1);
        if (!moved) break;
        image = moved;
        got = fread(image + bytes, 1, room - bytes, file);
        bytes += got;
    } while (bytes == room);
    fclose(file);
    if (!image) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    image[bytes] = 0;
    *out = image;
    *out_bytes = bytes;
    return CUDA_SUCCESS;
}

CUAPI cuModuleLoad(CUmodule *out, const char *path)
{
    char *image;
    size_t bytes;
    CUresult result = module_read_file(path, &image, &bytes);
    if (result) return result;
    result = load(out, image, bytes);
    free(image);
    return result;
}

CUAPI cuModuleGetLoadingMode(int *mode)
{
    enum { EAGER = 1, LAZY };
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    *mode = LAZY;
    return CUDA_SUCCESS;
}

void module_unload(void *handle)
{
    Module *module = handle_object(MODULE, handle);
    if (!module) return;
    if (module->owner) tasks_wait_all(module->owner->handle);
    module_free(module);
}

CUAPI cuModuleUnload(CUmodule handle)
{
    NEED_CONTEXT(context);
    if (!handle_object(MODULE, handle)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    module_unload(handle);
    return CUDA_SUCCESS;
}

/* ---- functions and variables ---- */

static CUresult no_kernel(const Module *module, const char *name)
{
    char text[1500] = "none", start[300];
    size_t at = 0;
    snprintf(start, sizeof start, "_Z%zu%s", strlen(name), name);
    for (const Kernel *kernel = module->kernels; kernel; kernel = kernel->next) {
        bool named = !strncmp(kernel->name, start, strlen(start));
        bool template = named && kernel->name[strlen(start)] == 'I'; /* it cannot be extern "C" */
        if (named && !template)
            return fail(CUDA_ERROR_NOT_FOUND,
                        "the module has no kernel named '%s', only %s: declare it extern \"C\"",
                        name, kernel->name);
        if (at < sizeof text)
            at += snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "", kernel->name);
    }
    return fail(CUDA_ERROR_NOT_FOUND, "the module has no kernel named '%s'; it has %s", name, text);
}

CUresult module_kernel(Module *module, const char *name, Kernel **out)
{
    Kernel *kernel = kernel_named(module, name);
    if (!kernel) return no_kernel(module, name);
    CUresult result = kernel_describe(kernel);
    if (result) return result;
    if (!kernel->handle) kernel->handle = handle_new(FUNCTION, kernel);
    *out = kernel;
    return CUDA_SUCCESS;
}

CUAPI cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
    NEED_CONTEXT(context);
    Module *module = handle_object(MODULE, handle);
    if (!module) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    Kernel *kernel;
    CUresult result = module_kernel(module, name, &kernel);
    if (!result) *out = kernel->handle;
    return result;
}

CUAPI cuModuleGetFunctionCount(unsigned *count, CUmodule handle)
{
    Module *module = handle_object(MODULE, handle);
    if (!module) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    *count = 0;
    for (const Kernel *k = module->kernels; k; k = k->next) ++*count;
    return CUDA_SUCCESS;
}

CUAPI cuModuleEnumerateFunctions(CUfunction *out, unsigned room, CUmodule handle)
{
    Module *module = handle_object(MODULE, handle);
    if (!module) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    CUresult result = CUDA_SUCCESS;
    for (Kernel *k = module->kernels; k && room && !result; k = k->next, room--)
        result = cuModuleGetFunction(out++, handle, k->name);
    return result;
}

CUAPI cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name)
{
    NEED_CONTEXT(context);
    Module *module = handle_object(MODULE, handle);
    if (!module) return fail(CUDA_ERROR_INVALID_HANDLE, "no such module");
    for (Variable *v = module->variables; v; v = v->next) {
        if (strcmp(v->name, name)) continue;
        if (address) *address = v->begin;
        if (bytes) *bytes = v->bytes;
        return CUDA_SUCCESS;
    }
    return fail(CUDA_ERROR_NOT_FOUND, "the module has no variable named '%s'", name);
}

CUAPI cuModuleGetTexRef(void **out, CUmodule module, const char *name)
{
    (void)out, (void)module;
    return fail(CUDA_ERROR_NOT_FOUND, "'%s': texture references do not exist since CUDA 12", name);
}

CUAPI cuModuleGetSurfRef(void **out, CUmodule module, const char *name)
{
    (void)out, (void)module;
    return fail(CUDA_ERROR_NOT_FOUND, "'%s': surface references do not exist since CUDA 12", name);
}
