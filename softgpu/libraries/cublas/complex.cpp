/* Calls for complex numbers of floats. */
#include "calls.h"

#define T std::complex<float>
#define P C
#define PR Sc
#define PI c
#define COMPLEX 1
#define PART(name) s##name

#define CALLS "typed.inc"
#include "both_sizes.inc"
#include "systems.inc"
