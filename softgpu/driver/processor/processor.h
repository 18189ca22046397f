/* What depends on the kind of processor. Each kind's file has all of it:

   NEWER_TOO               functions over lanes, once more for newer processors
   NEWER_IF_EXPORTED   the same of functions that compiled kernels call
   HOST_PAGE            bytes of a page of memory
   FloatMode            how the processor rounds: PLAIN_FLOATS is to nearest with subnormals kept and no
                        traps, ROUND_... are the bits for other directions, ROUND_TO_ZERO has all of them
   float_mode, set_float_mode
   made_f64             the result of an operation on doubles: if that is a NaN, though its operands are
                        `numbers`, it is the hardware's, which is negative
   made_f64_of_sum      the same of a fused multiply-add, of whose factors `numbers` tells
   move_16              16 aligned bytes, which other threads see whole or not at all
   pause_briefly        while waiting for another thread
   ticks                a clock that is quick to read
   FIBER_SWITCH         the text of fiber_switch, which saves the registers that a called function must
                        keep on the stack that it leaves, and of fiber_start, where a fresh fiber begins
   fresh_stack          what fiber_switch is to find on a stack, to begin there at main(argument) */
#ifndef SOFTGPU_PROCESSOR_H
#define SOFTGPU_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Marks a part of functions over lanes: the newer ones have it, too. */
#define INLINE static inline __attribute__((always_inline))

void fiber_switch(void **save_sp, void *to_sp);
void fiber_start(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#error "the software GPU runs on x86-64 and aarch64"
#endif

#endif
