/* Tensor maps: descriptions of arrays for copies of boxes. */
#include <string.h>

#include "tensor_map.h"

static const uint8_t type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
enum { TYPES = sizeof type_bytes, FIRST_FLOAT = 6, MOST_BOX = 256, MOST_STEP = 8 };
enum { SWIZZLE_128B = 3, SWIZZLES = 7, PROMOTIONS = 4 };

uint32_t map_check(const TensorMap *map)
{
    uint32_t sum = 2166136261u;
    const unsigned char *bytes = (const unsigned char *)map;
    for (size_t n = 0; n < offsetof(TensorMap, check); n++) sum = (sum ^ bytes[n]) * 16777619u;
    return sum;
}

uint32_t tensor_type_bytes(uint32_t type) { return type_bytes[type]; }

#define REFUSE(...) return fail(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

/* What both kinds of maps say. */
typedef struct {
    unsigned type, rank;
    void *address;
    const uint64_t *sizes, *strides;
    const uint32_t *steps;
    unsigned interleave, swizzle, promotion, fill;
} Array;

static CUresult describe(TensorMap *map, const void *target, const Array *a, unsigned least_rank)
{
    const uint64_t address = (uint64_t)a->address;
    if (!target) REFUSE("tensorMap is NULL");
    if (a->type >= TYPES + 3u) REFUSE("tensorDataType is %u; no such type", a->type);
    if (a->type >= TYPES)
        REFUSE("this GPU, of compute capability 9.0, has no tensor maps of packed numbers of 4 or "
               "6 bits (tensorDataType %u)",
               a->type);
    if (a->rank < least_rank || a->rank > MOST_RANK)
        REFUSE("tensorRank is %u; %u to %d are possible", a->rank, least_rank, MOST_RANK);
    if (a->interleave > 2) REFUSE("interleave is %u; no such layout", a->interleave);
    if (a->interleave)
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not support interleaved tensor maps: pass "
                    "CU_TENSOR_MAP_INTERLEAVE_NONE");
    if (a->swizzle >= SWIZZLES) REFUSE("swizzle is %u; no such pattern", a->swizzle);
    if (a->swizzle > SWIZZLE_128B)
        REFUSE("this GPU, of compute capability 9.0, has no swizzle of 128 bytes in larger atoms "
               "(%u)",
               a->swizzle);
    if (a->promotion >= PROMOTIONS) REFUSE("l2Promotion is %u; no such size", a->promotion);
    if (a->fill > 1) REFUSE("oobFill is %u; no such filling", a->fill);
    if (a->fill && a->type < FIRST_FLOAT) REFUSE("oobFill is NaN, and elements are no floats");
    if (!a->sizes || !a->steps || (a->rank > 1 && !a->strides)) REFUSE("an array is NULL");
    if (address % PIECE)
        REFUSE("globalAddress is %p; multiples of %d bytes are possible", a->address, PIECE);
    *map = (TensorMap){.mark = MAP_MARK,
                       .address = address,
                       .strides = {type_bytes[a->type]},
                       .rank = a->rank,
                       .type = a->type,
                       .swizzle = a->swizzle,
                       .fills_nan = a->fill};
    for (unsigned n = 0; n < a->rank; n++) {
        if (!a->sizes[n] || a->sizes[n] > 1ull << 32)
            REFUSE("globalDim[%u] is %llu; 1 to 2^32 are possible", n,
                   (unsigned long long)a->sizes[n]);
        if (!a->steps[n] || a->steps[n] > MOST_STEP)
            REFUSE("elementStrides[%u] is %u; 1 to %d are possible", n, a->steps[n], MOST_STEP);
        if (n && (a->strides[n - 1] % PIECE || a->strides[n - 1] >> 40))
            REFUSE("globalStrides[%u] is %llu; multiples of %d bytes below 2^40 are possible: pad "
                   "lines to such a length",
                   n - 1, (unsigned long long)a->strides[n - 1], PIECE);
        map->last[n] = a->sizes[n] - 1;
        map->steps[n] = n ? a->steps[n] : 1;
        if (n) map->strides[n] = a->strides[n - 1];
    }
    return CUDA_SUCCESS;
}

/* A line of a box must fit into what is swizzled. */
static CUresult check_line(const TensorMap *map, const char *name, unsigned count)
{
    const unsigned bytes = count * map->strides[0], span = 16u << map->swizzle;
    if (!count || count > MOST_BOX) REFUSE("%s is %u; 1 to %d are possible", name, count, MOST_BOX);
    if (bytes % PIECE)
        REFUSE("%s is %u, which are %u bytes; multiples of %d bytes are possible", name, count,
               bytes, PIECE);
    if (map->swizzle && bytes > span)
        REFUSE("%s is %u, which are %u bytes; %u at most can be swizzled so", name, count, bytes,
               span);
    return CUDA_SUCCESS;
}

static CUresult finish(TensorMap *map, void *target)
{
    map->check = map_check(map);
    memset(target, 0, MAP_BYTES);
    memcpy(target, map, sizeof *map);
    return CUDA_SUCCESS;
}

static CUresult describe_tiled(TensorMap *map, const void *target, const Array *a,
                               const uint32_t *box)
{
    CUresult result = describe(map, target, a, 1);
    if (!result && !box) REFUSE("boxDim is NULL");
    if (!result) result = check_line(map, "boxDim[0]", box[0]);
    if (result) return result;
    uint64_t bytes = map->strides[0];
    for (unsigned n = 0; n < a->rank; n++) {
        if (!box[n] || box[n] > MOST_BOX)
            REFUSE("boxDim[%u] is %u; 1 to %d are possible", n, box[n], MOST_BOX);
        map->box[n] = box[n];
        bytes *= (box[n] + map->steps[n] - 1) / map->steps[n];
    }
    if (bytes > SM_SHARED)
        REFUSE("a box has %llu bytes; shared memory has %d", (unsigned long long)bytes, SM_SHARED);
    return CUDA_SUCCESS;
}

CUAPI cuTensorMapEncodeTiled(void *target, unsigned type, unsigned rank, void *address,
                             const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                             const uint32_t *steps, unsigned interleave, unsigned swizzle,
                             unsigned promotion, unsigned fill)
{
    TensorMap map;
    CUresult result = describe_tiled(
        &map, target,
        &(Array){type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill},
        box);
    return result ?: finish(&map, target);
}

/* A tiled map of compute capability 9.0, as NVIDIA's driver writes it for an H100, and CuTe DSL
   without a driver. No document describes it, so what neither has been seen to write is refused. */
typedef struct {
    uint64_t address;
    uint32_t im2col : 1, cute : 1, zeros : 2, rank : 3, type : 4, interleave : 2, swizzle : 2,
        fill : 1, tf32 : 1, promotion : 2, more_zeros : 2, large : 1, most_zeros : 10;
    uint32_t strides[4];   /* in units of 16 bytes, without their highest 4 bits */
    uint32_t high_strides; /* those, 4 bits each */
    uint32_t last[MOST_RANK];
    uint32_t steps : 24; /* less one, 3 bits each */
    uint8_t last_box[MOST_RANK];
    uint32_t zero;
} __attribute__((packed)) HardwareMap;
_Static_assert(sizeof(HardwareMap) == 64, "as much of the 128 bytes as it uses");

/* The CUtensorMapDataType of a type there, or TYPES; `tf32`: floats are rounded to it. */
static unsigned type_of(const HardwareMap *of)
{
    enum { FLOAT32 = 7, FLOAT64, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ };
    enum { F32 = 7, F32_FTZ, F64, BF16 }; /* there */
    switch (of->type) {
    case F32: return of->tf32 ? TFLOAT32 : FLOAT32;
    case F32_FTZ: return of->tf32 ? TFLOAT32_FTZ : FLOAT32_FTZ;
    case F64: return FLOAT64;
    case BF16: return BFLOAT16;
    default: return of->type < F32 ? of->type : TYPES;
    }
}

static bool decode(const HardwareMap *of, TensorMap *map)
{
    if (of->im2col || of->zeros || of->more_zeros || of->most_zeros || of->zero) return false;
    uint64_t sizes[MOST_RANK], strides[4];
    uint32_t box[MOST_RANK], steps[MOST_RANK];
    for (unsigned n = 0; n < MOST_RANK; n++) {
        sizes[n] = of->last[n] + 1ull;
        box[n] = of->last_box[n] + 1;
        steps[n] = (of->steps >> 3 * n & 7) + 1;
        if (n < 4)
            strides[n] = (of->strides[n] + ((uint64_t)(of->high_strides >> 4 * n & 15) << 32)) << 4;
    }
    const Array array = {.type = type_of(of),
                         .rank = of->rank + 1,
                         .address = (void *)of->address,
                         .sizes = sizes,
                         .strides = strides,
                         .steps = steps,
                         .interleave = of->interleave,
                         .swizzle = of->swizzle,
                         .fill = of->fill};
    return !describe_tiled(map, of, &array, box);
}

bool read_tensor_map(const void *from, TensorMap *map)
{
    memcpy(map, from, sizeof *map);
    if (map->mark == MAP_MARK) return map->check == map_check(map);
    return decode(from, map);
}

CUAPI cuTensorMapEncodeIm2col(void *target, unsigned type, unsigned rank, void *address,
                              const uint64_t *sizes, const uint64_t *strides, const int *lower,
                              const int *upper, unsigned channels, unsigned pixels,
                              const uint32_t *steps, unsigned interleave, unsigned swizzle,
                              unsigned promotion, unsigned fill)
{
    static const int limits[] = {1 << 15, 1 << 7, 1 << 4};
    TensorMap map;
    CUresult result = describe(
        &map, target,
        &(Array){type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill},
        3);
    if (!result && (!lower || !upper)) REFUSE("a corner is NULL");
    if (!result) result = check_line(&map, "channelsPerPixel", channels);
    if (result) return result;
    if (!pixels || pixels > 1024) REFUSE("pixelsPerColumn is %u; 1 to 1024 are possible", pixels);
    for (unsigned n = 0; n < rank - 2; n++) {
        const int limit = limits[rank - 3];
        if (lower[n] < -limit || lower[n] >= limit || upper[n] < -limit || upper[n] >= limit)
            REFUSE("corner %u is %d and %d; %d to %d are possible", n, lower[n], upper[n], -limit,
                   limit - 1);
        if ((int64_t)map.last[n + 1] + upper[n] < lower[n])
            REFUSE("corners %d and %d leave nothing of %llu pixels", lower[n], upper[n],
                   (unsigned long long)map.last[n + 1] + 1);
        map.lower[n] = lower[n];
        map.upper[n] = upper[n];
    }
    map.is_im2col = 1;
    map.box[0] = channels;
    map.box[1] = pixels;
    return finish(&map, target);
}

CUAPI cuTensorMapReplaceAddress(void *target, void *address)
{
    TensorMap map;
    if (!target) REFUSE("no tensor map"); /* the host's may lie anywhere: cuda.core's do */
    if (!read_tensor_map(target, &map)) REFUSE("this is no tensor map");
    if (!address || (uint64_t)address % PIECE)
        REFUSE("globalAddress is %p; multiples of %d bytes are possible", address, PIECE);
    map.address = (uint64_t)address;
    return finish(&map, target);
}
