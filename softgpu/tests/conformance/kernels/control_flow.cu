// Divergence: branches, loops, switches, jumps, guards.
#include <assert.h>
#include <stdio.h>

extern "C" __global__ void nested_branches(int *out, const int *a)
{
    int i = threadIdx.x, x = a[i];
    if (x & 1) {
        x += 3;
        if (x & 4) {
            x *= 5;
            if (x > 100) x -= a[i + 1];
            else x ^= a[i + 2];
        } else if (x & 8) {
            x = ~x;
        }
        x <<= 1;
    } else {
        if (x < 0) x = -(x >> 1);
        else x |= 0x100;
    }
    out[i] = x;
}

extern "C" __global__ void jump_into_a_loop(unsigned *out, const unsigned *a)
{
    unsigned i = threadIdx.x, x = a[i], n = 0;
    if (x & 1) goto middle;
top:
    x = x * 5 + 1;
    n++;
middle:
    x ^= x >> 3;
    n += 2;
    if (n < 40 && (x & 0x30)) goto top;
    out[i] = x + n;
}

extern "C" __global__ void two_loops_that_share_blocks(unsigned *out, const unsigned *a)
{
    unsigned i = threadIdx.x, x = a[i], n = 0;
    if (x % 3 == 0) goto second;
first:
    x = x * 3 + 7;
    if (++n > 50) goto done;
    if (x & 4) goto second;
    if (x & 8) goto first;
    goto done;
second:
    x = (x >> 1) ^ 0x9e3779b9u;
    if (++n > 50) goto done;
    if (x & 16) goto first;
    if (x & 1) goto second;
done:
    out[i] = x ^ n;
}

extern "C" __global__ void jump_table_in_assembly(int *out, const int *a)
{
    int i = threadIdx.x, r;
    asm volatile("{\n.reg .u32 n; .reg .pred p;\n and.b32 n, %1, 3;\n"
                 " ts: .branchtargets L0, L1, L2, L3;\n brx.idx n, ts;\n"
                 " L0: add.s32 %0, %1, 1; bra.uni E;\n L1: mul.lo.s32 %0, %1, 3; bra.uni E;\n"
                 " L2: xor.b32 %0, %1, 255; bra.uni E;\n L3: setp.gt.s32 p, %1, 0; @p bra L0;\n"
                 " mov.u32 %0, 77;\n E:\n}"
                 : "=r"(r)
                 : "r"(a[i]));
    out[i] = r;
}

extern "C" __global__ void exit_in_assembly(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = 5;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p exit; }" ::"r"(a[i]));
    out[i] = a[i];
}

// launch: out=512
extern "C" __global__ void guarded_instructions(int *out, const int *a)
{
    __shared__ int s[64];
    int i = threadIdx.x, r[8];
    s[i] = a[i + 1];
    for (int k = 0; k < 8; k++) out[64 * k + i] = -k;
    __syncthreads();
    unsigned cell = (unsigned)__cvta_generic_to_shared(s + i);
    asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %8, 0; mov.pred q, p;\n"
                 " mov.s32 %0, 1; @p add.s32 %0, %8, 5;\n"
                 " mov.s32 %1, 2; @!p ld.shared.s32 %1, [%9];\n"
                 " mov.s32 %2, 3; @p cvt.rni.s32.f32 %2, 0f40A00000;\n"
                 " mov.s32 %3, 4; @!p setp.gt.s32 q, %8, 100; selp.s32 %3, 7, %3, q;\n"
                 " mov.s32 %4, 5; @p selp.s32 %4, %8, 9, q;\n"
                 " mov.s32 %5, 6; @!p atom.shared.add.u32 %5, [%9], 17;\n"
                 " @p st.global.s32 [%10], %8;\n"
                 " @!p red.global.add.u32 [%10], 1000;\n"
                 " mov.s32 %6, 8; @p div.s32 %6, %8, 3;\n"
                 " mov.s32 %7, 9; @!p bra NEXT; mul.lo.s32 %7, %8, %8; NEXT: }"
                 : "=&r"(r[0]), "=&r"(r[1]), "=&r"(r[2]), "=&r"(r[3]), "=&r"(r[4]), "=&r"(r[5]),
                   "=&r"(r[6]), "=&r"(r[7])
                 : "r"(a[i]), "r"(cell), "l"(out + 448 + i)
                 : "memory");
    __syncthreads();
    for (int k = 0; k < 7; k++) out[64 * k + i] = r[k];
    out[448 + i] ^= s[i] + r[7];
}

extern "C" __global__ void checks_that_hold(int *out, const int *a)
{
    int i = threadIdx.x;
    assert(i < 64);
    if (a[i] == 123456789) printf("never: %d %s\n", i, "text");
    if (a[i] == 987654321) __trap();
    __builtin_assume(a[i] != 5);
    out[i] = a[i] * 2;
}
