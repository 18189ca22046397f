// WRONG on purpose: halving.cu without its tail guard. Right only if n is a multiple of the block;
// otherwise the last block reads, adds and overwrites what lies past the end of x.
using T = float;

extern "C" __global__ void wrong_tail(T *x, T *out)
{
    T *stretch = x + blockIdx.x * (long long)blockDim.x;
    int tid = threadIdx.x;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (tid < half) stretch[tid] += stretch[tid + half];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = stretch[0];
}
