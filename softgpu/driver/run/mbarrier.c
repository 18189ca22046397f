/* Mbarriers: words in shared memory that count, phase by phase, the arrivals and the bytes that are
   still to come. A phase ends when there are none of either.

   Terms: phase parity, sense reversal (Mellor-Crummey, Scott 1991; docs/terms.md). */
#include "internal.h"
#include "mbarrier.h"

#define MOST_ARRIVALS ((1u << 20) - 1)

static void tell(Worker *worker, uint64_t address, uint32_t bytes)
{
    uint32_t *told = mbarrier_told(worker, address);
    if (told) *told = bytes ? *told + bytes : 0;
}

void mbarrier_aligned(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    FOR_LANES(lane, mask)
    if (addr[lane] % sizeof(Mbarrier))
        fault_at(w, site, lane, CUDA_ERROR_MISALIGNED_ADDRESS, MBARRIER_MISALIGNED,
                 (unsigned long long)((addr[lane] - (uint64_t)w->cluster_shared) % CLUSTER_STEP));
}

void mbarrier_parity(Warp *w, uint32_t site, const uint64_t *parity, uint32_t mask)
{
    FOR_LANES(lane, mask)
    if (parity[lane] > 1 && parity[lane] != UINT32_MAX) /* -1 is a true that kept its sign */
        fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, MBARRIER_PARITY,
                 (unsigned long long)parity[lane]);
}

static void check(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    mbarrier_aligned(w, site, addr, mask);
    access_check(w, site, addr, mask);
}

/* In whose shared memory it is. */
static Worker *owner_at(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
{
    Worker *owner = cluster_owner(w->worker, address);
    if (!owner || address - (uint64_t)owner->shared >= SM_SHARED)
        fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, MBARRIER_NOT_SHARED);
    return owner;
}

/* What is left of one that the block has invalidated: of another block's it means nothing. */
static Mbarrier invalid_word(const Worker *owner)
{ return (Mbarrier){.expected = MOST_ARRIVALS, .pending = owner->block & MOST_ARRIVALS}; }

static Mbarrier *mbarrier_at(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
{
    const Worker *owner = owner_at(w, site, lane, address);
    Mbarrier *m = (Mbarrier *)address;
    if (!m->valid)
        fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, MBARRIER_NOT_BEGUN,
                 (uint32_t)(address - (uint64_t)owner->shared),
                 m->word == invalid_word(owner).word ? "its block has invalidated (mbarrier.inval)"
                                                     : "has not been initialised");
    return m;
}

void sg_mbarrier_init(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                      const uint32_t *arrivals)
{
    check(w, site, addr, mask);
    FOR_LANES(lane, mask)
    {
        uint32_t count = arrivals[lane];
        if (!count || count > MOST_ARRIVALS)
            fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, MBARRIER_COUNT, count, MOST_ARRIVALS);
        Worker *owner = owner_at(w, site, lane, addr[lane]);
        *(Mbarrier *)addr[lane] = mbarrier_new(count);
        tell(owner, addr[lane], 0);
    }
}

void sg_mbarrier_inval(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    check(w, site, addr, mask);
    FOR_LANES(lane, mask)
    {
        Mbarrier *m = mbarrier_at(w, site, lane, addr[lane]);
        *m = invalid_word(owner_at(w, site, lane, addr[lane]));
    }
}

/* The lanes that do not just arrive at a block that has ended: hardware drops those arrivals, though it
   faults at any other access there. The sanitizer reports them. */
static uint32_t not_dropped(Warp *w, const uint64_t *addr, uint32_t mask, const uint32_t *bytes)
{
    if (w->worker->cluster->blocks == 1) return mask;
    FOR_LANES(lane, mask)
    {
        const Worker *owner = cluster_owner(w->worker, addr[lane]);
        if (owner && !owner->live_threads && !bytes[lane]) mask &= ~(1u << lane);
    }
    return mask;
}

void sg_mbarrier_update(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                        const uint32_t *arrivals, const uint32_t *bytes, uint32_t how,
                        uint64_t *state)
{
    mask = not_dropped(w, addr, mask, bytes);
    check(w, site, addr, mask);
    FOR_LANES(lane, mask)
    {
        Mbarrier *m = mbarrier_at(w, site, lane, addr[lane]);
        Worker *owner = cluster_owner(w->worker, addr[lane]);
        uint32_t count = arrivals[lane];
        if (count > m->pending)
            fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, MBARRIER_ARRIVALS, count,
                     count == 1 ? "" : "s", (uint32_t)m->pending);
        state[lane] = m->word;
        m->bytes += how & ARRIVAL_COMES ? -bytes[lane] : bytes[lane];
        if (bytes[lane] && !(how & ARRIVAL_COMES)) tell(owner, addr[lane], bytes[lane]);
        m->pending -= count;
        if (how & ARRIVAL_DROPS) m->expected -= count;
        if (m->pending || m->bytes || !(count || bytes[lane])) continue;
        m->pending = m->expected;
        m->phase++;
        tell(owner, addr[lane], 0);
        cluster_wake(owner);
    }
}

/* The lanes whose phase is over. */
static uint32_t phases_over(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                            const uint64_t *phase, uint32_t how)
{
    uint32_t over = 0;
    FOR_LANES(lane, mask)
    {
        Mbarrier now = *mbarrier_at(w, site, lane, addr[lane]), then = {.word = phase[lane]};
        bool differs = how & WAIT_PARITY ? (now.phase ^ phase[lane]) & 1 : now.phase != then.phase;
        over |= (uint32_t)differs << lane;
    }
    return over;
}

uint32_t sg_mbarrier_wait(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                          const uint64_t *phase, uint32_t how)
{
    check(w, site, addr, mask);
    uint32_t over = phases_over(w, site, addr, mask, phase, how);
    if (over || !mask || !(how & WAIT_ALONE || (how & WAIT_ONLY_WAY && mask == w->live)))
        return over;
    block_wait(w, site, mask, MBARRIER, addr[__builtin_ctz(mask)]);
    return phases_over(w, site, addr, mask, phase, how);
}

/* ---- bulk copies, which an mbarrier hears of ---- */

#define PIECE 16u

void copy_bulk(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
               const uint64_t *to, const uint64_t *from, const uint32_t *bytes,
               const Accesses *access)
{
    char data[LANES * PIECE] __attribute__((aligned(64)));
    uint64_t here[LANES], there[LANES];
    FOR_LANES(lane, mask)
    {
        if (bytes[lane] % PIECE)
            fault_at(w, read, lane, CUDA_ERROR_LAUNCH_FAILED, BULK_SIZE, bytes[lane], PIECE);
        for (uint32_t at = 0; at < bytes[lane]; at += PIECE) {
            here[lane] = from[lane] + at;
            there[lane] = to[lane] + at;
            access->load(w, read, here, 1u << lane, data);
            if (!(how & BOX_REDUCES)) access->store(w, written, there, 1u << lane, data);
            else if (access->admit(w, written, there, 1u << lane))
                atomic_reduce(w, operation_of(how), how / BOX_ITS_TYPE, there[lane],
                              data + lane * PIECE, PIECE, false);
        }
    }
}

static bool admit(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    access_check(w, site, addr, mask);
    return true;
}

void sg_copy_bulk(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                  const uint64_t *to, const uint64_t *from, const uint32_t *bytes)
{
    const Accesses plain = {sg_load, sg_store, admit};
    copy_bulk(w, read, written, mask, how, to, from, bytes, &plain);
}

void sg_from_block_to_block(Warp *w, uint32_t site, uint32_t mask)
{
    if (!w->worker->job->has_clusters)
        fault_at(w, site, __builtin_ctz(mask), CUDA_ERROR_ILLEGAL_INSTRUCTION, NO_CLUSTERS);
}

uint32_t sg_multicast(Warp *w, uint32_t site, uint32_t mask, const uint32_t *blocks)
{
    const uint32_t of_cluster = w->worker->cluster->blocks;
    uint32_t all = 0;
    FOR_LANES(lane, mask)
    {
        all |= blocks[lane];
        if (!blocks[lane] || blocks[lane] >> of_cluster)
            fault_at(w, site, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, MULTICAST, blocks[lane],
                     of_cluster - 1);
    }
    return all;
}
