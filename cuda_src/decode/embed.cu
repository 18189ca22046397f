// A token's row of a table in int8: table[tokens, width], scales[tokens] -> x[width]. The token's number comes from
// GPU memory, where sample.cu left it.
// Limit: a launch: the row is a few hundred bytes.
using Out = float;

extern "C" __global__ void embed(const signed char *__restrict__ table, Out *x, long long width,
                                 const float *__restrict__ scales, const int *token)
{
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < width;
         i += gridDim.x * blockDim.x)
        x[i] = Out(scales[*token] * float(table[*token * width + i]));
}
