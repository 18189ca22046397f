/* A launch, in seven steps (softgpu/docs/launch.md draws them):

   1 accept    a call becomes a Shape; on a captured stream it becomes a node of a graph instead
   2 gather    the arguments are packed, as the kernel reads them
   3 check     the hardware's limits hold (launch_check.c)
   4 prepare   a Job is filled in, and the kernel compiled for so much work
   5 queue     with several devices, the launch waits for its stream's tasks or becomes one
   6 run       workers run the blocks (workers.c), between begin and end
   7 report    what went wrong becomes the call's error */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define UNBOUNDED (1ull << 62)

/* ---- 4 prepare ---- */

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

static void set_job(Job *job, const Kernel *kernel, const Shape *shape)
{
    uint32_t align = kernel->dynamic_align;
    memset(job, 0, offsetof(Job, reason));
    job->reason.kind = NO_FAULT;
    job->kernel = kernel;
    memcpy(job->grid, shape->grid, sizeof job->grid);
    memcpy(job->block, launch_block(kernel, shape), sizeof job->block);
    for (int i = 0; i < 3; i++) job->cluster[i] = launch_cluster(kernel, shape, i);
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

/* Estimate a launch's work, in passes of a warp through a loop or the kernel, as far as that can be
   known before it runs. The trip count of a loop is taken to be the largest constant or argument;
   some loops share it among all warps of the grid. */
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

static CUresult prepare(Launch *launch, Kernel *kernel, const Shape *shape, Packed arguments)
{
    Job *job = &launch->job;
    launch->kernel = kernel;
    launch->tool = instrument ? instrument : instrument_of_all;
    uint32_t build = launch->tool ? launch->tool->build : BUILD_PLAIN;
    set_job(job, kernel, shape);
    job->params = launch->room + (kernel->param_align > USUAL_ALIGN ? 0 : USUAL_ALIGN);
    memcpy(job->params, arguments.at, arguments.bytes);
    memset(job->params + arguments.bytes, 0, PADDING);
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

/* ---- 7 report ---- */

static CUresult report(const Launch *launch, CUresult result)
{
    const Job *job = &launch->job;
    const Instrument *tool = launch->tool;
    if (job->interrupted) return CUDA_SUCCESS; /* Python raises KeyboardInterrupt */
    if (result) fault_tell(job, result);
    return tool && tool->report ? tool->report(result) : result;
}

/* ---- 6 run ---- */

/* Holds the lock throughout: nothing else happens meanwhile. */
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
    return report(launch, result);
}

/* A cooperative launch changes the table of allocations as it begins and ends. */
static void lock_for(const Launch *launch)
{
    if (launch->job.cooperative) driver_lock();
    else driver_lock_beside();
}

/* As a task: other devices' launches go on, and so may the host. */
static CUresult run_beside(void *data)
{
    Launch *launch = data;
    launch->job.task = task_running();
    lock_for(launch);
    begin(launch);
    driver_unlock();
    CUresult result = workers_run(&launch->job);
    lock_for(launch);
    end(launch, result);
    driver_unlock();
    return report(launch, result);
}

/* ---- 5 queue ---- */

static StreamPlace place_of(const Shape *shape)
{ return shape->place ? *shape->place : stream_place(shape->stream); }

/* Runs here, once the stream has nothing left to do. */
static CUresult launch_alone(Kernel *kernel, const Shape *shape, Packed arguments)
{
    Launch launch;
    CUresult result = prepare(&launch, kernel, shape, arguments);
    if (result) return result;
    if (device_count() > 1) {
        const StreamPlace place = place_of(shape);
        tasks_wait(&place);
    }
    return run_alone(&launch);
}

/* Becomes a task of its stream. */
static CUresult launch_queued(Kernel *kernel, const Shape *shape, Packed arguments)
{
    const StreamPlace place = place_of(shape);
    CUresult result = tasks_error(place.device);
    if (result) return result;
    Launch *later = aligned_alloc(ROOM_ALIGN, sizeof *later);
    if (!later) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    result = prepare(later, kernel, shape, arguments);
    if (result) {
        free(later);
        return result;
    }
    if (tasks_before(&place)) return tasks_add(&place, NULL, run_beside, later);
    return tasks_attend(&place, run_beside, later);
}

/* ---- 2 gather ---- */

/* Finds the arguments, which are given one by one or, as `extra` says, packed; packs them into room. */
static CUresult gather(const Kernel *kernel, void **params, void **extra, char *room, Packed *out)
{
    *out = (Packed){"", 0};
    if (!params && kernel->param_align > USUAL_ALIGN)
        return fail(
            CUDA_ERROR_INVALID_VALUE,
            "kernel %s has a parameter at a multiple of %u bytes, and its arguments come in "
            "one buffer, as PyCUDA packs them: a GPU would read them from other offsets. Pass "
            "a tensor map as helpers.tensormap does",
            kernel->shown, kernel->param_align);
    if (params) {
        memset(room, 0, kernel->param_bytes);
        for (uint32_t i = 0; i < kernel->param_count; i++)
            memcpy(room + kernel->params[i][0], params[i], kernel->params[i][1]);
        *out = (Packed){room, kernel->param_bytes};
        return CUDA_SUCCESS;
    }
    const void *buffer = NULL;
    size_t bytes = 0;
    for (; extra && *extra != (void *)END_OF_OPTIONS; extra += 2) {
        if (*extra == (void *)BUFFER_POINTER) buffer = extra[1];
        else if (*extra == (void *)BUFFER_SIZE) bytes = *(const size_t *)extra[1];
        else return fail(CUDA_ERROR_INVALID_VALUE, "unknown launch option");
    }
    if (buffer) *out = (Packed){buffer, bytes};
    return CUDA_SUCCESS;
}

/* Steps 2 to 7. */
static CUresult launch(CUfunction function, const Shape *shape, void **params, void **extra)
{
    NEED_CONTEXT(context);
    NEED_KERNEL(kernel, function);
    fault_forget();
    char room[KERNEL_PARAMETERS];
    Packed arguments;
    CUresult result = launch_check_device(kernel, shape->stream);
    if (!result) result = gather(kernel, params, extra, room, &arguments);
    if (!result) result = launch_check(kernel, shape, arguments.bytes);
    if (result) return result;
    if (device_count() == 1 || instrument || instrument_of_all || dealing_is_asked_for())
        return launch_alone(kernel, shape, arguments);
    return launch_queued(kernel, shape, arguments);
}

/* ---- graphs: a node is gathered and checked when it is made, and launched with its graph ---- */

CUresult launch_prepare(const KernelNode *node, NodeArguments **out)
{
    *out = NULL;
    NEED_CONTEXT(context);
    NEED_KERNEL(kernel, node->function ? node->function : node->kernel);
    char room[KERNEL_PARAMETERS];
    Packed from;
    const Shape shape = {.grid = node->grid, .block = node->block, .shared = node->shared};
    CUresult result = gather(kernel, node->params, node->extra, room, &from);
    if (!result) result = launch_check(kernel, &shape, from.bytes);
    if (result || !kernel->param_count) return result;
    size_t head = sizeof(NodeArguments) + kernel->param_count * sizeof(void *);
    NodeArguments *arguments = malloc(head + from.bytes);
    if (!arguments) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *arguments = (NodeArguments){head + from.bytes, kernel->param_count};
    memcpy((char *)arguments + head, from.at, from.bytes);
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

/* Makes a node of the stream's graph. */
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
    CUresult result = launch_check_device(kernel, shape->stream);
    if (!result) result = launch_prepare(&node.kernel, &arguments);
    if (!result) result = capture_node(shape->stream, &node, arguments, &made);
    if (result) return result;
    made->together = shape->together;
    launch_bind(made);
    return CUDA_SUCCESS;
}

CUresult launch_node(const Node *node, const StreamPlace *place)
{
    const KernelNode *kernel = &node->params.kernel;
    const Shape shape = {kernel->grid, kernel->block, kernel->shared, NULL, node->together, place};
    return launch(kernel->function ? kernel->function : kernel->kernel, &shape, kernel->params,
                  NULL);
}

/* ---- the calls from before cuLaunchKernel ---- */

/* ---- 1 accept ---- */

CUresult launch_accept(CUfunction function, const Shape *shape, void **params, void **extra)
{
    bool captured;
    CUresult result = stream_begin(shape->stream, &captured);
    if (result) return result;
    if (captured) return launch_captured(function, shape, params, extra);
    return launch(function, shape, params, extra);
}
