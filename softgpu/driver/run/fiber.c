/* Fibers: stacks with a guard below them, and the switch from one to another.

   Terms: user-level threads, fibers (Anderson et al. 1992; docs/terms.md). */
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "internal.h"

#define GUARD_BYTES (64u << 10)
#define SHIFT_BYTES (17u * 64) /* how much lower each stack begins than the one before */
#define SHIFTS 64              /* stacks until one begins as high as the first again */

/* Stacks whose frames lay at the same places would drive each other out of the cache. */
Fiber *fiber_new(unsigned index)
{
    Fiber *fiber = calloc(1, sizeof *fiber);
    if (!fiber) return NULL;
    char *memory = map_pages(GUARD_BYTES + STACK_BYTES);
    if (!memory) {
        free(fiber);
        return NULL;
    }
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    madvise(memory + GUARD_BYTES, STACK_BYTES, MADV_NOHUGEPAGE);
    fiber->stack = memory + GUARD_BYTES;
    fiber->top = fiber->stack + STACK_BYTES - index % SHIFTS * SHIFT_BYTES;
    return fiber;
}

/* What was running may have been given up: its frames are no longer out of bounds. */
static void forget_frames(Fiber *fiber)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(fiber->stack, STACK_BYTES);
#else
    (void)fiber;
#endif
}

__asm__(FIBER_SWITCH);

void fiber_reset(Fiber *fiber, void (*main)(void *), void *argument)
{
    forget_frames(fiber);
    fiber->sp = fresh_stack(fiber->top, main, argument);
}
