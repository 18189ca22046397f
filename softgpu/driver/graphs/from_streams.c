/* The calls by which what a stream is asked for becomes a graph. */
#include "internal.h"

static CUresult begin(CUstream stream, CUgraph graph, const CUgraphNode *after, size_t count,
                      int mode)
{
    NEED_CONTEXT(context);
    bool captured;
    if (mode < 0 || mode >= CAPTURE_MODES)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no capture mode %d", mode);
    if (stream_is_legacy(stream))
        return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    "the default stream cannot be captured; make one with cuStreamCreate");
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    if (captured) return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
    return capture_begin(stream, stream_place(stream), graph, after, count, mode);
}

CUAPI cuStreamBeginCapture_v2(CUstream stream, int mode)
{ return begin(stream, NULL, NULL, 0, mode); }

CUAPI cuStreamBeginCapture(CUstream stream)
{ return cuStreamBeginCapture_v2(stream, CAPTURE_GLOBAL); }

CUAPI cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle, const CUgraphNode *after,
                                  const EdgeData *edges, size_t count, int mode)
{
    NEED_GRAPH(graph, handle);
    CUresult result = check_edges(edges, count);
    if (!result) result = check_before(graph, after, count);
    return result ? result : begin(stream, handle, after, count, mode);
}

CUAPI cuStreamEndCapture(CUstream stream, CUgraph *out)
{
    NEED_CONTEXT(context);
    if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    return capture_end(stream, out);
}

CUAPI cuStreamGetCaptureInfo_v3(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                const CUgraphNode **after, const EdgeData **edges, size_t *count)
{
    NEED_CONTEXT(context);
    if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    if (!status) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the status");
    const CaptureState state = capture_state(stream);
    *status = state.status;
    if (state.status != CAPTURING) return CUDA_SUCCESS;
    if (id) *id = state.id;
    if (graph) *graph = state.graph;
    if (after) *after = state.after;
    if (edges && !(*edges = capture_edges(stream))) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    if (count) *count = state.count;
    return CUDA_SUCCESS;
}

CUAPI cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                const CUgraphNode **after, size_t *count)
{ return cuStreamGetCaptureInfo_v3(stream, status, id, graph, after, NULL, count); }

CUAPI cuStreamGetCaptureInfo(CUstream stream, int *status, uint64_t *id)
{ return cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL); }

CUAPI cuStreamIsCapturing(CUstream stream, int *status)
{ return cuStreamGetCaptureInfo(stream, status, NULL); }

CUAPI cuStreamUpdateCaptureDependencies_v2(CUstream stream, const CUgraphNode *nodes,
                                           const EdgeData *edges, size_t count, unsigned flags)
{
    enum { ADD, SET };
    NEED_CONTEXT(context);
    if (flags > SET) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    const CaptureState state = capture_state(stream);
    if (state.status != CAPTURING) return capture_follow(stream, NULL, 0, false); /* says why */
    NEED_GRAPH(graph, state.graph);
    CUresult result = check_edges(edges, count);
    if (!result) result = check_before(graph, nodes, count);
    return result ? result : capture_follow(stream, nodes, count, flags == SET);
}

CUAPI cuStreamUpdateCaptureDependencies(CUstream stream, const CUgraphNode *nodes, size_t count,
                                        unsigned flags)
{ return cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags); }

CUAPI cuThreadExchangeStreamCaptureMode(int *mode)
{
    if (*mode < 0 || *mode >= CAPTURE_MODES)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no capture mode %d", *mode);
    *mode = capture_exchange_mode(*mode);
    return CUDA_SUCCESS;
}
