/* The rules by which an H200 counts, as measured with Nsight Compute (softgpu/tests/xray/nsight).

   Terms: bank conflicts, coalescing (CUDA C++ Best Practices Guide; docs/terms.md). */
#include "rules.h"

#include "driver.h"

#define BANKS 32

/* ---- global and local memory ---- */

static uint32_t add_sector(Sectors *s, uint64_t id)
{
    s->id[s->count] = id;
    s->bytes[s->count] = 0;
    return s->count++;
}

/* Where in the list a sector is; puts it there if it is new. */
static uint32_t sector_index(Sectors *s, uint64_t id)
{
    for (uint32_t i = s->count; i-- > 0;)
        if (s->id[i] == id) return i;
    return add_sector(s, id);
}

/* The sectors that are the first of their lines, as bits, if they ascend. */
VECTORISED static uint32_t ascending_heads(const Sectors *s)
{
    uint64_t heads = 1;
    for (uint64_t i = 1; i < LANES; i++) heads |= (uint64_t)(s->id[i] / 4 != s->id[i - 1] / 4) << i;
    return heads & ((1ull << s->count) - 1);
}

static uint32_t heads_of(const Sectors *s)
{
    if (s->ascend) return ascending_heads(s);
    uint32_t heads = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t before = i;
        while (before && s->id[before - 1] / 4 != s->id[i] / 4) before--;
        heads |= (uint32_t)!before << i;
    }
    return heads;
}

static uint32_t bytes_of_sector(uint64_t address, uint32_t bytes)
{ return ((1u << bytes) - 1) << address % SECTOR; }

/* Whether each of all lanes touches a sector after the one before's; then puts all of them down. */
VECTORISED static bool each_its_own(Sectors *s, const uint64_t *address, uint32_t bytes)
{
    uint64_t back = 0;
    for (uint64_t i = 0; i < LANES; i++) {
        s->id[i] = address[i] / SECTOR;
        s->bytes[i] = bytes_of_sector(address[i], bytes);
    }
    for (uint64_t i = 1; i < LANES; i++) back |= s->id[i] <= s->id[i - 1];
    return !back;
}

Sectors rules_sectors(const uint64_t *address, uint32_t mask, uint32_t bytes)
{
    Sectors s;
    uint64_t next = 0; /* after the highest so far: most lanes' addresses ascend */
    const bool apart = mask == UINT32_MAX && each_its_own(&s, address, bytes);
    s.count = apart ? LANES : 0;
    s.ascend = true;
    FOR_LANES(lane, apart ? 0 : mask)
    {
        uint64_t id = address[lane] / SECTOR;
        uint32_t known = s.count, i = id < next ? sector_index(&s, id) : add_sector(&s, id);
        if (id >= next) next = id + 1;
        else if (i == known) s.ascend = false;
        s.bytes[i] |= bytes_of_sector(address[lane], bytes);
    }
    s.heads = heads_of(&s);
    return s;
}

VECTORISED uint32_t rules_ideal_sectors(const Sectors *s)
{
    uint32_t touched = 0;
    for (uint32_t i = 0; i < s->count; i++) touched += __builtin_popcount(s->bytes[i]);
    return (touched + SECTOR - 1) / SECTOR;
}

/* The hardware spreads each 4-byte word of the lanes' local memory over 32 neighbouring words. */
uint32_t rules_local_sectors(const uint64_t *offset, uint32_t mask, uint32_t bytes)
{
    uint32_t found = 0;
    for (uint32_t word = 0; word < (bytes + 3) / 4; word++) {
        Sectors s;
        s.count = 0;
        FOR_LANES(lane, mask) sector_index(&s, (offset[lane] / 4 + word) * 4 + lane / 8);
        found += s.count;
    }
    return found;
}

uint32_t rules_lines(const Sectors *s) { return __builtin_popcount(s->heads); }

/* A sector is gone through once for each lane of its most wanted address. */
Sectors rules_atomic_turns(const uint64_t *address, uint32_t mask, uint32_t *turns)
{
    Sectors s;
    s.count = 0;
    while (mask) {
        uint64_t at = address[__builtin_ctz(mask)];
        uint32_t same = 0;
        FOR_LANES(lane, mask) same |= (uint32_t)(address[lane] == at) << lane;
        mask &= ~same;
        uint32_t known = s.count, i = sector_index(&s, at / SECTOR);
        uint32_t times = __builtin_popcount(same);
        if (i == known || times > turns[i]) turns[i] = times;
    }
    return s;
}

uint32_t rules_atomic_sectors(const uint64_t *address, uint32_t mask)
{
    uint32_t turns[LANES], total = 0;
    Sectors s = rules_atomic_turns(address, mask, turns);
    for (uint32_t i = 0; i < s.count; i++) total += turns[i];
    return total;
}

/* A sector is fetched anew for each line of 128 bytes of shared memory that it goes to; of lanes
   that write to one place the last one counts. */
uint32_t rules_copy_sectors(const uint64_t *from, const uint32_t *to, uint32_t mask)
{
    uint64_t pairs[LANES];
    uint32_t found = 0, last = 0;
    for (uint32_t lane = LANES; lane-- > 0;) {
        if (!(mask >> lane & 1)) continue;
        bool known = false;
        FOR_LANES(later, last) known |= to[later] == to[lane];
        if (known) continue;
        last |= 1u << lane;
        uint64_t pair = from[lane] / SECTOR << 16 | to[lane] / 128;
        for (uint32_t i = 0; i < found; i++) known |= pairs[i] == pair;
        if (!known) pairs[found++] = pair;
    }
    return found;
}

/* ---- shared memory ---- */

/* Wavefronts of the lanes of one group: the different units of the bank that has most of them.
   A unit is a word, or the 2 or 4 words of an access, which lie in as many banks of their own. */
static uint32_t group_wavefronts(const uint32_t *unit, uint32_t mask, uint32_t banks)
{
    uint32_t newest[BANKS]; /* lane + 1 with each bank's newest unit, linked to older ones */
    uint8_t older[LANES], units[BANKS];
    uint32_t seen = 0, most = 1;
    FOR_LANES(lane, mask)
    {
        uint32_t bank = unit[lane] % banks, other = 0;
        if (seen >> bank & 1) {
            for (other = newest[bank]; other && unit[other - 1] != unit[lane];)
                other = older[other - 1];
            if (other) continue;
            older[lane] = newest[bank];
            if (++units[bank] > most) most = units[bank];
        } else {
            seen |= 1u << bank;
            older[lane] = 0;
            units[bank] = 1;
        }
        newest[bank] = lane + 1;
    }
    return most;
}

/* The step from lane to lane if there is no gap and it is always the same one, and not 0; else 0. */
INLINE uint32_t step_of(const uint32_t *unit, uint32_t mask)
{
    const uint32_t low = __builtin_ctz(mask), run = mask >> low, *first = unit + low;
    if (run & (run + 1)) return 0;
    const uint32_t count = __builtin_popcount(run), step = count > 1 ? first[1] - first[0] : 1;
    uint32_t other = 0;
    for (uint32_t i = 0; i < count; i++) other |= first[i] ^ (first[0] + i * step);
    return other ? 0 : step;
}

/* The lanes without those that have the same unit as the lane 1, 2, 4, 8 or 16 before them, as where
   pieces of a warp have a place or a row in common. */
VECTORISED static uint32_t without_repeats(const uint32_t *unit, uint32_t mask)
{
    uint32_t same[5] = {0}, repeats = 0;
    for (int64_t i = 0; i < LANES; i++) {
        same[0] |= (uint32_t)(unit[i] == unit[i - 1]) << i;
        same[1] |= (uint32_t)(unit[i] == unit[i - 2]) << i;
        same[2] |= (uint32_t)(unit[i] == unit[i - 4]) << i;
        same[3] |= (uint32_t)(unit[i] == unit[i - 8]) << i;
        same[4] |= (uint32_t)(unit[i] == unit[i - 16]) << i;
    }
    for (uint32_t k = 0; k < 5; k++) repeats |= same[k] & mask << (1u << k);
    return mask & ~repeats;
}

/* The same as group_wavefronts, at once for lanes that follow each other at even steps. */
INLINE uint32_t run_wavefronts(const uint32_t *unit, uint32_t mask, uint32_t banks)
{
    uint32_t step = step_of(unit, mask);
    if (!step) step = step_of(unit, mask = without_repeats(unit, mask));
    if (!step) return group_wavefronts(unit, mask, banks);
    uint32_t apart = banks / (step % banks ? step & -step : banks); /* banks that the lanes use */
    return (__builtin_popcount(mask) + apart - 1) / apart;
}

/* Whether lanes that differ in one bit of their number read the same place, where both read. */
static bool pairs_agree(const uint32_t *offset, uint32_t mask, uint32_t bit)
{
    FOR_LANES(lane, mask)
    if (mask >> (lane ^ bit) & 1 && offset[lane] != offset[lane ^ bit]) return false;
    return true;
}

/* Whether the words of some lanes lie so near each other that no two have a bank in common. */
INLINE bool are_near(const uint32_t *offset, uint32_t mask)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        const uint32_t word = offset[i] / 4, absent = (mask >> i & 1) - 1;
        low = MIN(low, word | absent);
        high = MAX(high, word & ~absent);
    }
    return high - low < BANKS;
}

/* A warp's access takes one wavefront at least for each group of lanes: 32 lanes of up to 4 bytes,
   16 of 8, 8 of 16. Loads take groups of twice the size where the two lanes of each pair (l, l^1),
   or of each pair (l, l^2), read the same place or one of them does not read. */
VECTORISED Wavefronts rules_wavefronts(const uint32_t *offset, uint32_t mask, uint32_t bytes,
                                       bool load)
{
    if (bytes <= 4 && mask && are_near(offset, mask)) return (Wavefronts){1, 1};
    Wavefronts found = {0, 0};
    uint32_t size = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    uint32_t shift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4, banks = size;
    uint32_t room[LANES / 2 + LANES] = {0}, *unit = room + LANES / 2; /* read from -LANES / 2 on */
    for (uint32_t lane = 0; lane < LANES; lane++) unit[lane] = offset[lane] >> shift;
    if (size < 32 && load && (pairs_agree(offset, mask, 1) || pairs_agree(offset, mask, 2)))
        size *= 2;
    for (uint32_t at = 0; at < LANES; at += size) {
        uint32_t group = size == 32 ? mask : mask & ((1u << size) - 1) << at;
        if (!group) continue;
        found.least++;
        found.taken += run_wavefronts(unit, group, banks);
    }
    return found;
}

/* ---- atomics that machine code makes loops of ---- */

/* Lanes whose compare-and-swap succeeds when all of `mask` try at once on shared memory: each bank
   takes the lowest lane (8 bytes: of each half warp), unless the place was just changed. */
static uint32_t winners(const uint32_t *offset, uint32_t mask, uint32_t bytes)
{
    uint32_t won = 0, half = bytes == 8 ? 0xffff : UINT32_MAX;
    for (uint32_t part = half; part; part = bytes == 8 && part == half ? ~half : 0) {
        uint32_t taken = 0;
        FOR_LANES(lane, mask & part)
        {
            uint32_t bank = 1u << offset[lane] / bytes % (4 * BANKS / bytes);
            if (taken & bank) continue;
            taken |= bank;
            bool changed = false;
            FOR_LANES(other, won) changed |= offset[other] == offset[lane];
            if (!changed) won |= 1u << lane;
        }
    }
    return won;
}

uint32_t rules_atomic_wavefronts(const uint32_t *offset, uint32_t mask)
{
    uint8_t lanes[BANKS] = {0};
    uint32_t most = 0;
    FOR_LANES(lane, mask)
    {
        uint8_t *bank = &lanes[offset[lane] / 4 % BANKS];
        if (++*bank > most) most = *bank;
    }
    return most;
}

/* Whether min or max with a lane's operand would leave the 8 bytes at its address as they are. */
static bool no_change(uint64_t now, uint64_t operand, uint32_t how)
{
    uint64_t flip = how & AS_LOOP_SIGNED ? 1ull << 63 : 0;
    now ^= flip;
    operand ^= flip;
    return how & AS_LOOP_MIN ? operand >= now : operand <= now;
}

/* Shared memory has no instruction for floating-point and most 8-byte atomics: the machine code
   loads, computes and tries a compare-and-swap until no lane is left. */
Wavefronts rules_shared_loop(const uint32_t *offset, uint32_t mask, uint32_t bytes, uint32_t how,
                             uint64_t *now, const uint64_t *operand)
{
    Wavefronts all = {0, 0};
    bool extreme = how & (AS_LOOP_MIN | AS_LOOP_MAX);
    while (mask) {
        Wavefronts once = rules_wavefronts(offset, mask, bytes, true);
        all.taken += once.taken;
        all.least += once.least;
        if (extreme) FOR_LANES(lane, mask)
        if (no_change(now[lane], operand[lane], how)) mask &= ~(1u << lane);
        uint32_t won = winners(offset, mask, bytes);
        if (extreme) FOR_LANES(lane, won)
        FOR_LANES(other, mask)
        if (offset[other] == offset[lane]) now[other] = operand[lane];
        mask &= ~won;
    }
    return all;
}

/* 2-byte atomics work on the 4 bytes around: a compare-and-swap of those, and again while it fails
   for what a lane did not mean to compare. Adding is taken to change the value. */
Traffic rules_half_loop(const uint64_t *address, uint32_t mask, uint32_t how, uint32_t *now,
                        const uint16_t *compare, const uint16_t *swap)
{
    Traffic found = {0, 0};
    uint64_t word[LANES];
    uint32_t seen[LANES], owner[LANES]; /* owner: the lowest lane of each word, where `now` is */
    FOR_LANES(lane, mask)
    {
        word[lane] = address[lane] & ~3ull;
        seen[lane] = now[lane];
        owner[lane] = lane;
        FOR_LANES(other, mask & ((1u << lane) - 1))
        if (word[other] == word[lane] && owner[lane] == lane) owner[lane] = other;
    }
    while (mask) {
        uint32_t left = 0;
        found.requests++;
        found.sectors += rules_atomic_sectors(word, mask);
        FOR_LANES(lane, mask)
        {
            uint32_t shift = address[lane] & 2 ? 16 : 0, own = 0xffffu << shift;
            uint32_t old = now[owner[lane]], expected = seen[lane], next = old;
            bool again;
            if (how & AS_LOOP_CAS_HALF) {
                expected = (expected & ~own) | (uint32_t)compare[lane] << shift;
                next = (old & ~own) | (uint32_t)swap[lane] << shift;
                again = (old ^ expected) & ~own;
            } else {
                next = (old & ~own) | ((old + (1u << shift)) & own);
                again = old != expected;
            }
            if (old == expected) now[owner[lane]] = next;
            seen[lane] = old;
            left |= (uint32_t)again << lane;
        }
        mask = left;
    }
    return found;
}

/* ---- the L1 ---- */

/* Of tags it looks at four lines at a time, if they lie in different quarters: neighbours do, and
   others by chance. Returns how many lie in each, a byte for each quarter. */
VECTORISED static uint64_t quarters(const Sectors *s)
{
    uint64_t lines = 0;
    for (uint64_t i = 0; i < LANES; i++) {
        uint64_t line = s->id[i] / 4, folded = line ^ line >> 16;
        folded ^= folded >> 8;
        folded ^= folded >> 4;
        folded ^= folded >> 2;
        lines += (uint64_t)(s->heads >> i & 1) << (folded & 3) * 8;
    }
    return lines;
}

/* Its data has the banks of shared memory. */
VECTORISED uint32_t rules_near(const uint64_t *address, uint32_t mask, uint32_t bytes,
                               const Sectors *s)
{
    _Alignas(64) uint32_t offset[LANES];
    for (uint32_t i = 0; i < LANES; i++) offset[i] = address[i];
    uint32_t most = rules_wavefronts(offset, mask, bytes, true).taken;
    for (uint64_t lines = quarters(s); lines; lines >>= 8) most = MAX(most, lines & 0xff);
    return most;
}
