/* Streams and events. */
#include "cudart.h"

CUDART cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{ return CALL(cuStreamCreate(out, flags)); }

CUDART cudaStreamCreate(cudaStream_t *out) { return cudaStreamCreateWithFlags(out, 0); }

CUDART cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{ return CALL(cuStreamCreateWithPriority(out, flags, priority)); }

CUDART cudaStreamDestroy(cudaStream_t stream) { return CALL(cuStreamDestroy(stream)); }

CUDART cudaStreamQuery(cudaStream_t stream) { return CALL(cuStreamQuery(stream)); }

CUDART cudaStreamSynchronize(cudaStream_t stream) { return CALL(cuStreamSynchronize(stream)); }

CUDART cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{ return CALL(cuStreamWaitEvent(stream, event, flags)); }

CUDART cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{ return CALL(cuStreamGetFlags(stream, flags)); }

CUDART cudaStreamGetPriority(cudaStream_t stream, int *priority)
{ return CALL(cuStreamGetPriority(stream, priority)); }

CUDART cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id,
                              const cudaStreamAttrValue *value)
{ return CALL(cuStreamSetAttribute(stream, (CUstreamAttrID)id, (const CUstreamAttrValue *)value)); }

CUDART cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value)
{ return CALL(cuStreamGetAttribute(stream, (CUstreamAttrID)id, (CUstreamAttrValue *)value)); }

CUDART cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{ return CALL(cuStreamCopyAttributes(to, from)); }

CUDART cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{ return CALL(cuLaunchHostFunc(stream, function, data)); }

/* What came before has finished, so its turn is now. */
CUDART cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                             unsigned flags)
{
    (void)flags;
    CUresult result = ready() ?: cuStreamQuery(stream);
    if (!result) function(stream, cudaSuccess, data);
    return told(result);
}

CUDART cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{ return CALL(cuEventCreate(out, flags)); }

CUDART cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, 0); }

CUDART cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{ return CALL(cuEventRecordWithFlags(event, stream, flags)); }

CUDART cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{ return cudaEventRecordWithFlags(event, stream, 0); }

CUDART cudaEventQuery(cudaEvent_t event) { return CALL(cuEventQuery(event)); }

CUDART cudaEventSynchronize(cudaEvent_t event) { return CALL(cuEventSynchronize(event)); }

CUDART cudaEventDestroy(cudaEvent_t event) { return CALL(cuEventDestroy(event)); }

CUDART cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{ return CALL(cuEventElapsedTime(ms, start, end)); }

CUDART cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t event)
{ return CALL(cuIpcGetEventHandle((CUipcEventHandle *)out, event)); }

CUDART cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t handle)
{ return CALL(cuIpcOpenEventHandle(out, *(CUipcEventHandle *)&handle)); }
