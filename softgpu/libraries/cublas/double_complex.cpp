/* Calls for complex numbers of doubles. */
#include "calls.h"

#define T std::complex<double>
#define P Z
#define PR Dz
#define PI z
#define COMPLEX 1
#define PART(name) d##name

#define CALLS "typed.inc"
#include "both_sizes.inc"
#include "systems.inc"
