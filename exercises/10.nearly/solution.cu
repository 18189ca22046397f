// Whether a[n] is close to b[n] -> out[n]. Launch at least n threads.
__global__ void nearly(const float *a, const float *b, bool *out, float rtol, float atol,
                       long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    // BEGIN your line
    out[i] = a[i] == b[i] || (isfinite(b[i]) && fabsf(a[i] - b[i]) <= atol + rtol * fabsf(b[i]));
    // STUB out[i] = fabsf(a[i] - b[i]) < 1e-6f;
    // END
}
