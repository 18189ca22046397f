// x[width] -> out[kernel, w_out], out[k, w] = x[w * stride + k - pad]. Launch kernel * w_out threads.
__global__ void to_columns(const float *x, float *out, int width, int w_out, int kernel, int stride,
                           int pad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= kernel * w_out) return;
    // BEGIN your lines
    int k = i / w_out, w = i % w_out, from = w * stride + k - pad;
    out[i] = 0 <= from && from < width ? x[from] : 0.f;
    // END
}
