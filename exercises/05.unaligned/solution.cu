// x[n] -> out[n], out[i] = 2 x[i]. Launch n / 4 + 2 threads; both begin equally far past 16 bytes.
__global__ void unaligned(const float *x, float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your lines
    long long past = reinterpret_cast<unsigned long long>(x) / 4 % 4;
    long long head = min((4 - past) % 4, n), packs = (n - head) / 4;
    if (i < packs) {
        float4 p = reinterpret_cast<const float4 *>(x + head)[i];
        reinterpret_cast<float4 *>(out + head)[i] = {2 * p.x, 2 * p.y, 2 * p.z, 2 * p.w};
    } else if (i == packs) {
        for (long long k = 0; k < head; ++k) out[k] = 2 * x[k];
        for (long long k = head + 4 * packs; k < n; ++k) out[k] = 2 * x[k];
    }
    // END
}
