/* What another graph of the same form says, put into an executable one. */
#include "graphs.h"

enum { UPDATED, UPDATE_ERROR, TOPOLOGY_CHANGED, NODE_TYPE_CHANGED };

static CUresult differs(UpdateResult *how, int result, const Node *node)
{
    static const char *const what[] = {[UPDATE_ERROR] = "the graph cannot be instantiated",
                                       [TOPOLOGY_CHANGED] = "the graph has other nodes or edges",
                                       [NODE_TYPE_CHANGED] = "a node is of another type"};
    *how = (UpdateResult){.result = result, .node = node ? node->origin : NULL};
    return fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "%s", what[result]);
}

static size_t place_of(const Graph *graph, const Node *node)
{
    size_t i = 0;
    while (graph->nodes[i] != node) i++;
    return i;
}

static Graph *child_of(const Node *node) { return handle_object(GRAPH, node->params.child.graph); }

/* Whether two sorted graphs have the same form. */
static CUresult compare(const Graph *old, const Graph *new, UpdateResult *how)
{
    if (old->count != new->count) return differs(how, TOPOLOGY_CHANGED, NULL);
    for (size_t i = 0; i < new->count; i++) {
        const Node *was = old->nodes[i], *is = new->nodes[i];
        if (was->params.type != is->params.type) return differs(how, NODE_TYPE_CHANGED, is);
        if (was->count != is->count) return differs(how, TOPOLOGY_CHANGED, is);
        for (size_t j = 0; j < is->count; j++)
            if (!node_follows(was, old->nodes[place_of(new, is->after[j])]))
                return differs(how, TOPOLOGY_CHANGED, is);
        CUresult result = CUDA_SUCCESS;
        if (is->params.type == NODE_GRAPH) result = compare(child_of(was), child_of(is), how);
        if (result) return result;
    }
    return CUDA_SUCCESS;
}

/* What the new one owns, too: it goes with what the old one owned. */
static CUresult take_over(Graph *old, Graph *new)
{
    Owned *owned = new->owned;
    size_t count = new->owned_count, room = new->owned_room;
    new->owned = old->owned, new->owned_count = old->owned_count, new->owned_room = old->owned_room;
    old->owned = owned, old->owned_count = count, old->owned_room = room;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; !result && i < new->count; i++) {
        Node *was = old->nodes[i];
        const Node *is = new->nodes[i];
        result = is->params.type == NODE_GRAPH ? take_over(child_of(was), child_of(is))
                                               : node_change(was, &is->params);
        was->context = is->context;
        was->together = is->together;
    }
    return result;
}

CUresult graph_update(Graph *old, const Graph *graph, UpdateResult *how)
{
    NEED_CONTEXT(context);
    *how = (UpdateResult){.result = UPDATED};
    Graph *new = graph_clone(graph);
    if (!new) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    CUresult result = graph_sort(new) ? compare(old, new, how) : differs(how, UPDATE_ERROR, NULL);
    if (!result && (result = take_over(old, new))) how->result = UPDATE_ERROR;
    graph_free(new);
    return result;
}
