// x[height, width] -> out[kernel, kernel, h_out, w_out]. Launch at least as many threads as out has elements.
__global__ void im2col(const float *x, float *out, int height, int width, int h_out, int w_out,
                       int kernel, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kernel * kernel * h_out * w_out) return;
    int place = i % (h_out * w_out), k = i / (h_out * w_out);
    int row = place / w_out - pad + k / kernel, column = place % w_out - pad + k % kernel;
    int from = row * width + column;
    // BEGIN
    bool inside = 0 <= row && row < height && 0 <= column && column < width;
    // STUB bool inside = 0 <= from && from < height * width;
    // END
    out[i] = inside ? x[from] : 0.f;
}
