// Read n packs of 16 bytes and keep nothing: x[n] -> nothing. Any grid; out stays as it is.
// Serves two ends: the fastest that a GPU can read, and a clean cache full of something else.
extern "C" __global__ void read(const uint4 *__restrict__ x, unsigned *out, long long n)
{
    long long threads = gridDim.x * (long long)blockDim.x;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    unsigned seen = 0;
#pragma unroll 4
    for (; i < n; i += threads) {
        uint4 pack = x[i];
        seen |= pack.x | pack.y | pack.z | pack.w;
    }
    if (seen == 0xffffffffu)
        *out = seen;  // x holds zeros: never true, but the compiler cannot know
}
