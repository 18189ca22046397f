// Boxes of arrays that Hopper's tensor memory accelerator copies, and the barriers that count their bytes. A
// barrier is 8 bytes of shared memory, a number here; its phases end in turn: parity 0, 1, 0, ...
#pragma once

// What helpers.tensormap makes of an array. The hardware wants a multiple of 64 bytes: the first parameter of a
// kernel is 16 bytes past one, which `before` makes up for.
struct Map {
    unsigned long long words[16];
};
template <int COUNT>
struct Maps {
    char before[48];
    Map of[COUNT];
};

__device__ inline void begin_barrier(unsigned barrier, int arrivals)
{ asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory"); }

// Copies see barriers that were begun before.
__device__ inline void show_barriers()
{ asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Copies and warpgroups see what this thread has stored in shared memory.
__device__ inline void show_stores()
{ asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void arrive(unsigned barrier)
{ asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory"); }

// Arrives, and says how many bytes are to come in this phase.
__device__ inline void expect_bytes(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

__device__ inline void wait_for(unsigned barrier, int parity)
{
    asm volatile("{\n.reg .pred over;\n"
                 "WAIT: mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
                 "@!over bra WAIT;\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

__device__ inline void prefetch(const Map &map)
{ asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// Begins to copy the box at these coordinates; what is past an edge becomes 0.
__device__ inline void copy_box(unsigned to, const Map &map, int x, int y, int z, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier)
                 : "memory");
}

// The same to this place in all BLOCKS of the cluster, and their barriers.
template <int BLOCKS>
__device__ void copy_box_to_all(unsigned to, const Map &map, int x, int y, int z, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(short((1 << BLOCKS) - 1))
                 : "memory");
}

__device__ inline void copy_box(unsigned to, const Map &map, int x, int y, int z, int w,
                                unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
                 "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier)
                 : "memory");
}

// Begins to copy a box from shared memory to these coordinates; what is past an edge is left out.
__device__ inline void store_box(const Map &map, int x, int y, int z, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"
                 " [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
                 "r"(x), "r"(y), "r"(z), "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Waits until all boxes that this thread stores, except so many, are read from shared memory.
template <int UNDER_WAY>
__device__ void wait_for_stores()
{ asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(UNDER_WAY) : "memory"); }

// The same of channels of the pixels under one tap of a window, from a place of the window on.
__device__ inline void copy_pixels(unsigned to, const Map &map, int channel, int x, int y,
                                   int image, int tap_x, int tap_y, unsigned barrier)
{
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
        "l"(&map), "r"(channel), "r"(x), "r"(y), "r"(image), "r"(barrier), "h"(short(tap_x)),
        "h"(short(tap_y))
        : "memory");
}

// Of a warp that comes here whole one lane, always the same. The compiler knows then that it is one, and need not make a
// loop over lanes of each copy.
__device__ inline bool is_elected()
{
    int elected;
    asm volatile("{\n.reg .pred elected;\nelect.sync _|elected, 0xffffffff;\n"
                 "selp.b32 %0, 1, 0, elected;\n}"
                 : "=r"(elected));
    return elected;
}
