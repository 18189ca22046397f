// Sums of the columns of x[rows, columns] -> out[columns]. Launch at least columns threads.
__global__ void by_four(const float *x, float *out, long long rows, long long columns)
{
    long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (column >= columns) return;
    x += column;
    float sum = 0;
    // BEGIN
    long long row = 0;
    for (; row + 4 <= rows; row += 4) {
        // STUB for (long long row = 0; row < rows; row += 4) {
        // END
        float four[4];
        for (int k = 0; k < 4; ++k) four[k] = x[(row + k) * columns];
        for (int k = 0; k < 4; ++k) sum += four[k];
    }
    // BEGIN
    for (; row < rows; ++row) sum += x[row * columns];
    // END
    out[column] = sum;
}
