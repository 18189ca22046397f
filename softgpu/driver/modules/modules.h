/* The interface of modules/: modules, their kernels, and the kernels' compiled code. */
#ifndef SOFTGPU_MODULES_H
#define SOFTGPU_MODULES_H

#include "memory/memory.h"
#if SOFTGPU_ROOM < ROOM_MODULES
#error "modules/ is above this room, which may call only rooms below it (driver.h)"
#endif

#define TIERS 2
#define MAX_BUILDS 8 /* builds per kernel: 0 plain, others instrumented */

typedef struct Code {
    Entry entry[TIERS]; /* NULL: not compiled yet */
    uint32_t counter_count;
    uint64_t work; /* of all launches so far: 1 per warp and pass through a loop or the kernel */
} Code;

typedef struct Kernel {
    void *handle; /* created by the first cuModuleGetFunction */
    struct Module *module;
    struct Kernel *next;
    char *name, *shown; /* mangled, as in PTX; demangled, for messages */
    size_t param_bytes;
    char *takes;           /* the parameters' sizes for messages, as in " (8 + 4)", or empty */
    uint32_t (*params)[3]; /* as in KernelFacts */
    uint32_t param_count, param_align;
    uint32_t loop_depth;
    uint64_t loop_constant;
    bool few_turns;
    uint32_t static_shared, dynamic_align, local_bytes, max_threads, ptx_version;
    uint32_t watched_shared;
    uint32_t cluster[3], required[3]; /* as in KernelFacts; 0: not specified */
    bool large_clusters;              /* may have more than PORTABLE_CLUSTER blocks */
    const char **files;
    uint32_t file_count, site_count;
    struct Site *sites;
    Origin *origins;       /* pointer provenance for the sanitizer, or NULL */
    bool follows_pointers; /* loads pointers: it may write memory that no parameter points to */
    bool runs_through;     /* its warps never wait for each other */
    bool has_warpgroups;   /* uses wgmma, whose work is done in the driver */
    Code code[MAX_BUILDS];
    bool attributes_known;
    uint32_t registers, reported_local, reported_const;
    uint32_t max_dynamic_shared;
    int carveout;
    /* set by the legacy launch calls (cuFuncSetBlockShape, cuParamSet...) */
    uint32_t block_shape[3], shared_size;
    size_t param_size;
    char *param_buffer;
} Kernel;

typedef struct Module {
    void *handle;
    Context *owner;
    char *base; /* start of its variables */
    size_t bytes, mapped;
    struct Variable *variables;
    Kernel *kernels;
} Module;

/* Get the kernel's attributes from ptxas, unless they are known. */
CUresult kernel_learn_attributes(Kernel *kernel);
/* Get the code of a build, compiling it on first use; `work`, this launch's, may raise its tier. */
CUresult kernel_compile(Kernel *kernel, uint32_t build, uint64_t work, Entry *entry);
void modules_free_all(Context *owner);
CUAPI cuModuleGetFunctionCount(unsigned *count, CUmodule module);
CUAPI cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);

/* Return the kernel of a function, or of a library kernel in the current context; NULL: *error
   is set. */
Kernel *kernel_of(void *handle, CUresult *error);
#define NEED_KERNEL(name, handle)                                                                  \
    CUresult error_##name;                                                                         \
    Kernel *name = kernel_of(handle, &error_##name);                                               \
    if (!name) return error_##name

#endif
