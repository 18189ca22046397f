/* What is said of each fault of `enum FaultKind` (runtime.h); deadlock.c says it of a deadlock. These
   are formats; the addresses in them are made by address_text. */
#ifndef SOFTGPU_FAULT_WORDS_H
#define SOFTGPU_FAULT_WORDS_H

/* What a thread does, below, after which thread it is. */
#define WORDS_BY_THREAD "thread (%u,%u,%u) of block (%u,%u,%u) %s"
/* After all else, where the time limit stopped a launch. */
#define WORDS_IN_LOOP "; it was in a loop at line %u"

#define WORDS_TIME_LIMIT "ran longer than %g s%s and was stopped%s"
#define WORDS_NO_MEMORY "no memory for %s"
#define WORDS_TRAP "traps"
#define WORDS_NOT_IN_MASK                                                                          \
    "takes part in an instruction whose mask does not name it: give a mask that names all lanes "  \
    "that get here, and no others"
#define WORDS_STACK_OVERFLOW "has used up its stack (functions call each other too deeply)"
#define WORDS_ASSERTION "asserts `%s`, which is false"
#define WORDS_MBARRIER_MISALIGNED                                                                  \
    "uses an mbarrier at byte %llu of shared memory, which is not a multiple of 8"
#define WORDS_MBARRIER_NOT_SHARED                                                                  \
    "uses an mbarrier that is not in shared memory: declare it __shared__"
#define WORDS_MBARRIER_NOT_BEGUN                                                                   \
    "uses an mbarrier at byte %u of shared memory that %s: init(&barrier, count) by one thread, "  \
    "then __syncthreads()"
#define WORDS_MBARRIER_COUNT "initialises an mbarrier for %u arrivals; 1 to %u are possible"
#define WORDS_MBARRIER_ARRIVALS "arrives %u time%s at an mbarrier that waits for %u arrivals only"
#define WORDS_MBARRIER_PARITY "waits for parity %llu of an mbarrier; 0 and 1 are possible"
#define WORDS_BULK_SIZE "copies %u bytes in bulk; multiples of %u are possible"
#define WORDS_NO_CLUSTERS                                                                          \
    "sends bytes from block to block, which a kernel launched without clusters cannot: declare "   \
    "it __cluster_dims__(1, 1, 1), or larger"
#define WORDS_MULTICAST                                                                            \
    "copies to the blocks 0x%x of its cluster, as bits, which has blocks 0 to %u"
#define WORDS_MAP_PLACE                                                                            \
    "%s a tensor map that %s %s; a map lies at a multiple of %d bytes, in global memory or a "     \
    "kernel's __grid_constant__ parameter"
#define WORDS_MAP_UNKNOWN                                                                          \
    "%s a tensor map that cuTensorMapEncodeTiled or ...Im2col has not made, or that was changed "  \
    "otherwise than by tensormap.replace"
#define WORDS_WINDOW_PLACE                                                                         \
    "copies windows from coordinate %lld of dimension %u on; its tensor map's corners leave %lld " \
    "to %lld"
#define WORDS_WINDOW_IMAGE "stores windows of image %lld; there are %llu"
#define WORDS_BOX_RANK "copies a box of %u dimensions%s by a tensor map of %u%s"
#define WORDS_BOX_ELEMENT                                                                          \
    "copies a box from element %lld on, which is byte %lld of a line: the innermost coordinate "   \
    "must be at a multiple of %d bytes"
#define WORDS_BOX_BEFORE_EDGE                                                                      \
    "stores a box at coordinate %lld of dimension %u: a box may end past an edge, but not begin "  \
    "before one"
#define WORDS_BOX_MISALIGNED                                                                       \
    "copies a box at byte %lld of shared memory, which is not a multiple of %d"
#define WORDS_BOX_BEYOND_SHARED                                                                    \
    "copies a box of %llu bytes at byte %lld of shared memory; the block has %u bytes of it"
#define WORDS_BOX_OUTSIDE                                                                          \
    "copies %lld bytes at %s, outside of the allocation that its tensor map begins in"
#define WORDS_BOX_REDUCTION                                                                        \
    "reduces a box by %s, which the elements of its tensor map (type %u) do not have"
#define WORDS_MAP_IN_SHARED                                                                        \
    "copies a box by a tensor map in shared memory: copy it to global memory first "               \
    "(tensormap.cp_fenceproxy)"
#define WORDS_BOX_OF_NO_ARRAY "copies a box of an array at %s, which is no memory of the GPU"
#define WORDS_MAP_FIELD_ABSENT "replaces %s of dimension %u of a tensor map%s"
#define WORDS_MAP_VALUE                                                                            \
    "sets %s of a tensor map to %llu; multiples of %u from %llu to %llu are possible"
#define WORDS_MISALIGNED "%s %u bytes at %s, which is not a multiple of %u"
#define WORDS_NOT_OWN_SHARED                                                                       \
    "%s %u bytes at the address 0x%x, of the block of rank %u, as of its own shared memory, and "  \
    "its rank is %u: .shared::cluster reaches other blocks"
#define WORDS_BEYOND_SHARED                                                                        \
    "%s %u bytes at byte %lld of shared memory; the block has %u bytes of it"
#define WORDS_BEYOND_LOCAL "%s %u bytes at byte %lld of its local memory, which has %u bytes"
#define WORDS_BEYOND_ITS_SHARED                                                                    \
    "%s %u bytes at byte %llu of the shared memory of block (%u,%u,%u), of the same cluster, "     \
    "which has %s"
#define WORDS_NO_SUCH_BLOCK                                                                        \
    "%s %u bytes of shared memory of the block of rank %lld; its cluster has %u blocks"
#define WORDS_ARRIVED_TWICE                                                                        \
    "arrives at the barrier of its cluster again, without having waited there"
#define WORDS_NOT_ARRIVED "waits at the barrier of its cluster without having arrived there"
#define WORDS_DESCRIPTOR                                                                           \
    "describes %s by %#llx, in which bit %d is set: bits 14, 15, 30, 31, 46 to 48 and 52 to 61 "   \
    "have no meaning and are to be 0. Cut addresses and offsets to 18 bits, (x & 0x3ffff) >> 4"
#define WORDS_PRODUCT_BEYOND_SHARED                                                                \
    "reads %s at byte %u of shared memory; the block has %u bytes of it. It is described as from " \
    "byte %u on, in lines of %u bytes, with a leading offset of %u and a stride of %u"
#define WORDS_NOT_FROM_MALLOC "frees %s, which is no block that malloc gave out"
#define WORDS_NO_TEXTURE "uses %s as a %s object; there is none, or it has been destroyed"
#define WORDS_TEXTURE_FREED "uses a %s object whose memory has been freed"
#define WORDS_TEXTURE_DIMENSIONS "uses a %s of %u dimensions%s as one of %u%s"
#define WORDS_SURFACE_MISALIGNED                                                                   \
    "accesses %u bytes at byte %lld of a surface's row, which is not a multiple: x counts bytes, " \
    "so multiply it by the size of an element"
#define WORDS_SURFACE_OUTSIDE                                                                      \
    "accesses %u bytes at byte %lld, row %lld, slice %lld, layer %lld, outside of a surface of "   \
    "%u x %u x %u elements of %u bytes; layers: %u; x counts bytes"
#define WORDS_BARRIER_NUMBER "uses barrier %u for %u threads; a block has barriers 0 to 15"
#define WORDS_PRINTF_ARGUMENTS "calls printf with fewer arguments than its format asks for"
#define WORDS_PRINTF_STRING "calls printf with a %%s that is no string: %s"
#define WORDS_PRINTF_FORMAT "calls printf with a format that is no string: %s"
#define WORDS_CONDITION "sets the condition 0x%llx, %s"
#define WORDS_OTHER_DEVICE                                                                         \
    "%s %u bytes at %s, which is memory of device %d, and the kernel runs on device %d without "   \
    "peer access to it (cuCtxEnablePeerAccess)"
#define WORDS_CONSTANT "%s %u bytes at %s, which is constant memory"
#define WORDS_PARTLY_OUTSIDE                                                                       \
    "%s %u bytes at %s, where only %llu bytes are left of the %llu-byte allocation"
#define WORDS_NOT_IN_HEAP_BLOCK                                                                    \
    "%s %u bytes at %s, in the heap of malloc, but not inside an allocated block"
#define WORDS_OUTSIDE "%s %u bytes at %s, %s"
#define WORDS_SOMEWHERE_OUTSIDE "%s %u bytes outside of all arrays"

#endif
