// Structs, unions, bit-fields, packed and aligned types, initialised variables, local arrays.

struct Point {
    int x;
    short y;
    signed char z;
};

struct Mixed {
    signed char a;
    double b;
    short c;
    long long d;
    float e;
};

struct __attribute__((packed)) Packed {
    signed char a;
    int b;
    short c;
    long long d;
};

union Overlay {
    float f;
    unsigned u;
    unsigned short h[2];
    unsigned char b[4];
};

struct Fields {
    unsigned a : 3;
    int b : 7;
    unsigned c : 11;
    unsigned long long d : 37;
};

extern "C" __global__ void struct_in_registers(int *out, const int *a)
{
    int i = threadIdx.x;
    Point p = {a[i], (short)a[i + 1], (signed char)a[i + 2]};
    Point q = p;
    q.y += p.z;
    out[i] = q.x ^ (q.y << 3) ^ q.z;
}

extern "C" __global__ void struct_copied_through_memory(int *out, const int *a)
{
    __shared__ Mixed s[64];
    int i = threadIdx.x;
    s[i] = {(signed char)a[i], a[i + 1] * 0.5, (short)a[i + 2], (long long)a[i] * a[i + 3],
            a[i + 4] * 0.25f};
    __syncthreads();
    Mixed m = s[63 - i];
    out[i] = m.a + (int)(m.b > 0) + m.c + (int)(m.d >> 7) + (int)(m.e < 0);
}

extern "C" __global__ void packed_struct_fields(long long *out, const int *a)
{
    __shared__ unsigned char bytes[16 * 64];
    int i = threadIdx.x;
    Packed *p = (Packed *)(bytes + 15 * i);
    p->a = (signed char)a[i];
    p->b = a[i + 1];
    p->c = (short)a[i + 2];
    p->d = (long long)a[i + 3] * 1000003;
    __syncthreads();
    Packed *q = (Packed *)(bytes + 15 * ((i + 1) % 64));
    out[i] = q->a + 3ll * q->b + 5ll * q->c + 7ll * q->d;
}

extern "C" __global__ void union_of_views(unsigned *out, const unsigned *a)
{
    int i = threadIdx.x;
    Overlay o;
    o.u = a[i];
    o.h[1] ^= 0x1234;
    o.b[0] += o.b[3];
    out[i] = o.u;
}

extern "C" __global__ void bit_fields(unsigned long long *out, const unsigned *a)
{
    int i = threadIdx.x;
    Fields f = {};
    f.a = a[i];
    f.b = (int)a[i + 1];
    f.c = a[i + 2];
    f.d = (unsigned long long)a[i + 3] * 77;
    f.b += 1;
    out[i] = f.a + 10 * (unsigned long long)(f.b + 100) + 10000ull * f.c + f.d * 3;
}

extern "C" __global__ void local_array_indexed_by_data(int *out, const int *a)
{
    int i = threadIdx.x, v[16];
    for (int k = 0; k < 16; k++) v[k] = a[(i + k) & 255];
    for (int k = 0; k < 40; k++) v[(v[k & 15] & 15)] += v[(unsigned)v[(k + 3) & 15] % 16u] ^ k;
    int sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * 31 + v[k];
    out[i] = sum;
}

__constant__ int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ Mixed constants = {'x', 2.5, -7, 123456789012345ll, 0.75f};
__constant__ float matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};

extern "C" __global__ void constant_memory(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = primes[a[i] & 7] * (int)matrix[i & 1][i % 3] + constants.a + constants.c +
             (int)constants.d + (int)(constants.b * 4) + (int)(constants.e * 4);
}

__device__ int counter_start = 40;
__device__ unsigned char text[] = "software";
__device__ const short small_numbers[5] = {-1, 2, -3, 4, -5};
__device__ double half_of = 0.5;

extern "C" __global__ void initialised_globals(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] =
        counter_start + text[i % 9] + small_numbers[(unsigned)a[i] % 5u] + (int)(a[i] * half_of);
}

__device__ int targets[4] = {10, 20, 30, 40};
__device__ int *pointers[3] = {&targets[1], &targets[3], targets};
__device__ const unsigned char *words = text + 4;
struct Link {
    int value;
    Link *next;
};
__device__ Link last = {3, nullptr}, middle = {2, &last}, first[2] = {{1, &middle}, {4, &last}};

extern "C" __global__ void pointers_in_initialisers(int *out, const int *a)
{
    int i = threadIdx.x, sum = *pointers[(unsigned)a[i] % 3u] + words[i % 4];
    Link *link = &first[i % 2];
    for (int k = 0; k < (a[i] & 3) && link->next; k++) link = link->next;
    out[i] = sum * 10 + link->value;
}

__shared__ int outer_shared[64];
__device__ int through_shared(int i) { return outer_shared[(i * 7) % 64]; }

// launch: shared=1024
extern "C" __global__ void static_and_dynamic_shared(int *out, const int *a)
{
    extern __shared__ int dynamic[];
    __shared__ short small[64];
    __shared__ double wide[8];
    int i = threadIdx.x;
    outer_shared[i] = a[i];
    small[i] = (short)a[i + 1];
    if (i < 8) wide[i] = a[i] * 0.5;
    dynamic[i] = a[i + 2];
    dynamic[i + 64] = ~a[i];
    __syncthreads();
    out[i] = through_shared(i) + small[63 - i] + (wide[i & 7] > 0) + dynamic[(i + 5) % 128];
}

extern "C" __global__ void aligned_vector_types(int *out, const int *a)
{
    __shared__ int4 quads[32];
    __shared__ double2 pairs[32];
    __shared__ uchar4 bytes[64];
    __shared__ short2 shorts[64];
    int i = threadIdx.x;
    if (i < 32) quads[i] = make_int4(a[i], a[i + 1], a[i + 2], a[i + 3]);
    if (i < 32) pairs[i] = make_double2(a[i], a[i] * 0.5);
    bytes[i] = make_uchar4(a[i], a[i] >> 8, a[i] >> 16, a[i] >> 24);
    shorts[i] = make_short2(a[i], a[i + 1]);
    __syncthreads();
    int4 q = quads[(i * 5) % 32];
    double2 p = pairs[(i * 3) % 32];
    uchar4 b = bytes[63 - i];
    short2 s = shorts[i ^ 1];
    out[i] = q.x + 3 * q.y + 5 * q.z + 7 * q.w + (p.x > p.y) + b.x * b.w - b.y * b.z + s.x * s.y;
}

struct Settings {
    int count;
    float scale;
    double offset;
};

extern "C" __global__ void parameters_by_value(double *out, const int *a, int4 b, Settings c,
                                               signed char d, short e, int f, long long g, float h,
                                               double i, unsigned char j, unsigned long long k)
{
    int t = threadIdx.x;
    double x = a[t] + b.x * 3.0 + b.y * 5.0 + b.z * 7.0 + b.w * 11.0 + c.count * c.scale + c.offset;
    out[t] =
        x + d * 13.0 + e * 17.0 + f * 19.0 + g * 0.5 + h * 29.0 + i * 31.0 + j * 37.0 + k * 0.25;
}

__device__ __noinline__ double evaluated(const Settings *s, const int *v, int n)
{
    double x = s->offset;
    for (int k = 0; k < s->count; k++) x = x * s->scale + v[k * n & 3];
    return x;
}

extern "C" __global__ void parameters_behind_pointers(double *out, const int *a,
                                                      const __grid_constant__ int4 b,
                                                      const __grid_constant__ Settings c)
{
    int i = threadIdx.x;
    Settings mine = c;
    mine.count = a[i] & 7;
    out[i] = evaluated(i & 1 ? &c : &mine, &b.x, i) + (&b.x)[a[i] & 3];
}

extern "C" __global__ void memory_from_the_heap(int *out, const int *a)
{
    int i = threadIdx.x, n = 1 + (a[i] & 15);
    int *p = (int *)malloc(n * sizeof(int));
    double *q = new double[2];
    for (int k = 0; k < n; k++) p[k] = a[(i + k) & 255] * k;
    q[0] = n;
    q[1] = i;
    int sum = p != nullptr;
    for (int k = 0; k < n; k++) sum = sum * 3 + p[k];
    out[i] = sum + (int)(q[0] * q[1]);
    delete[] q;
    free(p);
}
