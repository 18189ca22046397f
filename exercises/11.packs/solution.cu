// x[width] -> out[3, width], out[k, w] = x[w + k - 1]. width is a multiple of 4. Launch width / 4 threads.
__global__ void in_packs(const float *x, float *out, long long width)
{
    // the first of the four columns of this thread
    long long w = 4 * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    if (w >= width) return;
    // BEGIN your lines: six loads into registers, three stores of 16 bytes
    float near[6];
    for (int s = 0; s < 6; ++s) {
        long long from = w + s - 1;
        near[s] = 0 <= from && from < width ? x[from] : 0.f;
    }
    for (int k = 0; k < 3; ++k) {
        float4 pack = {near[k], near[k + 1], near[k + 2], near[k + 3]};
        reinterpret_cast<float4 *>(out + k * width)[w / 4] = pack;
    }
    // END
}
