/* How calls are written: what they are named, by type and by the size of sizes, and how they run. */
#ifndef SOFTGPU_BLAS_CALLS_H
#define SOFTGPU_BLAS_CALLS_H

#include <array>

#include "factorise.h"

#define JOIN_(a, b, c, d) a##b##c##d
#define JOIN(a, b, c, d) JOIN_(a, b, c, d)
#define A(name) JOIN(name, , , SUFFIX)
#define F(name) JOIN(cublas, P, name, SUFFIX)
#define OURS(name) JOIN(scipy_, PI, name, _64_) /* OpenBLAS's */
#define FR(name) JOIN(cublas, PR, name, SUFFIX) /* gives a real number */
#define FI(name) JOIN(cublasI, PI, name, SUFFIX)
#define RUN(...) return run(__func__, h, [=]() mutable __VA_ARGS__)
#define LIST(list, ...)                                                                            \
    Batch { {nullptr, TYPE<T>, __VA_ARGS__}, 0, (const void *const *)(list) }
#define UNPACK(...) __VA_ARGS__

#endif
