// Sums over the middle of x[outer, reduce, inner] -> out[outer, inner]. Launch (blocks for inner, outer).
__global__ void middle(const float *x, float *out, long long reduce, long long inner)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, o = blockIdx.y;
    if (i >= inner) return;
    // BEGIN your lines
    float sum = 0;
    for (long long r = 0; r < reduce; ++r) sum += x[(o * reduce + r) * inner + i];
    out[o * inner + i] = sum;
    // END
}
