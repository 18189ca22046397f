/* How many blocks an H200 holds at once; helpers/xray/occupancy.py says what limits them. */
#include "driver.h"

enum { WARPS = 64, BLOCKS = 32, REGISTERS = 65536 };            /* of a multiprocessor */
enum { REGISTER_UNIT = 256, WARP_UNIT = 4, SHARED_UNIT = 128 }; /* what is given out at a time */
enum { SHARED_OF_SYSTEM = 1024 };                               /* bytes of each block */

static uint32_t round_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t occupancy_blocks(uint32_t threads, uint32_t registers, uint32_t shared)
{
    uint32_t warps = (threads + LANES - 1) / LANES;
    uint32_t of_warp = round_up((registers ? registers : 1) * LANES, REGISTER_UNIT);
    uint32_t by_registers = REGISTERS / of_warp / WARP_UNIT * WARP_UNIT / warps;
    uint32_t by_shared = SHARED_PER_SM / round_up(shared + SHARED_OF_SYSTEM, SHARED_UNIT);
    return MIN(MIN(WARPS / warps, BLOCKS), MIN(by_registers, by_shared));
}

CUAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                           int threads, size_t dynamic_shared,
                                                           unsigned flags)
{
    Kernel *kernel = handle_object(FUNCTION, function);
    if (!kernel) return fail(CUDA_ERROR_INVALID_HANDLE, "no such function");
    if (threads < 1 || flags > 1)
        return fail(CUDA_ERROR_INVALID_VALUE, "blocks of %d threads, flags %u", threads, flags);
    CUresult result = kernel_learn_attributes(kernel);
    if (result) return result;
    bool fits = (unsigned)threads <= kernel->max_threads && dynamic_shared <= SHARED_OPTIN;
    uint32_t shared = kernel->static_shared + (fits ? dynamic_shared : 0);
    *blocks = fits ? occupancy_blocks(threads, kernel->registers, shared) : 0;
    return CUDA_SUCCESS;
}

CUAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                  size_t dynamic_shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                dynamic_shared, 0);
}
