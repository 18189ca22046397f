// Functions: not inlined, recursive, through pointers, templates, lambdas, classes.

__device__ __noinline__ int plain(int x, int y) { return x * 3 - y; }

extern "C" __global__ void a_call(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = plain(a[i], a[i + 1]) + plain(i, 5);
}

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

// launch: block=32
extern "C" __global__ void recursion_ackermann(unsigned *out, const unsigned *a)
{
    int i = threadIdx.x;
    out[i] = ackermann(a[i] % 3, a[i + 1] % 4);
}

__device__ __noinline__ unsigned depth_first(unsigned node, const unsigned *a, unsigned *seen)
{
    seen[node / 32] |= 1u << (node % 32);
    unsigned sum = node;
    for (unsigned k = 0; k < 2; k++) {
        unsigned next = a[node * 2 + k] % 10;
        if (!(seen[next / 32] >> (next % 32) & 1)) sum = sum * 3 + depth_first(next, a, seen);
    }
    return sum;
}

// launch: block=40
extern "C" __global__ void recursion_with_local_memory(unsigned *out, const unsigned *a)
{
    int i = threadIdx.x;
    unsigned seen[1] = {0};
    out[i] = depth_first(i % 10, a, seen) ^ seen[0];
}

__device__ __noinline__ double many_arguments(signed char a, short b, int c, long long d, float e,
                                              double f, unsigned char g, const int *h, bool k,
                                              int2 m)
{
    return a + b * 2.0 + c * 3.0 + d * 5.0 + e * 7.0 + f * 11.0 + g * 13.0 + h[0] * 17.0 +
           k * 19.0 + m.x * 23.0 - m.y;
}

extern "C" __global__ void many_kinds_of_arguments(double *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = many_arguments(a[i], a[i + 1], a[i + 2], (long long)a[i + 3] << 8, a[i] * 0.5f,
                            a[i + 1] * 0.25, a[i + 4], a + i + 5, a[i] > 0, make_int2(i, a[i + 6]));
}

struct Big {
    int v[6];
    double d;
};

__device__ __noinline__ Big make_big(int x, Big other)
{
    Big b;
    for (int k = 0; k < 6; k++) b.v[k] = x * k + other.v[5 - k];
    b.d = other.d + x;
    return b;
}

extern "C" __global__ void structs_by_value(int *out, const int *a)
{
    int i = threadIdx.x;
    Big b = {{a[i], 1, 2, 3, 4, 5}, 0.5};
    for (int k = 0; k < (a[i] & 3); k++) b = make_big(a[i + k], b);
    out[i] = b.v[a[i] & 3] ^ b.v[5] ^ (int)(b.d > 0);
}

__device__ int add(int x, int y) { return x + y; }
__device__ int subtract(int x, int y) { return x - y; }
__device__ int exclusive(int x, int y) { return x ^ y; }
__device__ int larger(int x, int y) { return x > y ? x : y; }
typedef int (*Operation)(int, int);
__device__ Operation operations[4] = {add, subtract, exclusive, larger};

extern "C" __global__ void function_pointers_in_a_table(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = operations[a[i] & 3](a[i], a[i + 1]);
}

extern "C" __global__ void function_pointers_that_diverge(int *out, const int *a)
{
    int i = threadIdx.x, x = a[i];
    Operation f = i % 3 ? add : larger;
    for (int k = 0; k < (a[i + 1] & 7); k++) {
        x = f(x, a[i + k]);
        f = operations[(k + i) & 3];
    }
    out[i] = x;
}

__device__ __noinline__ void barrier_in_here(int *s, int i, int x)
{
    s[i] = x;
    __syncthreads();
}

extern "C" __global__ void barrier_inside_a_function(int *out, const int *a)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    barrier_in_here(s, i, a[i]);
    out[i] = s[63 - i];
}
