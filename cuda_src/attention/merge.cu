// What splits of the keys made of each row -> out[rows, size]: a mean, weighted by the sums of powers, whose logarithms
// are logs[splits, rows]; parts[splits, rows, size]. Launch rows blocks.
// Step 6: the second half of decoding with split keys.
#include "attention/problem.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using Out = half;

extern "C" __global__ void merge(const float *__restrict__ parts, const float *__restrict__ logs,
                                 Out *out, long long rows, long long size, long long splits,
                                 float *all_logs)
{
    float peak = -INFINITY, total = 0;
    for (long long s = 0; s < splits; ++s) peak = fmaxf(peak, logs[s * rows + blockIdx.x]);
    const float from = base(peak);
    for (long long s = 0; s < splits; ++s) total += expf(logs[s * rows + blockIdx.x] - from);
    for (long long i = threadIdx.x; i < size; i += blockDim.x) {
        float sum = 0;
        for (long long s = 0; s < splits; ++s)
            sum += expf(logs[s * rows + blockIdx.x] - from) *
                   parts[(s * rows + blockIdx.x) * size + i];
        out[blockIdx.x * size + i] = Out(total == 0 ? sum : sum / total);
    }
    if (threadIdx.x == 0) all_logs[blockIdx.x] = total == 0 ? -INFINITY : from + logf(total);
}
