/* The innermost loops of products: once for each kind of machine. */
#pragma GCC optimize("O3")
#include "product.h"

#if defined(__x86_64__) && !defined(__clang__)
#define ON_EACH_MACHINE __attribute__((target_clones("arch=x86-64-v4", "arch=haswell", "default")))
#else
#define ON_EACH_MACHINE
#endif

template <class T>
static inline __attribute__((always_inline)) void tile(const T *a, const T *b, Size depth, T *out)
{
    typedef T Vector __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
    constexpr Size half = TALL<T> / 2;
    Vector sums[ACROSS][2] = {};
    for (Size p = 0; p < depth; p++, a += TALL<T>, b += ACROSS) {
        Vector low = *(const Vector *)a, high = *(const Vector *)(a + half);
        for (Size j = 0; j < ACROSS; j++) sums[j][0] += low * b[j], sums[j][1] += high * b[j];
    }
    for (Size j = 0; j < ACROSS; j++)
        for (Size h = 0; h < 2; h++) *(Vector *)(out + j * TALL<T> + h * half) = sums[j][h];
}

#define TILES(T)                                                                                   \
    ON_EACH_MACHINE void make_tile(const T *a, const T *b, Size depth, T *out)                     \
    { tile(a, b, depth, out); }
TILES(float)
TILES(double)
TILES(uint32_t)
