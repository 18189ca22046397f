// Sums of the columns of x[rows, columns] -> out[columns]. Launch a block of 32 x 8 for each 32 columns.
__global__ void shared_rows(const float *x, float *out, long long rows, long long columns)
{
    __shared__ float s[8][32];
    long long column = blockIdx.x * 32LL + threadIdx.x;
    // BEGIN your lines: a share of the rows, then the sum of the eight
    float sum = 0;
    if (column < columns)
        for (long long row = threadIdx.y; row < rows; row += 8) sum += x[row * columns + column];
    s[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || column >= columns) return;
    for (int y = 1; y < 8; ++y) sum += s[y][threadIdx.x];
    out[column] = sum;
    // END
}
