/* Calls for floats. */
#include "calls.h"

#define T float
#define P S
#define PR S
#define PI s
#define COMPLEX 0

#define INT int
#define SUFFIX
#include "typed.inc"
#include "systems.inc"
#undef INT
#undef SUFFIX
#define INT int64_t
#define SUFFIX _64
#include "typed.inc"
