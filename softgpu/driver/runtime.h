/* The contract between compiled kernels, the Python side and the driver. Python reads this text
   (contract.py), so what stands here stands nowhere else; it holds plain declarations only. */
#ifndef SOFTGPU_RUNTIME_H
#define SOFTGPU_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* Of a warp; threads that run blocks; software GPUs. */
enum { LANES = 32, MOST_WORKERS = 256, MOST_DEVICES = 16 };
/* The device, an H200: who needs one of these numbers takes it from here. Memory in bytes. */
enum Device {
    ARCHITECTURE = 90, /* sm_90 */
    MULTIPROCESSORS = 132,
    CLOCK_KHZ = 1980000,
    MEMORY_CLOCK_KHZ = 3201000,
    MEMORY_BUS_BITS = 6016,
    L2_BYTES = 60 << 20,
    /* of a multiprocessor */
    SM_WARPS = 64,
    SM_BLOCKS = 32,
    SM_REGISTERS = 65536,
    SM_SHARED = 228 << 10,
    SM_CACHE = 256 << 10, /* the L1 with the shared memory */
    /* of a block */
    BLOCK_THREADS = 1024,
    BLOCK_SHARED = 48 << 10, /* unless its kernel asks for more */
    BLOCK_MOST_SHARED = 227 << 10,
    BLOCK_SYSTEM_SHARED = 1 << 10, /* beside its own, for libraries */
    KERNEL_PARAMETERS = 32764,
    MOST_CLUSTER = 16, /* blocks; where a kernel allows more than 8 */
    PORTABLE_CLUSTER = 8,
    THREAD_LOCAL = 512 << 10,
    /* what is given out at a time: registers of a warp, warps, shared memory */
    REGISTER_UNIT = 256,
    WARP_UNIT = 4,
    SHARED_UNIT = 128
};

#pragma GCC visibility push(default)

/* An address range, end exclusive. */
typedef struct {
    uint64_t begin, end;
} Range;

/* One warp: what a compiled kernel is called with, `void kernel(Warp *)`. 64-byte aligned. */
typedef struct Warp {
    uint32_t tid[3][LANES]; /* threadIdx.{x,y,z} of each lane */
    uint32_t existing;      /* bit l set: lane l is a thread of the block */
    uint32_t live;          /* lanes that have not returned; kernels clear bits */
    uint32_t warp_id;       /* index in the block */
    uint32_t shared_bytes;  /* static + dynamic shared memory of the block */
    uint32_t ntid[3];
    uint32_t ctaid[3];
    uint32_t nctaid[3];
    uint32_t local_top; /* bytes of local memory in use by the callers */
    char *shared;       /* shared memory of this block, at a multiple of CLUSTER_STEP */
    char *local;        /* lane l's local memory is at local + l * local_stride */
    uint64_t local_stride;
    char *params;            /* kernel parameters at their PTX .param offsets */
    char *module;            /* base of the module's variables */
    volatile int *stop;      /* non-zero: the launch is being abandoned */
    Range *sites;            /* per memory site, the last allocation that it hit */
    uint64_t *counters;      /* instrumented builds only, else NULL */
    char *stack_limit;       /* lowest usable address of this fiber's stack */
    uint32_t dynamic_shared; /* bytes of dynamic shared memory */
    uint32_t static_shared;  /* offset at which the dynamic part starts */
    uint32_t grid_id;
    uint32_t watched;    /* its block is the one that pictures show */
    struct Rows *rows;   /* where it notes accesses, see count/contract.h */
    uint64_t workspace;  /* of a grid that meets as a whole, or 0 */
    uint32_t ahead;      /* it has arrived where others of its block have not: see sg_catch_up */
    uint32_t cluster[3]; /* blocks of a cluster */
    uint32_t window;     /* what addresses of 32 bits in this block's shared memory begin with */
    char
        *cluster_shared; /* shared memory of its block 0; the others' follows, CLUSTER_STEP apart */
    /* Private to the driver from here on. */
    struct Worker *worker; /* the thread that runs this warp's block */
    struct Fiber *fiber;   /* where the warp is suspended */
    void *sp;              /* how far down its stack */
    uint32_t counted_live; /* lanes of this warp counted in the block's live threads */
    uint32_t waiting_mask; /* lanes waiting at a barrier, 0 when not waiting */
    uint32_t waiting_id;   /* which barrier */
    uint32_t waiting_site;
    uint32_t barrier_result;
    uint64_t waiting_word;   /* the mbarrier that it waits for, if waiting_id says so */
    uint64_t arrivals;       /* at barriers, by sg_arrive */
    uint32_t in_cluster;     /* lanes that have arrived at its barrier, and not waited there yet */
    uint64_t cluster_phase;  /* what its phase was then */
    const uint32_t *lengths; /* bytes that each lane loads, see sg_shorten, or NULL */
    uint32_t products, groups; /* of wgmma: begun, committed */
    int32_t more_registers;    /* of each thread, by setmaxnreg */
    uint32_t committed[8];     /* how many products had begun with the latest groups, by turns */
} __attribute__((aligned(64))) Warp;

enum Space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_CLUSTER /* of any block of the cluster; as addresses of 32 bits, see ClusterAddress */
};
/* An address of shared memory of 32 bits: the rank of the block, above the offset. As host addresses,
   the blocks' memories lie a step apart. */
enum ClusterAddress { CLUSTER_RANK_BIT = 24, CLUSTER_STEP = 1 << CLUSTER_RANK_BIT };
enum SiteKind {
    SITE_LOAD,
    SITE_STORE,
    SITE_ATOMIC,
    SITE_RED,
    SITE_BARRIER,
    SITE_SHUFFLE,
    SITE_TRAP,
    SITE_OTHER,
    SITE_TENSOR
};

/* One memory, atomic, barrier, shuffle or trap instruction of a kernel. */
struct Site {
    uint32_t file, line; /* file: index into the kernel's file names */
    uint8_t bytes;       /* of one lane's access, all its elements together */
    uint8_t space;       /* SPACE_... */
    uint8_t kind;        /* SITE_... */
    uint8_t elements;    /* of a vector access (ld.v4: 4), else 1 */
    uint32_t used;       /* the bytes that a load is for, as bits; 0: all */
};

/* What a kernel is compiled for. */
enum Build { BUILD_PLAIN, BUILD_PROFILE, BUILD_SANITIZE, BUILD_RECORD };

/* How machine code is made: soon, or so that it is fast. */
enum Tier { TIER_QUICK, TIER_FULL };

/* ---- what compiled kernels call; mask: active lanes, as bits; arrays: a value per lane ---- */

/* Memory: addr are host addresses. A vector access passes data[component][lane]. */
void sg_load(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, void *data);
void sg_store(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data);

enum Operation { OP_ADD, OP_MIN, OP_MAX, OP_INC, OP_DEC, OP_AND, OP_OR, OP_XOR, OP_EXCH, OP_CAS };
enum Type {
    TY_U32,
    TY_S32,
    TY_U64,
    TY_S64,
    TY_F32,
    TY_F64,
    TY_F16,
    TY_BF16,
    TY_F16X2,
    TY_BF16X2,
    TY_B16,
    TY_B32,
    TY_B64,
    TY_B128
};
/* b only for CAS (a = compare, b = new); out may be NULL. Lanes act in order. */
void sg_atomic(Warp *, uint32_t site, uint32_t op, uint32_t type, const uint64_t *addr,
               uint32_t mask, const void *a, const void *b, void *out);
/* Lets the block use the shared memory that libraries have for themselves; its offset. */
uint32_t sg_reserved_shared(Warp *);
void sg_malloc(Warp *, uint32_t mask, const uint64_t *size, uint64_t *out);
void sg_free(Warp *, uint32_t mask, const uint64_t *pointer);
/* cudaGraphSetConditional (condition.c). */
void sg_set_condition(Warp *, uint32_t site, uint32_t mask, const uint64_t *handles,
                      const uint32_t *values);

/* Barriers. threads = 0: all threads of the block; reduce: 0 none, 1 popc, 2 and, 3 or. */
uint32_t sg_barrier(Warp *, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask,
                    uint32_t reduce, uint32_t predicate);
void sg_barrier_arrive(Warp *, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask);
/* sg_barrier(w, site, 0, 0, mask, 0, 0): __syncthreads(). */
void sg_sync(Warp *, uint32_t site, uint32_t mask);
/* The same in two steps, for kernels that have no other barriers: the warp has come; it waits, if it
   is ahead, for those that have not. */
void sg_arrive(Warp *, uint32_t site, uint32_t mask);
void sg_catch_up(Warp *);

enum Arrival { ARRIVAL_DROPS = 1, ARRIVAL_COMES = 2 };
enum Wait { WAIT_PARITY = 1, WAIT_ONLY_WAY = 2, WAIT_ALONE = 4 };
/* Mbarriers, words in shared memory (mbarrier.c); each of these does what all active lanes ask. */
void sg_mbarrier_init(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                      const uint32_t *arrivals);
void sg_mbarrier_inval(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask);
/* bytes: how many more are to come, or how many have come; state: gets the words from before. */
void sg_mbarrier_update(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                        const uint32_t *arrivals, const uint32_t *bytes, uint32_t how,
                        uint64_t *state);
/* phase: a word from before, or a parity; returns the lanes whose phase is over, as bits. */
uint32_t sg_mbarrier_wait(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                          const uint64_t *phase, uint32_t how);
/* How bulk copies are made; GENERIC: at once, in the generic proxy. Those that reduce:
   REDUCES + OP_... * ITS_OPERATION and, of bytes, TY_... * ITS_TYPE. */
enum BoxHow { BOX_STORES = 1, BOX_IM2COL = 2, BOX_REDUCES = 4, BOX_GENERIC = 8 };
enum BoxShift { BOX_ITS_OPERATION = 16, BOX_ITS_TYPE = 256 };
void sg_copy_bulk(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                  const uint64_t *to, const uint64_t *from, const uint32_t *bytes);
/* tensormap.replace (boxes.c): a field of maps, of dimension `place` where there are several. */
enum MapField {
    MAP_GLOBAL_ADDRESS,
    MAP_RANK,
    MAP_BOX_DIM,
    MAP_GLOBAL_DIM,
    MAP_GLOBAL_STRIDE,
    MAP_ELEMENT_STRIDE,
    MAP_ELEMTYPE,
    MAP_INTERLEAVE_LAYOUT,
    MAP_SWIZZLE_MODE,
    MAP_FILL_MODE
};
void sg_map_replace(Warp *, uint32_t site, uint32_t mask, uint32_t field, uint32_t place,
                    const uint64_t *maps, const uint64_t *values);
/* Faults in a launch without clusters, as on the hardware. */
void sg_from_block_to_block(Warp *, uint32_t site, uint32_t mask);
/* Faults where lanes copy to other blocks, as bits, than their cluster has; all of these. */
uint32_t sg_multicast(Warp *, uint32_t site, uint32_t mask, const uint32_t *blocks);
/* The barrier of a cluster (cluster.c). */
void sg_cluster_arrive(Warp *, uint32_t site, uint32_t mask);
void sg_cluster_wait(Warp *, uint32_t site, uint32_t mask);
/* cp.async.bulk.tensor (boxes.c): at, offsets: `rank` and `rank` - 2 numbers, 32 lanes each; bytes:
   gets how many a box has. */
void sg_copy_boxes(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                   uint32_t how, const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                   const uint64_t *shared, uint32_t *bytes);

/* Textures and surfaces (texels.c), by the handles of their objects. How: the number of dimensions, and
   the channel that is gathered * ITS_CHANNEL. given: the layer, if there are layers, then x, y, z, of 32
   lanes each; floats' bits or whole numbers. out: 4 channels' bits. */
enum TexelHow {
    TEXEL_DIMENSIONS = 3,
    TEXEL_LAYERED = 4,
    TEXEL_WHOLE = 8,
    TEXEL_GATHERS = 16,
    TEXEL_STORES = 32,
    TEXEL_CLAMP = 64,
    TEXEL_ZERO = 128,
    TEXEL_ITS_CHANNEL = 256
};
void sg_texture(Warp *, uint32_t site, uint32_t mask, uint32_t how, const uint64_t *handles,
                const uint32_t *given, uint32_t *out);
/* values: `count` of so many bytes each. */
void sg_surface(Warp *, uint32_t site, uint32_t mask, uint32_t how, uint32_t bytes, uint32_t count,
                const uint64_t *handles, const int32_t *given, uint64_t *values);

/* Between registers in memory, 32 lanes of so many bytes each, and all of these in a row; lanes of a
   mask only, or all. */
void sg_gather(void *row, uint32_t bytes, uint32_t count, ...);
void sg_scatter(const void *row, uint32_t bytes, uint32_t mask, uint32_t count, ...);

/* Loads until sg_cut are of each lane's first so many bytes; then those stay of `bytes`, and the
   others become zero. */
void sg_shorten(Warp *, const uint32_t *lengths);
void sg_cut(Warp *, uint32_t bytes, void *lanes);

/* The first of some blocks of a kernel's function at which lanes wait, or -1; line: of a loop that
   may repeat, or 0. */
int32_t sg_first_waiting(Warp *, const uint32_t *waiting, const uint32_t *blocks, uint32_t count,
                         uint32_t line);

/* Lets the other warps of the block run; line: of a loop that waits, or 0. */
void sg_yield(Warp *, uint32_t line);

/* These five never return, except sg_assert when no lane is active. */
void sg_stop(Warp *, uint32_t line); /* *stop was seen non-zero; line: of a loop, or 0 */
void sg_trap(Warp *, uint32_t site, uint32_t mask);
/* These lanes execute what their member mask does not name. `known`: the mask, if ptxas knows it: then
   a GPU lets all take part, and it is reported once. Else the launch stops. */
void sg_left_out(Warp *, uint32_t site, uint32_t mask, uint32_t known);
void sg_stack_overflow(Warp *, uint32_t site, uint32_t mask);
void sg_assert(Warp *, uint32_t site, uint32_t mask, const uint64_t *message, const uint64_t *file,
               const uint32_t *line, const uint64_t *function);

void sg_printf(Warp *, uint32_t mask, const uint64_t *format, const uint64_t *arguments,
               int32_t *out);
uint64_t sg_clock(Warp *);
uint64_t sg_globaltimer(void);

enum Shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };
/* Warp-wide; mode: SHUFFLE_...; in_range: a bit per lane. */
void sg_shuffle(uint32_t mode, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                uint32_t mask, uint32_t *out, uint32_t *in_range);
void sg_match_any(uint32_t bytes, const void *a, uint32_t mask, uint32_t *out);

/* Tensor cores (tensor.c). Registers of a fragment lie one after the other, 32 lanes each. */
enum MmaType {
    MMA_F16,
    MMA_BF16,
    MMA_TF32,
    MMA_E4M3,
    MMA_E5M2,
    MMA_F32, /* of sums only */
    MMA_BYTES,
    MMA_NIBBLES,
    MMA_BITS
};
enum MmaHow {
    MMA_HALF_C = 1,
    MMA_HALF_D = 2,
    MMA_OTHER_B = 4, /* e4m3 meets e5m2 */
    MMA_SIGNED_A = 8,
    MMA_SIGNED_B = 16,
    MMA_SATURATES = 32,
    MMA_XOR = 64, /* of bits; else and */
    MMA_SPARSE = 128,
    /* of a warpgroup only */
    MMA_GROUP = 256,
    MMA_ACROSS_A = 512, /* neighbours in memory are not along k */
    MMA_ACROSS_B = 1024,
    MMA_MINUS_A = 2048,
    MMA_MINUS_B = 4096
};
void sg_mma(uint32_t type, uint32_t m, uint32_t k, uint32_t how, uint32_t selector,
            const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *metadata,
            uint32_t *d);
/* c += a b, by chains of mma, which take 16 of k at a time; a, b: lines of k elements; c: by columns.
   m, n and k are multiples of 16, 8 and 16. For libraries/cublas. */
void sg_product(uint32_t type, size_t m, size_t n, size_t k, const uint16_t *a, const uint16_t *b,
                float *c);
enum Rounding { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP };
void sg_mma_f64(uint32_t m, uint32_t k, uint32_t rounding, const double *a, const double *b,
                const double *c, double *d);
/* wgmma (warpgroup.c): this warp's 16 rows of 64, all n columns. a: four registers, or NULL for what
   `where_a` describes; adds: lanes whose sums are added to, else replaced; d: n / 8 products'. */
void sg_wgmma(Warp *, uint32_t site, uint32_t type, uint32_t n, uint32_t how, const uint32_t *a,
              const uint64_t *where_a, const uint64_t *where_b, uint32_t adds, uint32_t *d);
/* commit_group and wait_group: a product ends for all warps of the group at once, as on the hardware. */
void sg_wgmma_commit(Warp *);
void sg_wgmma_wait(Warp *, uint32_t site, uint32_t mask, uint32_t groups);
/* setmaxnreg: how many registers a thread has from now on beyond those that its block began with. They
   must be there: a block has no more than it began with. */
void sg_wgmma_registers(Warp *, uint32_t site, uint32_t mask, int32_t more);
/* m8n8k4: four products, one by each 8 lanes; layouts: bit 0: a by columns, bit 1: b by rows. */
void sg_mma_quads(uint32_t layouts, uint32_t how, const uint32_t *a, const uint32_t *b,
                  const uint32_t *c, uint32_t *d);
/* movmatrix: of 8 x 8 halves, two to a lane. */
void sg_transpose(const uint32_t *a, uint32_t *d);

/* The arithmetic over lanes (sg_div_s64, sg_add_rz_f32, sg_ex2_approx_f32, ...) is defined by
   macros in lanes.c, half.c and approx.c. */

/* ---- what the Python side calls ---- */

typedef int (*LoadCallback)(void *module, const char *image, size_t bytes);
typedef int (*KernelCallback)(void *module, const char *kernel);
typedef int (*CompileCallback)(void *module, const char *kernel, uint32_t build, uint32_t tier);
typedef int (*UnloadCallback)(void *module); /* 0 */
/* Calls when it can, which Python cannot while it unwinds an exception; 0, or it will not. */
typedef int (*Later)(UnloadCallback, void *module);
typedef void (*Entry)(Warp *);

/* Callbacks return 0 or a CUresult, after sg_set_error(text). They run without any lock held. One
   that Ctrl-C has ended returns ANSWER_INTERRUPTED: once it is left, `interrupt` is called, as a
   KeyboardInterrupt cannot pass through C. */
enum Answer { ANSWER_INTERRUPTED = -1 };
typedef void (*Interrupt)(void);
void sg_set_interrupt(Interrupt);
/* How a program of `softgpu run` learns what no call answers; by default it does not. */
typedef void (*Teller)(const char *);
void sg_set_teller(Teller);
void sg_set_callbacks(LoadCallback, KernelCallback describe, CompileCallback,
                      KernelCallback attributes, UnloadCallback, Later);
void sg_set_error(const char *text);

int sg_module_create(void *module, size_t bytes); /* room for its variables, zeros */
void sg_module_fill(void *module, size_t offset, const char *content, size_t bytes);
int sg_module_variable(void *module, const char *name, size_t offset, size_t bytes, int constant);
void sg_module_relocate(void *module, size_t offset, size_t target);
/* shown: what its author calls it; the rest is known before its code */
int sg_module_kernel(void *module, const char *name, const char *shown);

/* What a launch needs to know of a kernel. */
typedef struct KernelFacts {
    const char *takes;           /* the parameters' sizes, " (8 + 4)", or empty */
    const uint32_t (*params)[3]; /* of each: offset, size, and size of whole numbers in it, or 0 */
    uint32_t param_count, param_bytes, param_align; /* align: the most that one of them has */
    /* how many loops lie in each other, the largest constant that these compare with, and whether
       the outermost have turns that the whole grid shares, or no more than that constant */
    uint32_t loop_depth;
    uint64_t loop_constant;
    uint32_t few_turns;
    uint32_t static_shared, dynamic_align, local_bytes;
    uint32_t watched_shared; /* what the sanitizer's build has in place of static_shared */
    uint32_t max_threads;    /* as its author promises; 0: a block's most */
    uint32_t cluster[3];     /* blocks of one, which divide a grid */
    uint32_t required[3];    /* a block's threads along x, y, z; 0: the launch's */
    uint32_t ptx_version;    /* the architecture that its PTX is for; 0: it does not say */
    const char **files;
    const struct Site *sites;
    uint32_t file_count, site_count;
    uint32_t follows_pointers; /* it reads addresses from memory, not only from its parameters */
    uint32_t runs_through;     /* its warps never wait for each other */
    uint32_t has_warpgroups;   /* most of its work is the driver's own */
} KernelFacts;

/* What the compiler knows of where a site's addresses come from. */
typedef struct Origin {
    uint64_t params;     /* bit i: from the pointer at byte 8 i of the parameters; 0: unknown */
    uint32_t begin, end; /* from variables in this range of shared memory; end 0: unknown */
    uint32_t updates;    /* a load or store of a place that the same lane both reads and writes */
    uint32_t moves;      /* bit i: what a load reads as component i is only copied elsewhere */
} Origin;
void sg_kernel_set_origins(void *module, const char *name, const Origin *origins, uint32_t count);

void sg_kernel_describe(void *module, const char *name, const KernelFacts *);
void sg_kernel_set_code(void *module, const char *name, uint32_t build, uint32_t tier, void *entry,
                        uint32_t counter_count);
/* How much work a build of a kernel does, in turns of a warp through a loop or the whole, in code
   that is made quickly; after that, and at once where the first launch has more, in full. Returns
   what it was before; 0 at first. */
uint64_t sg_quick_work(uint64_t most);
void sg_kernel_set_attributes(void *module, const char *name, uint32_t registers,
                              uint32_t local_bytes, uint32_t const_bytes, uint32_t max_threads);
/* How many blocks a multiprocessor holds at once; registers: of a thread (occupancy.c). */
uint32_t sg_occupancy(uint32_t threads, uint32_t registers, uint32_t shared);

void sg_options(int threads, int deterministic, double timeout_s);
/* How many devices there are, 1 to MOST_DEVICES; before the first context. */
void sg_devices(int count);
/* Bytes that went over each link since the start or the last call: [from * MOST_DEVICES + to]. */
void sg_link_bytes(uint64_t *out);
/* Of a launch, in seconds of computing by its busiest thread; returns the one before. */
double sg_time_limit(double seconds);
uint64_t sg_stopped_launches(void);
/* Stops what runs after its call has returned, and what would come next. */
void sg_end_launches(void);
void sg_cooperative(int on); /* this thread's launches by cuLaunchKernel, too, are cooperative */
/* This thread's launches run only these blocks, by number, in ascending order; 0: all. The ranges
   stay the caller's. */
void sg_only_blocks(const Range *ranges, uint32_t count);
void sg_block_order(uint64_t seed); /* of this thread's launches: shuffled; 0: by number */
void sg_sparse(int on); /* what this thread allocates costs only the pages that are touched */
int sg_is_sparse(uint64_t address);
void sg_machine_root(const char *folder); /* where this process finds /proc and /sys; "": there */
/* Where a module's variables are. */
char *sg_module_variables(void *module, size_t *bytes);
/* The kernel that this thread last asked an attribute of: at once, as PyCUDA tells no handle. */
const char *sg_asked_about(void **module);

/* What stopped a launch before its end. */
enum FaultKind {
    NO_FAULT,
    FAULT_DEADLOCK,
    FAULT_MBARRIER_ARRIVALS_MISSING,
    FAULT_MBARRIER_BYTES_MISSING,
    FAULT_REGISTERS_MISSING,
    FAULT_TIME_LIMIT,
    FAULT_NO_MEMORY,
    FAULT_TRAP,
    FAULT_NOT_IN_MASK,
    FAULT_STACK_OVERFLOW,
    FAULT_ASSERTION,
    FAULT_MBARRIER_MISALIGNED,
    FAULT_MBARRIER_NOT_SHARED,
    FAULT_MBARRIER_NOT_BEGUN,
    FAULT_MBARRIER_COUNT,
    FAULT_MBARRIER_ARRIVALS,
    FAULT_MBARRIER_PARITY,
    FAULT_BULK_SIZE,
    FAULT_NO_CLUSTERS,
    FAULT_MULTICAST,
    FAULT_MAP_PLACE,
    FAULT_MAP_UNKNOWN,
    FAULT_WINDOW_PLACE,
    FAULT_WINDOW_IMAGE,
    FAULT_BOX_RANK,
    FAULT_BOX_ELEMENT,
    FAULT_BOX_BEFORE_EDGE,
    FAULT_BOX_MISALIGNED,
    FAULT_BOX_BEYOND_SHARED,
    FAULT_BOX_OUTSIDE,
    FAULT_BOX_REDUCTION,
    FAULT_MAP_IN_SHARED,
    FAULT_BOX_OF_NO_ARRAY,
    FAULT_MAP_FIELD_ABSENT,
    FAULT_MAP_VALUE,
    FAULT_MISALIGNED,
    FAULT_NOT_OWN_SHARED,
    FAULT_BEYOND_SHARED,
    FAULT_BEYOND_LOCAL,
    FAULT_BEYOND_ITS_SHARED,
    FAULT_NO_SUCH_BLOCK,
    FAULT_ARRIVED_TWICE,
    FAULT_NOT_ARRIVED,
    FAULT_DESCRIPTOR,
    FAULT_PRODUCT_BEYOND_SHARED,
    FAULT_NOT_FROM_MALLOC,
    FAULT_NO_TEXTURE,
    FAULT_TEXTURE_FREED,
    FAULT_TEXTURE_DIMENSIONS,
    FAULT_SURFACE_MISALIGNED,
    FAULT_SURFACE_OUTSIDE,
    FAULT_BARRIER_NUMBER,
    FAULT_PRINTF_ARGUMENTS,
    FAULT_PRINTF_STRING,
    FAULT_PRINTF_FORMAT,
    FAULT_CONDITION,
    FAULT_OTHER_DEVICE,
    FAULT_CONSTANT,
    FAULT_PARTLY_OUTSIDE,
    FAULT_NOT_IN_HEAP_BLOCK,
    FAULT_OUTSIDE
};
typedef struct Fault {
    uint32_t kind; /* FaultKind */
    uint32_t site; /* of the kernel, or UINT32_MAX */
    uint32_t loop; /* the line of the loop that ran when the time was up, or 0 */
    double limit_s;
    char where[600]; /* "kernel twice, kernel.cu:5" */
    char what[2600]; /* "thread (0,0,0) of block (0,0,0) traps" */
} Fault;
/* What exactly went wrong in this thread's last call that failed. */
const char *sg_error_detail(void);
/* That of the last launch, if it has ended so. */
void sg_last_fault(Fault *);
/* Faults name no addresses, which differ from run to run; returns what was set before. */
int sg_hide_addresses(int on);

/* ---- the profiler (profile.c): what kernels of its build call besides; `count` points at the
   site's counters: count/contract.h; the sanitizer's and the recorder's: watch/contract.h ---- */

#pragma GCC visibility pop

#endif
