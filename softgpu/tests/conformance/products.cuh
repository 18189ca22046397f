// Fragments drawn from their number, by integer arithmetic only, and what is kept of their results.

__device__ unsigned mix(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

// The kinds of fragments: ordinary numbers, wide exponents, sums that cancel, subnormals, infinities
// and NaN or signed zeros, any bits, numbers that overflow, and terms at the edge of the adder.
template <int E, int M>
__device__ unsigned long long element(unsigned f, unsigned h, unsigned long long m)
{
    if (E == 0) return f % 4 == 0 ? m & m >> 32 : f % 4 == 1 ? m | m >> 32 : m;
    const unsigned bias = (1u << (E - 1)) - 1, top = (1u << E) - 1;
    unsigned e = 0;
    m &= (1ull << M) - 1;
    switch (f % 8) {
    case 0: e = bias - 2 + h % 4; break;
    case 1: e = h % top; break;
    case 2:
        e = bias - bias / 2 + h % (bias < 13 ? bias : 13);
        m &= 3ull << (M - 2);
        break;
    case 3: e = h & 1 ? 0 : h >> 1 & 1 ? h % top : 1; break;
    case 4:
        e = bias;
        if (f / 8 % 2) {
            e = m = h % 16 == 0;
        } else if (h % 16 == 0) {
            e = top;
            m = h & 16 ? m : 0;
        } else if (h % 16 == 1) e = m = 0;
        break;
    case 5: e = h & top; break;
    case 6: e = top - 1 - h % 4; break;
    case 7: e = h % 4 ? bias - bias / 2 - h / 4 % (bias / 3 + 1) : bias; break;
    }
    return (unsigned long long)(h >> 31) << (E + M) | (unsigned long long)e << M | m;
}

__device__ unsigned lane() { return threadIdx.x % 32; }

// A hash of fragment, operand, register, lane and part.
__device__ unsigned drawn(unsigned f, int operand, int n, int part)
{ return mix(mix(f * 0x9e3779b1u + (operand * 32 + n)) + (part * 32 + lane()) * 0x85ebca77u); }

// Register n of an operand: elements of E exponent and M mantissa bits, side by side.
template <int E, int M>
__device__ unsigned word(unsigned f, int operand, int n)
{
    if (operand == 2 && f / 8 % 4 == 3) return 0;
    unsigned result = 0;
    if (E == 0) {
        unsigned h = drawn(f, operand, n, 0);
        return element<0, 32>(f, 0, (unsigned long long)mix(h) << 32 | h);
    }
    const int bits = E + M + 1;
    for (int part = 0; part < 32 / bits; part++) {
        unsigned h = drawn(f, operand, n, part);
        result |= (unsigned)element<E, M>(f, h, mix(h)) << part * bits;
    }
    return result;
}

__device__ double real(unsigned f, int operand, int n)
{
    unsigned h = drawn(f, operand, n, 0), low = mix(h);
    return __longlong_as_double(element<11, 52>(f, h, (unsigned long long)mix(low) << 32 | low));
}

// For each four columns of a sparse row, which two are there; of tf32, for each two, which one.
template <int pairs>
__device__ unsigned metadata(unsigned f)
{
    unsigned h = drawn(f, 3, 0, 0), result = 0;
    for (int n = 0; n < 8; n++, h = mix(h))
        result |= (pairs ? (h & 1 ? 0xeu : 0x4u) : 0xedc984u >> h % 6 * 4 & 15u) << 4 * n;
    return result;
}

template <class I>
__device__ void fragments(unsigned *out)
{
    __shared__ unsigned sums[2];
    unsigned warp = threadIdx.x / 32, first = 0, second = 0;
    unsigned *samples = out + (2 * gridDim.x + 63) / 64 * 64;
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned n = warp; n < 4096; n += 8) {
        unsigned f = blockIdx.x * 4096 + n, d[I::words], low = 0, high = 0;
        I::run(f, d);
        for (int i = 0; i < I::words; i++) {
            low = mix(low ^ d[i]);
            high = mix(high + d[i] * 0x9e3779b1u);
            if (f < 8) samples[(f * I::words + i) * 32 + lane()] = d[i];
        }
        first += mix(low + f * 32 + lane());
        second += mix(high ^ (f * 32 + lane()));
    }
    atomicAdd(sums, first);
    atomicAdd(sums + 1, second);
    __syncthreads();
    if (threadIdx.x < 2) out[2 * blockIdx.x + threadIdx.x] = sums[threadIdx.x];
}
