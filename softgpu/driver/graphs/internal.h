/* What the files of graphs share. */
#ifndef SOFTGPU_GRAPHS_INTERNAL_H
#define SOFTGPU_GRAPHS_INTERNAL_H

#include "run/run.h"
#if SOFTGPU_ROOM != ROOM_GRAPHS
#error "private to graphs/: no other room calls it"
#endif

#define NEED_NODE(name, handle)                                                                    \
    Node *name = handle_object(GRAPH_NODE, handle);                                                \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such node of a graph")

#define NEED_TYPE(node, wanted)                                                                    \
    if ((node)->params.type != (wanted))                                                           \
    return fail(CUDA_ERROR_INVALID_VALUE, "the node is of type %d, not %d", (node)->params.type,   \
                wanted)

/* What may be done once to a graph: it has nodes that no copy may have. */
static inline bool node_is_single(int type)
{ return node_is_of_memory(type) || type == NODE_CONDITIONAL; }

/* Whether a node of the graph can be made of these; its own copy of arguments or of a child's graph,
   its own address or bodies. */
CUresult node_prepare(Graph *graph, NodeParams *params, NodeArguments **arguments);
/* Puts others in the place of a node's parameters, of the same type. */
CUresult node_change(Node *node, const NodeParams *params);
/* The same for the copy of a node in an executable graph. */
CUresult exec_change(CUgraphExec exec, CUgraphNode origin, const NodeParams *params);
/* Puts what a graph of the same form says into a sorted one. */
CUresult graph_update(Graph *old, const Graph *graph, UpdateResult *how);
/* ---- conditions.c ---- */

Condition *condition_of(const Node *node);
CUresult condition_prepare(const Graph *graph, ConditionalNode *node);
bool condition_is_unused(
    const Graph *graph); /* one of the graph's, or of the graphs inside of it */
/* Whether the bodies of conditions have only what they may; the node that they may not. */
CUresult conditions_check(const Graph *graph, CUgraphNode *wrong);
void condition_begin(const Node *node);     /* a launch does */
CUgraph condition_choose(const Node *node); /* what is to run now; NULL: nothing */
bool condition_repeats(const Node *node);   /* it is asked again then */
const char *condition_text(const Node *node);

/* ---- prepare.c, update.c ---- */

enum { CHILD_CLONED, CHILD_MOVED };
bool graph_is_bound(const Graph *graph); /* it is a moved child's, or a body: no graph of its own */

/* Nothing but edges as they are by default. */
CUresult check_edges(const EdgeData *edges, size_t count);
/* Whether a new node of a graph may follow these. */
CUresult check_before(const Graph *graph, const CUgraphNode *before, size_t count);

#endif
