// a[m, k] times b[k, n] -> c[m, n]. Launch (n / 64, m / 4) blocks, rounded up, of 64 threads.
__global__ void four_rows(const float *a, const float *b, float *c, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 4;
    // BEGIN your lines
    if (column >= n) return;
    float sum[4] = {};
    for (int i = 0; i < k; ++i) {
        float of_b = b[i * n + column];
        for (int r = 0; r < 4; ++r)
            if (top + r < m) sum[r] += a[(top + r) * k + i] * of_b;
    }
    for (int r = 0; r < 4; ++r)
        if (top + r < m) c[(top + r) * n + column] = sum[r];
    // END
}
