/* What the libraries share: device memory, by way of the driver, which checks each access, tells of
   a wrong one, and knows from then on what has been written. */
#ifndef SOFTGPU_LIBRARIES_DEVICE_H
#define SOFTGPU_LIBRARIES_DEVICE_H

#include <atomic>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

extern "C" {
#include "../driver/cuda_abi.h"
CUAPI cuInit(unsigned flags);
CUAPI cuCtxGetCurrent(CUcontext *out);
CUAPI cuCtxSetCurrent(CUcontext context);
CUAPI cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device);
CUAPI cuGetErrorString(CUresult code, const char **out);
CUAPI cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUAPI cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUAPI cuStreamIsCapturing(CUstream stream, int *capturing);
CUAPI cuStreamSynchronize(CUstream stream);
CUAPI cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *data);
CUAPI sg_use_rows(CUdeviceptr address, size_t pitch, size_t width, size_t height, int writes);
}

#define LIBRARY extern "C" __attribute__((visibility("default"))) int

/* A function that is missing: it says its name, and answers so. */
#define REFUSED(name, status)                                                                      \
    LIBRARY name()                                                                                 \
    {                                                                                              \
        static std::atomic<bool> told;                                                             \
        if (!told.exchange(true)) fprintf(stderr, "softgpu: " #name " is not supported\n");        \
        return status;                                                                             \
    }

using Size = int64_t;

/* What ends a call: an answer of the driver, or a status of the library. */
struct DriverError {
    CUresult result;
};
struct Status {
    int number;
};

inline void check(CUresult result)
{
    if (result) throw DriverError{result};
}

/* Makes a context current where there is none, as the runtime does. */
inline void ready()
{
    CUcontext context;
    check(cuInit(0));
    check(cuCtxGetCurrent(&context));
    if (context) return;
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
}

inline CUdeviceptr address(const void *pointer) { return (CUdeviceptr)(uintptr_t)pointer; }

template <class T>
std::vector<T> load(const T *from, Size count)
{
    std::vector<T> values(count > 0 ? count : 0);
    if (count > 0) check(cuMemcpyDtoH_v2(values.data(), address(from), count * sizeof(T)));
    return values;
}

template <class T>
void store(T *to, const std::vector<T> &values)
{
    if (!values.empty())
        check(cuMemcpyHtoD_v2(address(to), values.data(), values.size() * sizeof(T)));
}

/* What a library calls "not supported", "out of memory" and "did not run". */
struct Statuses {
    int unsupported, memory, failed;
};

/* What a call does. There are hundreds: this compiles in less time than a std::function. */
class Body
{
    const void *of;
    void (*does)(const void *);
    const void *(*copied)(const void *);
    Body(const void *of, const Body &like) : of(of), does(like.does), copied(like.copied) {}

  public:
    template <class F>
    Body(const F &function)
        : of(&function), does([](const void *f) { F (*(const F *)f)(); }),
          copied([](const void *f) -> const void * { return new F(*(const F *)f); })
    {
    }
    void operator()() const { does(of); }
    Body kept() const { return {copied(of), *this}; }
};

/* A call that a graph keeps. */
struct Recorded {
    const char *name;
    Statuses statuses;
    Body body;
};

/* Runs the body of a call, and gives its status; what went wrong is reported once, on stderr. */
__attribute__((noinline)) inline int answered(const char *name, Statuses statuses, const Body &body)
{
    try {
        body();
        return 0;
    } catch (DriverError error) {
        const char *text = nullptr;
        cuGetErrorString(error.result, &text);
        fprintf(stderr, "softgpu: %s: %s\n", name, text ? text : "the driver failed");
        return statuses.failed;
    } catch (Status status) {
        if (status.number == statuses.unsupported)
            fprintf(stderr, "softgpu: %s: not supported with these arguments\n", name);
        return status.number;
    } catch (std::bad_alloc &) {
        return statuses.memory;
    }
}

/* The same for a call that needs a context. */
inline int guarded(const char *name, Statuses statuses, const Body &body)
{
    return answered(name, statuses, [&] {
        ready();
        body();
    });
}

inline void replay(void *recorded)
{
    auto *call = (Recorded *)recorded;
    guarded(call->name, call->statuses, call->body);
}

/* The same in a stream: now, as all that came before has finished, or whenever the graph runs that is
   being captured there and keeps the call. */
__attribute__((noinline)) inline int in_stream(const char *name, Statuses statuses, CUstream stream,
                                               const Body &body)
{
    return guarded(name, statuses, [&] {
        int capturing = 0;
        check(cuStreamIsCapturing(stream, &capturing));
        auto later = capturing ? new Recorded{name, statuses, body.kept()} : nullptr;
        check(cuLaunchHostFunc(stream, capturing ? replay : [](void *) {}, later));
        if (capturing) return;
        check(cuStreamSynchronize(stream));
        body();
    });
}

#endif
