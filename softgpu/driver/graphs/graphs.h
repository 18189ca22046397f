/* What the files of graphs share. */
#ifndef SOFTGPU_GRAPHS_H
#define SOFTGPU_GRAPHS_H

#include "driver.h"

#define NEED_NODE(name, handle)                                                                    \
    Node *name = handle_object(GRAPH_NODE, handle);                                                \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such node of a graph")

#define NEED_TYPE(node, wanted)                                                                    \
    if ((node)->params.type != (wanted))                                                           \
    return fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d", (node)->params.type,   \
                wanted)

/* Whether a node can be made of these, and its own copy of arguments or of a child's graph. */
CUresult node_prepare(NodeParams *params, NodeArguments **arguments);
/* Puts others in the place of a node's parameters, of the same type. */
CUresult node_change(Node *node, const NodeParams *params);
/* The same for the copy of a node in an executable graph. */
CUresult exec_change(CUgraphExec exec, CUgraphNode origin, const NodeParams *params);
/* Puts what a graph of the same form says into a sorted one. */
CUresult graph_update(Graph *old, const Graph *graph, UpdateResult *how);
/* Nothing but edges as they are by default. */
CUresult check_edges(const EdgeData *edges, size_t count);
/* Whether a new node of a graph may follow these. */
CUresult check_before(const Graph *graph, const CUgraphNode *before, size_t count);

#endif
