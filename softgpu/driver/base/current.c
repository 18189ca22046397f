/* Which context is current on a thread: a stack of them. */
#include "base/base.h"

#define STACK_ROOM 256

static __thread void *stack[STACK_ROOM];
static __thread int depth;

Context *current_context(CUresult *error)
{
    if ((*error = need_init())) return NULL;
    if (!depth) {
        *error = CUDA_ERROR_INVALID_CONTEXT;
        return NULL;
    }
    Context *context = handle_object(CONTEXT, stack[depth - 1]);
    if (!context) *error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return context;
}

void *current_handle(void) { return depth ? stack[depth - 1] : NULL; }

CUresult current_push(void *handle)
{
    if (depth == STACK_ROOM) return fail(CUDA_ERROR_INVALID_VALUE, "context stack too deep");
    stack[depth++] = handle;
    return CUDA_SUCCESS;
}

void current_pop(void)
{
    if (depth) depth--;
}
