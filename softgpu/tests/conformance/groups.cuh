// What warpgroups multiply, drawn from its number; and where a descriptor says that it lies.

// Word n of an operand of fragment f.
template <int E, int M>
__device__ unsigned group_word(unsigned f, int operand, unsigned n)
{
    if (operand == 2 && f / 8 % 4 == 3) return 0;
    const unsigned at = mix(f * 0x9e3779b1u + operand) + n * 0x85ebca77u;
    if (E == 0) {
        unsigned h = mix(at);
        return element<0, 32>(f, 0, (unsigned long long)mix(h) << 32 | h);
    }
    const int bits = E + M + 1;
    unsigned result = 0;
    for (int part = 0; part < 32 / bits; part++) {
        unsigned h = mix(mix(at) + part);
        result |= (unsigned)element<E, M>(f, h, mix(h)) << part * bits;
    }
    return result;
}

__device__ unsigned address_of(const void *shared)
{ return (unsigned)__cvta_generic_to_shared(shared); }

// Lines of 16 bytes, 8 of them one after the other; 128 bytes further along k, 256 to the next lines.
__device__ unsigned long long plain(unsigned address)
{ return address >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32; }

__device__ void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ void finish_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Some fragments a block: two words of all, in which each bit has a part, and the first eight's sums.
template <class I>
__device__ void group_fragments(unsigned *out)
{
    __shared__ alignas(1024) unsigned a[512], b[8 * I::columns];
    __shared__ unsigned sums[2];
    unsigned first = 0, second = 0, *samples = out + (2 * gridDim.x + 63) / 64 * 64;
    if (threadIdx.x < 2) sums[threadIdx.x] = 0;
    for (unsigned n = 0; n < 64; n++) {
        unsigned f = blockIdx.x * 64 + n, d[I::words], low = 0, high = 0;
        for (unsigned i = threadIdx.x; i < 512; i += 128) a[i] = I::a(f, i);
        for (unsigned i = threadIdx.x; i < 8 * I::columns; i += 128) b[i] = I::b(f, i);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        I::run(f, plain(address_of(a)), plain(address_of(b)), d);
        for (int i = 0; i < I::words; i++) {
            low = mix(low ^ d[i]);
            high = mix(high + d[i] * 0x9e3779b1u);
            if (f < 8) samples[(f * I::words + i) * 128 + threadIdx.x] = d[i];
        }
        first += mix(low + f * 128 + threadIdx.x);
        second += mix(high ^ (f * 128 + threadIdx.x));
        __syncthreads();
    }
    atomicAdd(sums, first);
    atomicAdd(sums + 1, second);
    __syncthreads();
    if (threadIdx.x < 2) out[2 * blockIdx.x + threadIdx.x] = sums[threadIdx.x];
}

// Where the elements lie that a descriptor names: all of shared memory holds its own places (`part` 0:
// modulo 2048 halves; 1: the rest of them), and the other operand is 1 where k is the row or column.
const unsigned MAPPED = 48 * 1024;

template <class I>
__device__ void group_map(unsigned *out, unsigned long long described, int part)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    half *places = (half *)memory, *ones = (half *)(memory + MAPPED);
    for (unsigned i = threadIdx.x; i < MAPPED / 2; i += 128)
        places[i] = __float2half(part ? i / 2048 : i % 2048);
    for (unsigned i = threadIdx.x; i < 16 * 64; i += 128) {
        unsigned line = i / 128 * 8 + i / 8 % 8, k = i / 64 % 2 * 8 + i % 8;
        ones[i] = __float2half(line % 16 == k);
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[I::words];
    for (int i = 0; i < I::words; i++) d[i] = 0;
    described += address_of(memory) >> 4;
    I::run(described, plain(address_of(ones)), d);
    for (int i = 0; i < I::words; i++) out[i * 128 + threadIdx.x] = (unsigned)d[i];
}
