/* Launches: what is asked for is checked as the hardware's driver does, then run to its end. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define OLD_PARAM_BYTES 4096 /* through cuParamSet... */
#define UNBOUNDED (1ull << 62)

/* What is asked for besides the arguments. */
typedef struct {
    const uint32_t *grid, *block;
    uint32_t shared;
    CUstream stream;
    Together together;
    const StreamPlace *place; /* of a launch that is a graph's; NULL: the stream's */
} Shape;

static uint32_t cluster_along(const Kernel *kernel, const Shape *shape, int axis)
{
    return shape->together.cluster[axis] ? shape->together.cluster[axis]
                                         : MAX(kernel->cluster[axis], 1);
}

static CUresult check_cluster(const Kernel *kernel, const Shape *shape)
{
    const uint32_t most = kernel->large_clusters ? MOST_CLUSTER : PORTABLE_CLUSTER;
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t along = cluster_along(kernel, shape, i), grid = shape->grid[i];
        blocks *= along;
        if (kernel->cluster[i] > 1 && along != kernel->cluster[i])
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s was compiled for clusters of %u blocks along %c, not %u",
                        kernel->shown, kernel->cluster[i], "xyz"[i], along);
        if (grid % along)
            return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                        "kernel %s: the grid has %u blocks along %c; its clusters of %u must "
                        "divide them",
                        kernel->shown, grid, "xyz"[i], along);
    }
    if (blocks <= most) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                "kernel %s: clusters of %llu blocks; at most %u are possible%s", kernel->shown,
                (unsigned long long)blocks, most,
                most < MOST_CLUSTER ? ", 16 with NON_PORTABLE_CLUSTER_SIZE_ALLOWED" : "");
}

static CUresult check(const Kernel *kernel, const Shape *shape)
{
    const uint32_t *grid = shape->grid, *block = shape->block, shared = shape->shared;
    static const uint32_t most_blocks[3] = {2147483647, 65535, 65535};
    static const uint32_t most_threads[3] = {BLOCK_THREADS, BLOCK_THREADS, 64};
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    const char *name = kernel->shown;
    for (int i = 0; i < 3; i++) {
        if (!grid[i] || grid[i] > most_blocks[i])
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: the grid has %u blocks along %c; "
                        "1 to %u are possible",
                        name, grid[i], "xyz"[i], most_blocks[i]);
        if (!block[i] || block[i] > most_threads[i])
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "kernel %s: the block has %u threads along %c; "
                        "1 to %u are possible",
                        name, block[i], "xyz"[i], most_threads[i]);
    }
    if (threads > BLOCK_THREADS)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "kernel %s: the block has %u x %u x %u = %llu "
                    "threads; at most %d are possible",
                    name, block[0], block[1], block[2], (unsigned long long)threads, BLOCK_THREADS);
    if (threads > kernel->max_threads)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "kernel %s was compiled for at most %u threads a "
                    "block; the block has %llu",
                    name, kernel->max_threads, (unsigned long long)threads);
    if (shared > kernel->max_dynamic_shared || shared + kernel->static_shared > BLOCK_MOST_SHARED)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "kernel %s: %u bytes of dynamic shared memory asked "
                    "for; %u are allowed beside its %u static ones (up to %u after "
                    "MAX_DYNAMIC_SHARED_SIZE_BYTES is set)",
                    name, shared, kernel->max_dynamic_shared, kernel->static_shared,
                    BLOCK_MOST_SHARED - kernel->static_shared);
    return check_cluster(kernel, shape);
}

/* Local memory of neighbouring lanes lies an odd number of cache lines apart, so that 32 lanes
   do not fall onto the same few cache sets. */
static uint64_t local_stride(uint32_t bytes)
{
    if (!bytes) return 0;
    uint64_t lines = (bytes + 63) / 64;
    return (lines | 1) * 64;
}

_Thread_local const Instrument *instrument;
const Instrument *instrument_of_all;
static uint64_t stopped_launches; /* by a fault, the time limit or Ctrl-C, before their end */

uint64_t sg_stopped_launches(void) { return stopped_launches; }

/* What a grid that meets as a whole finds through %envreg1 and %envreg2. */
typedef struct {
    uint32_t bytes, barrier, unused[2];
} __attribute__((aligned(16))) Workspace;

/* How many blocks can be there at once. Without a cooperative launch, registers do not count:
   ptxas would have to be asked. */
static CUresult count_resident(Kernel *kernel, Job *job)
{
    CUresult result = job->cooperative ? kernel_learn_attributes(kernel) : CUDA_SUCCESS;
    if (result) return result;
    uint32_t shared = job->static_shared + job->dynamic_shared;
    uint32_t each = sg_occupancy(job->threads, job->cooperative ? kernel->registers : 0, shared);
    job->resident = MULTIPROCESSORS * each;
    if (!job->cooperative || job->blocks <= job->resident) return CUDA_SUCCESS;
    return fail(
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        "kernel %s: %llu blocks of %u threads; %u of these are there at once, %u on each of "
        "%u multiprocessors",
        kernel->shown, (unsigned long long)job->blocks, job->threads, job->resident, each,
        MULTIPROCESSORS);
}

/* A launch that the sanitizer does not see may write all that it can reach. */
static void count_as_written(const Kernel *kernel, const char *params)
{
    if (kernel->follows_pointers) written_everywhere();
    for (size_t at = 0; at + 8 <= kernel->param_bytes; at += 8) {
        uint64_t pointer;
        memcpy(&pointer, params + at, 8);
        written_as_a_whole(memory_find(pointer));
    }
}

static _Thread_local bool all_cooperative;

void sg_cooperative(int on) { all_cooperative = on; }

static CUresult check_arguments(const Kernel *kernel, size_t bytes)
{
    if (bytes < kernel->param_bytes || kernel->param_bytes > KERNEL_PARAMETERS)
        return fail(CUDA_ERROR_INVALID_VALUE, "kernel %s takes %zu bytes of arguments%s, not %zu",
                    kernel->shown, kernel->param_bytes, kernel->takes, bytes);
    if (bytes > kernel->param_bytes)
        return fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                    "kernel %s takes %zu bytes of arguments%s, not %zu: a NumPy array, np.int64 or "
                    "one argument too many? Arrays go through gpuarray.to_gpu",
                    kernel->shown, kernel->param_bytes, kernel->takes, bytes);
    return CUDA_SUCCESS;
}

static void set_job(Job *job, const Kernel *kernel, const Shape *shape)
{
    uint32_t align = kernel->dynamic_align;
    memset(job, 0, offsetof(Job, fault_text) + 1);
    job->kernel = kernel;
    memcpy(job->grid, shape->grid, sizeof job->grid);
    memcpy(job->block, shape->block, sizeof job->block);
    for (int i = 0; i < 3; i++) job->cluster[i] = cluster_along(kernel, shape, i);
    job->has_clusters = kernel->cluster[0] || shape->together.cluster[0];
    job->cluster_blocks = job->cluster[0] * job->cluster[1] * job->cluster[2];
    job->threads = job->block[0] * job->block[1] * job->block[2];
    job->warps = (job->threads + LANES - 1) / LANES;
    job->static_shared = (kernel->static_shared + align - 1) / align * align;
    job->dynamic_shared = shape->shared;
    job->local_stride = local_stride(kernel->local_bytes);
    job->blocks = (uint64_t)job->grid[0] * job->grid[1] * job->grid[2];
    job->cooperative = shape->together.cooperative || all_cooperative;
}

/* The largest whole number among the arguments of a launch; neither negative ones nor pointers. */
static uint64_t largest_argument(const Kernel *kernel, const char *params)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        uint32_t offset = kernel->params[i][0], bytes = kernel->params[i][1];
        uint32_t unit = kernel->params[i][2];
        for (uint32_t at = 0; unit && at + unit <= bytes; at += unit) {
            uint64_t number = 0;
            memcpy(&number, params + offset + at, unit);
            if (number <= INT32_MAX) largest = MAX(largest, number);
        }
    }
    return largest;
}

/* What a launch has to do, in turns of a warp through a loop or the whole, as far as that can be
   told before: a loop goes round as often as the largest constant or argument says, which for some
   all warps of the grid do together. */
static uint64_t work_of(const Kernel *kernel, const Job *job)
{
    double work = (double)job->blocks * job->warps;
    double constant = MAX(kernel->loop_constant, 1);
    double largest = kernel->loop_depth ? largest_argument(kernel, job->params) : 0;
    double outer = largest;
    double warps = (double)job->grid[0] * job->grid[1] * job->grid[2] * job->warps;
    if (kernel->few_turns) outer /= warps;
    for (uint32_t i = 0; i < kernel->loop_depth; i++) work *= MAX(constant, i ? largest : outer);
    return work < UNBOUNDED ? work : UNBOUNDED;
}

enum { USUAL_ALIGN = 16 /* of parameters; where they begin, they have no more than that */ };
/* Padded, so that a wide load of the last parameter stays inside. Where they begin, 16 bytes are past
   a multiple of 64, as on the hardware, unless one of them needs more. */
enum { PADDING = 64, PARAMETER_ROOM = KERNEL_PARAMETERS + 2 * PADDING, ROOM_ALIGN = 128 };

typedef struct {
    char room[PARAMETER_ROOM] __attribute__((aligned(ROOM_ALIGN)));
    Kernel *kernel;
    const Instrument *tool;
    Workspace workspace;
    Job job;
} Launch;

static CUresult prepare(Launch *launch, Kernel *kernel, const Shape *shape, const void *params,
                        size_t param_bytes)
{
    Job *job = &launch->job;
    launch->kernel = kernel;
    launch->tool = instrument ? instrument : instrument_of_all;
    uint32_t build = launch->tool ? launch->tool->build : BUILD_PLAIN;
    set_job(job, kernel, shape);
    job->params = launch->room + (kernel->param_align > USUAL_ALIGN ? 0 : USUAL_ALIGN);
    memcpy(job->params, params, param_bytes);
    memset(job->params + param_bytes, 0, PADDING);
    CUresult result = dealing_begin(job);
    if (!result) result = kernel_compile(kernel, build, work_of(kernel, job), &job->entry);
    job->counter_count = kernel->code[build].counter_count;
    return result ? result : count_resident(kernel, job);
}

/* With the lock. */
static void begin(Launch *launch)
{
    static uint32_t grid_id;
    Job *job = &launch->job;
    const Instrument *tool = launch->tool;
    if (job->cooperative) {
        launch->workspace = (Workspace){.bytes = sizeof launch->workspace};
        job->workspace = (uint64_t)&launch->workspace;
        memory_add_range(launch->kernel->module->owner, job->workspace,
                         job->workspace + sizeof launch->workspace, VARIABLE, 0, false);
    }
    job->grid_id = ++grid_id;
    if (!tool || (tool->build != BUILD_SANITIZE && tool != instrument))
        count_as_written(launch->kernel, job->params);
}

static void end(Launch *launch, CUresult result)
{
    if (launch->job.cooperative) memory_remove_range(launch->job.workspace);
    printf_flush();
    stopped_launches += launch->job.interrupted || result;
}

static CUresult tell(const Job *job, CUresult result)
{
    if (job->interrupted) return CUDA_SUCCESS; /* Python raises KeyboardInterrupt */
    if (result == CUDA_ERROR_LAUNCH_TIMEOUT && job->stopped_at)
        return fail(result, "%s; it was in a loop at line %u%s", job->fault_text, job->stopped_at,
                    job->others);
    return result ? fail(result, "%s%s", job->fault_text, job->others) : result;
}

/* Nothing else happens meanwhile. */
static CUresult run_alone(Launch *launch)
{
    const Instrument *tool = launch->tool;
    driver_lock();
    begin(launch);
    CUresult result = tool ? tool->begin(&launch->job) : CUDA_SUCCESS;
    if (!result) {
        result = workers_run(&launch->job);
        if (tool) tool->end(&launch->job);
    }
    end(launch, result);
    driver_unlock();
    result = tell(&launch->job, result);
    return tool && tool->report && !launch->job.interrupted ? tool->report(result) : result;
}

/* Other devices' launches go on, and the host may do something else. */
static CUresult run_beside(void *data)
{
    Launch *launch = data;
    void (*const lock)(void) = launch->job.cooperative ? driver_lock : driver_lock_beside;
    launch->job.task = task_running();
    lock();
    begin(launch);
    driver_unlock();
    CUresult result = workers_run(&launch->job);
    lock();
    end(launch, result);
    driver_unlock();
    return tell(&launch->job, result);
}

static StreamPlace place_of(const Shape *shape)
{ return shape->place ? *shape->place : stream_place(shape->stream); }

/* Once its stream has nothing left to do. */
static CUresult launch_alone(Kernel *kernel, const Shape *shape, const void *params,
                             size_t param_bytes)
{
    Launch launch;
    CUresult result = prepare(&launch, kernel, shape, params, param_bytes);
    if (result) return result;
    if (device_count() > 1) {
        const StreamPlace place = place_of(shape);
        tasks_wait(&place);
    }
    return run_alone(&launch);
}

static CUresult launch(Kernel *kernel, const Shape *shape, const void *params, size_t param_bytes)
{
    CUresult result = check(kernel, shape);
    if (!result) result = check_arguments(kernel, param_bytes);
    if (result) return result;
    if (device_count() == 1 || instrument || instrument_of_all || dealing_is_asked_for())
        return launch_alone(kernel, shape, params, param_bytes);
    const StreamPlace place = place_of(shape);
    result = tasks_error(place.device);
    Launch *later = result ? NULL : aligned_alloc(ROOM_ALIGN, sizeof *later);
    if (!later) return result ? result : fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    result = prepare(later, kernel, shape, params, param_bytes);
    if (result) {
        free(later);
        return result;
    }
    return tasks_before(&place) ? tasks_add(&place, NULL, run_beside, later)
                                : tasks_attend(&place, run_beside, later);
}

/* Arguments given one by one, as the kernel takes them: packed. */
static CUresult pack(const Kernel *kernel, void *const *params, char *packed)
{
    if (kernel->param_bytes > KERNEL_PARAMETERS || (kernel->param_bytes && !kernel->params))
        return fail(CUDA_ERROR_INVALID_VALUE, "kernel %s: no arguments", kernel->shown);
    memset(packed, 0, kernel->param_bytes);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        memcpy(packed + kernel->params[i][0], params[i], kernel->params[i][1]);
    return CUDA_SUCCESS;
}

enum { END_OF_OPTIONS, BUFFER_POINTER, BUFFER_SIZE }; /* CU_LAUNCH_PARAM_... */

/* Arguments given one by one or, as `extra` says, packed: where they lie packed, and how many bytes. */
static CUresult gather(const Kernel *kernel, void **params, void **extra, char *packed,
                       const void **out, size_t *size)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    if (!params && kernel->param_align > USUAL_ALIGN)
        return fail(
            CUDA_ERROR_INVALID_VALUE,
            "kernel %s has a parameter at a multiple of %u bytes, and its arguments come in "
            "one buffer, as PyCUDA packs them: a GPU would look for them elsewhere. Pass a "
            "tensor map as in helpers.tensormap",
            kernel->shown, kernel->param_align);
    if (params) {
        CUresult result = pack(kernel, params, packed);
        if (result) return result;
        buffer = packed;
        bytes = kernel->param_bytes;
    }
    for (; !params && extra && *extra != (void *)END_OF_OPTIONS; extra += 2) {
        if (*extra == (void *)BUFFER_POINTER) buffer = extra[1];
        else if (*extra == (void *)BUFFER_SIZE) bytes = *(const size_t *)extra[1];
        else return fail(CUDA_ERROR_INVALID_VALUE, "unknown launch option");
    }
    *out = buffer ? buffer : "";
    *size = buffer ? bytes : 0;
    return CUDA_SUCCESS;
}

/* Whether a kernel may be launched in the current context on a stream; says so if not. */
static CUresult check_device(const Kernel *kernel, CUstream stream)
{
    NEED_CONTEXT(context);
    if (kernel->module->owner->device != context->device)
        return fail(CUDA_ERROR_INVALID_HANDLE,
                    "kernel %s was loaded on device %d, the current context is of device %d",
                    kernel->shown, kernel->module->owner->device, context->device);
    return stream_on_device(stream, context);
}

static CUresult launch_now(CUfunction function, const Shape *shape, void **params, void **extra)
{
    NEED_CONTEXT(context);
    NEED_KERNEL(kernel, function);
    char packed[KERNEL_PARAMETERS];
    const void *buffer;
    size_t bytes;
    CUresult result = check_device(kernel, shape->stream);
    if (!result) result = gather(kernel, params, extra, packed, &buffer, &bytes);
    return result ? result : launch(kernel, shape, buffer, bytes);
}

CUresult launch_prepare(const KernelNode *node, NodeArguments **out)
{
    *out = NULL;
    NEED_CONTEXT(context);
    NEED_KERNEL(kernel, node->function ? node->function : node->kernel);
    char packed[KERNEL_PARAMETERS];
    const void *buffer;
    size_t bytes;
    CUresult result = check(kernel, &(Shape){node->grid, node->block, node->shared});
    if (!result) result = gather(kernel, node->params, node->extra, packed, &buffer, &bytes);
    if (!result) result = check_arguments(kernel, bytes);
    if (result || !kernel->param_count) return result;
    size_t head = sizeof(NodeArguments) + kernel->param_count * sizeof(void *);
    NodeArguments *arguments = malloc(head + bytes);
    if (!arguments) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *arguments = (NodeArguments){head + bytes, kernel->param_count};
    memcpy((char *)arguments + head, buffer, bytes);
    for (uint32_t i = 0; i < kernel->param_count; i++)
        arguments->pointers[i] = (char *)arguments + head + kernel->params[i][0];
    *out = arguments;
    return CUDA_SUCCESS;
}

void launch_bind(Node *node)
{
    if (node->params.type != NODE_KERNEL) return;
    const Kernel *kernel = handle_object(FUNCTION, node->params.kernel.function);
    if (kernel) node->context = kernel->module->owner->handle;
}

static CUresult launch_captured(CUfunction function, const Shape *shape, void **params,
                                void **extra)
{
    NodeParams node = {.type = NODE_KERNEL};
    node.kernel = (KernelNode){.function = function,
                               .shared = shape->shared,
                               .params = params,
                               .extra = extra,
                               .context = current_handle()};
    memcpy(node.kernel.grid, shape->grid, sizeof node.kernel.grid);
    memcpy(node.kernel.block, shape->block, sizeof node.kernel.block);
    NodeArguments *arguments;
    Node *made;
    NEED_KERNEL(kernel, function);
    CUresult result = check_device(kernel, shape->stream);
    if (!result) result = launch_prepare(&node.kernel, &arguments);
    if (!result) result = capture_node(shape->stream, &node, arguments, &made);
    if (result) return result;
    made->together = shape->together;
    launch_bind(made);
    return CUDA_SUCCESS;
}

static CUresult launch_with(CUfunction function, const Shape *shape, void **params, void **extra)
{
    bool captured;
    CUresult result = stream_begin(shape->stream, &captured);
    if (result) return result;
    return (captured ? launch_captured : launch_now)(function, shape, params, extra);
}

CUresult launch_node(const Node *node, const StreamPlace *place)
{
    const KernelNode *kernel = &node->params.kernel;
    const Shape shape = {kernel->grid, kernel->block, kernel->shared, NULL, node->together, place};
    return launch_now(kernel->function ? kernel->function : kernel->kernel, &shape, kernel->params,
                      NULL);
}

CUAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                     CUstream stream, void **params, void **extra)
{
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    return launch_with(function, &(Shape){grid, block, shared, stream}, params, extra);
}

/* All blocks are there at once, and may wait for each other. */
CUAPI cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                unsigned grid_z, unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared, CUstream stream, void **params)
{
    const uint32_t grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    return launch_with(function, &(Shape){grid, block, shared, stream, {.cooperative = true}},
                       params, NULL);
}

static CUresult heed(const LaunchAttribute *attribute, Shape *shape)
{
    switch (attribute->id) {
    case LAUNCH_COOPERATIVE: shape->together.cooperative = attribute->on; return CUDA_SUCCESS;
    case LAUNCH_CLUSTER:
        for (int i = 0; i < 3; i++) {
            shape->together.cluster[i] = attribute->dimension[i];
            if (!shape->together.cluster[i])
                return fail(CUDA_ERROR_INVALID_VALUE, "clusters of 0 blocks along %c", "xyz"[i]);
        }
        return CUDA_SUCCESS;
    case LAUNCH_DEVICE_UPDATABLE:
        return fail(CUDA_ERROR_INVALID_VALUE, "launch attribute %d is one of graphs",
                    attribute->id);
    default:
        if (attribute->id < 0 || attribute->id > LAUNCH_LAST)
            return fail(CUDA_ERROR_INVALID_VALUE, "there is no launch attribute %d", attribute->id);
        return CUDA_SUCCESS;
    }
}

CUAPI cuLaunchKernelEx(const LaunchConfig *config, CUfunction function, void **params, void **extra)
{
    Shape shape = {config->grid, config->block, config->shared, config->stream};
    const LaunchAttribute *attributes = config->attributes;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; !result && i < config->attribute_count; i++)
        result = heed(&attributes[i], &shape);
    if (!result) result = launch_with(function, &shape, params, extra);
    for (unsigned i = 0; !result && i < config->attribute_count; i++)
        if (attributes[i].id == LAUNCH_PROGRAMMATIC_EVENT ||
            attributes[i].id == LAUNCH_COMPLETION_EVENT)
            result = cuEventRecordWithFlags(attributes[i].event, shape.stream, 0);
    return result;
}

/* ---- the calls from before cuLaunchKernel ---- */

CUAPI cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
    NEED_KERNEL(kernel, function);
    if (x < 1 || y < 1 || z < 1)
        return fail(CUDA_ERROR_INVALID_VALUE, "a block of %d x %d x %d threads", x, y, z);
    kernel->block_shape[0] = x;
    kernel->block_shape[1] = y;
    kernel->block_shape[2] = z;
    return CUDA_SUCCESS;
}

CUAPI cuFuncSetSharedSize(CUfunction function, unsigned bytes)
{
    NEED_KERNEL(kernel, function);
    kernel->shared_size = bytes;
    return CUDA_SUCCESS;
}

CUAPI cuParamSetSize(CUfunction function, unsigned bytes)
{
    NEED_KERNEL(kernel, function);
    if (bytes > OLD_PARAM_BYTES) return fail(CUDA_ERROR_INVALID_VALUE, "%u bytes", bytes);
    kernel->param_size = bytes;
    return CUDA_SUCCESS;
}

CUAPI cuParamSetv(CUfunction function, int offset, const void *value, unsigned bytes)
{
    NEED_KERNEL(kernel, function);
    if (offset < 0 || offset > OLD_PARAM_BYTES || bytes > OLD_PARAM_BYTES - (unsigned)offset)
        return fail(CUDA_ERROR_INVALID_VALUE, "%u bytes at offset %d", bytes, offset);
    if (!kernel->param_buffer && !(kernel->param_buffer = calloc(1, OLD_PARAM_BYTES)))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    memcpy(kernel->param_buffer + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUAPI cuParamSeti(CUfunction function, int offset, unsigned value)
{ return cuParamSetv(function, offset, &value, sizeof value); }

CUAPI cuParamSetf(CUfunction function, int offset, float value)
{ return cuParamSetv(function, offset, &value, sizeof value); }

CUAPI cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream)
{
    NEED_CONTEXT(context);
    NEED_KERNEL(kernel, function);
    const uint32_t grid[3] = {width, height, 1};
    const Shape shape = {grid, kernel->block_shape, kernel->shared_size, stream};
    void *extra[] = {(void *)BUFFER_POINTER, kernel->param_buffer, (void *)BUFFER_SIZE,
                     &kernel->param_size, (void *)END_OF_OPTIONS};
    return launch_with(function, &shape, NULL, extra);
}

CUAPI cuLaunchGrid(CUfunction function, int width, int height)
{ return cuLaunchGridAsync(function, width, height, NULL); }

CUAPI cuLaunch(CUfunction function) { return cuLaunchGrid(function, 1, 1); }
