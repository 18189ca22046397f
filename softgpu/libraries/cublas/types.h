/* The types of elements: what lies in memory, and what is computed with. */
#ifndef SOFTGPU_BLAS_TYPES_H
#define SOFTGPU_BLAS_TYPES_H

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../device.h"

enum { /* cublasStatus_t */
       NOT_INITIALIZED = 1,
       ALLOC_FAILED = 3,
       INVALID_VALUE = 7,
       EXECUTION_FAILED = 13,
       NOT_SUPPORTED = 15,
};
constexpr Statuses STATUSES{NOT_SUPPORTED, ALLOC_FAILED, EXECUTION_FAILED};

inline void need(bool right, int otherwise = INVALID_VALUE)
{
    if (!right) throw Status{otherwise};
}

template <class T>
struct RealOf {
    using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
    using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

template <class T>
T conjugated(T value)
{
    if constexpr (is_complex<T>) return std::conj(value);
    else return value;
}

/* A float in fewer bits: of so many for the exponent and the fraction, rounded to nearest. e4m3 has no
   infinity, and its largest number takes what is beyond. */
template <class Bits, int EXPONENT, int FRACTION>
struct Small {
    static constexpr int BIAS = (1 << (EXPONENT - 1)) - 1, WIDTH = EXPONENT + FRACTION;
    static constexpr bool FINITE = WIDTH == 7 && FRACTION == 3;
    Bits bits = 0;
    Small() = default;
    Small(float value)
    {
        int sign = std::signbit(value) ? 1 << WIDTH : 0, infinity = ((1 << EXPONENT) - 1)
                                                                    << FRACTION;
        int most = FINITE ? infinity + 6 : WIDTH == 7 ? infinity - 1 : infinity;
        int result = (1 << WIDTH) - 1;
        if (!std::isnan(value)) {
            float size = std::fabs(value);
            bool ordinary = size > 0 && std::isfinite(size);
            int exponent = std::max(ordinary ? std::ilogb(size) : 1 - BIAS, 1 - BIAS);
            double steps = std::nearbyint(std::ldexp((double)size, FRACTION - exponent));
            double whole = steps + std::ldexp(exponent + BIAS - 1, FRACTION);
            result = whole > most ? most : (int)whole;
        }
        bits = (Bits)(sign | result);
    }
    operator float() const
    {
        int size = bits & ((1 << WIDTH) - 1), exponent = size >> FRACTION;
        int fraction = size & ((1 << FRACTION) - 1);
        float sign = bits >> WIDTH & 1 ? -1 : 1;
        bool special = exponent == (1 << EXPONENT) - 1;
        if (special && (FINITE ? fraction == 7 : true)) return fraction ? NAN : sign * INFINITY;
        int normal = exponent ? 1 << FRACTION : 0;
        return sign *
               std::ldexp((float)(normal + fraction), std::max(exponent, 1) - BIAS - FRACTION);
    }
};
using Half = Small<uint16_t, 5, 10>;
using Bfloat = Small<uint16_t, 8, 7>;
using E4m3 = Small<uint8_t, 4, 3>;
using E5m2 = Small<uint8_t, 5, 2>;

/* One element as another type; integers stop at their largest. Sums of integers are counted as
   unsigned ones, which may wrap. */
template <class To, class From>
To as(From value)
{
    if constexpr (is_complex<To> && is_complex<From>)
        return To((Real<To>)value.real(), (Real<To>)value.imag());
    else if constexpr (is_complex<From>) throw Status{NOT_SUPPORTED};
    else if constexpr (is_complex<To>) return To(as<Real<To>>(value));
    else if constexpr (std::is_same_v<From, uint32_t>) return as<To>((int32_t)value);
    else if constexpr (std::is_integral_v<To>) {
        double most = sizeof(To) == 1 ? 127 : 2147483647, number = (double)(float)value;
        if constexpr (std::is_arithmetic_v<From>) number = (double)value;
        return (To)(int64_t)std::nearbyint(std::clamp(number, -most - 1, most));
    } else if constexpr (std::is_arithmetic_v<From>) return To(value);
    else return To((float)value);
}

/* Calls f with an element of a cudaDataType. */
template <class F>
auto of_type(int type, F f)
{
    switch (type) {
    case 0: return f(float{});
    case 1: return f(double{});
    case 2: return f(Half{});
    case 3: return f(int8_t{});
    case 4: return f(std::complex<float>{});
    case 5: return f(std::complex<double>{});
    case 10: return f(int32_t{});
    case 14: return f(Bfloat{});
    case 28: return f(E4m3{});
    case 29: return f(E5m2{});
    }
    throw Status{NOT_SUPPORTED};
}

inline Size bytes_of_type(int type)
{
    return of_type(type, [](auto element) { return (Size)sizeof element; });
}

template <class T>
constexpr int TYPE = -1;
template <>
constexpr int TYPE<float> = 0;
template <>
constexpr int TYPE<double> = 1;
template <>
constexpr int TYPE<Half> = 2;
template <>
constexpr int TYPE<int8_t> = 3;
template <>
constexpr int TYPE<std::complex<float>> = 4;
template <>
constexpr int TYPE<std::complex<double>> = 5;
template <>
constexpr int TYPE<int32_t> = 10;
template <>
constexpr int TYPE<Bfloat> = 14;

#endif
