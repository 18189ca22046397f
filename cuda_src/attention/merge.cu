// What splits of the keys made of each row -> out[rows, size]: a mean, weighted by the sums of powers, whose logarithms
// are logs[splits, rows]; parts[splits, rows, size]. Launch rows blocks of whole warps, 256 threads at most.
// Step 6: the second half of decoding with split keys.
#include "attention/merge.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using Out = half;

extern "C" __global__ void merge(const float *__restrict__ parts, const float *__restrict__ logs,
                                 Out *out, long long rows, long long size, long long splits,
                                 float *all_logs)
{
    __shared__ float room[256 * 6];
    Parts all = {parts, logs, rows, size, int(splits)};
    merge_row(all, blockIdx.x, out, all_logs, room);
}
