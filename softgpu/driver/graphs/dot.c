/* A graph as a picture in the language of Graphviz. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static const char *const names[] = {[NODE_KERNEL] = "KERNEL",
                                    [NODE_MEMCPY] = "MEMCPY",
                                    [NODE_MEMSET] = "MEMSET",
                                    [NODE_HOST] = "HOST",
                                    [NODE_GRAPH] = "GRAPH",
                                    [NODE_EMPTY] = "EMPTY",
                                    [NODE_WAIT_EVENT] = "EVENT_WAIT",
                                    [NODE_EVENT_RECORD] = "EVENT_RECORD",
                                    [NODE_MEM_ALLOC] = "MEM_ALLOC",
                                    [NODE_MEM_FREE] = "MEM_FREE",
                                    [NODE_CONDITIONAL] = "CONDITIONAL"};

static void draw_label(FILE *file, const Node *node)
{
    const NodeParams *params = &node->params;
    const KernelNode *kernel = &params->kernel;
    CUresult ignored;
    const Kernel *found =
        params->type == NODE_KERNEL
            ? kernel_of(kernel->function ? kernel->function : kernel->kernel, &ignored)
            : NULL;
    fprintf(file, "%s", names[params->type]);
    if (found)
        fprintf(file, "\\n%s\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", found->shown, kernel->grid[0],
                kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
                kernel->block[2], kernel->shared);
    if (params->type == NODE_MEMSET)
        fprintf(file, "\\n%zu x %zu elements of %u bytes", params->memset.width,
                params->memset.height, params->memset.size);
    if (params->type == NODE_MEMCPY)
        fprintf(file, "\\n%zu x %zu x %zu bytes", params->memcpy.copy.WidthInBytes,
                params->memcpy.copy.Height, params->memcpy.copy.Depth);
    if (params->type == NODE_MEM_ALLOC)
        fprintf(file, "\\n%zu bytes at 0x%llx", params->alloc.bytes,
                (unsigned long long)params->alloc.address);
    if (params->type == NODE_MEM_FREE)
        fprintf(file, "\\n0x%llx", (unsigned long long)params->freed);
    if (params->type == NODE_CONDITIONAL)
        fprintf(file, "\\n%s, %u bodies", condition_text(node), params->conditional.size);
}

static void draw(FILE *file, const Graph *graph)
{
    CUgraph const *inner;
    fprintf(file, "subgraph \"cluster_%p\" {\nlabel=\"graph_%p\" graph[style=\"dashed\"];\n",
            graph->handle, graph->handle);
    for (size_t i = 0; i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        fprintf(file, "\"node_%p\"[shape=\"%s\" label=\"%zu\\n", node->handle,
                node->params.type == NODE_KERNEL ? "octagon" : "rectangle", i);
        draw_label(file, node);
        fputs("\"];\n", file);
        for (size_t j = 0; j < node->count; j++)
            fprintf(file, "\"node_%p\" -> \"node_%p\";\n", node->after[j]->handle, node->handle);
        const size_t inside = node_inner(node, &inner);
        for (size_t j = 0; j < inside; j++) draw(file, handle_object(GRAPH, inner[j]));
    }
    fputs("}\n", file);
}

/* The flags ask for details, of which all that is known is always there. */
CUAPI cuGraphDebugDotPrint(CUgraph handle, const char *path, unsigned flags)
{
    (void)flags;
    NEED_GRAPH(graph, handle);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return fail(path ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_INVALID_VALUE, "%s: %s",
                    path ? path : "no file", strerror(errno));
    fputs("digraph dot {\n", file);
    draw(file, graph);
    fputs("}\n", file);
    return fclose(file) ? fail(CUDA_ERROR_OPERATING_SYSTEM, "%s", strerror(errno)) : CUDA_SUCCESS;
}
