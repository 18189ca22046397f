// RMSNorm of rows: x[rows, hidden], weight[hidden] -> y = x / sqrt(mean of x² + epsilon) * weight.
// Launch (rows / 8) blocks, rounded up, of 256 threads: a warp for each row.
#include <cuda_fp16.h>

__global__ void rms_norm(const half *x, const half *weight, half *y, float epsilon, long long rows,
                         int hidden)
{
    long long row = blockIdx.x * 8LL + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    // BEGIN your lines
    if (row >= rows) return;
    x += row * hidden, y += row * hidden;
    float squares = 0;
    for (int i = lane; i < hidden; i += 32) squares += __half2float(x[i]) * __half2float(x[i]);
    for (int mask = 16; mask > 0; mask /= 2) squares += __shfl_xor_sync(0xffffffff, squares, mask);
    float scale = 1 / sqrtf(squares / hidden + epsilon);
    for (int i = lane; i < hidden; i += 32)
        y[i] = __float2half(__half2float(x[i]) * scale * __half2float(weight[i]));
    // END
}
