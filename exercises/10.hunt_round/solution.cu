// Codes[n] of scale `from` -> out[n], codes of scale `to`. Launch at least n threads.
__global__ void rescale(const signed char *codes, signed char *out, float from, float to,
                        long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = codes[i] * from / to;
    // BEGIN
    out[i] = fminf(fmaxf(roundf(value), -128.f), 127.f);
    // STUB out[i] = int(value + 0.5f);
    // END
}
