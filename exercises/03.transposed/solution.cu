// x[rows, columns] -> out[columns, rows]. Launch blocks of (32, 8) threads, one for each tile of 32 x 32.
// BEGIN
constexpr int WIDTH = 33;
// STUB constexpr int WIDTH = 32;
// END

__global__ void transposed(const float *x, float *out, int rows, int columns)
{
    __shared__ float tile[32][WIDTH];
    int column = 32 * blockIdx.x + threadIdx.x, row = 32 * blockIdx.y + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (column < columns && row + k < rows)
            tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * (long long)columns + column];
    // BEGIN your lines: wait, then write the tile to its place in the output
    __syncthreads();
    column = 32 * blockIdx.y + threadIdx.x, row = 32 * blockIdx.x + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (column < rows && row + k < columns)
            out[(row + k) * (long long)rows + column] = tile[threadIdx.x][threadIdx.y + k];
    // END
}
