/* What kernels say to the conditions of the graph that launches them. */
#include "internal.h"

void sg_set_condition(Warp *w, uint32_t site, uint32_t mask, const uint64_t *handles,
                      const uint32_t *values)
{
    const void *context = w->worker->job->kernel->module->owner->handle;
    FOR_LANES(lane, mask)
    {
        Condition *condition = handle_object(CONDITION, (void *)handles[lane]);
        if (!condition || condition->context != context)
            fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, CONDITION,
                     (unsigned long long)handles[lane],
                     condition ? "which is of another context" : "and there is none");
        __atomic_store_n(&condition->value, values[lane], __ATOMIC_RELAXED);
    }
}
