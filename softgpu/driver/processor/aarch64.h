/* aarch64, see processor.h: its vectors of 16 bytes are there in all of them. */
#include <time.h>
#include <unistd.h>

#define NEWER_TOO
#define NEWER_IF_EXPORTED

#define HOST_PAGE ((uint64_t)sysconf(_SC_PAGESIZE)) /* 4, 16 or 64 KiB */

typedef uint64_t FloatMode;
enum {
    PLAIN_FLOATS = 0,
    ROUND_UP = 1 << 22,
    ROUND_DOWN = 1 << 23,
    ROUND_TO_ZERO = ROUND_DOWN | ROUND_UP
};

static inline FloatMode float_mode(void)
{
    FloatMode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static inline void set_float_mode(FloatMode mode)
{ __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory"); }

/* The processor's is positive. */
static inline double made_f64(double x, bool numbers) { return numbers && x != x ? -x : x; }

/* Which goes on, if it is NaN and infinity times zero comes before it, too. */
static inline double made_f64_of_sum(double x, bool numbers, double summand)
{ return numbers && summand != summand ? summand + summand : made_f64(x, numbers); }

/* Whole on processors of ARMv8.4 and later; on others, each 8 bytes are. */
static inline void move_16(void *to, const void *from)
{
    uint64_t low, high;
    __asm__ volatile("ldp %0, %1, [%2]\n"
                     "stp %0, %1, [%3]"
                     : "=&r"(low), "=&r"(high)
                     : "r"(from), "r"(to)
                     : "memory");
}

static inline void pause_briefly(void) { __asm__ volatile("yield"); }

static inline uint64_t ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define FIBER_SWITCH                                                                               \
    ".text\n"                                                                                      \
    ".p2align 4\n"                                                                                 \
    ".globl fiber_switch\n"                                                                        \
    ".hidden fiber_switch\n"                                                                       \
    ".type fiber_switch, %function\n"                                                              \
    "fiber_switch:\n"                                                                              \
    "    stp x19, x20, [sp, #-160]!\n"                                                             \
    "    stp x21, x22, [sp, #16]\n"                                                                \
    "    stp x23, x24, [sp, #32]\n"                                                                \
    "    stp x25, x26, [sp, #48]\n"                                                                \
    "    stp x27, x28, [sp, #64]\n"                                                                \
    "    stp x29, x30, [sp, #80]\n"                                                                \
    "    stp d8, d9, [sp, #96]\n"                                                                  \
    "    stp d10, d11, [sp, #112]\n"                                                               \
    "    stp d12, d13, [sp, #128]\n"                                                               \
    "    stp d14, d15, [sp, #144]\n"                                                               \
    "    mov x9, sp\n"                                                                             \
    "    str x9, [x0]\n"                                                                           \
    "    mov sp, x1\n"                                                                             \
    "    ldp x21, x22, [sp, #16]\n"                                                                \
    "    ldp x23, x24, [sp, #32]\n"                                                                \
    "    ldp x25, x26, [sp, #48]\n"                                                                \
    "    ldp x27, x28, [sp, #64]\n"                                                                \
    "    ldp x29, x30, [sp, #80]\n"                                                                \
    "    ldp d8, d9, [sp, #96]\n"                                                                  \
    "    ldp d10, d11, [sp, #112]\n"                                                               \
    "    ldp d12, d13, [sp, #128]\n"                                                               \
    "    ldp d14, d15, [sp, #144]\n"                                                               \
    "    ldp x19, x20, [sp], #160\n"                                                               \
    "    ret\n"                                                                                    \
    ".size fiber_switch, .-fiber_switch\n"                                                         \
    ".p2align 4\n"                                                                                 \
    ".hidden fiber_start\n"                                                                        \
    ".type fiber_start, %function\n"                                                               \
    "fiber_start:\n"                                                                               \
    "    mov x0, x20\n"                                                                            \
    "    blr x19\n"                                                                                \
    "    brk #0\n"                                                                                 \
    ".size fiber_start, .-fiber_start\n"

static inline void *fresh_stack(char *end, void (*main)(void *), void *argument)
{
    uint64_t *saved = (uint64_t *)end - 20;
    memset(saved, 0, 20 * sizeof *saved);
    saved[0] = (uint64_t)main;         /* x19 */
    saved[1] = (uint64_t)argument;     /* x20 */
    saved[11] = (uint64_t)fiber_start; /* x30 */
    return saved;
}
