/* What the files of the runtime library share. CUDA's own headers declare what they define. */
#ifndef CUDART_H
#define CUDART_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

#define EXPORT __attribute__((visibility("default")))
#define CUDART EXPORT cudaError_t
#define DEVICE(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

/* ---- error.c ---- */

/* An error of the driver as the runtime's, whose numbers are the same; it is the thread's last. */
cudaError_t told(CUresult result);

/* ---- device.c ---- */

/* Makes the device's context current on this thread, where it is not; what broke it, if it is broken. */
CUresult ready(void);
void context_breaks(CUresult why);
enum { MOST_DEVICES = 16 };
int current_device(void);
unsigned context_number(void); /* of that device; another after each reset; never 0 */

/* A call of the driver, in that context. */
#define CALL(call) told(ready() ?: (call))

/* A call with the driver's parameters, by other types of the same sizes. declared.inc
   is made from cuda_runtime_api.h: a call's declared parameters, and their names alone. */
#include "declared.inc"
#define FORWARD(name, driver)                                                                      \
    CUDART name(DECLARED_##name)                                                                   \
    {                                                                                              \
        CUresult (*call)(DECLARED_##name) = (void *)driver;                                        \
        return CALL(call(NAMED_##name));                                                           \
    }

/* ---- modules.c ---- */

/* A kernel or a variable by the address that the host's code has for it. */
CUresult function_of(const void *host, CUfunction *out);
CUresult variable_of(const void *host, CUdeviceptr *out, size_t *bytes);
const void *host_of(CUfunction function); /* the other way round; or NULL */

/* ---- memory.c ---- */

/* A copy as the driver is asked for it. */
CUresult copy_of(const struct cudaMemcpy3DParms *asked, CUDA_MEMCPY3D *out);

/* ---- launch.c ---- */

/* The error of a launch, on stderr too, as many programs never ask. */
CUresult told_aloud(CUresult result);

/* ---- array.c ---- */

/* A channel description as the driver's format, and back; what one element of an array takes. */
CUresult elements_of(const struct cudaChannelFormatDesc *channels, CUarray_format *format,
                     unsigned *count);
struct cudaChannelFormatDesc channels_of(CUarray_format format, unsigned count);
CUresult element_bytes(cudaArray_const_t array, size_t *bytes);

#endif
