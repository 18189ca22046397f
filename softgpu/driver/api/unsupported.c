/* Entry points that this driver does not have, and what it has in place of a profiler. */
#include "base/base.h"
#include "entry_points.h"

#define REFUSE(name, version, what)                                                                \
    CUAPI name(void)                                                                               \
    {                                                                                              \
        say_to_user(#name " is not supported: %s", what);                                          \
        return fail(CUDA_ERROR_NOT_SUPPORTED, "the software GPU does not support %s (" #name ")",  \
                    what);                                                                         \
    }

UNSUPPORTED(REFUSE)

/* There is nothing to profile, and nothing wrong with asking. */
CUAPI cuProfilerStart(void) { return CUDA_SUCCESS; }

CUAPI cuProfilerStop(void) { return CUDA_SUCCESS; }
