// WRONG on purpose: add.cu without its guard. Right only if n is a multiple of the block;
// otherwise the last threads of the last block read and write past the ends of the arrays.
extern "C" __global__ void wrong_tail(const float *a, const float *b, float *out)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}
