// One instruction on addresses from a table: where[thread] is a byte offset, or -1 for a thread that
// stays away. Shared memory is dynamic.
#include <cstdint>

__device__ unsigned base_of(char *s) { return (unsigned)__cvta_generic_to_shared(s); }

// Loads at one table's addresses, then stores at the other's.
#define SHARED(NAME, LOAD, STORE)                                                                  \
    extern "C" __global__ void shared_##NAME(const int *loads, const int *stores, unsigned *out)   \
    {                                                                                              \
        extern __shared__ __align__(1024) char s[];                                                \
        int t = blockIdx.x * blockDim.x + threadIdx.x, from = loads[t], to = stores[t];            \
        unsigned a = t, b = t, c = t, d = t;                                                       \
        if (from >= 0)                                                                             \
            asm volatile(LOAD : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "r"(base_of(s) + from));      \
        if (to >= 0) asm volatile(STORE ::"r"(base_of(s) + to), "r"(a), "r"(b), "r"(c), "r"(d));   \
        out[t] = a + b + c + d;                                                                    \
    }
SHARED(1, "ld.shared.u8 %0, [%4];", "st.shared.u8 [%0], %1;")
SHARED(2, "{ .reg .u16 h; ld.shared.u16 h, [%4]; cvt.u32.u16 %0, h; }",
       "{ .reg .u16 h; cvt.u16.u32 h, %1; st.shared.u16 [%0], h; }")
SHARED(4, "ld.shared.u32 %0, [%4];", "st.shared.u32 [%0], %1;")
SHARED(8, "ld.shared.v2.u32 {%0, %1}, [%4];", "st.shared.v2.u32 [%0], {%1, %2};")
SHARED(16, "ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];", "st.shared.v4.u32 [%0], {%1, %2, %3, %4};")

// ldmatrix of the rows at one table's addresses, then stmatrix at the other's.
#define MATRIX(NAME, FORM, REGISTERS, STORED)                                                      \
    extern "C" __global__ void matrix_##NAME(const int *loads, const int *stores, unsigned *out)   \
    {                                                                                              \
        extern __shared__ __align__(1024) char s[];                                                \
        int t = blockIdx.x * blockDim.x + threadIdx.x, from = loads[t], to = stores[t];            \
        unsigned a = t, b = t, c = t, d = t;                                                       \
        asm volatile("ldmatrix.sync.aligned.m8n8." FORM ".shared.b16 " REGISTERS ", [%4];"         \
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d)                                          \
                     : "r"(base_of(s) + from));                                                    \
        asm volatile("stmatrix.sync.aligned.m8n8." FORM ".shared.b16 [%0], " STORED                \
                     ";" ::"r"(base_of(s) + to),                                                   \
                     "r"(a), "r"(b), "r"(c), "r"(d));                                              \
        out[t] = a + b + c + d;                                                                    \
    }
MATRIX(x1, "x1", "{%0}", "{%1}")
MATRIX(x2, "x2", "{%0, %1}", "{%1, %2}")
MATRIX(x4, "x4", "{%0, %1, %2, %3}", "{%1, %2, %3, %4}")
MATRIX(x1t, "x1.trans", "{%0}", "{%1}")
MATRIX(x2t, "x2.trans", "{%0, %1}", "{%1, %2}")
MATRIX(x4t, "x4.trans", "{%0, %1, %2, %3}", "{%1, %2, %3, %4}")

#define GLOBAL(NAME, LOAD, STORE)                                                                  \
    extern "C" __global__ void global_##NAME(const int *loads, const int *stores, char *memory)    \
    {                                                                                              \
        int t = blockIdx.x * blockDim.x + threadIdx.x, from = loads[t], to = stores[t];            \
        unsigned a = t, b = t, c = t, d = t;                                                       \
        if (from >= 0)                                                                             \
            asm volatile(LOAD : "+r"(a), "+r"(b), "+r"(c), "+r"(d) : "l"(memory + from));          \
        if (to >= 0) asm volatile(STORE ::"l"(memory + to), "r"(a), "r"(b), "r"(c), "r"(d));       \
    }
GLOBAL(1, "ld.global.u8 %0, [%4];", "st.global.u8 [%0], %1;")
GLOBAL(2, "{ .reg .u16 h; ld.global.u16 h, [%4]; cvt.u32.u16 %0, h; }",
       "{ .reg .u16 h; cvt.u16.u32 h, %1; st.global.u16 [%0], h; }")
GLOBAL(4, "ld.global.u32 %0, [%4];", "st.global.u32 [%0], %1;")
GLOBAL(8, "ld.global.v2.u32 {%0, %1}, [%4];", "st.global.v2.u32 [%0], {%1, %2};")
GLOBAL(16, "ld.global.v4.u32 {%0, %1, %2, %3}, [%4];", "st.global.v4.u32 [%0], {%1, %2, %3, %4};")
GLOBAL(nc, "ld.global.nc.v2.u32 {%0, %1}, [%4];", "st.global.cs.v2.u32 [%0], {%1, %2};")
GLOBAL(generic, "ld.u32 %0, [%4];", "st.u32 [%0], %1;")

// red at one table's addresses, atom at the other's.
#define ATOMIC(NAME, TYPE, CONSTRAINT, RED, ATOM)                                                  \
    extern "C" __global__ void atomic_##NAME(const int *reds, const int *atoms, char *memory,      \
                                             TYPE *out)                                            \
    {                                                                                              \
        int t = blockIdx.x * blockDim.x + threadIdx.x, first = reds[t], second = atoms[t];         \
        TYPE value = TYPE(t + 2), old = value;                                                     \
        if (first >= 0) asm volatile(RED ::"l"(memory + first), CONSTRAINT(value));                \
        if (second >= 0)                                                                           \
            asm volatile(ATOM : "=" CONSTRAINT(old) : "l"(memory + second), CONSTRAINT(value));    \
        out[t] = old;                                                                              \
    }
ATOMIC(add_u32, unsigned, "r", "red.global.add.u32 [%0], %1;", "atom.global.add.u32 %0, [%1], %2;")
ATOMIC(max_s32, int, "r", "red.global.max.s32 [%0], %1;", "atom.global.max.s32 %0, [%1], %2;")
ATOMIC(inc_u32, unsigned, "r", "red.global.inc.u32 [%0], %1;", "atom.global.inc.u32 %0, [%1], %2;")
ATOMIC(f16x2, unsigned, "r", "red.global.add.noftz.f16x2 [%0], %1;",
       "atom.global.add.noftz.f16x2 %0, [%1], %2;")
ATOMIC(bf16x2, unsigned, "r", "red.global.add.noftz.bf16x2 [%0], %1;",
       "atom.global.add.noftz.bf16x2 %0, [%1], %2;")
ATOMIC(f32, float, "f", "red.global.add.f32 [%0], %1;", "atom.global.add.f32 %0, [%1], %2;")
ATOMIC(f64, double, "d", "red.global.add.f64 [%0], %1;", "atom.global.add.f64 %0, [%1], %2;")
ATOMIC(add_u64, uint64_t, "l", "red.global.add.u64 [%0], %1;", "atom.global.add.u64 %0, [%1], %2;")
ATOMIC(min_s64, int64_t, "l", "red.global.min.s64 [%0], %1;", "atom.global.min.s64 %0, [%1], %2;")
ATOMIC(or_b64, uint64_t, "l", "red.global.or.b64 [%0], %1;", "atom.global.or.b64 %0, [%1], %2;")
ATOMIC(exch_b32, unsigned, "r", "red.global.xor.b32 [%0], %1;",
       "atom.global.exch.b32 %0, [%1], %2;")
ATOMIC(exch_b64, uint64_t, "l", "red.global.and.b64 [%0], %1;",
       "atom.global.exch.b64 %0, [%1], %2;")
ATOMIC(cas_b32, unsigned, "r", "red.global.dec.u32 [%0], %1;",
       "atom.global.cas.b32 %0, [%1], 0, %2;")
ATOMIC(cas_b64, uint64_t, "l", "red.global.max.u64 [%0], %1;",
       "atom.global.cas.b64 %0, [%1], 0, %2;")
ATOMIC(generic_u32, unsigned, "r", "red.add.u32 [%0], %1;", "atom.add.u32 %0, [%1], %2;")
ATOMIC(generic_f32, float, "f", "red.add.f32 [%0], %1;", "atom.add.f32 %0, [%1], %2;")
ATOMIC(f16, uint16_t, "h", "red.global.add.noftz.f16 [%0], %1;",
       "atom.global.add.noftz.f16 %0, [%1], %2;")
ATOMIC(cas_b16, uint16_t, "h", "red.global.add.noftz.bf16 [%0], %1;",
       "atom.global.cas.b16 %0, [%1], 0, %2;")

// An atomic on zeroed shared memory.
#define SHARED_ATOMIC(NAME, TYPE, CONSTRAINT, ATOM)                                                \
    extern "C" __global__ void shared_##NAME(const int *where, TYPE *out)                          \
    {                                                                                              \
        extern __shared__ __align__(1024) char s[];                                                \
        int t = blockIdx.x * blockDim.x + threadIdx.x, at = where[t];                              \
        TYPE value = TYPE(t + 2), old = value;                                                     \
        for (int i = threadIdx.x; i < 2048; i += blockDim.x) ((int *)s)[i] = 0;                    \
        __syncthreads();                                                                           \
        if (at >= 0)                                                                               \
            asm volatile(ATOM : "+" CONSTRAINT(old) : "r"(base_of(s) + at), CONSTRAINT(value));    \
        out[t] = old;                                                                              \
    }
SHARED_ATOMIC(atom_add_u32, unsigned, "r", "atom.shared.add.u32 %0, [%1], %2;")
SHARED_ATOMIC(red_add_u32, unsigned, "r", "red.shared.add.u32 [%1], %2;")
SHARED_ATOMIC(red_add_one, unsigned, "r", "red.shared.add.u32 [%1], 1;")
SHARED_ATOMIC(atom_max_s32, int, "r", "atom.shared.max.s32 %0, [%1], %2;")
SHARED_ATOMIC(red_or_b32, unsigned, "r", "red.shared.or.b32 [%1], %2;")
SHARED_ATOMIC(atom_inc_u32, unsigned, "r", "atom.shared.inc.u32 %0, [%1], %2;")
SHARED_ATOMIC(exch_b32, unsigned, "r", "atom.shared.exch.b32 %0, [%1], %2;")
SHARED_ATOMIC(exch_b64, uint64_t, "l", "atom.shared.exch.b64 %0, [%1], %2;")
SHARED_ATOMIC(cas_b32, unsigned, "r", "atom.shared.cas.b32 %0, [%1], 0, %2;")
SHARED_ATOMIC(cas_b64, uint64_t, "l", "atom.shared.cas.b64 %0, [%1], 0, %2;")
SHARED_ATOMIC(atom_f32, float, "f", "atom.shared.add.f32 %0, [%1], %2;")
SHARED_ATOMIC(atom_f64, double, "d", "atom.shared.add.f64 %0, [%1], %2;")
SHARED_ATOMIC(atom_add_u64, uint64_t, "l", "atom.shared.add.u64 %0, [%1], %2;")
SHARED_ATOMIC(red_max_u64, uint64_t, "l", "red.shared.max.u64 [%1], %2;")
SHARED_ATOMIC(red_min_u64, uint64_t, "l", "red.shared.min.u64 [%1], %2;")
SHARED_ATOMIC(red_f16x2, unsigned, "r", "red.shared.add.noftz.f16x2 [%1], %2;")
SHARED_ATOMIC(atom_f16, uint16_t, "h", "atom.shared.add.noftz.f16 %0, [%1], %2;")
SHARED_ATOMIC(cas_b16, uint16_t, "h", "atom.shared.cas.b16 %0, [%1], 0, %2;")

// Copies that go from global to shared memory by themselves.
#define COPY(NAME, HOW)                                                                            \
    extern "C" __global__ void copy_##NAME(const int *loads, const int *stores,                    \
                                           const char *memory, int *out)                           \
    {                                                                                              \
        extern __shared__ __align__(1024) char s[];                                                \
        int t = blockIdx.x * blockDim.x + threadIdx.x, from = loads[t], to = stores[t];            \
        if (from >= 0 && to >= 0)                                                                  \
            asm volatile(HOW ::"r"(base_of(s) + to), "l"(memory + from) : "memory");               \
        asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");                \
        __syncthreads();                                                                           \
        out[t] = ((int *)s)[threadIdx.x];                                                          \
    }
COPY(4, "cp.async.ca.shared.global [%0], [%1], 4;")
COPY(8, "cp.async.ca.shared.global [%0], [%1], 8;")
COPY(16, "cp.async.ca.shared.global [%0], [%1], 16;")
COPY(16_cg, "cp.async.cg.shared.global [%0], [%1], 16;")
