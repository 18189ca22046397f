/* Calls for complex numbers of floats. */
#include "calls.h"

#define T std::complex<float>
#define P C
#define PR Sc
#define PI c
#define COMPLEX 1
#define PART(name) s##name

#define INT int
#define SUFFIX
#include "typed.inc"
#include "systems.inc"
#undef INT
#undef SUFFIX
#define INT int64_t
#define SUFFIX _64
#include "typed.inc"
