// columns[kernel, w_out] -> x[width], each element the sum of its copies. Launch at least width threads.
__global__ void put_back(const float *columns, float *x, int width, int w_out, int kernel,
                         int stride, int pad, int dilation)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= width) return;
    // BEGIN your lines
    float sum = 0;
    for (int k = 0; k < kernel; ++k) {
        int at = p + pad - k * dilation;
        if (at >= 0 && at % stride == 0 && at / stride < w_out)
            sum += columns[k * w_out + at / stride];
    }
    x[p] = sum;
    // END
}
