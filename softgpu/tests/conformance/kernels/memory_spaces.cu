// Pointers that may be anything, byte loops, cached and hinted accesses, aliasing.

__device__ __noinline__ int sum_of(const int *p, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++) sum += p[k] * (k + 1);
    return sum;
}

__constant__ int fixed[8] = {5, -4, 3, -2, 1, 0, 9, 8};

extern "C" __global__ void generic_pointer_to_each_space(int *out, const int *a)
{
    __shared__ int s[64];
    int i = threadIdx.x, local[8];
    s[i] = a[i];
    for (int k = 0; k < 8; k++) local[k] = a[i + k] >> k;
    __syncthreads();
    const int *p = i % 4 == 0 ? a + i : i % 4 == 1 ? s + i % 56 : i % 4 == 2 ? local : fixed;
    out[i] = sum_of(p, 1 + (a[i] & 7));
}

__device__ __noinline__ void swap_words(int *p, int *q)
{
    int t = *p;
    *p = *q;
    *q = t;
}

extern "C" __global__ void swap_across_spaces(int *out, const int *a)
{
    __shared__ int s[64];
    int i = threadIdx.x, mine = a[i], other = a[i + 1];
    s[i] = a[i + 2];
    out[i] = a[i + 3];
    swap_words(&mine, &other);
    swap_words(&mine, s + i);
    swap_words(s + i, out + i);
    __syncthreads();
    out[i] = out[i] * 3 + s[63 - i] * 5 + mine * 7 + other;
}
