// Appends a row of x[texts, 64] for each text to a cache of pages, in halves: cache[pages, PAGE,
// 64]. positions[text] says which row of its text it is, table[text, most] where the text's pages
// are. Launch a block of 64 threads per text.
#include <cuda_fp16.h>
constexpr int PAGE = 16;

__global__ void append(const float *x, const int *positions, const int *table, int most,
                       half *cache)
{
    long long text = blockIdx.x;
    // BEGIN your lines
    int position = positions[text];
    long long page = table[text * most + position / PAGE];
    cache[(page * PAGE + position % PAGE) * 64 + threadIdx.x] =
        __float2half(x[text * 64 + threadIdx.x]);
    // END
}
