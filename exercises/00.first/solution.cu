// x -> out, out[i] = 2 x[i]. A thread for each element, in blocks of 256.
__global__ void first(const float *x, float *out)
{
    // BEGIN your lines
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2 * x[i];
    // END
}
