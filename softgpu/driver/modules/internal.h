/* What the files of modules/ share: how modules load. */
#ifndef SOFTGPU_MODULES_INTERNAL_H
#define SOFTGPU_MODULES_INTERNAL_H

#include "modules.h"
#if SOFTGPU_ROOM != ROOM_MODULES
#error "private to modules/: include modules/modules.h"
#endif

/* owner NULL: it belongs to no context yet */
CUresult module_load(Context *owner, const char *image, size_t bytes, Module **out);
void module_unload(void *handle);
size_t module_image_bytes(const void *image);
/* The file's content, which ends with a zero byte. */
CUresult module_read_file(const char *path, char **image, size_t *bytes);
/* Writes why loading failed, or nothing, into the log buffers among the options. */
void module_tell_log(CUresult result, unsigned count, const int *options, void **values);
CUresult module_kernel(Module *module, const char *name, Kernel **out); /* compiled */

#endif
