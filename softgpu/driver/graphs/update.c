/* What another graph of the same form says, put into an executable one. */
#include "internal.h"

enum { UPDATED, UPDATE_ERROR, TOPOLOGY_CHANGED, NODE_TYPE_CHANGED, PARAMETERS_CHANGED = 5 };

static CUresult differs(UpdateResult *how, int result, const Node *node)
{
    static const char *const what[] = {[UPDATE_ERROR] = "the graph cannot be instantiated",
                                       [TOPOLOGY_CHANGED] = "the graph has other nodes or edges",
                                       [NODE_TYPE_CHANGED] = "a node is of another type",
                                       [PARAMETERS_CHANGED] =
                                           "a node allocates or frees other memory, or asks a "
                                           "condition of another form"};
    *how = (UpdateResult){.result = result, .node = node ? node->origin : NULL};
    return fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "%s", what[result]);
}

/* Whether a node that stays as it is has what another has. */
static bool is_same(const NodeParams *was, const NodeParams *is)
{
    switch (is->type) {
    case NODE_MEM_ALLOC: return was->alloc.address == is->alloc.address;
    case NODE_MEM_FREE: return was->freed == is->freed;
    case NODE_CONDITIONAL:
        return was->conditional.type == is->conditional.type &&
               was->conditional.size == is->conditional.size;
    default: return true;
    }
}

/* Does something with the graphs inside of a node and those inside of another like it. */
static CUresult each_inner(Node *was, const Node *is, UpdateResult *how,
                           CUresult (*does)(Graph *, Graph *, UpdateResult *))
{
    CUgraph const *old, *new;
    CUresult result = CUDA_SUCCESS;
    node_inner(was, &old);
    for (size_t i = node_inner(is, &new); !result && i-- > 0;)
        result = does(handle_object(GRAPH, old[i]), handle_object(GRAPH, new[i]), how);
    return result;
}

/* Whether two sorted graphs have the same form. */
static CUresult compare(Graph *old, Graph *new, UpdateResult *how)
{
    if (old->count != new->count) return differs(how, TOPOLOGY_CHANGED, NULL);
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; !result && i < new->count; i++) {
        Node *was = old->nodes[i];
        const Node *is = new->nodes[i];
        if (was->params.type != is->params.type) return differs(how, NODE_TYPE_CHANGED, is);
        if (was->count != is->count) return differs(how, TOPOLOGY_CHANGED, is);
        for (size_t j = 0; j < is->count; j++)
            if (!node_follows(was, old->nodes[is->after[j]->place]))
                return differs(how, TOPOLOGY_CHANGED, is);
        if (!is_same(&was->params, &is->params)) return differs(how, PARAMETERS_CHANGED, is);
        result = each_inner(was, is, how, compare);
    }
    return result;
}

/* Copy the new graph's parameters into the old one, and swap their user objects, so that freeing
   the new graph releases those that the old one owned. */
static CUresult take_over(Graph *old, Graph *new, UpdateResult *how)
{
    Owned *owned = new->owned;
    size_t count = new->owned_count, room = new->owned_room;
    new->owned = old->owned, new->owned_count = old->owned_count, new->owned_room = old->owned_room;
    old->owned = owned, old->owned_count = count, old->owned_room = room;
    CUresult result = CUDA_SUCCESS;
    CUgraph const *inner;
    for (size_t i = 0; !result && i < new->count; i++) {
        Node *was = old->nodes[i];
        const Node *is = new->nodes[i];
        if (is->params.type == NODE_CONDITIONAL)
            was->params.conditional.handle = is->params.conditional.handle;
        if (node_inner(is, &inner)) result = each_inner(was, is, how, take_over);
        else if (!node_is_of_memory(is->params.type)) result = node_change(was, &is->params);
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
    if (!result && (result = take_over(old, new, how))) how->result = UPDATE_ERROR;
    graph_free(new);
    return result;
}
