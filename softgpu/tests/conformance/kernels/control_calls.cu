// Functions: not inlined, recursive, through pointers, templates, lambdas, classes.

__device__ __noinline__ int plain(int x, int y) { return x * 3 - y; }

extern "C" __global__ void a_call(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = plain(a[i], a[i + 1]) + plain(i, 5);
}

extern "C" __global__ void a_call_under_a_branch(int *out, const int *a)
{
    int i = threadIdx.x, x = a[i];
    if (x & 1) x = plain(x, i);
    else if (x & 2) x = plain(i, x) ^ plain(x, x);
    for (int k = 0; k < (a[i + 1] & 7); k++) x = plain(x, k);
    out[i] = x;
}

__device__ __noinline__ unsigned factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }

extern "C" __global__ void recursion_factorial(unsigned *out, const unsigned *a)
{
    int i = threadIdx.x;
    out[i] = factorial(a[i] % 13);
}

__device__ __noinline__ unsigned fibonacci(unsigned n)
{ return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion_fibonacci(unsigned *out, const unsigned *a)
{
    int i = threadIdx.x;
    out[i] = fibonacci(a[i] % 11);
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

__device__ __noinline__ int is_odd(unsigned n);
__device__ __noinline__ int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

extern "C" __global__ void recursion_of_two(int *out, const unsigned *a)
{
    int i = threadIdx.x;
    out[i] = is_even(a[i] % 12) * 10 + is_odd(i % 7);
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

__device__ __noinline__ float4 make_vector(float x) { return make_float4(x, x * 2, x * x, -x); }

extern "C" __global__ void vector_by_value(float *out, const float *a)
{
    int i = threadIdx.x;
    float4 v = make_vector(a[i]);
    out[i] = v.x + v.y * v.z + v.w;
}

__device__ __noinline__ void several_results(int x, int *y, long long *z, bool *w)
{
    *y = x / 3;
    *z = (long long)x * x;
    *w = x > 0;
}

extern "C" __global__ void results_through_pointers(int *out, const int *a)
{
    int i = threadIdx.x, y;
    long long z;
    bool w;
    several_results(a[i], &y, &z, &w);
    out[i] = y + (int)(z >> 9) + w;
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

__device__ __noinline__ int apply(Operation f, int x, int y) { return f(x, f(y, x)); }

extern "C" __global__ void function_pointer_as_argument(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = apply(operations[i & 3], a[i], a[i + 1]);
}

struct Shape {
    int side;
    __device__ Shape(int s) : side(s) {}
    __device__ virtual int area() const { return side; }
    __device__ virtual int scaled(int k) { return side * k; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    __device__ Square(int s) : Shape(s) {}
    __device__ int area() const override { return side * side; }
};
struct Box : Square {
    int height;
    __device__ Box(int s, int h) : Square(s), height(h) {}
    __device__ int area() const override { return Square::area() * height; }
    __device__ int scaled(int k) override { return height * k - side; }
};

extern "C" __global__ void virtual_functions(int *out, const int *a)
{
    int i = threadIdx.x;
    Shape line(a[i] & 255);
    Square square(a[i + 1] & 255);
    Box box(a[i] & 31, a[i + 1] & 31);
    Shape *shape = i % 3 == 0 ? &line : i % 3 == 1 ? (Shape *)&square : &box;
    out[i] = shape->area() * 3 + shape->scaled(a[i] & 7);
}

template <int N>
__device__ int unrolled_sum(const int *a)
{ return a[0] + 3 * unrolled_sum<N - 1>(a + 1); }
template <>
__device__ int unrolled_sum<0>(const int *)
{ return 1; }

extern "C" __global__ void templates(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = unrolled_sum<9>(a + i);
}

template <class F>
__device__ __noinline__ int fold(const int *a, int n, F f)
{
    int x = a[0];
    for (int k = 1; k < n; k++) x = f(x, a[k]);
    return x;
}

extern "C" __global__ void lambdas(int *out, const int *a)
{
    int i = threadIdx.x, factor = a[i] & 15;
    int x = fold(a + i, 8, [=](int p, int q) { return p * factor + q; });
    int y = fold(a + i, 8, [&](int p, int q) { return p < q ? q : p - i; });
    out[i] = x ^ y;
}

struct Accumulator {
    long long sum = 0;
    int count = 0;
    __device__ __noinline__ Accumulator &operator+=(int x)
    {
        sum += x;
        count++;
        return *this;
    }
    __device__ __noinline__ long long mean() const { return count ? sum / count : 0; }
};

extern "C" __global__ void member_functions(long long *out, const int *a)
{
    int i = threadIdx.x;
    Accumulator acc;
    for (int k = 0; k < (a[i] & 15); k++) (acc += a[i + k]) += k;
    out[i] = acc.mean() * 100 + acc.count;
}

__device__ __noinline__ int warp_total(int x)
{
    for (int k = 16; k; k /= 2) x += __shfl_xor_sync(0xffffffffu, x, k);
    return x;
}

extern "C" __global__ void shuffle_inside_a_function(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = warp_total(a[i]) - warp_total(a[i + 1]) / 3;
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

__device__ __forceinline__ int with_default(int x, int y = 7) { return x % y; }
__device__ int overloaded(int x) { return x + 1; }
__device__ int overloaded(float x) { return (int)(x * 2) - 1; }

extern "C" __global__ void overloads_and_defaults(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = with_default(a[i]) + overloaded(a[i] >> 4) * overloaded((float)(a[i + 1] & 255));
}

extern "C" __global__ void static_table_in_a_function(int *out, const int *a)
{
    static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    int i = threadIdx.x;
    out[i] = table[a[i] & 7] * 10 + table[i & 7];
}
