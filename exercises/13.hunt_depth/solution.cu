// a[m, k] times b[k, n] -> c[m, n]. Launch (n / 16, m / 16) blocks, rounded up, of 16 x 16 threads.
__global__ void product_in_tiles(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[16][16], tile_b[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < k; first += 16) {
        // BEGIN
        tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
        // STUB tile_a[y][x] = a[min(row, m - 1) * k + min(first + x, k - 1)];
        // STUB tile_b[y][x] = b[min(first + y, k - 1) * n + min(column, n - 1)];
        // END
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
