/* Linking: PTX texts one after the other, which ptx/linking.py makes one when they are loaded. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define AFTER_PTX "\n//@@\n" /* what bin/nvcc puts after its text */

enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBIN, INPUT_OBJECT, INPUT_LIBRARY };
enum { INFO_LOG_BYTES = 4, ERROR_LOG_BYTES = 6 };

typedef struct {
    char *text;
    size_t bytes;
} Linker;

/* cuGetErrorString says what went wrong: the logs stay empty. */
static void empty_logs(unsigned count, const int *options, void **values)
{
    for (unsigned i = 0; i < count; i++)
        if (options[i] == INFO_LOG_BYTES || options[i] == ERROR_LOG_BYTES) values[i] = 0;
}

CUAPI cuLinkCreate_v2(unsigned count, const int *options, void **values, void **out)
{
    NEED_CONTEXT(context);
    Linker *linker = calloc(1, sizeof *linker);
    if (!linker) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    empty_logs(count, options, values);
    *out = handle_new(LINKER, linker);
    return CUDA_SUCCESS;
}

/* Where machine code was asked for, PTX may be what there is: see bin/nvcc. */
static bool is_text(const char *data, size_t bytes)
{ return bytes && strnlen(data, bytes) + 1 >= bytes; }

CUAPI cuLinkAddData_v2(void *handle, int type, const void *data, size_t bytes, const char *name,
                       unsigned count, const int *options, void **values)
{
    (void)count, (void)options, (void)values;
    Linker *linker = handle_object(LINKER, handle);
    if (!linker) return fail(CUDA_ERROR_INVALID_HANDLE, "no such linker");
    if (type == INPUT_LIBRARY) return CUDA_SUCCESS; /* loading says if something is missing */
    if (!is_text(data, bytes))
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not link %s: it takes PTX, no machine code",
                    name ? name : "this");
    const char *end = memmem(data, bytes, AFTER_PTX, strlen(AFTER_PTX));
    bytes = end ? (size_t)(end - (const char *)data) : strnlen(data, bytes);
    char *text = realloc(linker->text, linker->bytes + bytes + 2);
    if (!text) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    linker->text = text;
    memcpy(text + linker->bytes, data, bytes);
    linker->bytes += bytes;
    memcpy(text + linker->bytes++, "\n", 2);
    return CUDA_SUCCESS;
}

CUAPI cuLinkAddFile_v2(void *handle, int type, const char *path, unsigned count, const int *options,
                       void **values)
{
    FILE *file = fopen(path, "rb");
    if (!file) return fail(CUDA_ERROR_FILE_NOT_FOUND, "%s cannot be read", path);
    char *data = NULL;
    size_t bytes = 0;
    if (getdelim(&data, &bytes, EOF, file) < 0) bytes = 0;
    else bytes = ftell(file);
    fclose(file);
    CUresult result = cuLinkAddData_v2(handle, type, data, bytes, path, count, options, values);
    free(data);
    return result;
}

CUAPI cuLinkComplete(void *handle, void **image, size_t *bytes)
{
    Linker *linker = handle_object(LINKER, handle);
    if (!linker || !linker->text) return fail(CUDA_ERROR_INVALID_VALUE, "nothing to link");
    *image = linker->text;
    *bytes = linker->bytes;
    return CUDA_SUCCESS;
}

CUAPI cuLinkDestroy(void *handle)
{
    Linker *linker = handle_object(LINKER, handle);
    if (!linker) return fail(CUDA_ERROR_INVALID_HANDLE, "no such linker");
    handle_drop(handle);
    free(linker->text);
    free(linker);
    return CUDA_SUCCESS;
}
