// Flags between ranks, by which blocks of different devices wait for each other. One thread calls
// these, after and before a barrier of its block.
#pragma once

// Who finds the flag at this value or a larger one sees all that was written before.
__device__ inline void post(unsigned *flag, unsigned value)
{
    __threadfence_system();
    *(volatile unsigned *)flag = value;
}

__device__ inline void wait_for(unsigned *flag, unsigned value)
{
    unsigned seen;
    do asm volatile("atom.acquire.sys.or.b32 %0, [%1], 0;" : "=r"(seen) : "l"(flag) : "memory");
    while (seen < value);
}
