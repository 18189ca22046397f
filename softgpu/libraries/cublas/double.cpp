/* Calls for doubles. */
#include "calls.h"

#define T double
#define P D
#define PR D
#define PI d
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
