/* The sanitizer: what a launch did wrong. What is found again, at the same lines, is counted; what
   is new is written down with who did it and where. */
#include <stdio.h>
#include <string.h>

#include "sanitize.h"

/* Of one thread's last launch. */
typedef struct {
    Finding findings[LIMIT_FINDINGS];
    uint32_t count, threads;
    uint64_t dropped, exposed; /* exposed: bytes, see bulk.c */
    bool lost;
    char params[LIMIT_PARAMETER_BYTES], name[1000];
    void *module; /* of the kernel; NULL: there was no launch */
} Report;

static _Thread_local Report last_report;
static Report *report; /* of the launch that runs */
static ReportCallback on_report;

/* ---- findings, new and known ---- */

/* 0 read, 1 write, 2 update */
static uint32_t does(const Access *a) { return a->load && a->store ? 2 : a->store; }

static bool same_line(uint32_t a, uint32_t b)
{
    if (a == b) return true;
    const uint32_t count = watch.kernel->site_count; /* what is beyond has one number for a line */
    if (a >= count || b >= count) return false;
    return site_of(a)->file == site_of(b)->file && site_of(a)->line == site_of(b)->line;
}

/* Whether a note says what another one does, if the lines are the same. */
static bool says_as_well(uint32_t note, uint32_t other)
{
    const bool in_bulk = note >= BULK_WRITING && note <= BULK_OVERWRITING;
    return note == other || note == WRONG_ARRAY || (in_bulk && other == NO_NOTE);
}

/* Whether two findings say the same of the same lines. */
static bool alike(const Finding *a, const Finding *b)
{
    if (a->kind != b->kind) return false;
    if (!says_as_well(a->note, b->note) && !says_as_well(b->note, a->note)) return false;
    if (a->note == MOVED && a->unwritten != b->unwritten) return false;
    if (a->other_site == NO_SITE && a->access != b->access) return false;
    return (same_line(a->site, b->site) && same_line(a->other_site, b->other_site)) ||
           (same_line(a->site, b->other_site) && same_line(a->other_site, b->site));
}

/* Counts a finding; returns it if it is new, to be filled in. */
static Finding *found(Finding new)
{
    Report *r = report;
    new.count = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!alike(&r->findings[i], &new)) continue;
        r->findings[i].count++;
        r->findings[i].warps |= new.warps;
        return NULL;
    }
    if (r->count == LIMIT_FINDINGS) {
        r->dropped++;
        return NULL;
    }
    r->findings[r->count] = new;
    return &r->findings[r->count++];
}

static Finding *found_alone(uint32_t kind, uint32_t note, uint32_t site, uint32_t access)
{
    return found((Finding){
        .kind = kind, .note = note, .site = site, .other_site = NO_SITE, .access = access});
}

static void set_block(uint32_t out[3], uint64_t index)
{
    out[0] = index % watch.job->grid[0];
    out[1] = index / watch.job->grid[0] % watch.job->grid[1];
    out[2] = index / watch.job->grid[0] / watch.job->grid[1];
}

static void set_thread(uint32_t out[3], uint32_t warp, uint32_t lane)
{
    uint32_t t = warp * LANES + lane;
    const uint32_t *block = watch.job->block;
    out[0] = t % block[0];
    out[1] = t / block[0] % block[1];
    out[2] = t / block[0] / block[1];
}

static void set_place(Finding *f, const Warp *w, uint32_t lane)
{
    memcpy(f->block, w->ctaid, sizeof f->block);
    memcpy(f->other_block, w->ctaid, sizeof f->other_block);
    set_thread(f->thread, w->warp_id, lane);
    set_thread(f->other_thread, w->warp_id, lane);
}

/* What memory an address is in, or was meant to be in. */
static void set_memory(Finding *f, const Access *a, uint64_t address)
{
    const Warp *w = a->w;
    f->bytes = a->bytes;
    f->address = address;
    if (in_shared(w, a->site, address)) {
        f->space = SPACE_SHARED;
        f->begin = (uint64_t)w->shared;
        f->end = f->begin + w->shared_bytes;
        const Origin *o = origin_of(a->number);
        if (f->kind != OUT_OF_BOUNDS || !o->end) return;
        f->meant[0] = o->begin;
        f->meant[1] = o->end;
    } else if (in_local(w, a->site, address)) {
        f->space = SPACE_LOCAL;
        uint64_t lane = (address - (uint64_t)w->local) / w->local_stride;
        f->begin = (uint64_t)w->local + lane * w->local_stride;
        f->end = f->begin + watch.kernel->local_bytes;
    } else if (cluster_owner(w->worker, address) && w->worker->cluster->blocks > 1) {
        f->space = SPACE_CLUSTER;
        f->begin = (uint64_t)cluster_owner(w->worker, address)->shared;
        f->end = f->begin + w->shared_bytes;
    } else {
        Range around = meant_memory(f->note, a->number, address);
        f->space = SPACE_GLOBAL;
        f->begin = around.begin;
        f->end = around.end;
    }
}

/* Whether the colliding side or, unseen here, its block has waited for a lock or a flag. */
static bool has_polled(const Access *a, uint32_t lane, Mark other)
{
    if (order_same_block(other))
        return (watch.here->fresh.polled[a->w->warp_id] >> lane |
                watch.here->fresh.polled[mark_warp(other)] >> mark_lane(other)) &
               1;
    for (uint32_t w = 0; w < MAX_WARPS; w++)
        if (watch.here->fresh.polled[w]) return true;
    return false;
}

/* Why two accesses of one place collide; it may be of another kind than RACE. */
static uint32_t reason(const Access *a, uint32_t lane, uint64_t address, Mark other,
                       bool other_wrote, uint32_t *kind)
{
    uint32_t site = mark_site(other), both = a->flags | other;
    bool same_block = order_same_block(other);
    bool same_warp = same_block && mark_warp(other) == a->w->warp_id;
    bool ours_atomic = a->flags & MARK_ATOMIC, theirs_atomic = other & MARK_ATOMIC;
    bool both_write = other_wrote && a->store && !ours_atomic && !theirs_atomic;
    bool at_once = same_warp && site == a->number && mark_time(other) == mark_time(a->mark);
    bool update =
        same_line(site, a->number) && origin_of(site)->updates && origin_of(a->number)->updates;
    if (a->flags & MARK_ASYNC && !other_wrote) return BULK_OVERWRITING;
    if (both_write && (at_once || !in_shared(a->w, a->site, address))) *kind = DOUBLE_WRITE;
    if (ours_atomic && theirs_atomic && !same_size(other, a)) return TWO_SIZES;
    if (ours_atomic && theirs_atomic && both & MARK_IN_BLOCK && !same_block) return SCOPE;
    if (ours_atomic && theirs_atomic) return UNFENCED;
    if (!at_once && !(both & MARK_ATOMIC) && has_polled(a, lane, other)) return UNFENCED;
    if (*kind == DOUBLE_WRITE) return NO_NOTE;
    if (update) return UPDATE;
    if (same_warp && !both_write) *kind = MISSING_SYNCWARP;
    if (same_warp && !both_write) return NO_NOTE;
    if (ours_atomic != theirs_atomic) return ATOMIC_AND_PLAIN;
    if (both & MARK_VOLATILE) return VOLATILE;
    return same_block ? NO_NOTE : OTHER_BLOCK;
}

/* ---- of accesses ---- */

bool report_place(const Access *a, uint32_t kind, uint32_t lane, uint64_t address, uint32_t note)
{
    Finding *f = found_alone(kind, note, a->number, does(a));
    if (f) {
        set_place(f, a->w, lane);
        set_memory(f, a, address);
    }
    return false;
}

static void collision(const Access *a, uint32_t kind, uint32_t note, uint32_t lane,
                      uint64_t address, Mark other, bool other_wrote)
{
    uint32_t is_volatile = (a->flags | other) & MARK_VOLATILE;
    Finding *f = found((Finding){.kind = kind,
                                 .note = note,
                                 .site = a->number,
                                 .other_site = mark_site(other),
                                 .access = does(a),
                                 .warps = is_volatile ? UINT32_MAX : 1u << a->w->warp_id});
    if (!f) return;
    set_place(f, a->w, lane);
    set_memory(f, a, address);
    f->other_access = other & MARK_ATOMIC ? 2 : other_wrote;
    set_block(f->other_block, order_block_of(other));
    set_thread(f->other_thread, mark_warp(other), mark_lane(other));
}

void report_collision(const Access *a, uint32_t kind, uint32_t lane, uint64_t address, Mark other,
                      bool other_wrote)
{
    uint32_t note = NO_NOTE;
    if (kind == RACE) note = reason(a, lane, address, other, other_wrote, &kind);
    collision(a, kind, note, lane, address, other, other_wrote);
}

void report_copying(const Access *a, uint32_t lane, uint64_t address, Mark copy)
{ collision(a, RACE, COPYING, lane, address, copy, true); }

void report_multiplying(const Access *a, uint32_t lane, uint64_t address, Mark product)
{ collision(a, RACE, MULTIPLYING, lane, address, product, false); }

void report_bulk(const Access *a, uint32_t lane, uint64_t address, Mark copy, bool reads)
{ collision(a, RACE, reads ? BULK_READING : BULK_WRITING, lane, address, copy, !reads); }

void report_unproxied(const Access *a, uint32_t lane, uint64_t address, Mark store)
{
    const uint32_t note = a->site->kind == SITE_TENSOR ? NO_NOTE : BULK_READING;
    collision(a, MISSING_PROXY_FENCE, note, lane, address, store, true);
}

void report_hidden(const Access *a, uint32_t lane, uint64_t address, Mark begun)
{ collision(a, MISSING_PROXY_FENCE, HIDDEN, lane, address, begun, true); }

void report_copying_at_end(uint64_t block, Mark copy, bool reads)
{
    Finding *f = found_alone(UNFINISHED_COPY, reads ? BULK_READING : BULK_WRITING, mark_site(copy),
                             reads ? 0 : 1);
    if (!f) return;
    set_block(f->block, block);
    set_thread(f->thread, mark_warp(copy), mark_lane(copy));
}

void report_unfenced(const Warp *w, uint32_t product, uint32_t written)
{
    Finding *f = found((Finding){.kind = MISSING_PRODUCT_FENCE,
                                 .site = product,
                                 .other_site = written == product ? NO_SITE : written});
    if (f) set_place(f, w, 0);
}

void report_unfinished(const Warp *w, uint32_t site, uint32_t product, uint32_t lane, bool writes)
{
    Finding *f = found((Finding){
        .kind = UNFINISHED_PRODUCT, .site = site, .other_site = product, .access = writes});
    if (f) set_place(f, w, lane);
}

void report_unwritten(const Access *a, uint32_t lane, uint64_t address, uint32_t bytes)
{
    uint64_t moved = 0, size = a->site->bytes / a->site->elements;
    for (uint32_t e = 0; e < a->site->elements; e++)
        if (origin_of(a->number)->moves >> e & 1) moved |= ((1ull << size) - 1) << e * size;
    moved >>= a->from;
    Finding *f = found((Finding){.kind = UNINITIALISED,
                                 .note = bytes & ~moved ? NO_NOTE : MOVED,
                                 .site = a->number,
                                 .other_site = NO_SITE,
                                 .access = does(a),
                                 .unwritten = bytes});
    if (!f) return;
    set_place(f, a->w, lane);
    set_memory(f, a, address);
}

void report_undefined(const Warp *w, uint32_t first, uint32_t needed, uint32_t lane)
{
    Finding *f = found((Finding){.kind = UNINITIALISED,
                                 .note = VALUE,
                                 .site = first,
                                 .other_site = first == needed ? NO_SITE : needed});
    if (f) set_place(f, w, lane);
}

/* ---- of lanes and warps that do not meet ---- */

void report_lanes(const Warp *w, uint32_t kind, uint32_t note, uint32_t site, uint32_t lane,
                  uint32_t other)
{
    Finding *f = found_alone(kind, note, site, 0);
    if (!f) return;
    set_place(f, w, lane);
    set_thread(f->other_thread, w->warp_id, other);
}

void report_skipped(const Warp *w, uint32_t site, uint32_t came, uint32_t skip)
{
    Finding *f = found_alone(DIVERGENT_BARRIER, NO_NOTE, site, 0);
    if (!f) return;
    set_place(f, w, __builtin_ctz(came));
    set_thread(f->other_thread, w->warp_id, __builtin_ctz(skip));
    f->lanes = __builtin_popcount(skip);
}

void report_two_lines(const Warp *w, const uint32_t warps[2], const uint32_t sites[2])
{
    if (same_line(sites[0], sites[1])) return;
    Finding *f = found((Finding){
        .kind = DIVERGENT_BARRIER, .note = TWO_LINES, .site = sites[0], .other_site = sites[1]});
    if (!f) return;
    set_place(f, w, 0);
    set_thread(f->thread, warps[0], 0);
    set_thread(f->other_thread, warps[1], 0);
}

void report_exited(const Warp *there, uint32_t site, uint32_t count)
{
    Finding *f = found_alone(DIVERGENT_BARRIER, EXITED, site, 0);
    if (!f) return;
    set_place(f, there, there->live ? __builtin_ctz(there->live) : 0);
    f->lanes = count;
    const Warp *warps = there->worker->warps;
    for (uint32_t i = 0; i < watch.job->warps; i++) {
        uint32_t lanes = warps[i].existing & ~warps[i].live;
        if (!lanes) continue;
        set_thread(f->other_thread, i, __builtin_ctz(lanes));
        return;
    }
}

/* ---- of launches ---- */

void report_forget(void)
{
    last_report.count = 0;
    last_report.module = NULL;
}

void report_begin(const Job *job)
{
    const Kernel *kernel = job->kernel;
    Report *r = report = &last_report;
    size_t known = MIN(kernel->param_bytes, sizeof r->params);
    r->count = 0;
    r->dropped = r->exposed = 0;
    r->threads = job->threads;
    r->module = kernel->module->handle;
    snprintf(r->name, sizeof r->name, "%s", kernel->name);
    memcpy(r->params, job->params, known);
    memset(r->params + known, 0, sizeof r->params - known);
}

CUresult report_tell(CUresult result)
{
    last_report.lost = order.lost;
    if (instrument || !last_report.count || !on_report) return result;
    CUresult told = on_report();
    return result || !told ? result : fail_as_told(told);
}

/* ---- what Python calls ---- */

void report_exposed(uint64_t more) { report->exposed += more; }

uint64_t sg_sanitize_exposed(void) { return last_report.exposed; }

void sg_set_reporter(ReportCallback callback) { on_report = callback; }

const char *sg_sanitize_kernel(void **module, uint32_t *threads)
{
    *module = last_report.module;
    *threads = last_report.threads;
    return last_report.module ? last_report.name : NULL;
}

uint32_t sg_sanitize_findings(Finding *out, uint32_t room, uint64_t *dropped, uint32_t *lost,
                              char *params)
{
    const Report *r = &last_report;
    uint32_t count = MIN(r->count, room);
    memcpy(out, r->findings, count * sizeof *out);
    memcpy(params, r->params, sizeof r->params);
    *dropped = r->dropped;
    *lost = r->lost;
    return r->count;
}
