// Each block adds up `tiles` tiles of 128 floats, mirrored: out[block, t] = sum of tile[127 - t] over its tiles. Three
// tiles have room: while one is added, two are under way.
#include "gemm/tensor.cuh"
constexpr int TILE = 128, STAGES = 3;

__global__ void mirrored(const float *x, float *out, int tiles)
{
    __shared__ __align__(16) float room[STAGES][TILE];
    int t = threadIdx.x;
    x += blockIdx.x * (long long)tiles * TILE;
    auto fetch = [&](int tile) {
        if (t < TILE / 4)  // four floats to a copy
            copy_async(__cvta_generic_to_shared(&room[tile % STAGES][t * 4]),
                       x + tile * TILE + t * 4);
    };
    float sum = 0;
    // BEGIN
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        if (tile < tiles) fetch(tile);
        close_group();
    }
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for_groups<STAGES - 2>();
        __syncthreads();
        if (tile + STAGES - 1 < tiles) fetch(tile + STAGES - 1);
        close_group();
        sum += room[tile % STAGES][TILE - 1 - t];
    }
    // STUB for (int tile = 0; tile < STAGES - 1; ++tile) {
    // STUB     if (tile < tiles) {
    // STUB         fetch(tile);
    // STUB         close_group();
    // STUB     }
    // STUB }
    // STUB for (int tile = 0; tile < tiles; ++tile) {
    // STUB     wait_for_groups<STAGES - 2>();
    // STUB     __syncthreads();
    // STUB     if (tile + STAGES - 1 < tiles) {
    // STUB         fetch(tile + STAGES - 1);
    // STUB         close_group();
    // STUB     }
    // STUB     sum += room[tile % STAGES][TILE - 1 - t];
    // STUB }
    // END
    out[blockIdx.x * (long long)TILE + t] = sum;
}
