// Tiles of matrices as boxes of tensor maps, for warpgroups: in lines of 128 bytes, as gemm/tensor.cuh says.
#pragma once
#include "common/boxes.cuh"
#include "gemm/tensor.cuh"

// Begins to copy a tile's lines, from the first one on, of step `step` along k.
template <typename T, bool ALONG_K, int LINES>
__device__ void copy_lines(unsigned to, const Map &map, int first, int step, int z,
                           unsigned barrier)
{
    constexpr int DEEP = LINE / sizeof(T);
    if (ALONG_K) copy_box(to, map, step * DEEP, first, z, barrier);
    else
        for (int i = 0; i < LINES; i += DEEP)
            copy_box(to + i * LINE, map, first + i, step * DEEP, z, barrier);
}

// The same to all BLOCKS of a cluster, each of which copies a share; along k a box is as high as a share.
template <typename T, bool ALONG_K, int LINES, int BLOCKS>
__device__ void share_lines(unsigned to, const Map &map, int first, int step, int z,
                            unsigned barrier)
{
    constexpr int DEEP = LINE / sizeof(T), SHARE = ALONG_K ? LINES / BLOCKS : DEEP;
    for (int i = blockIdx.x % BLOCKS * SHARE; i < LINES; i += BLOCKS * SHARE) {
        int along = step * DEEP, across = first + i;
        copy_box_to_all<BLOCKS>(to + i * LINE, map, ALONG_K ? along : across,
                                ALONG_K ? across : along, z, barrier);
    }
}
