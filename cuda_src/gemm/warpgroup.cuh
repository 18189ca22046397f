// Products by a warpgroup, four warps: 64 rows of 32 bytes by COLUMNS columns, both from shared memory, in
// lines of 128 bytes whose chunks of 16 are swizzled: chunk c of line l at place c ^ l % 8.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "common/float8.cuh"

constexpr int GROUP = 128, GROUP_ROWS = 64;  // threads; rows that they multiply
constexpr int LINES_BYTES = 8 * 128;         // after which the swizzle begins anew

// Lets a warpgroup have more registers, or leaves them to others.
template <int REGISTERS>
__device__ void take_registers()
{ asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }
template <int REGISTERS>
__device__ void give_registers()
{ asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS)); }

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void close_products()
{ asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int UNDER_WAY>
__device__ void wait_for_products()
{ asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(UNDER_WAY) : "memory"); }

// An operand that begins at `place`. panel: bytes from 64 neighbours to the next 64, where lines are not along k.
__device__ inline unsigned long long described(unsigned place, int panel)
{
    constexpr unsigned long long SWIZZLED = 1ULL << 62, STRIDE = LINES_BYTES / 16;
    return SWIZZLED | STRIDE << 32 | (unsigned long long)(panel / 16) << 16 |
           (place & 0x3ffff) / 16;
}

// sum = a * b, or sum + a * b if it `adds`, of as much k as 32 bytes are. Element i of a thread's sums is in
// row warp * 16 + lane / 4 + i / 2 % 2 * 8 and column i / 4 * 8 + lane % 4 * 2 + i % 2.
#define HOLD8(n)                                                                                   \
    "+f"(sum[n]), "+f"(sum[n + 1]), "+f"(sum[n + 2]), "+f"(sum[n + 3]), "+f"(sum[n + 4]),          \
        "+f"(sum[n + 5]), "+f"(sum[n + 6]), "+f"(sum[n + 7])
#define HOLD16(n) HOLD8(n), HOLD8(n + 8)
#define HOLD32(n) HOLD16(n), HOLD16(n + 16)
#define NAME8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define NAME16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define NAME32 NAME16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NAME24 NAME16 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define NAME48 NAME32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define NAME64 NAME48 ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define NAME80 NAME64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define NAME96 NAME80 ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define NAME112                                                                                    \
    NAME96 ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define NAME128                                                                                    \
    NAME112 ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define GROUP_PRODUCT(T, TYPES, COLUMNS, NAMES, A, B, ADDS, TURNED, ...)                           \
    template <bool A_ALONG_K, bool B_ALONG_K>                                                      \
    __device__ void multiply_add(float (&sum)[COLUMNS / 2], unsigned long long a,                  \
                                 unsigned long long b, bool adds, T)                               \
    {                                                                                              \
        asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " ADDS ", 0;\n"                       \
                     "wgmma.mma_async.sync.aligned.m64n" #COLUMNS TYPES " {" NAMES "}, " A ", " B  \
                     ", adds, 1, 1" TURNED ";\n}"                                                  \
                     : __VA_ARGS__                                                                 \
                     : "l"(a), "l"(b), "r"(int(adds)), "n"(!A_ALONG_K), "n"(!B_ALONG_K));          \
    }
// The same where a thread holds its part of a: rows lane / 4 and 8 more, of 16 bits columns lane % 4 * 2 and 8 more, in
// pairs, of floats columns lane % 4 and 4 more.
#define HELD_PRODUCT(T, TYPES, COLUMNS, NAMES, A, B, ADDS, TURNED_B, ...)                          \
    template <bool B_ALONG_K>                                                                      \
    __device__ void multiply_add(float (&sum)[COLUMNS / 2], const unsigned *a,                     \
                                 unsigned long long b, bool adds, T)                               \
    {                                                                                              \
        asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " ADDS ", 0;\n"                       \
                     "wgmma.mma_async.sync.aligned.m64n" #COLUMNS TYPES " {" NAMES "}, {" A        \
                     "}, " B ", adds, 1, 1" TURNED_B ";\n}"                                        \
                     : __VA_ARGS__                                                                 \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(adds)),         \
                       "n"(!B_ALONG_K));                                                           \
    }
// TURN: what becomes of the words that say how the lines of a and b lie, which only 16 bits have.
#define GROUP_PRODUCTS(T, TYPES, TURN)                                                             \
    GROUP_PRODUCT(T, TYPES, 16, NAME8, "%8", "%9", "%10", TURN(", %11, %12"), HOLD8(0))            \
    GROUP_PRODUCT(T, TYPES, 32, NAME16, "%16", "%17", "%18", TURN(", %19, %20"), HOLD16(0))        \
    GROUP_PRODUCT(T, TYPES, 48, NAME24, "%24", "%25", "%26", TURN(", %27, %28"), HOLD16(0),        \
                  HOLD8(16))                                                                       \
    GROUP_PRODUCT(T, TYPES, 96, NAME48, "%48", "%49", "%50", TURN(", %51, %52"), HOLD32(0),        \
                  HOLD16(32))                                                                      \
    GROUP_PRODUCT(T, TYPES, 64, NAME32, "%32", "%33", "%34", TURN(", %35, %36"), HOLD32(0))        \
    GROUP_PRODUCT(T, TYPES, 128, NAME64, "%64", "%65", "%66", TURN(", %67, %68"), HOLD32(0),       \
                  HOLD32(32))                                                                      \
    GROUP_PRODUCT(T, TYPES, 160, NAME80, "%80", "%81", "%82", TURN(", %83, %84"), HOLD32(0),       \
                  HOLD32(32), HOLD16(64))                                                          \
    GROUP_PRODUCT(T, TYPES, 192, NAME96, "%96", "%97", "%98", TURN(", %99, %100"), HOLD32(0),      \
                  HOLD32(32), HOLD32(64))                                                          \
    GROUP_PRODUCT(T, TYPES, 224, NAME112, "%112", "%113", "%114", TURN(", %115, %116"), HOLD32(0), \
                  HOLD32(32), HOLD32(64), HOLD16(96))                                              \
    GROUP_PRODUCT(T, TYPES, 256, NAME128, "%128", "%129", "%130", TURN(", %131, %132"), HOLD32(0), \
                  HOLD32(32), HOLD32(64), HOLD32(96))
#define HELD_PRODUCTS(T, TYPES, TURN)                                                              \
    HELD_PRODUCT(T, TYPES, 64, NAME32, "%32, %33, %34, %35", "%36", "%37", TURN(", %38"),          \
                 HOLD32(0))                                                                        \
    HELD_PRODUCT(T, TYPES, 128, NAME64, "%64, %65, %66, %67", "%68", "%69", TURN(", %70"),         \
                 HOLD32(0), HOLD32(32))                                                            \
    HELD_PRODUCT(T, TYPES, 160, NAME80, "%80, %81, %82, %83", "%84", "%85", TURN(", %86"),         \
                 HOLD32(0), HOLD32(32), HOLD16(64))                                                \
    HELD_PRODUCT(T, TYPES, 192, NAME96, "%96, %97, %98, %99", "%100", "%101", TURN(", %102"),      \
                 HOLD32(0), HOLD32(32), HOLD32(64))                                                \
    HELD_PRODUCT(T, TYPES, 224, NAME112, "%112, %113, %114, %115", "%116", "%117", TURN(", %118"), \
                 HOLD32(0), HOLD32(32), HOLD32(64), HOLD16(96))                                    \
    HELD_PRODUCT(T, TYPES, 256, NAME128, "%128, %129, %130, %131", "%132", "%133", TURN(", %134"), \
                 HOLD32(0), HOLD32(32), HOLD32(64), HOLD32(96))
// Of heads of 32 and of 96 elements, as many columns.
#define HELD_HEADS(T, TYPES, TURN)                                                                 \
    HELD_PRODUCT(T, TYPES, 32, NAME16, "%16, %17, %18, %19", "%20", "%21", TURN(", %22"),          \
                 HOLD16(0))                                                                        \
    HELD_PRODUCT(T, TYPES, 96, NAME48, "%48, %49, %50, %51", "%52", "%53", TURN(", %54"),          \
                 HOLD32(0), HOLD16(32))
#define SAID(words) words
#define UNSAID(words) ""
GROUP_PRODUCTS(half, "k16.f32.f16.f16", SAID)
GROUP_PRODUCTS(__nv_bfloat16, "k16.f32.bf16.bf16", SAID)
GROUP_PRODUCTS(e4m3, "k32.f32.e4m3.e4m3", UNSAID)
GROUP_PRODUCTS(e5m2, "k32.f32.e5m2.e5m2", UNSAID)
GROUP_PRODUCTS(float, "k8.f32.tf32.tf32", UNSAID)
HELD_PRODUCTS(half, "k16.f32.f16.f16", SAID)
HELD_PRODUCTS(__nv_bfloat16, "k16.f32.bf16.bf16", SAID)
HELD_PRODUCTS(float, "k8.f32.tf32.tf32", UNSAID)
HELD_HEADS(half, "k16.f32.f16.f16", SAID)
HELD_HEADS(__nv_bfloat16, "k16.f32.bf16.bf16", SAID)
#undef GROUP_PRODUCTS
#undef GROUP_PRODUCT
#undef HELD_PRODUCTS
#undef HELD_HEADS
#undef HELD_PRODUCT
#undef SAID
#undef UNSAID
