// Many threads, few addresses: answers that do not depend on the order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// the block clears the first n elements of its output before anything is added to them
template <class T>
__device__ void clear(T *out, int n)
{
    for (int k = threadIdx.x; k < n; k += blockDim.x) out[k] = T(0);
    __syncthreads();
}

// launch: block=256 out=1
extern "C" __global__ void one_counter(unsigned *out, const unsigned *a)
{
    clear(out, 1);
    atomicAdd(out, a[threadIdx.x]);
}

// launch: block=256 out=16
extern "C" __global__ void every_integer_operation(unsigned *out, const unsigned *a)
{
    clear(out, 16);
    int i = threadIdx.x;
    if (i == 0) out[2] = out[4] = out[7] = out[13] = ~0u;
    __syncthreads();
    atomicAdd(out + 0, a[i]);
    atomicSub(out + 1, a[i]);
    atomicMin(out + 2, a[i]);
    atomicMax(out + 3, a[i]);
    atomicMin((int *)out + 4, (int)a[i]);
    atomicMax((int *)out + 5, (int)a[i]);
    atomicAnd(out + 7, a[i] | 0x00ff0ff0);
    atomicOr(out + 8, a[i] & 0x0f00f00f);
    atomicXor(out + 9, a[i]);
    atomicInc(out + 10, 99);
    atomicDec(out + 11, 99);
    atomicAdd((int *)out + 12, (int)a[i] >> 3);
    atomicMin(out + 13, i + 5u);
}

// launch: block=256 out=8
extern "C" __global__ void every_64_bit_operation(unsigned long long *out,
                                                  const unsigned long long *a)
{
    clear(out, 8);
    int i = threadIdx.x;
    if (i == 0) out[1] = out[4] = ~0ull;
    __syncthreads();
    atomicAdd(out + 0, a[i]);
    atomicMin(out + 1, a[i]);
    atomicMax(out + 2, a[i]);
    atomicMax((long long *)out + 3, (long long)a[i]);
    atomicAnd(out + 4, a[i] | 0xff00ff00ff00ull);
    atomicOr(out + 5, a[i] & 0x0f0f0f0f0f0full);
    atomicXor(out + 6, a[i]);
    atomicMin((long long *)out + 7, (long long)a[i]);
}

// launch: block=256 out=9
extern "C" __global__ void exchange_keeps_every_value(unsigned *out, const unsigned *a)
{
    __shared__ unsigned slot, sum, exclusive;
    int i = threadIdx.x;
    if (i == 0) slot = 12345, sum = 0, exclusive = 0;
    __syncthreads();
    unsigned x = atomicExch(&slot, a[i]);
    atomicAdd(&sum, x);
    atomicXor(&exclusive, x);
    __syncthreads();
    if (i < 9) out[i] = i == 0 ? sum + slot : i == 1 ? exclusive ^ slot : i;
}

// launch: block=128 out=2
extern "C" __global__ void product_by_64_bit_swap(unsigned long long *out,
                                                  const unsigned long long *a)
{
    int i = threadIdx.x;
    if (i == 0) out[0] = 1, out[1] = 0;
    __syncthreads();
    unsigned long long seen, old = out[0];
    do {
        seen = old;
        old = atomicCAS(out, seen, seen * (a[i] | 1));
    } while (old != seen);
    atomicAdd(out + 1, 1ull);
}

// launch: block=128 out=8
extern "C" __global__ void whole_numbers_as_floats(float *out, const int *a)
{
    // sums of small whole numbers are exact in any order
    __shared__ float s;
    clear(out, 8);
    int i = threadIdx.x;
    if (i == 0) s = 0;
    __syncthreads();
    atomicAdd(out, (float)(a[i] & 255));
    atomicAdd(out + 1 + i % 7, (float)(a[i] >> 24));
    float before = atomicAdd(&s, 1.0f);
    __syncthreads();
    if (before < 0 || before > 127) out[0] = -1;
    if (i == 0) out[7] += s;
}

// launch: block=128 out=4
extern "C" __global__ void whole_numbers_as_doubles(double *out, const int *a)
{
    clear(out, 4);
    int i = threadIdx.x;
    atomicAdd(out + (i & 3), (double)a[i] * 0.5);
    atomicAdd_block(out, 1.0);
    atomicAdd_system(out + 1, 2.0);
}

// launch: block=64 out=8
extern "C" __global__ void whole_numbers_as_halves(__half *out, const int *a)
{
    clear(out, 8);
    int i = threadIdx.x;
    atomicAdd(out, __int2half_rn(a[i] & 15));
    atomicAdd((__half2 *)(out + 2), __halves2half2(__int2half_rn(i & 3), __int2half_rn(a[i] & 7)));
    atomicAdd((__half2 *)(out + 4) + (i & 1), __halves2half2(__int2half_rn(1), __int2half_rn(-2)));
}

// launch: block=32 out=8
extern "C" __global__ void whole_numbers_as_bfloat16(__nv_bfloat16 *out, const int *a)
{
    clear(out, 8);
    int i = threadIdx.x;
    atomicAdd(out, __int2bfloat16_rn(a[i] & 3));
    atomicAdd((__nv_bfloat162 *)(out + 2),
              __halves2bfloat162(__int2bfloat16_rn(i & 3), __int2bfloat16_rn(a[i] & 7)));
}

// launch: block=64 out=3
extern "C" __global__ void scopes(int *out, const int *a)
{
    clear(out, 3);
    int i = threadIdx.x;
    atomicAdd_block(out, a[i]);
    atomicMax_system(out + 1, a[i]);
    atomicOr_block(out + 2, a[i] & 0xff);
    atomicCAS_system(out + 2, 0, a[0]);
}

__device__ __noinline__ void add_to(int *p, int x) { atomicAdd(p, x); }

// launch: block=64 out=66
extern "C" __global__ void generic_address(int *out, const int *a)
{
    __shared__ int s[2];
    clear(out, 66);
    int i = threadIdx.x;
    if (i < 2) s[i] = 0;
    __syncthreads();
    add_to(a[i] & 1 ? &s[i & 1] : out + (i & 1), a[i] >> 4);
    __syncthreads();
    out[2 + i] = s[i & 1];
}

// launch: block=64 out=4
extern "C" __global__ void short_compare_and_swap(unsigned short *out, const unsigned short *a)
{
    clear(out, 4);
    int i = threadIdx.x;
    unsigned short *p = out + (i & 3), old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, (unsigned short)(seen + a[i]));
    } while (old != seen);
}
