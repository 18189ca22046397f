// Sum of x[n] -> *out. Launch one thread.
__global__ void kahan_sum(const float *x, float *out, long long n)
{
    float sum = 0;
    // BEGIN your lines
    float lost = 0;
    for (long long i = 0; i < n; ++i) {
        float y = x[i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    // END
    *out = sum;
}
