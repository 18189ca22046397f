/* Tensor maps, as this driver lays them out in their 128 bytes. */
#ifndef SOFTGPU_TENSOR_MAP_H
#define SOFTGPU_TENSOR_MAP_H

#include "memory/memory.h"

enum { MOST_RANK = 5, MAP_BYTES = 128, MAP_ALIGN = 64, PIECE = 16 };

typedef struct {
    uint64_t mark;   /* MAP_MARK: made by this driver, and of its present layout */
    uint64_t unused; /* 0: CUTLASS and Triton clear its bit 21, for a fault of older drivers */
    uint64_t address;
    uint64_t strides[MOST_RANK]; /* bytes; that of the first is an element's size */
    uint32_t last[MOST_RANK];    /* sizes less one */
    uint16_t box[MOST_RANK];     /* of im2col: channels, then pixels */
    int16_t lower[3], upper[3];  /* corners of im2col, W first */
    uint8_t steps[MOST_RANK];    /* element strides */
    uint8_t rank, type, swizzle, is_im2col, fills_nan;
    uint32_t check;
} TensorMap;
_Static_assert(sizeof(TensorMap) <= MAP_BYTES, "it is what CUDA gives it");

#define MAP_MARK 0x6e6f736e65746773ull

/* Read a map: one of this driver's, or one of a GPU's, as compilers' host code makes them. */
bool read_tensor_map(const void *from, TensorMap *map);
uint32_t map_check(const TensorMap *);
uint32_t tensor_type_bytes(uint32_t type);

#endif
