/* cuFFT: transforms in one to three dimensions, in batches and with strides, computed in doubles. */
#include <array>
#include <map>
#include <mutex>

#include "line.h"

enum { /* cufftResult */
       INVALID_PLAN = 1,
       ALLOC_FAILED = 2,
       INVALID_TYPE = 3,
       INVALID_VALUE = 4,
       EXEC_FAILED = 6,
       INVALID_SIZE = 8,
       NOT_SUPPORTED = 16,
};
constexpr Statuses STATUSES{NOT_SUPPORTED, ALLOC_FAILED, EXEC_FAILED};

enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };

static void need(bool right, int otherwise)
{
    if (!right) throw Status{otherwise};
}

/* Where an array's elements lie: rows of so many, a step between elements, a distance between arrays. */
struct Layout {
    std::array<Size, 3> rows;
    Size step, distance;
    Size place(Size i, Size j, Size k) const { return ((i * rows[1] + j) * rows[2] + k) * step; }
};

struct Plan {
    int type = 0;
    Size batch = 0;
    std::array<Size, 3> n{1, 1, 1}; /* the last one's elements are neighbours */
    bool basic = true;              /* without gaps; where it is in place, rows of both types fit */
    Layout in{}, out{};
    CUstream stream = nullptr;

    Size half() const { return n[2] / 2 + 1; }
    Layout dense(Size row) const { return {{n[0], n[1], row}, 1, n[0] * n[1] * row}; }
};

static std::map<int, Plan> plans;
static std::mutex mutex;

/* A copy of the plan of a handle. */
static Plan found(int handle)
{
    std::lock_guard<std::mutex> lock(mutex);
    auto plan = plans.find(handle);
    need(plan != plans.end(), INVALID_PLAN);
    return plan->second;
}

static void keep(int handle, const Plan &plan)
{
    std::lock_guard<std::mutex> lock(mutex);
    need(plans.count(handle), INVALID_PLAN);
    plans[handle] = plan;
}

static int new_handle()
{
    static int last;
    std::lock_guard<std::mutex> lock(mutex);
    plans[++last];
    return last;
}

/* ---- transforms ---- */

/* Transforms along one dimension of an array of these sizes. */
static void along(std::vector<Complex> &data, const std::array<Size, 3> &sizes, int dimension,
                  int sign)
{
    Size length = sizes[dimension], step = 1;
    if (length == 1) return;
    for (int i = dimension + 1; i < 3; i++) step *= sizes[i];
    Line transform(length, sign);
    std::vector<Complex> line(length);
    for (Size first = 0; first < (Size)data.size(); first += length * step)
        for (Size at = first; at < first + step; at++) {
            for (Size i = 0; i < length; i++) line[i] = data[at + i * step];
            auto out = transform(line);
            for (Size i = 0; i < length; i++) data[at + i * step] = out[i];
        }
}

/* Halves of lines made whole: the rest is their mirror image, and what must be real is. */
static std::vector<Complex> completed(const std::vector<Complex> &halves, Size length)
{
    Size half = length / 2 + 1, lines = halves.size() / half;
    std::vector<Complex> out(lines * length);
    for (Size line = 0; line < lines; line++)
        for (Size k = 0; k < length; k++) {
            const Complex *from = &halves[line * half];
            Complex value = k < half ? from[k] : std::conj(from[length - k]);
            bool real = k == 0 || 2 * k == length;
            out[line * length + k] = real ? Complex(value.real()) : value;
        }
    return out;
}

/* How many elements all arrays of a layout reach over. */
static Size reach(const Layout &layout, const std::array<Size, 3> &sizes, Size batch)
{
    return (batch - 1) * layout.distance + layout.place(sizes[0] - 1, sizes[1] - 1, sizes[2] - 1) +
           1;
}

template <class F>
static void each(const std::array<Size, 3> &sizes, F f)
{
    Size at = 0;
    for (Size i = 0; i < sizes[0]; i++)
        for (Size j = 0; j < sizes[1]; j++)
            for (Size k = 0; k < sizes[2]; k++) f(at++, i, j, k);
}

template <class From, class To>
static void transform(const Plan &plan, const From *from, To *to, int sign)
{
    constexpr bool real_in = std::is_floating_point_v<From>,
                   real_out = std::is_floating_point_v<To>;
    std::array<Size, 3> in_sizes = plan.n, out_sizes = plan.n;
    if (real_in) out_sizes[2] = plan.half();
    if (real_out) in_sizes[2] = plan.half();
    Layout in = plan.in, out = plan.out;
    if (plan.basic) {
        bool padded = (const void *)from == (const void *)to;
        in = plan.dense(padded && real_in ? 2 * plan.half() : in_sizes[2]);
        out = plan.dense(padded && real_out ? 2 * plan.half() : out_sizes[2]);
    }
    auto given = load(from, reach(in, in_sizes, plan.batch));
    auto results = load(to, reach(out, out_sizes, plan.batch));
    for (Size b = 0; b < plan.batch; b++) {
        std::vector<Complex> data(in_sizes[0] * in_sizes[1] * in_sizes[2]);
        each(in_sizes, [&](Size at, Size i, Size j, Size k) {
            data[at] = Complex(given[b * in.distance + in.place(i, j, k)]);
        });
        along(data, in_sizes, 0, sign);
        along(data, in_sizes, 1, sign);
        if (real_out) data = completed(data, plan.n[2]);
        along(data, plan.n, 2, sign);
        each(out_sizes, [&](Size, Size i, Size j, Size k) {
            Complex value = data[(i * plan.n[1] + j) * plan.n[2] + k];
            To &place = results[b * out.distance + out.place(i, j, k)];
            if constexpr (real_out) place = (To)value.real();
            else place = To(value);
        });
    }
    store(to, results);
}

#define EXECUTE(name, wanted, From, To, more, sign)                                                \
    LIBRARY name(int handle, From *from, To *to UNPACK more)                                       \
    {                                                                                              \
        CUstream stream = nullptr;                                                                 \
        Plan plan;                                                                                 \
        int status = guarded(__func__, STATUSES, [&] {                                             \
            plan = found(handle);                                                                  \
            need(plan.batch, INVALID_PLAN);                                                        \
            need(plan.type == wanted, INVALID_TYPE);                                               \
            need((sign) == 1 || (sign) == -1, INVALID_VALUE);                                      \
            stream = plan.stream;                                                                  \
        });                                                                                        \
        return status ?: in_stream(__func__, STATUSES, stream, [=] {                               \
            transform(plan, from, to, sign);                                                       \
        });                                                                                        \
    }
#define UNPACK(...) __VA_ARGS__
EXECUTE(cufftExecC2C, C2C, std::complex<float>, std::complex<float>, (, int direction), direction)
EXECUTE(cufftExecZ2Z, Z2Z, Complex, Complex, (, int direction), direction)
EXECUTE(cufftExecR2C, R2C, float, std::complex<float>, (), -1)
EXECUTE(cufftExecD2Z, D2Z, double, Complex, (), -1)
EXECUTE(cufftExecC2R, C2R, std::complex<float>, float, (), 1)
EXECUTE(cufftExecZ2D, Z2D, Complex, double, (), 1)

/* ---- plans ---- */

/* Of NULL for the rows that are stored: no gaps, whatever else is said. */
template <class T>
static int make(const char *name, int handle, int rank, const T *n, const T *in_rows, Size in_step,
                Size in_distance, const T *out_rows, Size out_step, Size out_distance, int type,
                Size batch, size_t *work)
{
    return guarded(name, STATUSES, [&] {
        Plan plan = found(handle);
        need(rank >= 1 && rank <= 3 && n, INVALID_VALUE);
        bool known =
            type == R2C || type == C2R || type == C2C || type == D2Z || type == Z2D || type == Z2Z;
        need(known, INVALID_TYPE);
        need(batch >= 1, INVALID_SIZE);
        plan.type = type, plan.batch = batch;
        plan.basic = !in_rows || !out_rows;
        plan.in = {{1, 1, 1}, in_step, in_distance}, plan.out = {{1, 1, 1}, out_step, out_distance};
        for (int i = 0; i < rank; i++) {
            int to = 3 - rank + i;
            need(n[i] >= 1, INVALID_SIZE);
            plan.n[to] = n[i];
            if (!plan.basic) plan.in.rows[to] = in_rows[i], plan.out.rows[to] = out_rows[i];
        }
        bool apart =
            plan.basic || (in_step > 0 && out_step > 0 && in_distance >= 0 && out_distance >= 0);
        need(apart, INVALID_VALUE);
        keep(handle, plan);
        if (work) *work = 0;
    });
}

static int make(const char *name, int handle, std::initializer_list<int> n, int type, int batch,
                size_t *work)
{
    const int *none = nullptr;
    return make(name, handle, (int)n.size(), n.begin(), none, 0, 0, none, 0, 0, type, batch, work);
}

LIBRARY cufftCreate(int *handle)
{
    *handle = new_handle();
    return 0;
}

LIBRARY cufftDestroy(int handle)
{
    std::lock_guard<std::mutex> lock(mutex);
    return plans.erase(handle) ? 0 : INVALID_PLAN;
}

LIBRARY cufftMakePlan1d(int handle, int x, int type, int batch, size_t *work)
{ return make(__func__, handle, {x}, type, batch, work); }

LIBRARY cufftMakePlan2d(int handle, int x, int y, int type, size_t *work)
{ return make(__func__, handle, {x, y}, type, 1, work); }

LIBRARY cufftMakePlan3d(int handle, int x, int y, int z, int type, size_t *work)
{ return make(__func__, handle, {x, y, z}, type, 1, work); }

LIBRARY cufftMakePlanMany(int handle, int rank, int *n, int *in_rows, int in_step, int in_distance,
                          int *out_rows, int out_step, int out_distance, int type, int batch,
                          size_t *work)
{
    return make(__func__, handle, rank, n, in_rows, in_step, in_distance, out_rows, out_step,
                out_distance, type, batch, work);
}

LIBRARY cufftMakePlanMany64(int handle, int rank, long long *n, long long *in_rows,
                            long long in_step, long long in_distance, long long *out_rows,
                            long long out_step, long long out_distance, int type, long long batch,
                            size_t *work)
{
    return make(__func__, handle, rank, n, in_rows, in_step, in_distance, out_rows, out_step,
                out_distance, type, batch, work);
}

/* The same of cudaDataTypes, of input, output and what is computed with. */
LIBRARY cufftXtMakePlanMany(int handle, int rank, long long *n, long long *in_rows,
                            long long in_step, long long in_distance, int in_type,
                            long long *out_rows, long long out_step, long long out_distance,
                            int out_type, long long batch, size_t *work, int)
{
    enum { FLOAT = 0, DOUBLE = 1, COMPLEX = 4, DOUBLE_COMPLEX = 5 };
    static const int types[][3] = {
        {COMPLEX, COMPLEX, C2C},       {FLOAT, COMPLEX, R2C},
        {COMPLEX, FLOAT, C2R},         {DOUBLE_COMPLEX, DOUBLE_COMPLEX, Z2Z},
        {DOUBLE, DOUBLE_COMPLEX, D2Z}, {DOUBLE_COMPLEX, DOUBLE, Z2D}};
    for (auto &[in, out, type] : types)
        if (in == in_type && out == out_type)
            return cufftMakePlanMany64(handle, rank, n, in_rows, in_step, in_distance, out_rows,
                                       out_step, out_distance, type, batch, work);
    return guarded(__func__, STATUSES, [] { throw Status{NOT_SUPPORTED}; });
}

LIBRARY cufftXtExec(int handle, void *from, void *to, int direction)
{
    int type = 0;
    int status = guarded(__func__, STATUSES, [&] { type = found(handle).type; });
    if (status) return status;
    switch (type) {
    case C2C:
        return cufftExecC2C(handle, (std::complex<float> *)from, (std::complex<float> *)to,
                            direction);
    case Z2Z: return cufftExecZ2Z(handle, (Complex *)from, (Complex *)to, direction);
    case R2C: return cufftExecR2C(handle, (float *)from, (std::complex<float> *)to);
    case D2Z: return cufftExecD2Z(handle, (double *)from, (Complex *)to);
    case C2R: return cufftExecC2R(handle, (std::complex<float> *)from, (float *)to);
    case Z2D: return cufftExecZ2D(handle, (Complex *)from, (double *)to);
    }
    return INVALID_PLAN;
}

/* A new handle with a plan, or none. */
template <class F>
static int planned(int *handle, F make_plan)
{
    int made = new_handle(), status = make_plan(made);
    if (status) cufftDestroy(made);
    else *handle = made;
    return status;
}

LIBRARY cufftPlan1d(int *handle, int x, int type, int batch)
{
    return planned(handle,
                   [=](int made) { return cufftMakePlan1d(made, x, type, batch, nullptr); });
}

LIBRARY cufftPlan2d(int *handle, int x, int y, int type)
{
    return planned(handle, [=](int made) { return cufftMakePlan2d(made, x, y, type, nullptr); });
}

LIBRARY cufftPlan3d(int *handle, int x, int y, int z, int type)
{
    return planned(handle, [=](int made) { return cufftMakePlan3d(made, x, y, z, type, nullptr); });
}

LIBRARY cufftPlanMany(int *handle, int rank, int *n, int *in_rows, int in_step, int in_distance,
                      int *out_rows, int out_step, int out_distance, int type, int batch)
{
    return planned(handle, [=](int made) {
        return cufftMakePlanMany(made, rank, n, in_rows, in_step, in_distance, out_rows, out_step,
                                 out_distance, type, batch, nullptr);
    });
}

/* ---- the rest: transforms here need no work area ---- */

static int no_bytes(size_t *work)
{
    *work = 0;
    return 0;
}

LIBRARY cufftEstimate1d(int, int, int, size_t *work) { return no_bytes(work); }
LIBRARY cufftEstimate2d(int, int, int, size_t *work) { return no_bytes(work); }
LIBRARY cufftEstimate3d(int, int, int, int, size_t *work) { return no_bytes(work); }
LIBRARY cufftEstimateMany(int, int *, int *, int, int, int *, int, int, int, int, size_t *work)
{ return no_bytes(work); }
LIBRARY cufftGetSize(int, size_t *work) { return no_bytes(work); }
LIBRARY cufftGetSize1d(int, int, int, int, size_t *work) { return no_bytes(work); }
LIBRARY cufftGetSize2d(int, int, int, int, size_t *work) { return no_bytes(work); }
LIBRARY cufftGetSize3d(int, int, int, int, int, size_t *work) { return no_bytes(work); }
LIBRARY cufftGetSizeMany(int, int, int *, int *, int, int, int *, int, int, int, int, size_t *work)
{ return no_bytes(work); }
LIBRARY cufftSetWorkArea(int, void *) { return 0; }
LIBRARY cufftSetAutoAllocation(int, int) { return 0; }

LIBRARY cufftSetStream(int handle, CUstream stream)
{
    return guarded(__func__, STATUSES, [&] {
        Plan plan = found(handle);
        plan.stream = stream;
        keep(handle, plan);
    });
}

LIBRARY cufftGetVersion(int *version)
{
    *version = 12000;
    return 0;
}

LIBRARY cufftGetProperty(int which, int *value)
{
    if (which < 0 || which > 2) return INVALID_TYPE;
    *value = which ? 0 : 12;
    return 0;
}

REFUSED(cufftGetSizeMany64, NOT_SUPPORTED)
REFUSED(cufftSetPlanPropertyInt64, NOT_SUPPORTED)
REFUSED(cufftGetPlanPropertyInt64, NOT_SUPPORTED)
REFUSED(cufftResetPlanProperty, NOT_SUPPORTED)
REFUSED(cufftXtClearCallback, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptor, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptorC2C, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptorC2R, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptorD2Z, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptorR2C, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptorZ2D, NOT_SUPPORTED)
REFUSED(cufftXtExecDescriptorZ2Z, NOT_SUPPORTED)
REFUSED(cufftXtFree, NOT_SUPPORTED)
REFUSED(cufftXtGetSizeMany, NOT_SUPPORTED)
REFUSED(cufftXtMalloc, NOT_SUPPORTED)
REFUSED(cufftXtMemcpy, NOT_SUPPORTED)
REFUSED(cufftXtQueryPlan, NOT_SUPPORTED)
REFUSED(cufftXtSetCallback, NOT_SUPPORTED)
REFUSED(cufftXtSetCallbackSharedSize, NOT_SUPPORTED)
REFUSED(cufftXtSetGPUs, NOT_SUPPORTED)
REFUSED(cufftXtSetJITCallback, NOT_SUPPORTED)
REFUSED(cufftXtSetWorkArea, NOT_SUPPORTED)
REFUSED(cufftXtSetWorkAreaPolicy, NOT_SUPPORTED)
