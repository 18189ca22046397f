// dy[h_out, w_out] -> d_x[height, width], through the weights of a filter of side x side. Launch at least
// height * width threads.
__global__ void uphill(const float *dy, const float *weight, float *d_x, int height, int width,
                       int h_out, int w_out, int side, int pad)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= height * width) return;
    float sum = 0;
    for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
            // BEGIN
            int row = p / width + pad - i, column = p % width + pad - j;
            // STUB int row = p / width - pad + i, column = p % width - pad + j;
            // END
            if (0 <= row && row < h_out && 0 <= column && column < w_out)
                sum += weight[i * side + j] * dy[row * w_out + column];
        }
    d_x[p] = sum;
}
