/* Errors: each thread's last one, their names and texts. */
#include <stdint.h>
#include <stdio.h>

#include "cudart.h"

static _Thread_local cudaError_t last;

cudaError_t told(CUresult result)
{
    if (result) last = (cudaError_t)result;
    return (cudaError_t)result;
}

CUDART cudaGetLastError(void)
{
    cudaError_t error = last;
    last = cudaSuccess;
    return error;
}

CUDART cudaPeekAtLastError(void) { return last; }

/* error_names.inc is made from driver_types.h: NAME(cudaErrorInvalidValue) and so on. */
#define NAME(error)                                                                                \
    case error: return #error;

EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    switch ((int)error) {
#include "error_names.inc"
    }
    return "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    const char *text = NULL;
    if (cuGetErrorString((CUresult)error, &text) || !text) text = cudaGetErrorName(error);
    return text;
}
