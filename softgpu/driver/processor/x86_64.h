/* x86-64, see processor.h. */
#include <xmmintrin.h>

#if __GNUC__ >= 12
#define NEWER_TOO __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define NEWER_TOO __attribute__((target_clones("avx2", "default")))
#endif
#if defined(__clang__) /* makes no such copies of these */
#define NEWER_IF_EXPORTED
#else
#define NEWER_IF_EXPORTED NEWER_TOO
#endif

#define HOST_PAGE 4096u

typedef unsigned FloatMode;
enum {
    PLAIN_FLOATS = 0x1f80,
    ROUND_DOWN = 0x2000,
    ROUND_UP = 0x4000,
    ROUND_TO_ZERO = ROUND_DOWN | ROUND_UP
};

static inline FloatMode float_mode(void) { return _mm_getcsr(); }

static inline void set_float_mode(FloatMode mode) { _mm_setcsr(mode); }

#define made_f64(x, numbers) (x)
#define made_f64_of_sum(x, numbers, summand) (x)

static inline void move_16(void *to, const void *from)
{
    typedef uint64_t Piece __attribute__((vector_size(16), may_alias));
    *(volatile Piece *)to = *(const volatile Piece *)from;
}

static inline void pause_briefly(void) { _mm_pause(); }

static inline uint64_t ticks(void) { return __builtin_ia32_rdtsc(); }

#define FIBER_SWITCH                                                                               \
    ".text\n"                                                                                      \
    ".p2align 4\n"                                                                                 \
    ".globl fiber_switch\n"                                                                        \
    ".hidden fiber_switch\n"                                                                       \
    ".type fiber_switch, @function\n"                                                              \
    "fiber_switch:\n"                                                                              \
    "    pushq %rbp\n"                                                                             \
    "    pushq %rbx\n"                                                                             \
    "    pushq %r12\n"                                                                             \
    "    pushq %r13\n"                                                                             \
    "    pushq %r14\n"                                                                             \
    "    pushq %r15\n"                                                                             \
    "    movq %rsp, (%rdi)\n"                                                                      \
    "    movq %rsi, %rsp\n"                                                                        \
    "    popq %r15\n"                                                                              \
    "    popq %r14\n"                                                                              \
    "    popq %r13\n"                                                                              \
    "    popq %r12\n"                                                                              \
    "    popq %rbx\n"                                                                              \
    "    popq %rbp\n"                                                                              \
    "    ret\n"                                                                                    \
    ".size fiber_switch, .-fiber_switch\n"                                                         \
    ".p2align 4\n"                                                                                 \
    ".hidden fiber_start\n"                                                                        \
    ".type fiber_start, @function\n"                                                               \
    "fiber_start:\n"                                                                               \
    "    movq %r13, %rdi\n"                                                                        \
    "    callq *%r12\n"                                                                            \
    "    ud2\n"                                                                                    \
    ".size fiber_start, .-fiber_start\n"

static inline void *fresh_stack(char *end, void (*main)(void *), void *argument)
{
    uint64_t *top = (uint64_t *)end;
    memset(top - 16, 0, 16 * sizeof *top);
    top[-3] = (uint64_t)fiber_start;
    top[-6] = (uint64_t)main;     /* r12 */
    top[-7] = (uint64_t)argument; /* r13 */
    return top - 9;               /* r15 r14 r13 r12 rbx rbp, return address */
}
