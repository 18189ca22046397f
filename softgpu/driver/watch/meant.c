/* The sanitizer: which memory an access was meant for. The compiler knows from which of the
   kernel's pointers, or which shared variables, its address was computed. */
#include <string.h>

#include "sanitize.h"

const Origin *origin_of(uint32_t site)
{
    static const Origin unknown;
    const Kernel *kernel = watch.kernel;
    return kernel->origins && site < kernel->site_count ? &kernel->origins[site] : &unknown;
}

Range meant_shared(const Access *a)
{
    const Origin *o = origin_of(a->number);
    uint64_t shared = (uint64_t)a->w->shared;
    uint32_t size = a->w->shared_bytes;
    return (Range){shared + (o->end ? o->begin : 0),
                   shared + (o->end && o->end < size ? o->end : size)};
}

static uint64_t parameter(uint32_t word)
{
    uint64_t value;
    memcpy(&value, watch.job->params + 8 * word, 8);
    return value;
}

static uint64_t distance(Range r, uint64_t address)
{ return address < r.begin ? r.begin - address : address >= r.end ? address - r.end : 0; }

/* The array that an address belongs to: what the caller said of it, else its allocation. */
static Range array_at(uint64_t address)
{
    const Allocation *a = memory_find(address);
    if (!a) a = memory_find(address - 1); /* it may point past the end */
    if (!a) return (Range){0, 0};
    Range array = {a->begin, a->end};
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < watch.bounds->count; i++) {
        Range part = watch.bounds->ranges[i];
        if (part.begin < a->begin || part.end > a->end || distance(part, address) >= least)
            continue;
        array = part;
        least = distance(part, address);
    }
    return array;
}

/* The array that an access through kernel parameters is meant for, as near as can be. */
static Range through_parameters(uint32_t site, uint64_t address)
{
    Range best = {0, 0};
    for (uint64_t left = origin_of(site)->params; left; left &= left - 1) {
        Range array = array_at(parameter(__builtin_ctzll(left)));
        if (array.end && (!best.end || distance(array, address) < distance(best, address)))
            best = array;
    }
    return best;
}

Range meant_array(uint32_t site, uint64_t address)
{
    Range array = through_parameters(site, address);
    return array.end ? array : array_at(address);
}

/* Stores outside of the arrays that they are meant for are findings, and are not done. */
bool meant_to_change(const Allocation *allocation)
{
    for (uint32_t number = 0; number < watch.kernel->site_count; number++) {
        const struct Site *site = site_of(number);
        if (site->kind == SITE_LOAD || site->kind > SITE_RED) continue;
        if (site->space != SPACE_GLOBAL && site->space != SPACE_GENERIC) continue;
        bool known = false;
        for (uint64_t left = origin_of(number)->params; left; left &= left - 1) {
            Range array = array_at(parameter(__builtin_ctzll(left)));
            if (array.end && array.begin < allocation->end && allocation->begin < array.end)
                return true;
            known |= array.end > 0;
        }
        if (!known) return true;
    }
    return false;
}

bool meant_freed(uint32_t site, uint64_t address, Range *freed)
{
    if (!memory_freed(address, freed)) return false;
    for (uint64_t left = origin_of(site)->params; left; left &= left - 1)
        if (!distance(*freed, parameter(__builtin_ctzll(left)))) return true;
    return !through_parameters(site, address).end;
}

Range meant_memory(uint32_t note, uint32_t site, uint64_t address)
{
    Range range = {0, 0};
    if (note == FREED && meant_freed(site, address, &range)) return range;
    Context *owner = watch.kernel->module->owner;
    if (note == IN_HEAP || heap_range(owner, address, &range) == IN_BLOCK) {
        heap_before(owner, address + (note != IN_HEAP), &range);
        return range;
    }
    range = meant_array(site, address);
    if (range.end) return range;
    const Allocation *near = memory_near(address);
    return near ? (Range){near->begin, near->end} : range;
}
