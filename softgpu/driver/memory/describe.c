/* An address in words, for messages. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#include "internal.h"

static const char *kind_text(MemoryKind kind)
{
    static const char *const names[] = {
        [DEVICE_MEMORY] = "allocation",
        [HOST_MEMORY] = "page-locked allocation",
        [MANAGED_MEMORY] = "managed allocation",
        [REGISTERED_MEMORY] = "registered host memory",
        [VARIABLE] = "variable of the module",
        [IMPORTED_MEMORY] = "allocation of another process",
    };
    return names[kind];
}

void memory_describe(uint64_t address, char *text, size_t space)
{
    const uint64_t near = 1u << 20;
    if (address < 65536) {
        snprintf(text, space, "near address 0: no memory was ever there (a NULL pointer?)");
        return;
    }
    const Allocation *graphs = memory_reserved(address);
    if (graphs && graphs->vacant) {
        snprintf(text, space,
                 "%llu bytes into %llu bytes of a graph, which are there only from the launch of "
                 "the node that allocates them until they are freed",
                 (unsigned long long)(address - graphs->begin),
                 (unsigned long long)(graphs->end - graphs->begin));
        return;
    }
    size_t i = table_after(address);
    const Allocation *after = i < table.count ? &table.at[i] : NULL;
    const Allocation *before = i > 0 ? &table.at[i - 1] : NULL;
    if (after && after->begin <= address) before = after;
    uint64_t past = before && address >= before->end ? address - before->end : 0;
    uint64_t ahead = after && after->begin > address ? after->begin - address : UINT64_MAX;
    bool just_past = before && past < RED_BYTES && past <= ahead;
    Range gone;
    if (!just_past && memory_freed(address, &gone)) {
        snprintf(text, space, "%llu bytes into a %llu-byte allocation that has been freed",
                 (unsigned long long)(address - gone.begin),
                 (unsigned long long)(gone.end - gone.begin));
        return;
    }
    if (before && past <= near && past <= ahead)
        snprintf(text, space, "%llu bytes past the end of the %llu-byte %s at 0x%llx",
                 (unsigned long long)past, (unsigned long long)(before->end - before->begin),
                 kind_text(before->kind), (unsigned long long)before->begin);
    else if (ahead <= near)
        snprintf(text, space, "%llu bytes before the %llu-byte %s at 0x%llx",
                 (unsigned long long)ahead, (unsigned long long)(after->end - after->begin),
                 kind_text(after->kind), (unsigned long long)after->begin);
    else {
        unsigned char state;
        bool mapped = !mincore((void *)(address / HOST_PAGE * HOST_PAGE), 1, &state);
        snprintf(text, space,
                 mapped && !zones_have(address)
                     ? "which is ordinary host memory, not memory of the GPU"
                     : "far from every allocation");
    }
}
