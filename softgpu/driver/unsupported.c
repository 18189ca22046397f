/* Entry points that PyCUDA links against and this driver does not have: textures, surfaces,
   and what processes would share. */
#include "driver.h"

#define UNSUPPORTED(X)                                                                             \
    X(cuIpcCloseMemHandle, "memory shared between processes")                                      \
    X(cuIpcGetEventHandle, "events shared between processes")                                      \
    X(cuIpcGetMemHandle, "memory shared between processes")                                        \
    X(cuIpcOpenEventHandle, "events shared between processes")                                     \
    X(cuIpcOpenMemHandle_v2, "memory shared between processes")                                    \
    X(cuParamSetTexRef, "texture references")                                                      \
    X(cuProfilerInitialize, "profiler configuration files")                                        \
    X(cuSurfRefGetArray, "surface references")                                                     \
    X(cuSurfRefSetArray, "surface references")                                                     \
    X(cuTexRefCreate, "texture references")                                                        \
    X(cuTexRefDestroy, "texture references")                                                       \
    X(cuTexRefGetAddressMode, "texture references")                                                \
    X(cuTexRefGetAddress_v2, "texture references")                                                 \
    X(cuTexRefGetArray, "texture references")                                                      \
    X(cuTexRefGetFilterMode, "texture references")                                                 \
    X(cuTexRefGetFlags, "texture references")                                                      \
    X(cuTexRefGetFormat, "texture references")                                                     \
    X(cuTexRefSetAddress2D_v3, "texture references")                                               \
    X(cuTexRefSetAddressMode, "texture references")                                                \
    X(cuTexRefSetAddress_v2, "texture references")                                                 \
    X(cuTexRefSetArray, "texture references")                                                      \
    X(cuTexRefSetFilterMode, "texture references")                                                 \
    X(cuTexRefSetFlags, "texture references")                                                      \
    X(cuTexRefSetFormat, "texture references")

#define REFUSE(name, what)                                                                         \
    CUAPI name(void)                                                                               \
    {                                                                                              \
        return fail(CUDA_ERROR_NOT_SUPPORTED, "the software GPU does not support %s (" #name ")",  \
                    what);                                                                         \
    }

UNSUPPORTED(REFUSE)

/* There is nothing to profile, and nothing wrong with asking. */
CUAPI cuProfilerStart(void) { return CUDA_SUCCESS; }

CUAPI cuProfilerStop(void) { return CUDA_SUCCESS; }
