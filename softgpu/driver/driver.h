/* What every room of the driver uses, and the order of the rooms.

   A folder of driver/ is a room. NAME/NAME.h is its interface: what other rooms may call. What only its
   own files share is in a header beside them (internal.h, or one named after its subject). SOFTGPU_ROOM
   is the room of the file that is compiled: an interface stops the compiler in a room below. */
#ifndef SOFTGPU_DRIVER_H
#define SOFTGPU_DRIVER_H

/* From the bottom up: a room includes only headers of rooms with smaller numbers. */
#define ROOM_PROCESSOR 1
#define ROOM_BASE 2
#define ROOM_STREAMS 3
#define ROOM_MEMORY 4
#define ROOM_MODULES 5
#define ROOM_RUN 6
#define ROOM_COUNT 7
#define ROOM_WATCH 8
#define ROOM_GRAPHS 9
#define ROOM_API 10
#if !SOFTGPU_ROOM
#error "compile with -DSOFTGPU_ROOM=ROOM_..., as build.py does; give a new room its number above"
#endif

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cuda_abi.h"
#include "processor/processor.h"
#include "runtime.h"

#define MAX_WARPS (BLOCK_THREADS / LANES) /* in a block */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
/* Whether an array has room for one more than `count`; doubles it if it is full. */
#define GROW(array, count, room, least)                                                            \
    ({                                                                                             \
        void *moved_ = (array);                                                                    \
        if ((count) == (room)) {                                                                   \
            __typeof__(room) more_ = (room) ? 2 * (room) : (least);                                \
            moved_ = realloc((array), more_ * sizeof *(array));                                    \
            if (moved_) (array) = moved_, (room) = more_;                                          \
        }                                                                                          \
        moved_ != NULL;                                                                            \
    })
#define FOR_LANES(lane, mask)                                                                      \
    for (uint32_t rest_ = (mask), lane; rest_ && (lane = __builtin_ctz(rest_), 1);                 \
         rest_ &= rest_ - 1)
/* Marks a function that loops over lanes, for the compiler to make vector code of. */
#define VECTORISED __attribute__((noinline)) NEWER_TOO

#endif
