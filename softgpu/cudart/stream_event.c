/* Streams and events. */
#include "cudart.h"

FORWARD(cudaStreamCreateWithFlags, cuStreamCreate)

CUDART cudaStreamCreate(cudaStream_t *out) { return cudaStreamCreateWithFlags(out, 0); }

FORWARD(cudaStreamCreateWithPriority, cuStreamCreateWithPriority)
FORWARD(cudaStreamDestroy, cuStreamDestroy)
FORWARD(cudaStreamQuery, cuStreamQuery)
FORWARD(cudaStreamSynchronize, cuStreamSynchronize)
FORWARD(cudaStreamWaitEvent, cuStreamWaitEvent)
FORWARD(cudaStreamGetFlags, cuStreamGetFlags)
FORWARD(cudaStreamGetPriority, cuStreamGetPriority)
FORWARD(cudaStreamSetAttribute, cuStreamSetAttribute)
FORWARD(cudaStreamGetAttribute, cuStreamGetAttribute)
FORWARD(cudaStreamCopyAttributes, cuStreamCopyAttributes)
FORWARD(cudaLaunchHostFunc, cuLaunchHostFunc)

/* What came before has finished, so its turn is now. */
CUDART cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void *data,
                             unsigned flags)
{
    (void)flags;
    CUresult result = ready() ?: cuStreamQuery(stream);
    if (!result) function(stream, cudaSuccess, data);
    return told(result);
}

FORWARD(cudaEventCreateWithFlags, cuEventCreate)

CUDART cudaEventCreate(cudaEvent_t *out) { return cudaEventCreateWithFlags(out, 0); }

FORWARD(cudaEventRecordWithFlags, cuEventRecordWithFlags)

CUDART cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{ return cudaEventRecordWithFlags(event, stream, 0); }

FORWARD(cudaEventQuery, cuEventQuery)
FORWARD(cudaEventSynchronize, cuEventSynchronize)
FORWARD(cudaEventDestroy, cuEventDestroy)
FORWARD(cudaEventElapsedTime, cuEventElapsedTime)
FORWARD(cudaIpcGetEventHandle, cuIpcGetEventHandle)
FORWARD(cudaIpcOpenEventHandle, cuIpcOpenEventHandle)
