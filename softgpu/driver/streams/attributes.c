/* Attributes of streams: kept for who asks. They change how fast things are, and nothing here. */
#include <string.h>

#include "internal.h"

static CUresult check_window(const AccessWindow *w)
{
    if (w->bytes > ACCESS_WINDOW_BYTES)
        return fail(CUDA_ERROR_INVALID_VALUE, "a window of %zu bytes; up to %d are possible",
                    w->bytes, ACCESS_WINDOW_BYTES);
    if (!(w->hit_ratio >= 0 && w->hit_ratio <= 1))
        return fail(CUDA_ERROR_INVALID_VALUE, "a hit ratio of %g; 0 to 1 are possible",
                    w->hit_ratio);
    if (w->hit < ACCESS_NORMAL || w->hit > ACCESS_PERSISTING)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no access property %d", w->hit);
    if (w->miss != ACCESS_NORMAL && w->miss != ACCESS_STREAMING)
        return fail(CUDA_ERROR_INVALID_VALUE, "misses are normal (0) or streaming (1), not %d",
                    w->miss);
    return CUDA_SUCCESS;
}

static CUresult check_number(const char *what, int number, int least, int most)
{
    if (number >= least && number <= most) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_VALUE, "%s is %d to %d, not %d", what, least, most, number);
}

static CUresult check(int id, const StreamAttribute *value)
{
    switch (id) {
    case STREAM_WINDOW: return check_window(&value->window);
    case STREAM_SYNC_POLICY: return check_number("a policy", value->number, SYNC_AUTO, SYNC_BLOCKS);
    case STREAM_PRIORITY: return CUDA_SUCCESS;
    case STREAM_DOMAINS:
        return check_number("a memory domain", MAX(value->domains[0], value->domains[1]), 0,
                            MEMORY_DOMAINS - 1);
    case STREAM_DOMAIN: return check_number("a logical memory domain", value->number, 0, 1);
    default: return fail(CUDA_ERROR_INVALID_VALUE, "streams have no attribute %d", id);
    }
}

/* A priority outside of the range is taken as the nearest inside, as the hardware's driver does. */
CUresult attribute_set(StreamAttribute attributes[], int id, const StreamAttribute *value)
{
    if (!value) return fail(CUDA_ERROR_INVALID_VALUE, "no value");
    CUresult result = check(id, value);
    if (result) return result;
    attributes[id] = *value;
    if (id == STREAM_PRIORITY)
        attributes[id].number = MAX(MIN(value->number, LEAST_PRIORITY), GREATEST_PRIORITY);
    return CUDA_SUCCESS;
}

CUresult attribute_get(const StreamAttribute attributes[], int id, StreamAttribute *value)
{
    if (!value) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the value");
    const bool known = id > 0 && id < STREAM_ATTRIBUTES;
    const StreamAttribute found = known ? attributes[id] : (StreamAttribute){0};
    CUresult result = check(id, &found);
    if (!result) *value = found;
    return result;
}

void attributes_begin(StreamAttribute attributes[], int priority)
{
    memset(attributes, 0, STREAM_ATTRIBUTES * sizeof *attributes);
    attributes[STREAM_SYNC_POLICY].number = SYNC_AUTO;
    attributes[STREAM_DOMAINS].domains[1] = 1;
    attribute_set(attributes, STREAM_PRIORITY, &(StreamAttribute){.number = priority});
}
