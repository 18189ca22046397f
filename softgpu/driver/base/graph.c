/* What graphs are made of: nodes, edges, copies. Nothing of it runs here. */
#include <string.h>

#include "driver.h"

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

static void drop_contents(Node *node)
{
    Graph *child =
        node->params.type == NODE_GRAPH ? handle_object(GRAPH, node->params.child.graph) : NULL;
    if (child) graph_free(child);
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
    node->params = *params;
    node->arguments = arguments;
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
    return graph->nodes[graph->count++] = node;
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
        node_unfollow(graph->nodes[i], node);
        if (graph->nodes[i] != node) graph->nodes[kept++] = graph->nodes[i];
    }
    graph->count = kept;
    node_drop(node);
}

/* A copy of a node without its edges; NULL: no memory. */
static Node *copy_node(Graph *graph, const Node *from)
{
    NodeParams params = from->params;
    NodeArguments *arguments = copy_arguments(from->arguments);
    if (from->arguments && !arguments) return NULL;
    if (params.type == NODE_GRAPH) {
        Graph *child = graph_clone(handle_object(GRAPH, params.child.graph));
        if (!child) return NULL;
        child->inner = true;
        params.child.graph = child->handle;
    }
    Node *node = node_new(graph, &params, arguments);
    if (!node) return NULL;
    node->origin = from->handle;
    node->context = from->context;
    node->together = from->together;
    node->disabled = from->disabled;
    return node;
}

static size_t place_of(const Graph *graph, const Node *node)
{
    size_t i = 0;
    while (graph->nodes[i] != node) i++;
    return i;
}

Graph *graph_clone(const Graph *graph)
{
    Graph *clone = graph_new();
    bool whole = clone && graph_own_as(clone, graph);
    for (size_t i = 0; whole && i < graph->count; i++) whole = copy_node(clone, graph->nodes[i]);
    for (size_t i = 0; whole && i < graph->count; i++)
        for (size_t j = 0; whole && j < graph->nodes[i]->count; j++)
            whole = node_follow(clone->nodes[i],
                                clone->nodes[place_of(graph, graph->nodes[i]->after[j])]);
    if (!whole && clone) graph_free(clone);
    return whole ? clone : NULL;
}

Node *graph_copy_of(const Graph *graph, CUgraphNode origin)
{
    for (size_t i = 0; i < graph->count; i++) {
        Node *node = graph->nodes[i], *inner = NULL;
        if (node->origin == origin) return node;
        if (node->params.type == NODE_GRAPH)
            inner = graph_copy_of(handle_object(GRAPH, node->params.child.graph), origin);
        if (inner) return inner;
    }
    return NULL;
}

/* Whether all that a node follows is among the first nodes. */
static bool may_come(const Node *node, const Graph *graph, size_t first)
{
    size_t found = 0;
    for (size_t i = 0; i < first; i++) found += node_follows(node, graph->nodes[i]);
    return found == node->count;
}

bool graph_sort(Graph *graph)
{
    for (size_t sorted = 0; sorted < graph->count; sorted++) {
        size_t next = sorted;
        while (next < graph->count && !may_come(graph->nodes[next], graph, sorted)) next++;
        if (next == graph->count) return false;
        Node *node = graph->nodes[next];
        memmove(&graph->nodes[sorted + 1], &graph->nodes[sorted], (next - sorted) * sizeof(Node *));
        graph->nodes[sorted] = node;
        const NodeParams *params = &node->params;
        if (params->type == NODE_GRAPH && !graph_sort(handle_object(GRAPH, params->child.graph)))
            return false;
    }
    return true;
}
