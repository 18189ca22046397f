// x[height, width] -> out[kernel, kernel, h_out, w_out]. Launch at least as many threads as out has elements.
__global__ void im2col(const float *x, float *out, int height, int width, int h_out, int w_out,
                       int kernel, int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kernel * kernel * h_out * w_out) return;
    int place = i % (h_out * w_out), k = i / (h_out * w_out);
    // BEGIN
    int row = place / w_out - pad + k / kernel, column = place % w_out - pad + k % kernel;
    // STUB int row = place / w_out - pad + k / kernel, column = (place - pad) % w_out + k % kernel;
    // END
    bool inside = 0 <= row && row < height && 0 <= column && column < width;
    out[i] = inside ? x[row * width + column] : 0.f;
}
