// Counts of the bytes data[n], added to counts[256]. Launch blocks of BLOCK threads, EACH bytes per thread.
// BEGIN your design
constexpr int BLOCK = 256;
constexpr int EACH = 256;
// STUB constexpr int BLOCK = 256;
// STUB constexpr int EACH = 1;
// END

__global__ void histogram(const unsigned char *data, unsigned *counts, long long n)
{
    // BEGIN and your lines
    __shared__ unsigned own[256];
    for (int k = threadIdx.x; k < 256; k += BLOCK) own[k] = 0;
    __syncthreads();

    long long threads = gridDim.x * (long long)BLOCK,
              first = blockIdx.x * (long long)BLOCK + threadIdx.x;
    unsigned value = 0, times = 0;
    auto count = [&](unsigned byte) {
        if (byte != value) {
            if (times) atomicAdd(own + value, times);
            value = byte, times = 0;
        }
        ++times;
    };
    for (long long i = first; i < n / 16; i += threads) {
        uint4 pack = reinterpret_cast<const uint4 *>(data)[i];
        for (unsigned word : {pack.x, pack.y, pack.z, pack.w})
            for (int k = 0; k < 32; k += 8) count(word >> k & 255);
    }
    for (long long i = n / 16 * 16 + first; i < n; i += threads) count(data[i]);
    if (times) atomicAdd(own + value, times);

    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += BLOCK)
        if (own[k]) atomicAdd(counts + k, own[k]);
    // END
}
