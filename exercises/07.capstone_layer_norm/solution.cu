// Layer norm of the rows of x[batch, hidden] -> y, hidden <= 1024. Launch ceil(batch / ROWS) blocks.
// BEGIN your design
constexpr int BLOCK = 128;
constexpr int ROWS = 4;
// STUB constexpr int BLOCK = 256;
// STUB constexpr int ROWS = 1;
// END

__global__ void layer_norm(const float *x, float *y, float eps, long long batch, int hidden)
{
    // BEGIN and your lines
    long long row = blockIdx.x * (long long)ROWS + threadIdx.x / 32;
    if (row >= batch) return;
    int lane = threadIdx.x % 32;
    x += row * hidden, y += row * hidden;
    float value[32], mean = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < 32; ++k) value[k] = lane + 32 * k < hidden ? x[lane + 32 * k] : 0.f;
#pragma unroll
    for (int k = 0; k < 32; ++k) mean += value[k];
    for (int mask = 16; mask > 0; mask /= 2) mean += __shfl_xor_sync(0xffffffff, mean, mask);
    mean /= hidden;
#pragma unroll
    for (int k = 0; k < 32; ++k) {
        float distance = lane + 32 * k < hidden ? value[k] - mean : 0.f;
        squares += distance * distance;
    }
    for (int mask = 16; mask > 0; mask /= 2) squares += __shfl_xor_sync(0xffffffff, squares, mask);
    float scale = 1 / sqrtf(squares / hidden + eps);
#pragma unroll
    for (int k = 0; k < 32; ++k)
        if (lane + 32 * k < hidden) y[lane + 32 * k] = (value[k] - mean) * scale;
    // END
}
