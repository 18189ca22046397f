/* Conditions: what a node asks before it runs the graphs inside of it. */
#include "internal.h"

enum { IF, WHILE, SWITCH }; /* CU_GRAPH_COND_TYPE_... */

static void condition_free(void *data)
{
    Condition *condition = data;
    handle_drop(condition->handle);
    free(condition);
}

CUAPI cuGraphConditionalHandleCreate(uint64_t *out, CUgraph handle, CUcontext context,
                                     unsigned value, unsigned flags)
{
    enum { ASSIGN_DEFAULT = 1 };
    NEED_CONTEXT(current);
    NEED_GRAPH(graph, handle);
    if (!context) context = current->handle;
    if (!handle_object(CONTEXT, context)) return fail(CUDA_ERROR_INVALID_CONTEXT, NULL);
    if (!out || flags & ~(unsigned)ASSIGN_DEFAULT)
        return fail(CUDA_ERROR_INVALID_VALUE, "no place for the handle, or unknown flags");
    Condition *condition = malloc(sizeof *condition);
    if (!condition) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *condition = (Condition){.graph = handle,
                             .context = context,
                             .has_default = flags & ASSIGN_DEFAULT,
                             .usual = value,
                             .value = value};
    condition->handle = handle_new(CONDITION, condition);
    if (!condition->handle || !graph_own(graph, condition, condition_free)) {
        condition_free(condition);
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    }
    *out = (uint64_t)condition->handle;
    return CUDA_SUCCESS;
}

Condition *condition_of(const Node *node)
{ return handle_object(CONDITION, (void *)node->params.conditional.handle); }

/* ---- nodes ---- */

static bool is_inside(const Graph *graph, CUgraph around)
{
    while (graph && graph->handle != around) graph = graph_around(graph);
    return graph;
}

static CUresult check_size(const ConditionalNode *node)
{
    static const unsigned most[] = {[IF] = 2, [WHILE] = 1, [SWITCH] = UINT32_MAX};
    if (node->type < IF || node->type > SWITCH)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no type %d of conditions", node->type);
    if (!node->size || node->size > most[node->type])
        return fail(CUDA_ERROR_INVALID_VALUE, "%u bodies: from 1 to %u are possible", node->size,
                    most[node->type]);
    return CUDA_SUCCESS;
}

static CUresult make_bodies(ConditionalNode *node)
{
    node->bodies = calloc(node->size, sizeof *node->bodies);
    bool whole = node->bodies;
    for (unsigned i = 0; whole && i < node->size; i++) {
        const Graph *body = graph_new();
        if ((whole = body)) node->bodies[i] = body->handle;
    }
    if (whole) return CUDA_SUCCESS;
    for (unsigned i = 0; node->bodies && i < node->size; i++) {
        Graph *body = handle_object(GRAPH, node->bodies[i]);
        if (body) graph_free(body);
    }
    free(node->bodies);
    return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUresult condition_prepare(const Graph *graph, ConditionalNode *node)
{
    const Condition *condition = handle_object(CONDITION, (void *)node->handle);
    if (!condition || !is_inside(graph, condition->graph))
        return fail(CUDA_ERROR_INVALID_VALUE, "the graph, and those around it, have no such "
                                              "condition");
    if (handle_object(GRAPH_NODE, condition->node))
        return fail(CUDA_ERROR_INVALID_VALUE, "another node asks the condition already");
    if (node->context && node->context != condition->context)
        return fail(CUDA_ERROR_INVALID_VALUE, "the condition is of another context");
    node->context = condition->context;
    CUresult result = check_size(node);
    return result ? result : make_bodies(node);
}

/* ---- what executable graphs need ---- */

typedef struct {
    const Graph *graph;
    bool unused;
} Search;

static void look(void *handle, void *object, void *data)
{
    (void)handle;
    const Condition *condition = object;
    Search *search = data;
    const Graph *of = handle_object(GRAPH, condition->graph);
    if (is_inside(of, search->graph->handle) && !handle_object(GRAPH_NODE, condition->node))
        search->unused = true;
}

bool condition_is_unused(const Graph *graph)
{
    Search search = {graph, false};
    handle_each(CONDITION, look, &search);
    return search.unused;
}

static bool may_be_inside(int type)
{ return type == NODE_CONDITIONAL || (type <= NODE_EMPTY && type != NODE_HOST); }

/* Whether what is in the body of a condition may be there. */
static CUresult check_body(const Graph *graph, CUcontext context, CUgraphNode *wrong)
{
    CUgraph const *inner;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; !result && i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        if (!may_be_inside(node->params.type))
            result = fail(CUDA_ERROR_NOT_SUPPORTED,
                          "the body of a condition has no nodes of type %d", node->params.type);
        else if (node->params.type == NODE_KERNEL && node->context != context)
            result = fail(CUDA_ERROR_INVALID_VALUE,
                          "a kernel in the body of a condition is of another context");
        if (result) *wrong = node->origin;
        for (size_t j = node_inner(node, &inner); !result && j-- > 0;)
            result = check_body(handle_object(GRAPH, inner[j]), context, wrong);
    }
    return result;
}

CUresult conditions_check(const Graph *graph, CUgraphNode *wrong)
{
    CUgraph const *inner;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; !result && i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        if (node->params.type != NODE_CONDITIONAL) continue;
        for (size_t j = node_inner(node, &inner); !result && j-- > 0;)
            result =
                check_body(handle_object(GRAPH, inner[j]), node->params.conditional.context, wrong);
    }
    return result;
}

/* ---- launches ---- */

void condition_begin(const Node *node)
{
    Condition *condition = condition_of(node);
    if (condition->has_default) condition->value = condition->usual;
}

CUgraph condition_choose(const Node *node)
{
    const ConditionalNode *params = &node->params.conditional;
    unsigned value = __atomic_load_n(&condition_of(node)->value, __ATOMIC_RELAXED);
    unsigned body = params->type == SWITCH ? value : !value;
    return body < params->size ? params->bodies[body] : NULL;
}

const char *condition_text(const Node *node)
{
    static const char *const names[] = {[IF] = "IF", [WHILE] = "WHILE", [SWITCH] = "SWITCH"};
    return names[node->params.conditional.type];
}

bool condition_repeats(const Node *node) { return node->params.conditional.type == WHILE; }
