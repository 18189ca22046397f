/* What a warp does as a whole: shuffles, match, clocks, trap and assert. */
#include <stdio.h>
#include <time.h>

#include "internal.h"

/* ---- exchange between lanes ---- */

NEWER_IF_EXPORTED void sg_shuffle(uint32_t mode, const uint32_t *a, const uint32_t *b,
                                  const uint32_t *c, uint32_t mask, uint32_t *out,
                                  uint32_t *in_range)
{
    uint64_t inside = 0;
    uint32_t moved[LANES];
    for (int64_t lane = 0; lane < LANES; lane++) {
        const int own = lane, by = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
        const int lowest = own & segment, highest = lowest | (clamp & ~segment);
        const int from = mode == SHUFFLE_UP     ? own - by
                         : mode == SHUFFLE_DOWN ? own + by
                         : mode == SHUFFLE_BFLY ? own ^ by
                                                : lowest | (by & ~segment);
        const bool ok = mode == SHUFFLE_UP ? from >= highest : from <= highest;
        moved[lane] = a[ok ? from : own];
        inside |= (uint64_t)ok << lane;
    }
    for (int64_t lane = 0; lane < LANES; lane++)
        out[lane] = mask >> lane & 1 ? moved[lane] : out[lane];
    *in_range = inside & mask;
}

void sg_match_any(uint32_t bytes, const void *a, uint32_t mask, uint32_t *out)
{
    const uint32_t *narrow = a;
    const uint64_t *wide = a;
    FOR_LANES(lane, mask)
    {
        uint32_t equal = 0;
        FOR_LANES(other, mask)
        {
            bool same = bytes == 4 ? narrow[lane] == narrow[other] : wide[lane] == wide[other];
            equal |= (uint32_t)same << other;
        }
        out[lane] = equal;
    }
}

/* ---- clocks ---- */

uint64_t sg_clock(Warp *w)
{
    (void)w;
    return ticks();
}

uint64_t sg_globaltimer(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the end of a launch, as the kernel wants it or not ---- */

static uint32_t first_lane(uint32_t mask) { return mask ? __builtin_ctz(mask) : 0; }

void sg_trap(Warp *w, uint32_t site, uint32_t mask)
{ fault_at(w, site, first_lane(mask), CUDA_ERROR_LAUNCH_FAILED, TRAP); }

void sg_left_out(Warp *w, uint32_t site, uint32_t mask, uint32_t known)
{
    static bool told;
    char place[600];
    if (!known) fault_at(w, site, first_lane(mask), CUDA_ERROR_ILLEGAL_INSTRUCTION, NOT_IN_MASK);
    if (__atomic_exchange_n(&told, true, __ATOMIC_RELAXED)) return;
    fault_place(w->worker->job->kernel, site, place, sizeof place);
    say_to_user("%s: the mask %#x leaves out lanes that execute this. As on an H100 they take part "
                "as well; "
                "PTX promises nothing: name all lanes that get here",
                place, known);
}

void sg_stack_overflow(Warp *w, uint32_t site, uint32_t mask)
{ fault_at(w, site, first_lane(mask), CUDA_ERROR_LAUNCH_FAILED, STACK_OVERFLOW); }

/* A string in memory of the GPU, or "?". */
static const char *string_at(Warp *w, uint32_t lane, uint64_t address)
{ return string_length(w, lane, address) == SIZE_MAX ? "?" : (const char *)address; }

void sg_assert(Warp *w, uint32_t site, uint32_t mask, const uint64_t *message, const uint64_t *file,
               const uint32_t *line, const uint64_t *function)
{
    if (!mask) return;
    FOR_LANES(lane, mask)
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            string_at(w, lane, file[lane]), line[lane], string_at(w, lane, function[lane]),
            w->ctaid[0], w->ctaid[1], w->ctaid[2], w->tid[0][lane], w->tid[1][lane],
            w->tid[2][lane], string_at(w, lane, message[lane]));
    uint32_t lane = first_lane(mask);
    fault_at(w, site, lane, CUDA_ERROR_ASSERT, ASSERTION, string_at(w, lane, message[lane]));
}
