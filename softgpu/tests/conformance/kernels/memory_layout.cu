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
