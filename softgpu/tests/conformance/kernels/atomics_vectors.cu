// Additions to several floats at once.

// launch: block=64 out=8
extern "C" __global__ void vectors_of_floats(float *out, const int *a)
{
    int i = threadIdx.x;
    if (i < 8) out[i] = 0;
    __syncthreads();
    atomicAdd((float2 *)out, make_float2(a[i] & 7, i));
    atomicAdd((float4 *)(out + 4), make_float4(1, 2, a[i] & 3, -i));
}
