/* Textures and surfaces in kernels: coordinates to elements, by the formulas of the CUDA C++ Programming
   Guide's "Texture Fetching".

   Terms: bilinear interpolation, address modes (CUDA C++ Programming Guide, Texture Fetching;
   docs/terms.md). */
#include <math.h>
#include <string.h>

#include "half.h"
#include "internal.h"
#include "memory/texture.h"

typedef struct {
    Warp *w;
    uint32_t site, lane, how;
    uint64_t handle;
    const TexelObject *object; /* of that handle */
} Fetch;

/* A channel of an element, as a register holds it. */
typedef union {
    float f;
    uint32_t u;
} Channel;

/* The object that a lane names. Lanes mostly name the same one. */
static void find_object(Fetch *fetch, ObjectKind kind, uint64_t handle)
{
    if (fetch->object && fetch->handle == handle) return;
    const char *what = kind == TEXTURE ? "texture" : "surface";
    const TexelObject *object = handle_object(kind, (void *)handle);
    if (!object)
        fault_at(fetch->w, fetch->site, fetch->lane, CUDA_ERROR_ILLEGAL_ADDRESS, NO_TEXTURE,
                 address_text(handle).text, what);
    const Texels *texels = &object->texels;
    const size_t bytes =
        (texels->size[1] - 1) * texels->pitch + (size_t)texels->size[0] * texels->element;
    if (texels->array ? !handle_object(ARRAY, texels->array) : !memory_covers(texels->data, bytes))
        fault_at(fetch->w, fetch->site, fetch->lane, CUDA_ERROR_ILLEGAL_ADDRESS, TEXTURE_FREED,
                 what);
    const bool layered = fetch->how & TEXEL_LAYERED;
    const uint32_t dimensions = fetch->how & TEXEL_DIMENSIONS;
    if (dimensions != texels->dimensions || layered != (texels->layers > 0))
        fault_at(fetch->w, fetch->site, fetch->lane, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 TEXTURE_DIMENSIONS, what, texels->dimensions, texels->layers ? " with layers" : "",
                 dimensions, layered ? " with layers" : "");
    fetch->handle = handle;
    fetch->object = object;
}

/* ---- textures ---- */

/* Which element of a line a number means; -1: the border. */
static int64_t index_of(int mode, int64_t i, int64_t size)
{
    switch (mode) {
    case ADDRESS_WRAP: return (i % size + size) % size;
    case ADDRESS_MIRROR:
        i = (i % (2 * size) + 2 * size) % (2 * size);
        return i < size ? i : 2 * size - 1 - i;
    case ADDRESS_CLAMP: return MAX(0, MIN(i, size - 1));
    default: return i >= 0 && i < size ? i : -1;
    }
}

/* A coordinate in elements, near the texture where it was far from it. */
static float in_elements(const TexelObject *t, uint32_t axis, float x)
{
    float size = (float)t->texels.size[axis], beyond = 2;
    if (x != x) return 0;
    if (t->normalized) {
        const float whole = floorf(x), rest = x - whole;
        if (t->modes[axis] == ADDRESS_WRAP) x = rest == rest ? rest : 0;
        x *= size;
        if (t->modes[axis] == ADDRESS_MIRROR) { /* which is there twice, forwards and backwards */
            x = rest == rest ? (fmodf(whole, 2) ? rest + 1 : rest) * size : 0;
            size *= 2;
        }
    }
    return fmaxf(-beyond, fminf(x, size + beyond));
}

static Channel channel_of(const Texels *texels, const char *at, bool as_float)
{
    Channel c;
    uint16_t half;
    switch (texels->format) {
    case FORMAT_U8: c.u = *(const uint8_t *)at; break;
    case FORMAT_S8: c.u = (uint32_t)*(const int8_t *)at; break;
    case FORMAT_U16: memcpy(&half, at, 2), c.u = half; break;
    case FORMAT_S16: memcpy(&half, at, 2), c.u = (uint32_t)(int16_t)half; break;
    case FORMAT_HALF: memcpy(&half, at, 2), c.f = float_of_half(half); break;
    default: memcpy(&c.u, at, 4);
    }
    if (!as_float) return c;
    switch (texels->format) {
    case FORMAT_U8: c.f = (float)c.u / 255; break;
    case FORMAT_U16: c.f = (float)c.u / 65535; break;
    case FORMAT_S8: c.f = fmaxf((float)(int32_t)c.u / 127, -1); break;
    case FORMAT_S16: c.f = fmaxf((float)(int32_t)c.u / 32767, -1); break;
    }
    return c;
}

/* A channel of the border: a float's bits, or what fractions of elements can say of the float. */
static Channel border_of(const TexelObject *t, float border)
{
    static const float most[] = {
        [FORMAT_U8] = 255, [FORMAT_U16] = 65535, [FORMAT_S8] = 127, [FORMAT_S16] = 32767};
    const uint32_t format = t->texels.format;
    Channel c = {.f = border};
    if (format == FORMAT_HALF) return c;
    if (t->gives_floats && format < sizeof most / sizeof *most && most[format] > 0) {
        const float least = format == FORMAT_S8 || format == FORMAT_S16 ? -1 : 0;
        c.u = (uint32_t)(int32_t)rintf(most[format] * fmaxf(least, fminf(border, 1)));
    }
    return channel_of(&t->texels, (const char *)&c, t->gives_floats);
}

/* The element at numbers that may lie outside. Channels that it has not are zero. */
static void read_element(const TexelObject *t, const int64_t *at, uint32_t layer, Channel *out)
{
    const Texels *texels = &t->texels;
    int64_t i[3] = {0};
    bool inside = true;
    for (uint32_t n = 0; n < texels->dimensions; n++) {
        i[n] = index_of(t->modes[n], at[n], texels->size[n]);
        inside &= i[n] >= 0;
    }
    const uint64_t slice = (uint64_t)i[2] + layer;
    const uint64_t row = texels->data + (slice * texels->size[1] + (uint64_t)i[1]) * texels->pitch;
    const bool zero = t->resource.type == RESOURCE_LINEAR;
    for (uint32_t n = 0; n < 4; n++) {
        const float border = zero ? 0 : t->sampling.border[n];
        if (n >= texels->channels) out[n].u = 0;
        else if (inside)
            out[n] = channel_of(texels,
                                (const char *)row + (uint64_t)i[0] * texels->element +
                                    n * (texels->element / texels->channels),
                                t->gives_floats);
        else out[n] = border_of(t, border);
    }
}

/* The elements around a point by their distances, which have 8 bits of fraction. */
static void filter(const TexelObject *t, const float *x, uint32_t layer, Channel *out)
{
    const uint32_t dimensions = t->texels.dimensions;
    int64_t first[3], at[3];
    float share[3];
    for (uint32_t n = 0; n < dimensions; n++) {
        const float begin = floorf(x[n] - 0.5f);
        first[n] = (int64_t)begin;
        share[n] = floorf((x[n] - 0.5f - begin) * 256 + 0.5f) / 256;
    }
    memset(out, 0, 4 * sizeof *out);
    for (uint32_t corner = 0; corner < 1u << dimensions; corner++) {
        float weight = 1;
        for (uint32_t n = 0; n < dimensions; n++) {
            const bool second = corner >> n & 1;
            at[n] = first[n] + second;
            weight *= second ? share[n] : 1 - share[n];
        }
        if (!weight) continue;
        Channel element[4];
        read_element(t, at, layer, element);
        for (uint32_t n = 0; n < 4; n++) out[n].f += weight * element[n].f;
    }
}

/* One channel of the four elements that a filter would take, against the clock from below left. */
static void gather(const TexelObject *t, const float *x, uint32_t layer, uint32_t channel,
                   Channel *out)
{
    static const int64_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (uint32_t n = 0; n < 4; n++) {
        const int64_t at[] = {(int64_t)floorf(x[0] - 0.5f) + corners[n][0],
                              (int64_t)floorf(x[1] - 0.5f) + corners[n][1], 0};
        Channel element[4];
        read_element(t, at, layer, element);
        out[n] = element[channel];
    }
}

void sg_texture(Warp *w, uint32_t site, uint32_t mask, uint32_t how, const uint64_t *handles,
                const uint32_t *given, uint32_t *out)
{
    Fetch fetch = {.w = w, .site = site, .how = how};
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        const uint32_t lane = fetch.lane = (uint32_t)__builtin_ctz(lanes);
        find_object(&fetch, TEXTURE, handles[lane]);
        const TexelObject *t = fetch.object;
        const uint32_t *coordinate = given + lane;
        uint32_t layer = 0;
        if (how & TEXEL_LAYERED) {
            layer = MIN(*coordinate, t->texels.layers - 1);
            coordinate += LANES;
        }
        float x[3] = {0};
        int64_t at[3] = {0};
        for (uint32_t n = 0; n < t->texels.dimensions; n++, coordinate += LANES) {
            const bool whole = how & TEXEL_WHOLE;
            x[n] = whole ? 0 : in_elements(t, n, f32_of_bits(*coordinate));
            at[n] = whole ? (int32_t)*coordinate : (int64_t)floorf(x[n]);
        }
        Channel element[4];
        if (how & TEXEL_GATHERS) gather(t, x, layer, how / TEXEL_ITS_CHANNEL, element);
        else if (t->filters && !(how & TEXEL_WHOLE)) filter(t, x, layer, element);
        else read_element(t, at, layer, element);
        for (uint32_t n = 0; n < 4; n++) out[n * LANES + lane] = element[n].u;
    }
}

/* ---- surfaces ---- */

/* Where a lane's bytes are; 0: outside, which the instruction passes over. The first number is in bytes. */
static uint64_t place_of(const Fetch *fetch, const int32_t *given, uint32_t bytes)
{
    const Texels *texels = &fetch->object->texels;
    const bool layered = texels->layers > 0;
    int64_t at[4] = {0}; /* byte, row, slice; layer */
    const int64_t last[4] = {(int64_t)texels->size[0] * texels->element - bytes,
                             texels->size[1] - 1, texels->size[2] - 1,
                             layered ? texels->layers - 1 : 0};
    if (layered) at[3] = *given, given += LANES;
    for (uint32_t n = 0; n < texels->dimensions; n++) at[n] = given[n * LANES];
    if (at[0] % bytes)
        fault_at(fetch->w, fetch->site, fetch->lane, CUDA_ERROR_MISALIGNED_ADDRESS,
                 SURFACE_MISALIGNED, bytes, (long long)at[0]);
    for (uint32_t n = 0; n < 4; n++) {
        if (at[n] >= 0 && at[n] <= last[n]) continue;
        if (fetch->how & TEXEL_ZERO) return 0;
        if (!(fetch->how & TEXEL_CLAMP) || last[n] < 0)
            fault_at(fetch->w, fetch->site, fetch->lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                     SURFACE_OUTSIDE, bytes, (long long)at[0], (long long)at[1], (long long)at[2],
                     (long long)at[3], texels->size[0], texels->size[1], texels->size[2],
                     texels->element, texels->layers);
        /* of a layer 31 bits count, without a sign */
        at[n] = n == 3 ? MIN(at[n] & INT32_MAX, last[n]) : at[n] < 0 ? 0 : last[n];
    }
    const int64_t row = (at[2] + at[3]) * texels->size[1] + at[1];
    return texels->data + (uint64_t)row * texels->pitch + (uint64_t)at[0];
}

void sg_surface(Warp *w, uint32_t site, uint32_t mask, uint32_t how, uint32_t bytes, uint32_t count,
                const uint64_t *handles, const int32_t *given, uint64_t *values)
{
    Fetch fetch = {.w = w, .site = site, .how = how};
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
        const uint32_t lane = fetch.lane = (uint32_t)__builtin_ctz(lanes);
        find_object(&fetch, SURFACE, handles[lane]);
        const uint64_t at = place_of(&fetch, given + lane, bytes * count);
        for (uint32_t n = 0; n < count; n++) {
            uint64_t *value = &values[n * LANES + lane];
            void *place = (void *)(at + n * bytes);
            if (how & TEXEL_STORES) {
                if (at) memcpy(place, value, bytes);
            } else {
                *value = 0;
                if (at) memcpy(value, place, bytes);
            }
        }
    }
}
