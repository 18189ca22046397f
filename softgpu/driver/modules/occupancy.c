/* How many blocks an H200 holds at once. */
#include "internal.h"

static uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t sg_occupancy(uint32_t threads, uint32_t registers, uint32_t shared)
{
    uint32_t warps = (threads + LANES - 1) / LANES;
    uint32_t of_warp = round_up((registers ? registers : 1) * LANES, REGISTER_UNIT);
    uint32_t by_registers = SM_REGISTERS / of_warp / WARP_UNIT * WARP_UNIT / warps;
    uint32_t by_shared = SM_SHARED / round_up(shared + BLOCK_SYSTEM_SHARED, SHARED_UNIT);
    return MIN(MIN(SM_WARPS / warps, SM_BLOCKS), MIN(by_registers, by_shared));
}

CUAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                           int threads, size_t dynamic_shared,
                                                           unsigned flags)
{
    NEED_KERNEL(kernel, function);
    if (threads < 1 || flags > 1)
        return fail(CUDA_ERROR_INVALID_VALUE, "blocks of %d threads, flags %u", threads, flags);
    CUresult result = kernel_learn_attributes(kernel);
    if (result) return result;
    bool fits = threads <= BLOCK_THREADS && dynamic_shared <= kernel->max_dynamic_shared;
    uint32_t shared = kernel->static_shared + (fits ? dynamic_shared : 0);
    *blocks = fits ? sg_occupancy(threads, kernel->registers, shared) : 0;
    return CUDA_SUCCESS;
}

CUAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                  size_t dynamic_shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                dynamic_shared, 0);
}

/* The block with which most threads run at once; of several, the largest. */
CUAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                size_t (*shared_of)(int block), size_t shared,
                                                int limit, unsigned flags)
{
    NEED_KERNEL(kernel, function);
    int most = kernel->max_threads, best = 0;
    if (limit > 0 && limit < most) most = limit;
    for (int threads = most; threads > 0; threads = (threads - 1) / LANES * LANES) {
        int blocks;
        CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            &blocks, function, threads, shared_of ? shared_of(threads) : shared, flags);
        if (result) return result;
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block = threads;
        *grid = blocks * MULTIPROCESSORS;
    }
    return best ? CUDA_SUCCESS
                : fail(CUDA_ERROR_INVALID_VALUE, "no block of kernel %s fits", kernel->shown);
}

CUAPI cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                       size_t (*shared_of)(int block), size_t shared, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared,
                                                     limit, 0);
}

/* What each of so many blocks may have of a multiprocessor's shared memory, up to what the kernel may
   have (cuda_occupancy.h). */
CUAPI cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                              int threads)
{
    NEED_KERNEL(kernel, function);
    if (blocks < 1 || threads < 1 || (unsigned)threads > kernel->max_threads ||
        (unsigned)blocks > sg_occupancy(threads, 0, 0))
        return fail(CUDA_ERROR_INVALID_VALUE, "%d blocks of %d threads at once", blocks, threads);
    uint32_t each = SM_SHARED / blocks / SHARED_UNIT * SHARED_UNIT;
    uint32_t taken = BLOCK_SYSTEM_SHARED + kernel->static_shared;
    *bytes = MIN(each > taken ? each - taken : 0, kernel->max_dynamic_shared);
    return CUDA_SUCCESS;
}
