/* Mbarriers, barriers of clusters and copies, watched: who arrives tells what came before to who sees the phase end. */
#include "run/mbarrier.h"

#include "sanitize.h"

/* Where that is kept: phases that follow each other differ. What comes from other blocks of a cluster
   is told apart from what warps of one block know of each other. */
static uint64_t channel(uint64_t address, uint64_t phase) { return address | 1 | (phase & 1) << 1; }
static uint64_t between_blocks(uint64_t address, uint64_t phase)
{ return channel(address, phase) | 4; }

static void arrive(const Warp *w, uint32_t lane, uint64_t own, uint64_t all, uint64_t phase)
{
    order_arrive_in_phase(w->warp_id, lane, channel(own, phase));
    if (w->worker->cluster->blocks > 1)
        order_publish(w->warp_id, lane, between_blocks(all, phase), true);
}

static void learn(const Warp *w, uint32_t lane, uint64_t own, uint64_t all, uint64_t phase)
{
    order_learn(w->warp_id, lane, channel(own, phase));
    if (w->worker->cluster->blocks > 1) order_learn(w->warp_id, lane, between_blocks(all, phase));
}

/* ---- mbarriers that copies need not know of yet ---- */

struct Begun {
    uint64_t address;
    Mark by;
    bool shown; /* by a fence that came after it */
};

static Begun *begun_at(uint64_t address)
{
    for (uint32_t n = 0; n < watch.here->begun_count; n++)
        if (watch.here->begun[n].address == address) return &watch.here->begun[n];
    return NULL;
}

static void note_begun(const Warp *w, uint32_t site, uint32_t lane, uint64_t address)
{
    Seat *here = watch.here;
    Begun *b = begun_at(address);
    if (!b && !GROW(here->begun, here->begun_count, here->begun_room, 16)) return;
    if (!b) b = &here->begun[here->begun_count++];
    *b = (Begun){address, mark_of(order.now, site, w->warp_id, lane, 0), false};
}

void sg_sanitize_mbarriers_shown(Warp *w, uint32_t mask)
{
    for (uint32_t n = 0; n < watch.here->begun_count; n++) {
        Begun *b = &watch.here->begun[n];
        FOR_LANES(lane, b->shown ? 0 : mask)
        if (order_before(b->by, w->warp_id, lane)) b->shown = true;
    }
}

void sg_sanitize_proxy_fence(Warp *w, uint32_t mask)
{
    order_proxy_fence(w->warp_id, mask, w->live);
    sg_sanitize_mbarriers_shown(w, mask);
}

static void look_at_begun(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
{
    const Begun *b = begun_at(address);
    if (!b || b->shown) return;
    const Access a = {.w = w,
                      .site = site_of(site),
                      .number = site,
                      .bytes = sizeof(Mbarrier),
                      .load = true,
                      .store = true};
    report_hidden(&a, lane, address, b->by);
}

/* ---- phases ---- */

/* What is no address of an mbarrier ends the launch: who waits there would wait for ever. */
static uint32_t admitted(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                         uint32_t hints)
{
    mbarrier_aligned(w, site, addr, mask);
    const uint32_t good = sanitize_access(w, site, addr, mask, NULL, hints);
    if (good != mask) access_check(w, site, addr, mask & ~good);
    return good;
}

void sg_sanitize_mbarrier_init(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                               const uint32_t *arrivals, uint32_t hints)
{
    Mbarrier new[LANES];
    mbarrier_aligned(w, site, addr, mask);
    FOR_LANES(lane, mask)
    {
        new[lane] = mbarrier_new(arrivals[lane]);
        for (uint64_t phase = 0; phase < 2; phase++) order_hush(between_blocks(addr[lane], phase));
        note_begun(w, site, lane, addr[lane]);
    }
    uint32_t good = sanitize_access(w, site, addr, mask, new, hints);
    if (good != mask) access_check(w, site, addr, mask & ~good);
    sg_mbarrier_init(w, site, addr, good, arrivals);
}

void sg_sanitize_mbarrier_inval(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                                uint32_t hints)
{ sg_mbarrier_inval(w, site, addr, sanitize_access(w, site, addr, mask, NULL, hints)); }

void sg_sanitize_mbarrier_update(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                                 const uint32_t *arrivals, const uint32_t *bytes, uint32_t how,
                                 uint64_t *state, uint32_t hints)
{
    FOR_LANES(lane, admitted(w, site, addr, mask, hints))
    {
        const uint32_t before = ((const Mbarrier *)addr[lane])->phase;
        if (how & ARRIVAL_COMES) {
            if (hints & HINT_COPY) look_at_begun(w, site, lane, addr[lane]);
            bulks_told(w, lane, addr[lane], before);
        }
        if (hints & HINT_RELEASE) arrive(w, lane, addr[lane], addr[lane], before);
        sg_mbarrier_update(w, site, addr, 1u << lane, arrivals, bytes, how, state);
        if (((const Mbarrier *)addr[lane])->phase != before)
            bulks_end_phase(w->worker->cluster, addr[lane], before);
    }
}

uint32_t sg_sanitize_mbarrier_wait(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                                   const uint64_t *phase, uint32_t how, uint32_t hints)
{
    uint32_t good = admitted(w, site, addr, mask, hints);
    if (how & WAIT_PARITY) mbarrier_parity(w, site, phase, good);
    uint32_t over = sg_mbarrier_wait(w, site, addr, good, phase, how);
    uint64_t ended[LANES];
    FOR_LANES(lane, over)
    {
        Mbarrier then = {.word = phase[lane]};
        ended[lane] = how & WAIT_PARITY ? phase[lane] & 1 : then.phase;
    }
    if (!(how & (WAIT_ONLY_WAY | WAIT_ALONE))) over &= ~bulks_late(w, addr, over, ended);
    FOR_LANES(lane, hints & HINT_RELEASE ? over : 0)
    {
        learn(w, lane, addr[lane], addr[lane], ended[lane]);
        bulks_waited(w, lane, addr[lane], ended[lane]);
    }
    return over;
}

/* All blocks of a cluster learn there what each of them did; warps of one block, what each lane did. */
void sg_sanitize_cluster_arrive(Warp *w, uint32_t site, uint32_t mask, uint32_t hints)
{
    const Cluster *cluster = w->worker->cluster;
    if (!cluster->arrived) order_hush(between_blocks((uint64_t)cluster, cluster->phase));
    FOR_LANES(lane, hints & HINT_RELEASE ? mask : 0)
    arrive(w, lane, (uint64_t)w->worker, (uint64_t)cluster, cluster->phase);
    sg_cluster_arrive(w, site, mask);
}

void sg_sanitize_cluster_wait(Warp *w, uint32_t site, uint32_t mask, uint32_t hints)
{
    sg_cluster_wait(w, site, mask);
    note_met(w, mask);
    FOR_LANES(lane, hints & HINT_RELEASE ? mask : 0)
    learn(w, lane, (uint64_t)w->worker, (uint64_t)w->worker->cluster, w->cluster_phase);
}

/* Shared memory is read through the asynchronous proxy. */
static void load(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data)
{
    const Access a = {
        .w = w, .site = site_of(site), .number = site, .bytes = site_of(site)->bytes, .load = true};
    sg_sanitize_load(w, site, addr, mask, data, 0);
    FOR_LANES(lane, a.site->space == SPACE_SHARED ? mask : 0)
    {
        if (addr[lane] - (uint64_t)w->shared >= w->shared_bytes) continue;
        const Mark store = shadow_unproxied(&a, &watch.here->shared, addr[lane], lane);
        if (store) report_unproxied(&a, lane, addr[lane], store);
    }
}

static void store(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data)
{ sg_sanitize_store(w, site, addr, mask, data, HINT_ASYNC); }

static bool admit(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{ return sanitize_access(w, site, addr, mask, NULL, HINT_ATOMIC); }

static const Accesses watched = {load, store, admit};

static void load_at_once(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data)
{ sg_sanitize_load(w, site, addr, mask, data, 0); }

static void store_at_once(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                          const void *data)
{ sg_sanitize_store(w, site, addr, mask, data, 0); }

static const Accesses generic = {load_at_once, store_at_once, admit};

static void begin(const Warp *w, uint32_t site, uint32_t mask, const uint64_t *shared,
                  const uint32_t *bytes)
{
    FOR_LANES(lane, mask)
    if (shared[lane] - (uint64_t)w->shared < SM_SHARED)
        bulks_begin(w, site, lane, (Range){shared[lane], shared[lane] + bytes[lane]});
}

void sg_sanitize_copy_bulk(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                           const uint64_t *to, const uint64_t *from, const uint32_t *bytes,
                           uint32_t hints)
{
    (void)hints;
    copy_bulk(w, read, written, mask, how, to, from, bytes,
              how & BOX_GENERIC ? &generic : &watched);
    if (how & BOX_GENERIC) return;
    const bool writes = site_of(written)->space != SPACE_GLOBAL;
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
