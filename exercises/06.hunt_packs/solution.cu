// Sums of the rows of x[batch, hidden] -> out[batch]. Launch blocks of 128 threads, a warp for each row.
__global__ void packed_rows(const float *x, float *out, long long batch, long long hidden)
{
    long long row = blockIdx.x * (long long)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= batch) return;
    x += row * hidden;
    float sum = 0;
    // BEGIN
    long long head = reinterpret_cast<unsigned long long>(x) / 4 % 4;
    head = min((4 - head) % 4, hidden);
    long long packs = (hidden - head) / 4, tail = head + 4 * packs;
    if (lane < head) sum += x[lane];
    if (lane < hidden - tail) sum += x[tail + lane];
    x += head;
    // STUB long long packs = hidden / 4;
    // END
    for (long long i = lane; i < packs; i += 32) {
        float4 p = reinterpret_cast<const float4 *>(x)[i];
        sum += p.x + p.y + (p.z + p.w);
    }
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (lane == 0) out[row] = sum;
}
