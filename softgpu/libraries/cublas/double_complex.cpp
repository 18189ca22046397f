/* Calls for complex numbers of doubles. */
#include "calls.h"

#define T std::complex<double>
#define P Z
#define PR Dz
#define PI z
#define COMPLEX 1
#define PART(name) d##name

#define INT int
#define SUFFIX
#include "typed.inc"
#include "systems.inc"
#undef INT
#undef SUFFIX
#define INT int64_t
#define SUFFIX _64
#include "typed.inc"
