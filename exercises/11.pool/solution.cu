// x[height, width] -> out[h_out, w_out], the greatest of each window. Launch at least h_out * w_out threads.
__global__ void pool(const float *x, float *out, int height, int width, int h_out, int w_out,
                     int kernel, int stride, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // BEGIN your lines
    if (i >= h_out * w_out) return;
    float most = -INFINITY;
    for (int a = 0; a < kernel; ++a)
        for (int b = 0; b < kernel; ++b) {
            int row = i / w_out * stride - pad + a, column = i % w_out * stride - pad + b;
            if (0 <= row && row < height && 0 <= column && column < width)
                most = fmaxf(most, x[row * width + column]);
        }
    out[i] = most;
    // END
}
