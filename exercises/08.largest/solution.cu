// Greatest |x| of each column of x[rows, columns] -> out[columns]. Launch at least columns threads.
__global__ void largest(const float *x, float *out, long long rows, long long columns)
{
    long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your lines
    if (column >= columns) return;
    float most = 0;
    for (long long row = 0; row < rows; ++row) most = fmaxf(most, fabsf(x[row * columns + column]));
    out[column] = most;
    // END
}
