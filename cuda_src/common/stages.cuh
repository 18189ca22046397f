// Stages of shared memory that go round: one thread has them filled, warpgroups read them.
#pragma once
#include "common/boxes.cuh"
#include "gemm/warpgroup.cuh"

// A stage of COUNT, and the barriers that say which are full and which empty: read by all warpgroups.
template <int COUNT>
struct Stages {
    unsigned tiles, full, empty;
    int bytes;
    unsigned stage = 0, parity = 0;
    __device__ Stages(unsigned tiles, unsigned barriers, int bytes)
        : tiles(tiles), full(barriers), empty(barriers + COUNT * 8), bytes(bytes)
    {
    }
    __device__ unsigned end() const { return empty + COUNT * 8; }  // of its barriers
    // How many arrive before a stage is full, and before it is empty.
    __device__ void prepare(int writers, int readers) const
    {
        for (int n = 0; n < COUNT; ++n)
            begin_barrier(full + n * 8, writers), begin_barrier(empty + n * 8, readers);
    }
    __device__ unsigned tile() const { return tiles + stage * bytes; }
    __device__ unsigned comes() const { return full + stage * 8; }
    __device__ unsigned goes() const { return empty + stage * 8; }
    __device__ void await() const { wait_for(comes(), parity); }
    __device__ void advance()
    {
        if (++stage == COUNT) stage = 0, parity ^= 1;
    }
    __device__ void leave()
    {
        if (threadIdx.x % GROUP == 0) arrive(goes());
        advance();
    }
    // Waits for room, and says what is to come.
    __device__ void expect() const { wait_for(goes(), parity ^ 1), expect_bytes(comes(), bytes); }
};
