/* What CUDA's runtime has and this one has not: each answers so, by name. unsupported.inc is made
   from cuda_runtime_api.h: REFUSED(cudaCreateTextureObject) and so on. */
#include <stdio.h>

int told(int result);

#define NOT_SUPPORTED 801
#define REFUSED(name)                                                                              \
    __attribute__((visibility("default"))) int name(void)                                          \
    {                                                                                              \
        fprintf(stderr, "softgpu: " #name " is not supported\n");                                  \
        return told(NOT_SUPPORTED);                                                                \
    }

#include "unsupported.inc"
