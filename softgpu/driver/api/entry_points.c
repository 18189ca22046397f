/* Which function a name means for a version of CUDA. */
#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "entry_points.h"

#define VERSION 13000

enum { FOUND, NO_SYMBOL, VERSION_TOO_LOW };

/* Declared by their names alone: this file only takes their addresses, as seen from outside. */
#define DECLARE(name, ...) extern char name##_address[] __asm__(#name);
SUPPORTED(DECLARE)
UNSUPPORTED(DECLARE)

typedef struct {
    const char *name;
    void *address;
    int version;
} EntryPoint;

#define ROW(name, version, ...) {#name, name##_address, version},
static const EntryPoint entry_points[] = {SUPPORTED(ROW) UNSUPPORTED(ROW)};

/* Whether an entry point is a version of a name: cuMemAlloc_v2 is one of cuMemAlloc. */
static bool is_version_of(const char *entry_point, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry_point, name, length)) return false;
    const char *suffix = entry_point + length;
    return !*suffix || (!strncmp(suffix, "_v", 2) && isdigit(suffix[2]) && !suffix[3]);
}

CUAPI cuDriverGetVersion(int *version)
{
    *version = VERSION;
    return CUDA_SUCCESS;
}

/* The latest that is not later than the version; streams for each thread make no difference here. */
CUAPI cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                          int *status)
{
    if (!name || !address || version > VERSION || flags > 2)
        return fail(CUDA_ERROR_INVALID_VALUE, "a driver of version %d is not asked for version %d",
                    VERSION, version);
    const EntryPoint *best = NULL;
    int answer = NO_SYMBOL;
    for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; i++) {
        const EntryPoint *entry_point = &entry_points[i];
        if (!is_version_of(entry_point->name, name)) continue;
        if (answer == NO_SYMBOL) answer = VERSION_TOO_LOW;
        if (entry_point->version > version) continue;
        if (!best || entry_point->version > best->version) best = entry_point;
    }
    *address = best ? best->address : NULL;
    if (status) *status = best ? FOUND : answer;
    return CUDA_SUCCESS;
}

CUAPI cuGetProcAddress(const char *name, void **address, int version, uint64_t flags)
{
    CUresult result = cuGetProcAddress_v2(name, address, version, flags, NULL);
    if (result || *address) return result;
    return fail(CUDA_ERROR_NOT_FOUND, "there is no %s in version %d", name, version);
}
