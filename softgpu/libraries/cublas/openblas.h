/* OpenBLAS, whose functions are Fortran's: arguments go by pointer, for all types alike. */
#ifndef SOFTGPU_BLAS_OPENBLAS_H
#define SOFTGPU_BLAS_OPENBLAS_H

#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <openblas_config.h>
#undef BLASFUNC
#define BLASFUNC(name) scipy_##name##_64_ /* as the wheel scipy-openblas64 calls them */
#include <f77blas.h>

extern "C" { /* of LAPACK, and not in the header */
#define LAPACK(letter, T)                                                                          \
    void BLASFUNC(letter##getri)(blasint *, T *, blasint *, blasint *, T *, blasint *, blasint *);
LAPACK(s, float)
LAPACK(d, double)
LAPACK(c, float)
LAPACK(z, double)
#undef LAPACK
void BLASFUNC(crot)(blasint *, float *, blasint *, float *, blasint *, float *, float *);
void BLASFUNC(zrot)(blasint *, double *, blasint *, double *, blasint *, double *, double *);
int scipy_openblas_get_num_threads64_(void);
void scipy_openblas_set_num_threads64_(int);
}

template <class A>
auto kept(A argument)
{
    if constexpr (std::is_integral_v<A> && sizeof(A) > 1) return (blasint)argument;
    else return argument;
}

template <class P, class A>
P *passed(A &argument)
{
    if constexpr (std::is_pointer_v<A>) return (P *)argument;
    else {
        static_assert(std::is_same_v<P, A> || std::is_same_v<std::complex<P>, A>);
        return (P *)&argument;
    }
}

/* Calls a function of OpenBLAS. */
template <class R, class... P, class... A>
R call(R (*function)(P *...), A... arguments)
{
    return [function](auto... own) { return function(passed<P>(own)...); }(kept(arguments)...);
}

/* A type's functions that templates call; typed.inc names the others. */
template <class T>
struct Of;
#define FUNCTIONS(T, letter, real, first, second)                                                  \
    template <>                                                                                    \
    struct Of<T> {                                                                                 \
        static constexpr auto amax = BLASFUNC(i##letter##amax), amin = BLASFUNC(i##letter##amin);  \
        static constexpr auto asum = BLASFUNC(real##asum), nrm2 = BLASFUNC(real##nrm2);            \
        static constexpr auto axpy = BLASFUNC(letter##axpy);                                       \
        static constexpr auto rot = BLASFUNC(letter##rot);                                         \
        static constexpr auto dot = BLASFUNC(letter##first), dotc = BLASFUNC(letter##second);      \
        static constexpr auto gemv = BLASFUNC(letter##gemv), gemm = BLASFUNC(letter##gemm);        \
        static constexpr auto trsm = BLASFUNC(letter##trsm);                                       \
        static constexpr auto getrf = BLASFUNC(letter##getrf), getrs = BLASFUNC(letter##getrs);    \
        static constexpr auto getri = BLASFUNC(letter##getri);                                     \
    };
FUNCTIONS(float, s, s, dot, dot)
FUNCTIONS(double, d, d, dot, dot)
FUNCTIONS(std::complex<float>, c, sc, dotu, dotc)
FUNCTIONS(std::complex<double>, z, dz, dotu, dotc)
#undef FUNCTIONS

#endif
