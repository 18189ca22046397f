/* Graphs as wholes: they are made, copied and looked at; which node comes after which. */
#include <string.h>

#include "internal.h"

CUAPI cuGraphCreate(CUgraph *out, unsigned flags)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!out || flags) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the graph, or flags");
    Graph *graph = graph_new();
    if (!graph) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *out = graph->handle;
    return CUDA_SUCCESS;
}

CUAPI cuGraphDestroy(CUgraph handle)
{
    NEED_GRAPH(graph, handle);
    if (graph->within) return fail(CUDA_ERROR_INVALID_VALUE, "the graph goes with its node");
    graph_free(graph);
    return CUDA_SUCCESS;
}

CUAPI cuGraphClone(CUgraph *out, CUgraph handle)
{
    NEED_GRAPH(graph, handle);
    if (graph_holds(graph, node_is_single))
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "a graph that allocates or frees memory, or has conditions, cannot be copied");
    Graph *clone = graph_clone(graph);
    if (!clone) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *out = clone->handle;
    return CUDA_SUCCESS;
}

CUAPI cuGraphNodeFindInClone(CUgraphNode *out, CUgraphNode origin, CUgraph clone)
{
    NEED_GRAPH(graph, clone);
    NEED_NODE(original, origin);
    const Node *node = graph_copy_of(graph, original->handle);
    if (!node) return fail(CUDA_ERROR_INVALID_VALUE, "the graph has no copy of this node");
    *out = node->handle;
    return CUDA_SUCCESS;
}

static CUresult refuse_removal(void)
{
    return fail(CUDA_ERROR_NOT_SUPPORTED,
                "nodes and edges of a graph that allocates or frees memory stay");
}

CUAPI cuGraphDestroyNode(CUgraphNode handle)
{
    NEED_NODE(node, handle);
    if (graph_holds(node->graph, node_is_of_memory)) return refuse_removal();
    node_free(node);
    return CUDA_SUCCESS;
}

ANSWERS(cuGraphNodeGetType, (CUgraphNode handle, int *type), NEED_NODE(node, handle),
        *type = node->params.type)

/* ---- lists: as many as there is room for, NULL in what is left; without room, how many ---- */

typedef struct {
    CUgraphNode *out;
    size_t room, found;
} List;

static void list(List *to, const Node *node)
{
    if (to->out && to->found < to->room) to->out[to->found] = node->handle;
    to->found++;
}

static CUresult end_list(const List *list, size_t *count)
{
    for (size_t i = list->found; list->out && i < list->room; i++) list->out[i] = NULL;
    *count = list->out ? MIN(list->found, list->room) : list->found;
    return CUDA_SUCCESS;
}

#define NEED_COUNT(count)                                                                          \
    if (!(count)) return fail(CUDA_ERROR_INVALID_VALUE, "no place for how many there are")

CUAPI cuGraphGetNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    NEED_GRAPH(graph, handle);
    NEED_COUNT(count);
    List all = {nodes, *count, 0};
    for (size_t i = 0; i < graph->count; i++) list(&all, graph->nodes[i]);
    return end_list(&all, count);
}

CUAPI cuGraphGetRootNodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    NEED_GRAPH(graph, handle);
    NEED_COUNT(count);
    List roots = {nodes, *count, 0};
    for (size_t i = 0; i < graph->count; i++)
        if (!graph->nodes[i]->count) list(&roots, graph->nodes[i]);
    return end_list(&roots, count);
}

CUAPI cuGraphGetEdges_v2(CUgraph handle, CUgraphNode *from, CUgraphNode *to, EdgeData *edges,
                         size_t *count)
{
    NEED_GRAPH(graph, handle);
    NEED_COUNT(count);
    if (!from != !to)
        return fail(CUDA_ERROR_INVALID_VALUE, "one end of the edges without the other");
    List begins = {from, *count, 0}, ends = {to, *count, 0};
    for (size_t i = 0; i < graph->count; i++)
        for (size_t j = 0; j < graph->nodes[i]->count; j++) {
            list(&begins, graph->nodes[i]->after[j]);
            list(&ends, graph->nodes[i]);
        }
    if (edges) memset(edges, 0, *count * sizeof *edges);
    end_list(&begins, count);
    return end_list(&ends, count);
}

CUAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{ return cuGraphGetEdges_v2(graph, from, to, NULL, count); }

CUAPI cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode *nodes, EdgeData *edges,
                                    size_t *count)
{
    NEED_NODE(node, handle);
    NEED_COUNT(count);
    List before = {nodes, *count, 0};
    if (edges) memset(edges, 0, *count * sizeof *edges);
    for (size_t i = 0; i < node->count; i++) list(&before, node->after[i]);
    return end_list(&before, count);
}

CUAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{ return cuGraphNodeGetDependencies_v2(node, nodes, NULL, count); }

CUAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode *nodes, EdgeData *edges,
                                      size_t *count)
{
    NEED_NODE(node, handle);
    NEED_COUNT(count);
    List after = {nodes, *count, 0};
    if (edges) memset(edges, 0, *count * sizeof *edges);
    for (size_t i = 0; i < node->graph->count; i++)
        if (node_follows(node->graph->nodes[i], node)) list(&after, node->graph->nodes[i]);
    return end_list(&after, count);
}

CUAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{ return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count); }

/* ---- edges ---- */

/* Whether these can be the ends of edges of a graph, which are there already or not. */
static CUresult check_ends(const Graph *graph, const CUgraphNode *from, const CUgraphNode *to,
                           size_t count, bool there)
{
    if (count && (!from || !to)) return fail(CUDA_ERROR_INVALID_VALUE, "edges without ends");
    for (size_t i = 0; i < count; i++) {
        NEED_NODE(before, from[i]);
        NEED_NODE(after, to[i]);
        if (before->graph != graph || after->graph != graph)
            return fail(CUDA_ERROR_INVALID_VALUE, "an edge with a node of another graph");
        if (before == after) return fail(CUDA_ERROR_INVALID_VALUE, "an edge to the node itself");
        if (node_follows(after, before) != there)
            return fail(CUDA_ERROR_INVALID_VALUE,
                        there ? "there is no such edge" : "the edge is there already");
    }
    return CUDA_SUCCESS;
}

CUAPI cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                const EdgeData *edges, size_t count)
{
    NEED_GRAPH(graph, handle);
    CUresult result = check_edges(edges, count);
    if (!result) result = check_ends(graph, from, to, count, false);
    for (size_t i = 0; !result && i < count; i++)
        if (!node_follow(handle_object(GRAPH_NODE, to[i]), handle_object(GRAPH_NODE, from[i])))
            result = fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    return result;
}

CUAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                             size_t count)
{ return cuGraphAddDependencies_v2(graph, from, to, NULL, count); }

CUAPI cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode *from, const CUgraphNode *to,
                                   const EdgeData *edges, size_t count)
{
    NEED_GRAPH(graph, handle);
    CUresult result = check_edges(edges, count);
    if (!result) result = check_ends(graph, from, to, count, true);
    if (!result && count && graph_holds(graph, node_is_of_memory)) result = refuse_removal();
    for (size_t i = 0; !result && i < count; i++)
        node_unfollow(handle_object(GRAPH_NODE, to[i]), handle_object(GRAPH_NODE, from[i]));
    return result;
}

CUAPI cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{ return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count); }
