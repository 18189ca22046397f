/* What graphs are made of: nodes, edges, copies. Nothing of it runs here. */
#include <string.h>

#include "internal.h"

/* A kernel's, whose pointers point into the copy. */
static NodeArguments *copy_arguments(const NodeArguments *from)
{
    NodeArguments *copy = from ? malloc(from->bytes) : NULL;
    if (!copy) return NULL;
    memcpy(copy, from, from->bytes);
    for (uint32_t i = 0; i < copy->count; i++)
        copy->pointers[i] = (char *)copy + ((char *)from->pointers[i] - (char *)from);
    return copy;
}

Graph *graph_new(void)
{
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph) return NULL;
    graph->handle = handle_new(GRAPH, graph);
    if (graph->handle) return graph;
    free(graph);
    return NULL;
}

size_t node_inner(const Node *node, CUgraph const **graphs)
{
    const NodeParams *params = &node->params;
    *graphs = params->type == NODE_CONDITIONAL ? params->conditional.bodies : &params->child.graph;
    return params->type == NODE_CONDITIONAL ? params->conditional.size : params->type == NODE_GRAPH;
}

Graph *graph_around(const Graph *graph) { return graph->within ? graph->within->graph : NULL; }

bool graph_holds(const Graph *graph, bool (*kind)(int type))
{
    CUgraph const *inner;
    for (size_t i = 0; i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        if (kind(node->params.type)) return true;
        for (size_t j = node_inner(node, &inner); j-- > 0;)
            if (graph_holds(handle_object(GRAPH, inner[j]), kind)) return true;
    }
    return false;
}

static void drop_contents(Node *node)
{
    CUgraph const *inner;
    for (size_t i = node_inner(node, &inner); i-- > 0;) {
        Graph *graph = handle_object(GRAPH, inner[i]);
        if (graph) graph_free(graph);
    }
    if (node->params.type == NODE_CONDITIONAL) free(node->params.conditional.bodies);
    free(node->arguments);
}

static void node_drop(Node *node)
{
    drop_contents(node);
    handle_drop(node->handle);
    free(node->after);
    free(node);
}

void graph_free(Graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) node_drop(graph->nodes[i]);
    handle_drop(graph->handle);
    graph_disown(graph);
    free(graph->nodes);
    free(graph);
}

/* The arguments are where the parameters point to. */
static void fill(Node *node, const NodeParams *params, NodeArguments *arguments)
{
    CUgraph const *inner;
    node->params = *params;
    node->arguments = arguments;
    for (size_t i = node_inner(node, &inner); i-- > 0;) {
        Graph *graph = handle_object(GRAPH, inner[i]);
        graph->within = node;
    }
    if (params->type != NODE_KERNEL) return;
    node->params.kernel.params = arguments ? arguments->pointers : NULL;
    node->params.kernel.extra = NULL;
}

Node *node_new(Graph *graph, const NodeParams *params, NodeArguments *arguments)
{
    if (!GROW(graph->nodes, graph->count, graph->room, 16)) return NULL;
    Node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->handle = handle_new(GRAPH_NODE, node);
    node->graph = graph;
    node->context = current_handle();
    fill(node, params, arguments);
    return graph->nodes[node->place = graph->count++] = node;
}

void node_set(Node *node, const NodeParams *params, NodeArguments *arguments)
{
    drop_contents(node);
    fill(node, params, arguments);
}

bool node_follows(const Node *node, const Node *before)
{
    for (size_t i = 0; i < node->count; i++)
        if (node->after[i] == before) return true;
    return false;
}

bool node_follow(Node *node, Node *before)
{
    if (!GROW(node->after, node->count, node->room, 4)) return false;
    node->after[node->count++] = before;
    return true;
}

void node_unfollow(Node *node, const Node *before)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->count; i++)
        if (node->after[i] != before) node->after[kept++] = node->after[i];
    node->count = kept;
}

void node_free(Node *node)
{
    Graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->count; i++) {
        Node *other = graph->nodes[i];
        node_unfollow(other, node);
        if (other != node) graph->nodes[other->place = kept++] = other;
    }
    graph->count = kept;
    node_drop(node);
}

/* Copies of these in the place of the graphs inside of a node; false: no memory. */
static bool copy_inner(NodeParams *params, CUgraph const *inner, size_t count)
{
    CUgraph *copies = &params->child.graph;
    if (params->type == NODE_CONDITIONAL)
        copies = params->conditional.bodies = malloc(count * sizeof *copies);
    for (size_t i = 0; copies && i < count; i++) {
        Graph *copy = graph_clone(handle_object(GRAPH, inner[i]));
        if (!copy) return false;
        copies[i] = copy->handle;
    }
    return copies;
}

/* A copy of a node without its edges; NULL: no memory. */
static Node *copy_node(Graph *graph, const Node *from)
{
    CUgraph const *inner;
    NodeParams params = from->params;
    NodeArguments *arguments = copy_arguments(from->arguments);
    if (from->arguments && !arguments) return NULL;
    size_t count = node_inner(from, &inner);
    if (count && !copy_inner(&params, inner, count)) return NULL;
    Node *node = node_new(graph, &params, arguments);
    if (!node) return NULL;
    node->origin = from->handle;
    node->context = from->context;
    node->together = from->together;
    node->disabled = from->disabled;
    return node;
}

Graph *graph_clone(const Graph *graph)
{
    Graph *clone = graph_new();
    bool whole = clone && graph_own_as(clone, graph);
    for (size_t i = 0; whole && i < graph->count; i++) whole = copy_node(clone, graph->nodes[i]);
    for (size_t i = 0; whole && i < graph->count; i++)
        for (size_t j = 0; whole && j < graph->nodes[i]->count; j++)
            whole = node_follow(clone->nodes[i], clone->nodes[graph->nodes[i]->after[j]->place]);
    if (!whole && clone) graph_free(clone);
    return whole ? clone : NULL;
}

Node *graph_copy_of(const Graph *graph, CUgraphNode origin)
{
    CUgraph const *inner;
    for (size_t i = 0; i < graph->count; i++) {
        Node *node = graph->nodes[i], *found = NULL;
        if (node->origin == origin) return node;
        for (size_t j = node_inner(node, &inner); !found && j-- > 0;)
            found = graph_copy_of(handle_object(GRAPH, inner[j]), origin);
        if (found) return found;
    }
    return NULL;
}

/* Whether all that a node follows is among the first nodes. */
static bool may_come(const Node *node, size_t first)
{
    size_t i = 0;
    while (i < node->count && node->after[i]->place < first) i++;
    return i == node->count;
}

static void exchange(Graph *graph, size_t a, size_t b)
{
    Node *node = graph->nodes[a];
    graph->nodes[a] = graph->nodes[b], graph->nodes[b] = node;
    graph->nodes[a]->place = a, graph->nodes[b]->place = b;
}

static bool sort_inner(const Node *node)
{
    CUgraph const *inner;
    bool whole = true;
    for (size_t i = node_inner(node, &inner); whole && i-- > 0;)
        whole = graph_sort(handle_object(GRAPH, inner[i]));
    return whole;
}

/* Each time through puts first what may come; mostly all of it. */
bool graph_sort(Graph *graph)
{
    size_t sorted = 0, before;
    do {
        before = sorted;
        for (size_t i = sorted; i < graph->count; i++)
            if (may_come(graph->nodes[i], sorted)) exchange(graph, i, sorted++);
    } while (sorted > before);
    bool whole = sorted == graph->count;
    for (size_t i = 0; whole && i < graph->count; i++) whole = sort_inner(graph->nodes[i]);
    return whole;
}
