// Atomics on 16 bytes.

// launch: out=256
extern "C" __global__ void sixteen_bytes(unsigned long long *out, const unsigned long long *a)
{
    __shared__ alignas(16) unsigned long long s[128];
    int i = threadIdx.x;
    s[2 * i] = a[i];
    s[2 * i + 1] = a[i + 64];
    unsigned long long low, high, *p = i & 1 ? s + 2 * i : out + 2 * i;
    out[2 * i] = a[i];
    out[2 * i + 1] = a[i + 64];
    asm volatile("{ .reg .b128 x, y; mov.b128 x, {%3, %4}; atom.exch.b128 y, [%2], x;"
                 " mov.b128 {%0, %1}, y; }"
                 : "=l"(low), "=l"(high)
                 : "l"(p), "l"(a[i + 128]), "l"(a[i + 1])
                 : "memory");
    out[128 + 2 * i] = low ^ high * 3;
    asm volatile("{ .reg .b128 x, y, z; mov.b128 x, {%3, %4}; mov.b128 y, {%5, %6};"
                 " atom.cas.b128 z, [%2], x, y; mov.b128 {%0, %1}, z; }"
                 : "=l"(low), "=l"(high)
                 : "l"(p), "l"(a[i + 128]), "l"(i & 2 ? a[i + 1] : a[i]), "l"(a[i + 3]),
                   "l"(a[i + 4])
                 : "memory");
    out[128 + 2 * i + 1] = low + high * 3;
    if (i & 1) {
        out[2 * i] = s[2 * i];
        out[2 * i + 1] = s[2 * i + 1];
    }
}
