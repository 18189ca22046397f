/* cuBLAS: handles, and its calls for each type, with sizes of 32 and of 64 bits. Sums of halves are
   floats. What is not here answers CUBLAS_STATUS_NOT_SUPPORTED. */
#include <functional>

#include "calls.h"

constexpr int VERSION = 130100; /* of CUDA 13.0 */

/* OpenBLAS has as many threads as launches have, so that where tests run in several processes, which
   set SOFTGPU_THREADS, each keeps to its core; or as OPENBLAS_NUM_THREADS says. For two it has one:
   its threads spin while they wait, so that one of two is soon slower than one alone. */
__attribute__((constructor)) static void choose_threads()
{
    const char *said = getenv("SOFTGPU_THREADS");
    int threads = said ? atoi(said) : scipy_openblas_get_num_threads64_();
    scipy_openblas_set_num_threads64_(threads > 2 ? threads : 1);
}

static bool complex_type(int type) { return type == TYPE<std::complex<float>> || type == 5; }

/* Calls f with a number of the type to compute in: of narrow ones, floats. */
template <class F>
int computing_in(int type, F f)
{
    switch (type) {
    case TYPE<float>:
    case TYPE<Half>:
    case TYPE<Bfloat>: return f(float{});
    case TYPE<double>: return f(double{});
    case TYPE<std::complex<float>>: return f(std::complex<float>{});
    case TYPE<std::complex<double>>: return f(std::complex<double>{});
    }
    return NOT_SUPPORTED;
}

/* A factor of another type, as T. */
template <class T>
std::function<T()> typed_factor(Handle *handle, const void *pointer, int type)
{
    std::function<T()> out = []() -> T { throw Status{NOT_SUPPORTED}; };
    computing_in(type, [&](auto) { return 0; }) ?: of_type(type, [&](auto element) {
        auto found = factor(handle, (const decltype(element) *)pointer);
        out = [=] { return as<T>(found()); };
        return 0;
    });
    return out;
}

template <class T>
void give_typed(const Handle *handle, void *to, int type, T value)
{
    of_type(type, [&](auto element) {
        using S = decltype(element);
        give(handle, (S *)to, as<S>(value));
    });
}

extern "C" CUAPI cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy);

/* The host's side counts as the device's where managed memory is meant. */
static int move_matrix(const char *name, Size rows, Size columns, Size bytes, const void *from,
                       Size from_ld, bool from_device, void *to, Size to_ld, bool to_device,
                       CUstream stream = nullptr)
{
    return in_stream(name, STATUSES, stream, [=] {
        need_sizes({rows, columns});
        need(bytes > 0 && from_ld > 0 && to_ld > 0);
        if (!rows || !columns) return;
        CUDA_MEMCPY2D copy{};
        copy.srcMemoryType = from_device ? MEMORY_DEVICE : MEMORY_HOST;
        copy.srcHost = from, copy.srcDevice = address(from), copy.srcPitch = from_ld * bytes;
        copy.dstMemoryType = to_device ? MEMORY_DEVICE : MEMORY_HOST;
        copy.dstHost = to, copy.dstDevice = address(to), copy.dstPitch = to_ld * bytes;
        copy.WidthInBytes = rows * bytes, copy.Height = columns;
        check(cuMemcpy2DUnaligned_v2(&copy));
    });
}

/* ---- handles ---- */

LIBRARY cublasCreate_v2(Handle **out)
{
    if (!out) return INVALID_VALUE;
    return guarded(__func__, STATUSES, [&] { *out = new Handle; });
}

LIBRARY cublasDestroy_v2(Handle *h)
{
    if (!h) return NOT_INITIALIZED;
    delete h;
    return 0;
}

/* A property of a handle, and how it is set and asked for. */
#define PROPERTY(name, suffix, Type, field)                                                        \
    LIBRARY cublasSet##name##suffix(Handle *h, Type value)                                         \
    {                                                                                              \
        if (!h) return NOT_INITIALIZED;                                                            \
        h->field = value;                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    LIBRARY cublasGet##name##suffix(Handle *h, Type *value)                                        \
    {                                                                                              \
        if (!h) return NOT_INITIALIZED;                                                            \
        if (!value) return INVALID_VALUE;                                                          \
        *value = h->field;                                                                         \
        return 0;                                                                                  \
    }
PROPERTY(Stream, _v2, CUstream, stream)
PROPERTY(PointerMode, _v2, int, pointers)
PROPERTY(AtomicsMode, , int, atomics)
PROPERTY(MathMode, , int, math)
PROPERTY(SmCountTarget, , int, multiprocessors)

LIBRARY cublasSetWorkspace_v2(Handle *h, void *, size_t) { return h ? 0 : NOT_INITIALIZED; }

LIBRARY cublasGetVersion_v2(Handle *, int *version)
{
    *version = VERSION;
    return 0;
}

LIBRARY cublasGetProperty(int which, int *value)
{
    if (which < 0 || which > 2 || !value) return INVALID_VALUE;
    *value = which == 0 ? VERSION / 10000 : which == 1 ? VERSION / 100 % 100 : VERSION % 100;
    return 0;
}

extern "C" __attribute__((visibility("default"))) size_t cublasGetCudartVersion(void)
{ return 13000; }

LIBRARY cublasLoggerConfigure(int, int, int, const char *) { return 0; }
LIBRARY cublasSetLoggerCallback(void (*)(const char *)) { return 0; }

static const struct {
    int number;
    const char *name, *text;
} statuses[] = {
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was given"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the device has no such feature"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "device memory could not be mapped"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "the operation failed on the device"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "the operation is not supported"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "a license is missing"},
};

#define STATUS_TEXT(function, field)                                                               \
    extern "C" __attribute__((visibility("default"))) const char *function(int number)             \
    {                                                                                              \
        for (auto &status : statuses)                                                              \
            if (status.number == number) return status.field;                                      \
        return "unknown status";                                                                   \
    }
STATUS_TEXT(cublasGetStatusName, name)
STATUS_TEXT(cublasGetStatusString, text)
STATUS_TEXT(cublasLtGetStatusName, name)
STATUS_TEXT(cublasLtGetStatusString, text)
/* ---- operations ---- */

#define CALLS "mixed.inc"
#include "both_sizes.inc"
