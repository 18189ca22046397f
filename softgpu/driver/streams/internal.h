/* What the files of streams/ share. */
#ifndef SOFTGPU_STREAMS_INTERNAL_H
#define SOFTGPU_STREAMS_INTERNAL_H

#include "streams.h"
#if SOFTGPU_ROOM != ROOM_STREAMS
#error "private to streams/: include streams/streams.h"
#endif

/* ---- tasks.c ---- */

bool tasks_left(const StreamPlace *place);
void tasks_wait_until(TaskReady ready, const void *data);

/* ---- attributes.c ---- */

CUresult attribute_set(StreamAttribute attributes[], int id, const StreamAttribute *value);
CUresult attribute_get(const StreamAttribute attributes[], int id, StreamAttribute *value);

/* ---- user_object.c ---- */

/* Adds as many references as another graph has; false: out of memory. */
bool graph_own_as(Graph *graph, const Graph *from);
void graph_disown(Graph *graph);

/* ---- capture.c ---- */

/* Sets *captured; fails if the capture is invalid, or if the legacy stream would wait for a captured
   one. */
CUresult capture_check(CUstream stream, bool *captured);
CUresult capture_record(CUevent event, CUstream stream); /* on a captured stream */
CUresult capture_wait(CUstream stream, StreamPlace place, CUevent event, bool recorded);
/* Fails if the handle, a stream or an event, is part of a capture, which is then invalid. */
CUresult capture_refuse(void *handle, CUresult code, const char *why);
void capture_forget(void *handle); /* it has ended, or left its capture */

#endif
