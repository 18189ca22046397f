/* Calls for doubles. */
#include "calls.h"

#define T double
#define P D
#define PR D
#define PI d
#define COMPLEX 0

#define CALLS "typed.inc"
#include "both_sizes.inc"
#include "systems.inc"
