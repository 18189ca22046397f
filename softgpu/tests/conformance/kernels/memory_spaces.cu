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

extern "C" __global__ void pointer_chosen_by_lane(int *out, const int *a)
{
    __shared__ int s[64], t[64];
    int i = threadIdx.x;
    s[i] = 0;
    t[i] = 0;
    __syncthreads();
    int *p = a[i] & 1 ? s : t;
    p[i] = a[i];
    __syncthreads();
    out[i] = s[(i + 1) % 64] - t[(i + 2) % 64];
}

extern "C" __global__ void cache_hints(int *out, const int *a)
{
    int i = threadIdx.x;
    int sum = __ldg(a + i) + __ldcs(a + i + 1) * 3 + __ldca(a + i + 2) * 5 + __ldcg(a + i + 3) * 7 +
              __ldlu(a + i + 4) * 9 + __ldcv(a + i + 5) * 11;
    __stcg(out + i, sum);
    sum += out[i] & 1;
    if (i % 3 == 0) __stcs(out + i, sum);
    if (i % 3 == 1) __stwt(out + i, sum + 1);
    if (i % 3 == 2) __stwb(out + i, sum + 2);
}

// launch: out=256
extern "C" __global__ void vector_stores(float *out, const float *a)
{
    int i = threadIdx.x;
    if (i % 2) {
        ((float4 *)out)[i] = make_float4(a[i], a[i + 1], a[i + 2], a[i + 3]);
    } else {
        ((float2 *)out)[2 * i] = make_float2(a[i], a[i + 1]);
        ((float2 *)out)[2 * i + 1] = make_float2(a[i + 2], a[i + 3]);
    }
}
