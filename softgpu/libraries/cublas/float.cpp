/* Calls for floats. */
#include "calls.h"

#define T float
#define P S
#define PR S
#define PI s
#define COMPLEX 0

#define CALLS "typed.inc"
#include "both_sizes.inc"
#include "systems.inc"
