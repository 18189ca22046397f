/* Mbarriers and copies, watched: who arrives tells what came before to who sees the phase end. */
#include "run/mbarrier.h"

#include "sanitize.h"

/* Where that is told: phases that follow each other differ. */
static uint64_t channel(uint64_t address, uint64_t phase) { return address | 1 | (phase & 1) << 1; }

void sg_sanitize_mbarrier_init(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                               const uint32_t *arrivals, uint32_t hints)
{
    Mbarrier new[LANES];
    FOR_LANES(lane, mask) new[lane] = mbarrier_new(arrivals[lane]);
    uint32_t good = sanitize_access(w, site, addr, mask, new, hints);
    sg_mbarrier_init(w, site, addr, good, arrivals);
}

void sg_sanitize_mbarrier_inval(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                                uint32_t hints)
{ sg_mbarrier_inval(w, site, addr, sanitize_access(w, site, addr, mask, NULL, hints)); }

void sg_sanitize_mbarrier_update(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                                 const uint32_t *arrivals, const uint32_t *bytes, uint32_t how,
                                 uint64_t *state, uint32_t hints)
{
    FOR_LANES(lane, sanitize_access(w, site, addr, mask, NULL, hints))
    {
        const uint32_t before = ((const Mbarrier *)addr[lane])->phase;
        if (how & ARRIVAL_COMES) bulks_told(w, lane, addr[lane], before);
        if (hints & HINT_RELEASE)
            order_arrive_in_phase(w->warp_id, lane, channel(addr[lane], before));
        sg_mbarrier_update(w, site, addr, 1u << lane, arrivals, bytes, how, state);
        if (((const Mbarrier *)addr[lane])->phase != before) bulks_end_phase(addr[lane], before);
    }
}

uint32_t sg_sanitize_mbarrier_wait(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                                   const uint64_t *phase, uint32_t how, uint32_t hints)
{
    uint32_t good = sanitize_access(w, site, addr, mask, NULL, hints);
    uint32_t over = sg_mbarrier_wait(w, site, addr, good, phase, how);
    FOR_LANES(lane, hints & HINT_RELEASE ? over : 0)
    {
        Mbarrier then = {.word = phase[lane]};
        uint64_t ended = how & WAIT_PARITY ? phase[lane] : then.phase;
        order_learn(w->warp_id, lane, channel(addr[lane], ended));
        bulks_waited(w, lane, addr[lane], ended);
    }
    return over;
}

/* Shared memory is read through the asynchronous proxy. */
static void load(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data)
{
    const Access a = {
        .w = w, .site = site_of(site), .number = site, .bytes = site_of(site)->bytes, .load = true};
    sg_sanitize_load(w, site, addr, mask, data, 0);
    FOR_LANES(lane, a.site->space == SPACE_SHARED ? mask : 0)
    {
        const Mark store = shadow_unproxied(&a, &watch.here->shared, addr[lane], lane);
        if (store) report_unproxied(&a, lane, addr[lane], store);
    }
}

static void store(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data)
{ sg_sanitize_store(w, site, addr, mask, data, HINT_ASYNC); }

static bool admit(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{ return sanitize_access(w, site, addr, mask, NULL, HINT_ATOMIC); }

static const Accesses watched = {load, store, admit};

static void begin(const Warp *w, uint32_t site, uint32_t mask, const uint64_t *shared,
                  const uint32_t *bytes)
{
    FOR_LANES(lane, mask)
    bulks_begin(w, site, lane, (Range){shared[lane], shared[lane] + bytes[lane]});
}

void sg_sanitize_copy_bulk(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                           const uint64_t *to, const uint64_t *from, const uint32_t *bytes,
                           uint32_t hints)
{
    (void)hints;
    copy_bulk(w, read, written, mask, how, to, from, bytes, &watched);
    const bool writes = site_of(written)->space == SPACE_SHARED;
    begin(w, writes ? written : read, mask, writes ? to : from, bytes);
}

void sg_sanitize_copy_boxes(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                            uint32_t how, const uint64_t *maps, const int32_t *at,
                            const int32_t *offsets, const uint64_t *shared, uint32_t *bytes,
                            uint32_t hints)
{
    (void)hints;
    copy_boxes(w, read, written, mask, rank, how, maps, at, offsets, shared, bytes, &watched);
    begin(w, how & BOX_STORES ? read : written, mask, shared, bytes);
}

void sg_sanitize_copy_wait(Warp *w, uint32_t mask, uint32_t groups)
{
    Taken taken;
    uint64_t data[LANES][2];
    while (copies_take(w, mask, groups, &taken)) {
        access_read(taken.to, taken.lanes, site_of(taken.site), data);
        sanitize_access(w, taken.site, taken.to, taken.lanes, data, 0);
    }
}
