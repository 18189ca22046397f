/* Shared by the files of graphs/. */
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

/* Whether nodes of this type cannot be cloned, so that their graph is instantiated or nested
   only once. */
static inline bool node_is_single(int type)
{ return node_is_of_memory(type) || type == NODE_CONDITIONAL; }

/* Check the parameters of a new node. Give it its own copy of the arguments or the child graph,
   or its own address or bodies. */
CUresult node_prepare(Graph *graph, NodeParams *params, NodeArguments **arguments);
/* Replace a node's parameters by others of the same type. */
CUresult node_change(Node *node, const NodeParams *params);
/* Replace the parameters of a node's clone in an executable graph. */
CUresult exec_change(CUgraphExec exec, CUgraphNode origin, const NodeParams *params);
/* Update an executable graph from a graph with the same topology. */
CUresult graph_update(Graph *old, const Graph *graph, UpdateResult *how);
/* ---- conditions.c ---- */

Condition *condition_of(const Node *node);
CUresult condition_prepare(const Graph *graph, ConditionalNode *node);
bool condition_is_unused(
    const Graph *graph); /* one of the graph's, or of the graphs inside of it */
/* Fail if the body of a conditional node has a node that it may not have; *wrong is that node. */
CUresult conditions_check(const Graph *graph, CUgraphNode *wrong);
void condition_begin(const Node *node);     /* reset the condition's value for a launch */
CUgraph condition_choose(const Node *node); /* the body to run now; NULL: none */
bool condition_repeats(const Node *node);   /* evaluate it again after the body (WHILE) */
const char *condition_text(const Node *node);

/* ---- prepare.c, update.c ---- */

enum { CHILD_CLONED, CHILD_MOVED };
/* Whether the graph belongs to a node, as a moved child graph or a body. */
bool graph_is_bound(const Graph *graph);

/* Fail unless all edges are of the default kind. */
CUresult check_edges(const EdgeData *edges, size_t count);
/* Fail unless a new node of the graph may depend on these nodes. */
CUresult check_before(const Graph *graph, const CUgraphNode *before, size_t count);

#endif
