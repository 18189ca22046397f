/* In front of NVIDIA's run-time compiler, which is loaded later: where machine code is asked for, the
   PTX that it would be made of. */
#include <dlfcn.h>
#include <stddef.h>

enum { INTERNAL_ERROR = 11 }; /* NVRTC_ERROR_INTERNAL_ERROR */

/* A function of the compiler that is loaded, or NULL. */
static void *nvrtc_function(const char *name)
{
    void *library = dlopen("libnvrtc.so.13", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) library = dlopen("libnvrtc.so.12", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

int nvrtcGetCUBINSize(void *program, size_t *bytes)
{
    int (*size)(void *, size_t *) = nvrtc_function("nvrtcGetPTXSize");
    return size ? size(program, bytes) : INTERNAL_ERROR;
}

int nvrtcGetCUBIN(void *program, char *image)
{
    int (*text)(void *, char *) = nvrtc_function("nvrtcGetPTX");
    return text ? text(program, image) : INTERNAL_ERROR;
}
