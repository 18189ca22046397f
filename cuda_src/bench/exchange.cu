// Two devices tell each other numbers, `turns` of them from `first` on: each the next one once it has
// the other's. Launch one thread for each device; a block plays one, so that a launch may play both.
// How long that takes is the link's latency: with FENCED, of a flag that others' data may lie behind.
#include "ranks/flags.cuh"
constexpr int FENCED = 1;

struct Pair {
    unsigned *of[2];  // a number in the memory of each device
};

extern "C" __global__ void exchange(const Pair flags, int device, unsigned first, int turns)
{
    int me = device + blockIdx.x;
    volatile unsigned *mine = flags.of[me], *theirs = flags.of[1 - me];
    for (unsigned turn = first; turn < first + turns; ++turn)
        if (FENCED) {
            post(flags.of[1 - me], turn);
            wait_for(flags.of[me], turn);
        } else {
            *theirs = turn;
            while (*mine < turn) {}
        }
}
