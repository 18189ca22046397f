/* Atomics of kernels. Lanes act in order; neighbours that hit the same address are put together
   and reach memory as one compare-and-swap, which is one of the orders the hardware may choose.

   Terms: aggregated atomics, compare-and-swap (Herlihy 1991; docs/terms.md). */
#include <stdbool.h>

#include "internal.h"
#include "half.h"

typedef unsigned __int128 u128;

#define INTEGER(name, type, bits)                                                                  \
    INLINE bits name(uint32_t op, bits held, bits a, bits b)                                       \
    {                                                                                              \
        switch (op) {                                                                              \
        case OP_ADD: return held + a;                                                              \
        case OP_MIN: return (type)a < (type)held ? a : held;                                       \
        case OP_MAX: return (type)a > (type)held ? a : held;                                       \
        case OP_INC: return held >= a ? 0 : held + 1;                                              \
        case OP_DEC: return held == 0 || held > a ? a : held - 1;                                  \
        case OP_AND: return held & a;                                                              \
        case OP_OR: return held | a;                                                               \
        case OP_XOR: return held ^ a;                                                              \
        case OP_CAS: return held == a ? b : held;                                                  \
        default: return a;                                                                         \
        }                                                                                          \
    }

INTEGER(apply_u16, uint16_t, uint16_t)
INTEGER(apply_u32, uint32_t, uint32_t)
INTEGER(apply_s32, int32_t, uint32_t)
INTEGER(apply_u64, uint64_t, uint64_t)
INTEGER(apply_s64, int64_t, uint64_t)
INTEGER(apply_u128, u128, u128)

/* Floating types add; other operations on them are typed as bits. Zeros, subnormals, infinities
   and NaN are rare, so they are branches: then a chain of sums waits for additions only. */
INLINE bool is_special(uint32_t bits)
{
    uint32_t exponent = bits & 0x7f800000;
    return __builtin_expect(exponent == 0 || exponent == 0x7f800000, 0);
}

INLINE uint32_t apply_f32(uint32_t op, uint32_t held, uint32_t a, uint32_t b)
{
    if (op != OP_ADD) return apply_u32(op, held, a, b);
    uint32_t sum = bits_of_f32(f32_of_bits(held) + f32_of_bits(a));
    return is_special(sum) ? bits_of_f32(canonical_f32(f32_of_bits(sum))) : sum;
}

/* On global memory, the hardware flushes subnormals. */
INLINE uint32_t apply_ftz_f32(uint32_t op, uint32_t held, uint32_t a, uint32_t b)
{
    if (op != OP_ADD) return apply_u32(op, held, a, b);
    if (is_special(held)) held = bits_of_f32(flush_f32(f32_of_bits(held)));
    if (is_special(a)) a = bits_of_f32(flush_f32(f32_of_bits(a)));
    uint32_t sum = bits_of_f32(f32_of_bits(held) + f32_of_bits(a));
    return is_special(sum) ? bits_of_f32(flush_f32(canonical_f32(f32_of_bits(sum)))) : sum;
}

INLINE uint64_t apply_f64(uint32_t op, uint64_t held, uint64_t a, uint64_t b)
{
    if (op != OP_ADD) return apply_u64(op, held, a, b);
    const double x = f64_of_bits(held), y = f64_of_bits(a);
    return bits_of_f64(made_f64(x + y, x == x && y == y));
}

/* On global memory, the hardware leaves NaN as it is: the operand's, else the one that is held. */
INLINE uint64_t apply_global_f64(uint32_t op, uint64_t held, uint64_t a, uint64_t b)
{
    if (op != OP_ADD) return apply_u64(op, held, a, b);
    if (__builtin_expect(f64_of_bits(a) != f64_of_bits(a), 0)) return a;
    if (__builtin_expect(f64_of_bits(held) != f64_of_bits(held), 0)) return held;
    return bits_of_f64(made_f64(f64_of_bits(held) + f64_of_bits(a), true));
}

/* Of two numbers the lesser or greater, where -0 is less than 0; of a number and NaN the number. */
INLINE uint32_t chosen_f32(uint32_t op, uint32_t a, uint32_t b)
{
    const float x = f32_of_bits(a), y = f32_of_bits(b);
    if (x != x || y != y) return x == x ? a : y == y ? b : 0x7fffffff;
    const bool less = x < y || (x == y && a >> 31);
    return less == (op == OP_MIN) ? a : b;
}

INLINE uint16_t apply_f16(uint32_t op, uint16_t held, uint16_t a, uint16_t b)
{
    if (op == OP_MIN || op == OP_MAX)
        return half_of_float(f32_of_bits(
            chosen_f32(op, bits_of_f32(float_of_half(held)), bits_of_f32(float_of_half(a)))));
    if (op != OP_ADD) return apply_u16(op, held, a, b);
    return half_of_float(float_of_half(held) + float_of_half(a));
}

INLINE uint16_t apply_bf16(uint32_t op, uint16_t held, uint16_t a, uint16_t b)
{
    if (op == OP_MIN || op == OP_MAX)
        return bfloat_of_float(f32_of_bits(
            chosen_f32(op, bits_of_f32(float_of_bfloat(held)), bits_of_f32(float_of_bfloat(a)))));
    if (op != OP_ADD) return apply_u16(op, held, a, b);
    return bfloat_of_float(float_of_bfloat(held) + float_of_bfloat(a));
}

#define PAIR(name, half)                                                                           \
    INLINE uint32_t name(uint32_t op, uint32_t held, uint32_t a, uint32_t b)                       \
    {                                                                                              \
        if (op != OP_ADD) return apply_u32(op, held, a, b);                                        \
        return half(op, (uint16_t)held, (uint16_t)a, 0) |                                          \
               (uint32_t)half(op, (uint16_t)(held >> 16), (uint16_t)(a >> 16), 0) << 16;           \
    }

PAIR(apply_f16x2, apply_f16)
PAIR(apply_bf16x2, apply_bf16)

/* alone: nobody interferes, as the launch is, or the block's memory is meant. */
#define UPDATE_BODY(name, bits, apply)                                                             \
    INLINE void name##_body(uint32_t op, const uint64_t *addr, uint32_t mask, const bits *a,       \
                            const bits *b, bits *out, bool alone)                                  \
    {                                                                                              \
        for (uint32_t left = mask, after; left; left = after) {                                    \
            uint64_t address = addr[__builtin_ctz(left)];                                          \
            bits *memory = (bits *)address, old, held;                                             \
            do {                                                                                   \
                held = old = *(volatile bits *)memory;                                             \
                after = left;                                                                      \
                do {                                                                               \
                    uint32_t lane = __builtin_ctz(after);                                          \
                    if (addr[lane] != address) break;                                              \
                    if (out) out[lane] = held;                                                     \
                    held = apply(op, held, a[lane], b ? b[lane] : 0);                              \
                    after &= after - 1;                                                            \
                } while (after);                                                                   \
                if (alone) *memory = held;                                                         \
            } while (!alone && !__sync_bool_compare_and_swap(memory, old, held));                  \
        }                                                                                          \
    }

/* Additions, by far the most frequent, get code of their own. */
#define UPDATE(name, bits, apply)                                                                  \
    UPDATE_BODY(name, bits, apply)                                                                 \
    static void name(uint32_t op, const uint64_t *addr, uint32_t mask, const bits *a,              \
                     const bits *b, bits *out, bool alone)                                         \
    {                                                                                              \
        if (op == OP_ADD) name##_body(OP_ADD, addr, mask, a, NULL, out, alone);                    \
        else name##_body(op, addr, mask, a, b, out, alone);                                        \
    }

UPDATE(update_u16, uint16_t, apply_u16)
UPDATE(update_u32, uint32_t, apply_u32)
UPDATE(update_s32, uint32_t, apply_s32)
UPDATE(update_u64, uint64_t, apply_u64)
UPDATE(update_s64, uint64_t, apply_s64)
UPDATE(update_f32, uint32_t, apply_f32)
UPDATE(update_ftz_f32, uint32_t, apply_ftz_f32)
UPDATE(update_f64, uint64_t, apply_f64)
UPDATE(update_global_f64, uint64_t, apply_global_f64)
UPDATE(update_f16, uint16_t, apply_f16)
UPDATE(update_bf16, uint16_t, apply_bf16)
UPDATE(update_f16x2, uint32_t, apply_f16x2)
UPDATE(update_bf16x2, uint32_t, apply_bf16x2)
UPDATE(update_u128, u128, apply_u128)

/* Sums of integers whose old value nobody asks for: one instruction, which never has to try again.
   The next lane is read before it, as it lets nothing overtake. */
#define ADD_UP(memory, sum)                                                                        \
    {                                                                                              \
        if (alone) *memory += sum;                                                                 \
        else __atomic_fetch_add(memory, sum, __ATOMIC_SEQ_CST);                                    \
    }

#define SUM_LANE(bits)                                                                             \
    {                                                                                              \
        bits *next = (bits *)addr[lane], more = a[lane];                                           \
        if (next == memory) {                                                                      \
            sum += more;                                                                           \
            continue;                                                                              \
        }                                                                                          \
        ADD_UP(memory, sum)                                                                        \
        memory = next;                                                                             \
        sum = more;                                                                                \
    }

#define SUM(name, bits)                                                                            \
    static void name(const uint64_t *addr, uint32_t mask, const bits *a, bool alone)               \
    {                                                                                              \
        bits *memory = (bits *)addr[__builtin_ctz(mask)], sum = 0;                                 \
        if (mask == UINT32_MAX)                                                                    \
            for (uint32_t lane = 0; lane < LANES; lane++) SUM_LANE(bits)                           \
        else FOR_LANES(lane, mask)                                                                 \
        SUM_LANE(bits)                                                                             \
        ADD_UP(memory, sum)                                                                        \
    }

SUM(sum_32, uint32_t)
SUM(sum_64, uint64_t)

/* Lanes of a generic access may differ in this. */
static uint32_t lanes_in_shared(Warp *w, const uint64_t *addr, uint32_t mask)
{
    uint32_t shared = 0;
    FOR_LANES(lane, mask)
    shared |= (uint32_t)(addr[lane] - (uint64_t)w->shared < SM_SHARED) << lane;
    return shared;
}

/* What lanes do to memory that they may touch; shared: those whose memory is the block's. */
static void update(uint32_t op, uint32_t type, const uint64_t *addr, uint32_t mask, uint32_t shared,
                   const void *a, const void *b, void *out, bool alone)
{
    switch (type) {
    case TY_U32:
    case TY_B32: update_u32(op, addr, mask, a, b, out, alone); break;
    case TY_S32: update_s32(op, addr, mask, a, b, out, alone); break;
    case TY_U64:
    case TY_B64: update_u64(op, addr, mask, a, b, out, alone); break;
    case TY_S64: update_s64(op, addr, mask, a, b, out, alone); break;
    case TY_F32:
        update_ftz_f32(op, addr, mask & ~shared, a, b, out, alone);
        update_f32(op, addr, shared, a, b, out, alone);
        break;
    case TY_F64:
        update_global_f64(op, addr, mask & ~shared, a, b, out, alone);
        update_f64(op, addr, shared, a, b, out, alone);
        break;
    case TY_F16: update_f16(op, addr, mask, a, b, out, alone); break;
    case TY_BF16: update_bf16(op, addr, mask, a, b, out, alone); break;
    case TY_F16X2: update_f16x2(op, addr, mask, a, b, out, alone); break;
    case TY_BF16X2: update_bf16x2(op, addr, mask, a, b, out, alone); break;
    case TY_B16: update_u16(op, addr, mask, a, b, out, alone); break;
    default: update_u128(op, addr, mask, a, b, out, alone); break;
    }
}

void sg_atomic(Warp *w, uint32_t site, uint32_t op, uint32_t type, const uint64_t *addr,
               uint32_t mask, const void *a, const void *b, void *out)
{
    if (!mask) return;
    access_check(w, site, addr, mask);
    const Job *job = w->worker->job;
    bool alone = job->alone || job->kernel->sites[site].space == SPACE_SHARED;
    bool sum = op == OP_ADD && !out;
    if (sum && (type == TY_U32 || type == TY_S32)) return sum_32(addr, mask, a, alone);
    if (sum && (type == TY_U64 || type == TY_S64)) return sum_64(addr, mask, a, alone);
    uint32_t shared = type == TY_F32 || type == TY_F64 ? lanes_in_shared(w, addr, mask) : 0;
    update(op, type, addr, mask, shared, a, b, out, alone);
}

static uint32_t size_of(uint32_t type)
{
    switch (type) {
    case TY_F16:
    case TY_BF16: return 2;
    case TY_U64:
    case TY_S64:
    case TY_B64:
    case TY_F64: return 8;
    default: return 4;
    }
}

void atomic_reduce(const Warp *w, uint32_t op, uint32_t type, uint64_t address, const void *data,
                   uint32_t bytes, bool flushes)
{
    const bool inside = address - (uint64_t)w->shared < SM_SHARED;
    const bool alone = inside || w->worker->job->alone, shared = inside || !flushes;
    for (uint32_t at = 0; at < bytes; at += size_of(type), address += size_of(type))
        update(op, type, &address, 1, shared, (const char *)data + at, NULL, NULL, alone);
}
