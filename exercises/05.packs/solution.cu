// x[n] -> out[n], out[i] = 2 x[i]. Launch a thread for each 4 elements; both begin at 16 bytes.
__global__ void twice_in_packs(const float *x, float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your lines
    if (i < n / 4) {
        float4 p = reinterpret_cast<const float4 *>(x)[i];
        reinterpret_cast<float4 *>(out)[i] = {2 * p.x, 2 * p.y, 2 * p.z, 2 * p.w};
    } else if (i == n / 4) {
        for (long long k = 4 * i; k < n; ++k) out[k] = 2 * x[k];
    }
    // END
}
