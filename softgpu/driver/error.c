/* Error codes: CUDA's own text, followed by what exactly went wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

/* Says which sources this library was made from; build.py looks for it. */
__attribute__((used)) static const char sources[] = SOURCES;

static __thread CUresult last_code;
static __thread char detail[4096];
static __thread char text[4608];

static const struct {
    int code;
    const char *text;
} texts[] = {
    {0, "no error"},
    {1, "invalid argument"},
    {2, "out of memory"},
    {3, "initialization error"},
    {4, "driver shutting down"},
    {34, "CUDA driver is a stub library"},
    {100, "no CUDA-capable device is detected"},
    {101, "invalid device ordinal"},
    {200, "device kernel image is invalid"},
    {201, "invalid device context"},
    {209, "no kernel image is available for execution on the device"},
    {215, "limit is not supported on this architecture"},
    {217, "peer access is not supported between these two devices"},
    {218, "a PTX JIT compilation failed"},
    {222, "the provided PTX was compiled with an unsupported toolchain."},
    {300, "device kernel image is invalid"},
    {301, "file not found"},
    {304, "OS call failed or operation not supported on this OS"},
    {400, "invalid resource handle"},
    {500, "named symbol not found"},
    {600, "device not ready"},
    {700, "an illegal memory access was encountered"},
    {701, "too many resources requested for launch"},
    {702, "the launch timed out and was terminated"},
    {705, "peer access has not been enabled"},
    {709, "context is destroyed"},
    {710, "device-side assert triggered"},
    {712, "part or all of the requested memory range is already mapped"},
    {713, "pointer does not correspond to a registered memory region"},
    {715, "an illegal instruction was encountered"},
    {716, "misaligned address"},
    {717, "operation not supported on global/shared address space"},
    {719, "unspecified launch failure"},
    {801, "operation not supported"},
    {999, "unknown error"},
};

CUresult fail(CUresult code, const char *format, ...)
{
    last_code = code;
    detail[0] = 0;
    if (format) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(detail, sizeof detail, format, arguments);
        va_end(arguments);
    }
    return code;
}

CUresult fail_as_told(CUresult code) { return last_code = code; }

const char *detail_text(void) { return detail; }

void clear_detail(void) { detail[0] = 0; }

void sg_set_error(const char *words) { snprintf(detail, sizeof detail, "%s", words); }

CUAPI cuGetErrorString(CUresult code, const char **out)
{
    const char *standard = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == (int)code) standard = texts[i].text;
    *out = standard;
    if (!standard) return CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS && code == last_code && detail[0]) {
        snprintf(text, sizeof text, "%s: %s", standard, detail);
        *out = text;
    }
    return CUDA_SUCCESS;
}
