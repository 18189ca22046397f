/* Copies of boxes between an array in global memory and shared memory, as tensor maps describe them.
   They are made in pieces of 16 bytes, in the order of shared memory. */
#include <string.h>

#include "internal.h"
#include "mbarrier.h"
#include "memory/tensor_map.h"

#define ILLEGAL CUDA_ERROR_ILLEGAL_INSTRUCTION
enum { SHARED_ALIGN = 128 };
enum { FLOAT32_FTZ = 10, TFLOAT32_FTZ = 12 }; /* types of a map that flush subnormals */

/* One copy: which box of which array. */
typedef struct {
    Warp *w;
    uint32_t site, lane;
    bool stores;
    TensorMap map;
    int64_t at[MOST_RANK]; /* where the box begins */
    int32_t offsets[3];    /* of im2col */
    uint64_t shared;       /* host address of the box */
    char *memory;          /* the shared memory that it lies in */
    Range array;           /* the allocation that the array lies in */
} Box;

/* 128 zeros become a map as fields of it are replaced: tile compilers make one so. */
static bool is_blank(uint64_t where)
{
    static const char blank[MAP_BYTES];
    return !memcmp((const void *)where, blank, MAP_BYTES);
}

static void read_map(Box *b, uint64_t where, const char *does, bool may_begin)
{
    const char *kind = where % MAP_ALIGN ? "lies at" : "cannot be read at";
    const bool shared = where - (uint64_t)b->w->shared < b->w->shared_bytes;
    if (where % MAP_ALIGN ||
        (!shared && access_readable_end(b->w, b->lane, where) < where + MAP_BYTES))
        fault_at(b->w, b->site, b->lane,
                 where % MAP_ALIGN ? CUDA_ERROR_MISALIGNED_ADDRESS : CUDA_ERROR_ILLEGAL_ADDRESS,
                 MAP_PLACE, does, kind, address_text(where).text, MAP_ALIGN);
    if (may_begin && is_blank(where)) {
        b->map = (TensorMap){.mark = MAP_MARK,
                             .strides = {1},
                             .rank = 1,
                             .box = {1, 1, 1, 1, 1},
                             .steps = {1, 1, 1, 1, 1}};
        return;
    }
    if (!read_tensor_map((const void *)where, &b->map))
        fault_at(b->w, b->site, b->lane, ILLEGAL, MAP_UNKNOWN, does);
}

static uint32_t line_bytes(const TensorMap *map) { return map->box[0] * (uint32_t)map->strides[0]; }

/* From a line in shared memory to the next: what is swizzled has the room of a whole pattern. */
static uint32_t line_pitch(const TensorMap *map)
{ return map->swizzle ? 16u << map->swizzle : line_bytes(map); }

static uint32_t box_lines(const TensorMap *map)
{
    uint32_t lines = map->is_im2col ? map->box[1] : 1;
    for (uint32_t n = 1; !map->is_im2col && n < map->rank; n++)
        lines *= (map->box[n] + map->steps[n] - 1u) / map->steps[n];
    return lines;
}

/* A window's place must be one at which the image has a box; what is stored has no box before an edge. */
static void check_window(const Box *b, bool stores)
{
    const TensorMap *map = &b->map;
    for (uint32_t n = 1; n + 1 < map->rank; n++) {
        const int64_t least = stores ? MAX(map->lower[n - 1], 0) : map->lower[n - 1];
        const int64_t most = (int64_t)map->last[n] + map->upper[n - 1];
        if (b->at[n] < least || b->at[n] > most)
            fault_at(b->w, b->site, b->lane, ILLEGAL, WINDOW_PLACE, (long long)b->at[n], n,
                     (long long)least, (long long)most);
    }
    if (stores && b->at[map->rank - 1] > map->last[map->rank - 1])
        fault_at(b->w, b->site, b->lane, ILLEGAL, WINDOW_IMAGE, (long long)b->at[map->rank - 1],
                 map->last[map->rank - 1] + 1ull);
}

static void check_place(const Box *b, uint32_t rank, bool im2col, bool stores)
{
    const TensorMap *map = &b->map;
    const long long first = b->at[0], bytes = first * (long long)map->strides[0];
    uint64_t place = b->shared - (uint64_t)b->memory;
    uint64_t size = (uint64_t)line_pitch(map) * box_lines(map);
    if (rank != map->rank || im2col != map->is_im2col)
        fault_at(b->w, b->site, b->lane, ILLEGAL, BOX_RANK, rank, im2col ? " in mode im2col" : "",
                 map->rank, map->is_im2col ? " in that mode" : "");
    if (bytes % PIECE) fault_at(b->w, b->site, b->lane, ILLEGAL, BOX_ELEMENT, first, bytes, PIECE);
    for (uint32_t n = 0; stores && n < rank; n++)
        if (b->at[n] < 0)
            fault_at(b->w, b->site, b->lane, ILLEGAL, BOX_BEFORE_EDGE, (long long)b->at[n], n);
    if (im2col) check_window(b, stores);
    if (place % SHARED_ALIGN)
        fault_at(b->w, b->site, b->lane, CUDA_ERROR_MISALIGNED_ADDRESS, BOX_MISALIGNED,
                 (long long)place, SHARED_ALIGN);
    if (place > b->w->shared_bytes || size > b->w->shared_bytes - place)
        fault_at(b->w, b->site, b->lane, CUDA_ERROR_ILLEGAL_ADDRESS, BOX_BEYOND_SHARED,
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
    for (int64_t n = 0; n < line_bytes(map); n += PIECE) {
        const int64_t first = b->at[0] * size + n;
        int64_t bytes = inside && first >= 0 && first < end ? MIN(end - first, (int64_t)PIECE) : 0;
        if (b->stores && bytes && map->rank > 1) /* all of a piece, up to the next line */
            bytes = MIN((int64_t)PIECE, (int64_t)(b->array.end - line) - first);
        const uint64_t place = *to + (uint64_t)n - (uint64_t)b->memory;
        const uint64_t moved = place ^ (place >> 7 & mask) << 4;
        const uint64_t from = bytes ? line + (uint64_t)first : 0;
        if (bytes && (from < b->array.begin || from + (uint64_t)bytes > b->array.end))
            fault_at(b->w, b->site, b->lane, CUDA_ERROR_ILLEGAL_ADDRESS, BOX_OUTSIDE,
                     (long long)bytes, address_text(from).text);
        visit(b, b->memory + moved, from, bytes, how);
    }
    *to += line_pitch(map);
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

/* What has come of a piece: numbers of tf32 are rounded, and what lies outside is filled. */
static void finish_piece(const TensorMap *map, unsigned char *piece, uint32_t from)
{
    enum { TF32 = 11, TF32_FTZ, LOST_BITS = 13, TF32_NAN = 0x7fffe000 };
    static const unsigned char nan[] = {0xf7, 0x7f};
    for (uint32_t n = 0; (map->type == TF32 || map->type == TF32_FTZ) && n < from; n += 4) {
        uint32_t word;
        memcpy(&word, piece + n, sizeof word);
        const bool is_nan = (word & 0x7fffffff) > 0x7f800000;
        word += (1u << (LOST_BITS - 1)) - 1 + (word >> LOST_BITS & 1);
        word = is_nan ? TF32_NAN : word & ~0u << LOST_BITS;
        memcpy(piece + n, &word, sizeof word);
    }
    for (uint32_t n = from; n < PIECE; n++) piece[n] = map->fills_nan ? nan[n % 2] : 0;
}

/* How a box is copied. */
typedef struct {
    uint32_t read, written, operation, type;
    const Accesses *access; /* NULL: plainly */
} Copy;

static void load_piece(const Box *b, void *shared, uint64_t global, uint32_t bytes, const void *how)
{
    const Copy *copy = how;
    uint64_t here[LANES], there[LANES];
    unsigned char data[LANES * PIECE] __attribute__((aligned(64)));
    unsigned char *piece = data + b->lane * PIECE;
    here[b->lane] = global;
    there[b->lane] = (uint64_t)shared;
    if (bytes == PIECE) copy->access->load(b->w, copy->read, here, 1u << b->lane, data);
    else memcpy(piece, (const void *)global, bytes);
    finish_piece(&b->map, piece, bytes);
    copy->access->store(b->w, copy->written, there, 1u << b->lane, data);
}

static void load_plainly(const Box *b, void *shared, uint64_t global, uint32_t bytes,
                         const void *how)
{
    (void)how;
    memcpy(shared, (const void *)global, bytes);
    finish_piece(&b->map, shared, bytes);
}

/* A piece of shared memory, as the sanitizer lets it be read. */
static void read_piece(const Box *b, const Copy *copy, void *shared, unsigned char *piece)
{
    uint64_t here[LANES];
    unsigned char data[LANES * PIECE] __attribute__((aligned(64)));
    here[b->lane] = (uint64_t)shared;
    if (copy->access) copy->access->load(b->w, copy->read, here, 1u << b->lane, data);
    memcpy(piece, copy->access ? (void *)(data + b->lane * PIECE) : shared, PIECE);
}

static void store_piece(const Box *b, void *shared, uint64_t global, uint32_t bytes,
                        const void *how)
{
    const Copy *copy = how;
    uint64_t there[LANES];
    unsigned char data[LANES * PIECE] __attribute__((aligned(64)));
    unsigned char *piece = data + b->lane * PIECE;
    there[b->lane] = global;
    read_piece(b, copy, shared, piece);
    if (!copy->access || bytes < PIECE) memcpy((void *)global, piece, bytes);
    else copy->access->store(b->w, copy->written, there, 1u << b->lane, data);
}

static void reduce_piece(const Box *b, void *shared, uint64_t global, uint32_t bytes,
                         const void *how)
{
    const Copy *copy = how;
    uint64_t there[LANES];
    unsigned char piece[PIECE] __attribute__((aligned(8)));
    there[b->lane] = global;
    read_piece(b, copy, shared, piece);
    if (!copy->access || bytes < PIECE ||
        copy->access->admit(b->w, copy->written, there, 1u << b->lane))
        atomic_reduce(b->w, copy->operation, copy->type, global, piece, bytes,
                      b->map.type == FLOAT32_FTZ || b->map.type == TFLOAT32_FTZ);
}

/* What can be reduced: for each type of a map the type of atomics and the operations, as bits. */
static uint32_t reduced_type(const Box *b, uint32_t operation)
{
    enum {
        SUMS = 1 << OP_ADD,
        ORDER = 1 << OP_MIN | 1 << OP_MAX,
        NEXT = 1 << OP_INC | 1 << OP_DEC
    };
    enum { BITS = 1 << OP_AND | 1 << OP_OR | 1 << OP_XOR, WORDS = SUMS | ORDER | BITS };
    static const struct {
        uint32_t type, operations;
    } kinds[] = {{TY_U32, 0},
                 {TY_U32, 0},
                 {TY_U32, WORDS | NEXT},
                 {TY_S32, WORDS},
                 {TY_U64, WORDS},
                 {TY_S64, WORDS},
                 {TY_F16, SUMS | ORDER},
                 {TY_F32, SUMS},
                 {TY_F64, SUMS},
                 {TY_BF16, SUMS | ORDER},
                 {TY_F32, SUMS},
                 {TY_F32, SUMS},
                 {TY_F32, SUMS}};
    static const char *const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    if (!(kinds[b->map.type].operations >> operation & 1))
        fault_at(b->w, b->site, b->lane, ILLEGAL, BOX_REDUCTION, names[operation], b->map.type);
    return kinds[b->map.type].type;
}

void copy_boxes(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                uint32_t how, const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                const uint64_t *shared, uint32_t *bytes, const Accesses *access)
{
    const bool stores = how & BOX_STORES, im2col = how & BOX_IM2COL;
    Copy copy = {read, written, operation_of(how), 0, access};
    FOR_LANES(lane, mask)
    {
        const Worker *owner = cluster_owner(w->worker, shared[lane]);
        if (owner != w->worker) access_check(w, written, shared, 1u << lane);
        Box b = {.w = w,
                 .site = stores ? written : read,
                 .lane = lane,
                 .stores = stores,
                 .shared = shared[lane],
                 .memory = owner->shared};
        for (uint32_t n = 0; n < rank; n++) b.at[n] = at[n * LANES + lane];
        for (uint32_t n = 0; offsets && n < rank - 2; n++) b.offsets[n] = offsets[n * LANES + lane];
        read_map(&b, maps[lane], "copies a box by", false);
        if (maps[lane] - (uint64_t)w->shared < SM_SHARED)
            fault_at(w, b.site, lane, ILLEGAL, MAP_IN_SHARED);
        check_place(&b, rank, im2col, stores);
        const Allocation *found = memory_find(b.map.address);
        if (!found || !peer_reaches(w->worker->job->kernel->module->owner, found))
            fault_at(w, b.site, lane, CUDA_ERROR_ILLEGAL_ADDRESS, BOX_OF_NO_ARRAY,
                     address_text(b.map.address).text);
        b.array = (Range){found->begin, found->end};
        Visit visit = stores ? store_piece : access ? load_piece : load_plainly;
        if (how & BOX_REDUCES) {
            copy.type = reduced_type(&b, copy.operation);
            visit = reduce_piece;
        }
        (im2col ? visit_window : visit_tile)(&b, visit, &copy);
        bytes[lane] = line_bytes(&b.map) * box_lines(&b.map);
    }
}

void sg_copy_boxes(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                   uint32_t how, const uint64_t *maps, const int32_t *at, const int32_t *offsets,
                   const uint64_t *shared, uint32_t *bytes)
{ copy_boxes(w, read, written, mask, rank, how, maps, at, offsets, shared, bytes, NULL); }

/* ---- tensormap.replace ---- */

/* What a field may become: least to most, a multiple of `unit`. */
typedef struct {
    const char *name;
    uint64_t least, most;
    uint32_t unit;
} Field;

static void set_field(TensorMap *map, uint32_t field, uint32_t place, uint64_t value)
{
    /* as PTX counts types */
    static const uint8_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
    switch (field) {
    case MAP_GLOBAL_ADDRESS: map->address = value; break;
    case MAP_RANK: map->rank = value + 1; break;
    case MAP_BOX_DIM: map->box[place] = value; break;
    case MAP_GLOBAL_DIM: map->last[place] = value - 1; break;
    case MAP_GLOBAL_STRIDE: map->strides[place + 1] = value; break;
    case MAP_ELEMENT_STRIDE: map->steps[place] = place ? value : 1; break;
    case MAP_ELEMTYPE:
        map->type = types[value];
        map->strides[0] = tensor_type_bytes(map->type);
        break;
    case MAP_SWIZZLE_MODE: map->swizzle = value; break;
    case MAP_FILL_MODE: map->fills_nan = value; break;
    default: break; /* interleave_layout: there is only one */
    }
}

void sg_map_replace(Warp *w, uint32_t site, uint32_t mask, uint32_t field, uint32_t place,
                    const uint64_t *maps, const uint64_t *values)
{
    static const Field fields[] = {
        [MAP_GLOBAL_ADDRESS] = {"global_address", PIECE, INT64_MAX, PIECE},
        [MAP_RANK] = {"rank", 0, MOST_RANK - 1, 1},
        [MAP_BOX_DIM] = {"box_dim", 1, 256, 1},
        [MAP_GLOBAL_DIM] = {"global_dim", 1, UINT32_MAX, 1},
        [MAP_GLOBAL_STRIDE] = {"global_stride", 0, (1ull << 40) - 1, PIECE},
        [MAP_ELEMENT_STRIDE] = {"element_stride", 1, 8, 1},
        [MAP_ELEMTYPE] = {"elemtype", 0, 12, 1},
        [MAP_INTERLEAVE_LAYOUT] = {"interleave_layout", 0, 0, 1},
        [MAP_SWIZZLE_MODE] = {"swizzle_mode", 0, 3, 1},
        [MAP_FILL_MODE] = {"fill_mode", 0, 1, 1}};
    const Field *f = &fields[field];
    FOR_LANES(lane, mask)
    {
        Box b = {.w = w, .site = site, .lane = lane};
        const uint64_t value = values[lane];
        read_map(&b, maps[lane], "replaces a field of", true);
        if (b.map.is_im2col || place >= MOST_RANK - (field == MAP_GLOBAL_STRIDE))
            fault_at(w, site, lane, ILLEGAL, MAP_FIELD_ABSENT, f->name, place,
                     b.map.is_im2col ? ", which is one of mode im2col" : "");
        if (value < f->least || value > f->most || value % f->unit)
            fault_at(w, site, lane, ILLEGAL, MAP_VALUE, f->name, (unsigned long long)value, f->unit,
                     (unsigned long long)f->least, (unsigned long long)f->most);
        set_field(&b.map, field, place, value);
        b.map.check = map_check(&b.map);
        memcpy((void *)maps[lane], &b.map, sizeof b.map);
    }
}
