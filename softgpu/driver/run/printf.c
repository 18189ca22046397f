/* printf of kernels: each call's text is made in one piece, thread after thread; what a launch
   prints is written to standard output when it ends. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define KEEP_BYTES (1u << 20) /* more than this is written out at once */
#define SPEC_BYTES 96

typedef struct {
    char *bytes;
    size_t length, room;
} Text;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Text printed;            /* by all threads */
static __thread Text in_making; /* by this thread's call of sg_printf */

static bool reserve(Text *text, size_t more)
{
    if (text->length + more <= text->room) return true;
    size_t room = 2 * (text->length + more) + 256;
    char *moved = realloc(text->bytes, room);
    if (!moved) return false;
    text->bytes = moved;
    text->room = room;
    return true;
}

static void append(Text *text, const char *bytes, size_t count)
{
    if (!count || !reserve(text, count)) return;
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
}

static void append_format(const char *format, ...)
{
    Text *text = &in_making;
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int bytes = vsnprintf(NULL, 0, format, arguments);
    if (bytes > 0 && reserve(text, bytes + 1)) {
        vsnprintf(text->bytes + text->length, bytes + 1, format, again);
        text->length += bytes;
    }
    va_end(again);
    va_end(arguments);
}

static void write_out(void)
{
    if (!printed.length) return;
    fwrite(printed.bytes, 1, printed.length, stdout);
    fflush(stdout);
    printed.length = 0;
}

void printf_flush(void)
{
    pthread_mutex_lock(&mutex);
    write_out();
    pthread_mutex_unlock(&mutex);
}

size_t string_length(Warp *w, uint32_t lane, uint64_t address)
{
    uint64_t end = access_readable_end(w, lane, address);
    const char *zero = end ? memchr((const char *)address, 0, end - address) : NULL;
    return zero ? (size_t)(zero - (const char *)address) : SIZE_MAX;
}

typedef struct {
    Warp *w;
    uint32_t lane;
    uint64_t at, end; /* the arguments not taken yet */
    int taken;
} Arguments;

/* The next argument, which lies at a multiple of its size. */
static uint64_t take(Arguments *p, uint32_t bytes)
{
    uint64_t value = 0;
    p->at = (p->at + bytes - 1) / bytes * bytes;
    if (p->at > p->end || bytes > p->end - p->at)
        fault_at(p->w, NO_SITE, p->lane, CUDA_ERROR_ILLEGAL_ADDRESS, PRINTF_ARGUMENTS);
    memcpy(&value, (const void *)p->at, bytes);
    p->at += bytes;
    p->taken++;
    return value;
}

static double take_double(Arguments *p)
{
    uint64_t bits = take(p, 8);
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static const char *take_string(Arguments *p)
{
    uint64_t address = take(p, 8);
    if (!address) return "(null)";
    if (string_length(p->w, p->lane, address) == SIZE_MAX)
        fault_at(p->w, NO_SITE, p->lane, CUDA_ERROR_ILLEGAL_ADDRESS, PRINTF_STRING,
                 address_text(address).text);
    return (const char *)address;
}

/* Prints the conversion that starts at a %; returns what follows it. */
static const char *convert(Arguments *p, const char *format)
{
    char spec[SPEC_BYTES] = "%"; /* flags, width and precision, then what fits our own types */
    size_t n = 1;
    bool wide = false;
    const char *f = format + 1;
    for (; *f && strchr("-+ #0123456789.*", *f) && n < SPEC_BYTES - 16; f++) {
        if (*f == '*') n += snprintf(spec + n, 12, "%d", (int)take(p, 4));
        else spec[n++] = *f;
    }
    for (; *f && strchr("hljztL", *f); f++) wide |= !strchr("hL", *f);
    const char *ll = *f && strchr("diuxXo", *f) ? "ll" : "";
    snprintf(spec + n, SPEC_BYTES - n, "%s%c", ll, *f);
    switch (*f) {
    case '%': append(&in_making, "%", 1); break;
    case 'd':
    case 'i': append_format(spec, wide ? (long long)take(p, 8) : (long long)(int)take(p, 4)); break;
    case 'u':
    case 'x':
    case 'X':
    case 'o': append_format(spec, take(p, wide ? 8 : 4)); break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': append_format(spec, take_double(p)); break;
    case 'c': append_format(spec, (int)take(p, 4)); break;
    case 'p': append_format(spec, (void *)take(p, 8)); break;
    case 's': append_format(spec, take_string(p)); break;
    default: append(&in_making, format, f - format); return f; /* not a conversion */
    }
    return f + 1;
}

static int print_one(Warp *w, uint32_t lane, uint64_t format, uint64_t arguments)
{
    if (string_length(w, lane, format) == SIZE_MAX)
        fault_at(w, NO_SITE, lane, CUDA_ERROR_ILLEGAL_ADDRESS, PRINTF_FORMAT,
                 address_text(format).text);
    Arguments p = {w, lane, arguments, access_readable_end(w, lane, arguments), 0};
    const char *f = (const char *)format;
    while (*f) {
        size_t plain = strcspn(f, "%");
        append(&in_making, f, plain);
        f += plain;
        if (*f) f = convert(&p, f);
    }
    return p.taken;
}

void sg_printf(Warp *w, uint32_t mask, const uint64_t *format, const uint64_t *arguments,
               int32_t *out)
{
    in_making.length = 0;
    FOR_LANES(lane, mask) out[lane] = print_one(w, lane, format[lane], arguments[lane]);
    pthread_mutex_lock(&mutex);
    append(&printed, in_making.bytes, in_making.length);
    if (printed.length > KEEP_BYTES) write_out();
    pthread_mutex_unlock(&mutex);
}
