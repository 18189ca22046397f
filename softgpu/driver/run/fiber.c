/* Fibers: stacks with a guard below them, and the switch from one to another. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "driver.h"

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

#if defined(__x86_64__)

/* Saves the registers that a called function must keep, on the stack it leaves. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl fiber_switch\n"
        ".hidden fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_switch, .-fiber_switch\n"
        /* where a fresh fiber starts: r12 = main, r13 = argument */
        ".p2align 4\n"
        ".hidden fiber_start\n"
        ".type fiber_start, @function\n"
        "fiber_start:\n"
        "    movq %r13, %rdi\n"
        "    callq *%r12\n"
        "    ud2\n"
        ".size fiber_start, .-fiber_start\n");

void fiber_start(void) __attribute__((visibility("hidden")));

void fiber_reset(Fiber *fiber, void (*main)(void *), void *argument)
{
    uint64_t *top = (uint64_t *)fiber->top;
    forget_frames(fiber);
    memset(top - 16, 0, 16 * sizeof *top);
    top[-3] = (uint64_t)fiber_start;
    top[-6] = (uint64_t)main;     /* r12 */
    top[-7] = (uint64_t)argument; /* r13 */
    fiber->sp = top - 9;          /* r15 r14 r13 r12 rbx rbp, return address */
}

#else

#include <ucontext.h>

/* Elsewhere the saved "stack pointer" is a ucontext_t that lives on the stack it describes. */
static void fiber_start(unsigned main_high, unsigned main_low, unsigned high, unsigned low)
{
    void (*main)(void *) = (void (*)(void *))((uint64_t)main_high << 32 | main_low);
    main((void *)((uint64_t)high << 32 | low));
}

void fiber_reset(Fiber *fiber, void (*main)(void *), void *argument)
{
    ucontext_t *context = (ucontext_t *)(fiber->top - 4096);
    forget_frames(fiber);
    getcontext(context);
    context->uc_stack.ss_sp = fiber->stack;
    context->uc_stack.ss_size = fiber->top - fiber->stack - 4096;
    context->uc_link = NULL;
    uint64_t m = (uint64_t)main, a = (uint64_t)argument;
    makecontext(context, (void (*)(void))fiber_start, 4, (unsigned)(m >> 32), (unsigned)m,
                (unsigned)(a >> 32), (unsigned)a);
    fiber->sp = context;
}

void fiber_switch(void **save_sp, void *to_sp)
{
    ucontext_t here;
    *save_sp = &here;
    swapcontext(&here, to_sp);
}

#endif
