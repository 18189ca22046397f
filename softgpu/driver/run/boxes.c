/* Copies of boxes between an array in global memory and shared memory, as tensor maps describe them.
   They are made in pieces of 16 bytes, in the order of shared memory. */
#include "memory/tensor_map.h"

#include <string.h>

#include "mbarrier.h"

#define ILLEGAL CUDA_ERROR_ILLEGAL_INSTRUCTION
enum { SHARED_ALIGN = 128 };

/* One copy: which box of which array. */
typedef struct {
    Warp *w;
    uint32_t site, lane;
    TensorMap map;
    int64_t at[MOST_RANK]; /* where the box begins */
    int32_t offsets[3];    /* of im2col */
    uint64_t shared;       /* host address of the box */
    Range array;           /* the allocation that the array lies in */
} Box;

static void read_map(Box *b, uint64_t where)
{
    const char *kind = where % MAP_ALIGN ? "lies at" : "cannot be read at";
    if (where % MAP_ALIGN || access_readable_end(b->w, b->lane, where) < where + MAP_BYTES)
        fault_at(
            b->w, b->site, b->lane, where % MAP_ALIGN ? ILLEGAL : CUDA_ERROR_ILLEGAL_ADDRESS,
            "copies a box by a tensor map that %s 0x%llx; a map lies at a multiple of %d bytes, "
            "in global memory or a kernel's __grid_constant__ parameter",
            kind, (unsigned long long)where, MAP_ALIGN);
    memcpy(&b->map, (const void *)where, sizeof b->map);
    if (b->map.mark != MAP_MARK || b->map.check != map_check(&b->map))
        fault_at(
            b->w, b->site, b->lane, ILLEGAL,
            "copies a box by a tensor map that cuTensorMapEncodeTiled or ...Im2col has not made");
}

/* Of a whole box in shared memory. */
static uint32_t box_bytes(const TensorMap *map)
{
    uint32_t bytes = map->box[0] * (uint32_t)map->strides[0];
    if (map->is_im2col) return bytes * map->box[1];
    for (uint32_t n = 1; n < map->rank; n++)
        bytes *= (map->box[n] + map->steps[n] - 1u) / map->steps[n];
    return bytes;
}

static void check_place(const Box *b, uint32_t rank, bool im2col, bool stores)
{
    const TensorMap *map = &b->map;
    const long long first = b->at[0], bytes = first * (long long)map->strides[0];
    uint64_t place = b->shared - (uint64_t)b->w->shared;
    uint64_t size = box_bytes(map);
    if (rank != map->rank || im2col != map->is_im2col)
        fault_at(b->w, b->site, b->lane, ILLEGAL,
                 "copies a box of %u dimensions%s by a tensor map of %u%s", rank,
                 im2col ? " in mode im2col" : "", map->rank, map->is_im2col ? " in that mode" : "");
    if (bytes % PIECE)
        fault_at(b->w, b->site, b->lane, ILLEGAL,
                 "copies a box from element %lld on, which is byte %lld of a line: the innermost "
                 "coordinate must be at a multiple of %d bytes",
                 first, bytes, PIECE);
    for (uint32_t n = 0; stores && n < rank; n++)
        if (b->at[n] < 0)
            fault_at(b->w, b->site, b->lane, ILLEGAL,
                     "stores a box at coordinate %lld of dimension %u: a box may end past an edge, "
                     "but not begin before one",
                     (long long)b->at[n], n);
    if (place % SHARED_ALIGN)
        fault_at(b->w, b->site, b->lane, ILLEGAL,
                 "copies a box at byte %lld of shared memory, which is not a multiple of %d",
                 (long long)place, SHARED_ALIGN);
    if (place > b->w->shared_bytes || size > b->w->shared_bytes - place)
        fault_at(b->w, b->site, b->lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                 "copies a box of %llu bytes at byte %lld of shared memory; the block has %u bytes "
                 "of it",
                 (unsigned long long)size, (long long)place, b->w->shared_bytes);
}

/* What is done with a piece: its place in shared memory, in global memory (0: outside of the array),
   and how many of its bytes are inside. */
typedef void (*Visit)(const Box *, void *shared, uint64_t global, uint32_t bytes, const void *how);

/* A line of a box, whose elements follow each other from `at[0]` on; inside: by other dimensions. */
static void visit_line(const Box *b, uint64_t *to, uint64_t line, bool inside, Visit visit,
                       const void *how)
{
    const TensorMap *map = &b->map;
    const int64_t size = map->strides[0], end = ((int64_t)map->last[0] + 1) * size;
    const uint32_t mask = (1u << map->swizzle) - 1;
    for (int64_t n = 0; n < map->box[0] * size; n += PIECE, *to += PIECE) {
        const int64_t first = b->at[0] * size + n;
        int64_t bytes = inside && first >= 0 && first < end ? MIN(end - first, (int64_t)PIECE) : 0;
        const uint64_t place = *to - (uint64_t)b->w->shared;
        const uint64_t moved = place ^ (place >> 7 & mask) << 4;
        const uint64_t from = bytes ? line + (uint64_t)first : 0;
        if (bytes && (from < b->array.begin || from + (uint64_t)bytes > b->array.end))
            fault_at(b->w, b->site, b->lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                     "copies %lld bytes at 0x%llx, outside of the allocation that its tensor map "
                     "begins in",
                     (long long)bytes, (unsigned long long)from);
        visit(b, b->w->shared + moved, from, bytes, how);
    }
}

static void visit_tile(const Box *b, Visit visit, const void *how)
{
    const TensorMap *map = &b->map;
    uint64_t to = b->shared;
    uint32_t n[MOST_RANK] = {0};
    for (;;) {
        uint64_t line = map->address;
        bool inside = true;
        for (uint32_t d = 1; d < map->rank; d++) {
            const int64_t place = b->at[d] + n[d];
            inside &= place >= 0 && place <= map->last[d];
            line += (uint64_t)place * map->strides[d];
        }
        visit_line(b, &to, line, inside, visit, how);
        uint32_t d = 1;
        for (; d < map->rank; d++) {
            if ((n[d] += map->steps[d]) < map->box[d]) break;
            n[d] = 0;
        }
        if (d == map->rank) return;
    }
}

/* Pixel by pixel through the box that its corners leave of an image, then of the next image. */
static void visit_window(const Box *b, Visit visit, const void *how)
{
    const TensorMap *map = &b->map;
    const uint32_t sides = map->rank - 2;
    uint64_t to = b->shared;
    int64_t at[MOST_RANK];
    memcpy(at, b->at, sizeof at);
    for (uint32_t pixel = 0; pixel < map->box[1]; pixel++) {
        int64_t image = at[map->rank - 1];
        bool inside = image >= 0 && image <= map->last[map->rank - 1];
        uint64_t line = map->address + (uint64_t)image * map->strides[map->rank - 1];
        for (uint32_t d = 1; d <= sides; d++) {
            const int64_t place = at[d] + b->offsets[d - 1];
            inside &= place >= 0 && place <= map->last[d];
            line += (uint64_t)place * map->strides[d];
        }
        visit_line(b, &to, line, inside, visit, how);
        uint32_t d = 1;
        for (; d <= sides; d++) {
            if ((at[d] += map->steps[d]) <= (int64_t)map->last[d] + map->upper[d - 1]) break;
            at[d] = map->lower[d - 1];
        }
        if (d > sides) at[map->rank - 1]++;
    }
}

static void fill(const TensorMap *map, unsigned char *to, uint32_t from)
{
    memset(to + from, 0, PIECE - from);
    static const uint64_t nans[] = {[2] = 0x7fff, [4] = 0x7fffffff, [8] = 0x7fffffffffffffff};
    const uint32_t size = map->strides[0];
    for (uint32_t n = from; map->fills_nan && n < PIECE; n += size)
        memcpy(to + n, nans + size, size);
}

/* How a box is copied: by which accesses. */
typedef struct {
    uint32_t read, written;
    Load load;
    Store store;
} Copy;

static void load_piece(const Box *b, void *shared, uint64_t global, uint32_t bytes, const void *how)
{
    const Copy *copy = how;
    uint64_t here[LANES], there[LANES];
    unsigned char data[LANES * PIECE] __attribute__((aligned(64)));
    unsigned char *piece = data + b->lane * PIECE;
    here[b->lane] = global;
    there[b->lane] = (uint64_t)shared;
    if (bytes == PIECE) copy->load(b->w, copy->read, here, 1u << b->lane, data);
    else memcpy(piece, (const void *)global, bytes);
    fill(&b->map, piece, bytes);
    copy->store(b->w, copy->written, there, 1u << b->lane, data);
}

static void load_plainly(const Box *b, void *shared, uint64_t global, uint32_t bytes,
                         const void *how)
{
    (void)how;
    memcpy(shared, (const void *)global, bytes);
    if (bytes < PIECE) fill(&b->map, shared, bytes);
}

static void store_piece(const Box *b, void *shared, uint64_t global, uint32_t bytes,
                        const void *how)
{
    const Copy *copy = how;
    uint64_t here[LANES], there[LANES];
    unsigned char data[LANES * PIECE] __attribute__((aligned(64)));
    here[b->lane] = (uint64_t)shared;
    there[b->lane] = global;
    copy->load(b->w, copy->read, here, 1u << b->lane, data);
    if (bytes == PIECE) copy->store(b->w, copy->written, there, 1u << b->lane, data);
    else memcpy((void *)global, data + b->lane * PIECE, bytes);
}

static void store_plainly(const Box *b, void *shared, uint64_t global, uint32_t bytes,
                          const void *how)
{
    (void)b;
    (void)how;
    memcpy((void *)global, shared, bytes);
}

void copy_boxes(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                uint32_t how, const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                const uint64_t *shared, uint32_t *bytes, Load load, Store store)
{
    const bool stores = how & BOX_STORES, im2col = how & BOX_IM2COL;
    const Copy copy = {read, written, load, store};
    FOR_LANES(lane, mask)
    {
        Box b = {.w = w, .site = stores ? written : read, .lane = lane, .shared = shared[lane]};
        for (uint32_t n = 0; n < rank; n++) b.at[n] = at[n * LANES + lane];
        for (uint32_t n = 0; im2col && n < rank - 2; n++) b.offsets[n] = offsets[n * LANES + lane];
        read_map(&b, maps[lane]);
        check_place(&b, rank, im2col, stores);
        const Allocation *found = memory_find(b.map.address);
        if (!found || !peer_reaches(w->worker->job->kernel->module->owner, found))
            fault_at(w, b.site, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                     "copies a box of an array at 0x%llx, which is no memory of the GPU",
                     (unsigned long long)b.map.address);
        b.array = (Range){found->begin, found->end};
        Visit visit = stores ? load ? store_piece : store_plainly
                      : load ? load_piece
                             : load_plainly;
        (im2col ? visit_window : visit_tile)(&b, visit, &copy);
        bytes[lane] = box_bytes(&b.map);
    }
}

void sg_copy_boxes(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                   uint32_t how, const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                   const uint64_t *shared, uint32_t *bytes)
{ copy_boxes(w, read, written, mask, rank, how, maps, at, offsets, shared, bytes, NULL, NULL); }
