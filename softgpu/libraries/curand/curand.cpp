/* cuRAND for the host: XORWOW, MRG32k3a, Philox and Sobol's sequences, with the numbers of NVIDIA's in
   their default order. Normal numbers differ from a GPU's in the last places, where that computes
   logarithms and sines approximately.

   Terms: counter-based generators (Salmon et al. 2011; docs/terms.md). */
#include <cmath>
#include <memory>

#include "engines.h"

enum { /* curandStatus_t */
       NOT_INITIALIZED = 101,
       ALLOCATION_FAILED = 102,
       TYPE_ERROR = 103,
       OUT_OF_RANGE = 104,
       LENGTH_NOT_MULTIPLE = 105,
       LAUNCH_FAILURE = 201,
       UNSUPPORTED = 204, /* the device does not have what is asked for */
};
constexpr Statuses STATUSES{UNSUPPORTED, ALLOCATION_FAILED, LAUNCH_FAILURE};

enum { XORWOW = 101, MRG32K3A = 121, PHILOX = 161, SOBOL32 = 201, SOBOL64 = 203 };
enum { BEST = 100, DEFAULT = 101, LEGACY = 103, QUASI_DEFAULT = 201 };

static void need(bool right, int otherwise)
{
    if (!right) throw Status{otherwise};
}

/* ---- numbers from bits ---- */

static float uniform_of(uint32_t bits) { return (float)bits * 0x1p-32f + 0x1p-33f; }
static double uniform_of(uint32_t low, uint32_t high)
{ return (double)(low ^ (uint64_t)high << 21) * 0x1p-53 + 0x1p-54; }

/* Two normal numbers, after Box and Muller. */
static void normal_pair(float u, float angle, float *out)
{
    float radius = std::sqrt(-2 * (float)std::log((double)u));
    out[0] = (float)std::sin((double)angle) * radius;
    out[1] = (float)std::cos((double)angle) * radius;
}

static void normal_pair(double u, double half_turns, double *out)
{
    double radius = std::sqrt(-2 * std::log(u)), angle = half_turns * M_PI;
    out[0] = std::sin(angle) * radius;
    out[1] = std::cos(angle) * radius;
}

static constexpr float TURN = 0x1p-32f * 6.2831855f;

static void normals(uint32_t x, uint32_t y, float *out)
{ normal_pair(uniform_of(x), std::fma((float)y, TURN, TURN / 2), out); }

static void normals(uint32_t a, uint32_t b, uint32_t c, uint32_t d, double *out)
{ normal_pair(uniform_of(a, b), 2 * uniform_of(c, d), out); }

/* What so large a part of a normal distribution lies below: Halley's method on erfc. */
static double normal_below(double part)
{
    double tail = std::min(part, 1 - part), t = std::sqrt(-2 * std::log(tail));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double error = std::erfc(x * M_SQRT1_2) / 2 - tail;
        double step = error * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
        x += step / (1 - x * step / 2);
    }
    return part < 0.5 ? -x : x;
}

/* ---- generators ---- */

/* What a call asks for, of n numbers. Normal ones come in pairs, which n counts both of. */
struct Generator {
    CUstream stream = nullptr;
    bool on_host = false, seeded = false;
    uint64_t seed = 0, offset = 0;
    int type = 0;

    virtual ~Generator() = default;
    virtual void begin() = 0; /* at the seed and the offset */
    virtual void take(uint32_t *out, size_t n) = 0;
    virtual void take(uint64_t *, size_t) { throw Status{TYPE_ERROR}; }
    virtual void take(float *out, size_t n) = 0;
    virtual void take(double *out, size_t n) = 0;
    virtual void take_normal(float *out, size_t n) = 0;
    virtual void take_normal(double *out, size_t n) = 0;
};

/* Numbers are dealt to streams, far apart in one sequence, in turn. */
template <class Engine>
struct Streams : Generator {
    std::vector<Engine> engines;
    uint64_t position = 0;

    void begin() override
    {
        Engine engine(seed);
        auto apart = Engine::jump(1, true);
        auto ahead = Engine::jump(offset / Engine::STREAMS), step = Engine::jump(1);
        position = offset % Engine::STREAMS;
        engines.clear();
        for (Size i = 0; i < Engine::STREAMS; i++, engine.follow(apart)) {
            engines.push_back(engine);
            engines.back().follow(ahead);
            if ((uint64_t)i < position) engines.back().follow(step);
        }
    }
    Engine &next() { return engines[position++ % Engine::STREAMS]; }

    static void uniform(Xorwow &engine, float *out) { *out = uniform_of(engine.bits()); }
    static void uniform(Mrg32k3a &engine, float *out)
    { *out = (float)(engine.next() * Mrg32k3a::NORM); }
    static void uniform(Xorwow &engine, double *out)
    {
        uint32_t low = engine.bits(), high = engine.bits();
        *out = uniform_of(low, high);
    }
    static void uniform(Mrg32k3a &engine, double *out) { *out = engine.next() * Mrg32k3a::NORM; }
    static void normal(Xorwow &engine, float *out)
    {
        uint32_t x = engine.bits(), y = engine.bits();
        normals(x, y, out);
    }
    static void normal(Xorwow &engine, double *out)
    {
        uint32_t x[4];
        for (uint32_t &bits : x) bits = engine.bits();
        normals(x[0], x[1], x[2], x[3], out);
    }
    static void normal(Mrg32k3a &engine, float *out)
    {
        float u, v;
        uniform(engine, &u), uniform(engine, &v);
        normal_pair(u, v * 6.2831855f, out);
    }
    static void normal(Mrg32k3a &engine, double *out)
    {
        double u, v;
        uniform(engine, &u), uniform(engine, &v);
        normal_pair(u, v * 2, out);
    }
    void take(uint32_t *out, size_t n) override
    {
        for (size_t i = 0; i < n; i++) out[i] = next().bits();
    }
    void take(float *out, size_t n) override
    {
        for (size_t i = 0; i < n; i++) uniform(next(), out + i);
    }
    void take(double *out, size_t n) override
    {
        for (size_t i = 0; i < n; i++) uniform(next(), out + i);
    }
    void take_normal(float *out, size_t n) override
    {
        for (size_t i = 0; i < n; i += 2) normal(next(), out + i);
    }
    void take_normal(double *out, size_t n) override
    {
        for (size_t i = 0; i < n; i += 2) normal(next(), out + i);
    }
};

/* Four numbers from each of 65,536 streams in turn; four doubles take two counters of their stream. */
struct Philox : Generator {
    static constexpr uint64_t STREAMS = 65536;
    uint64_t position = 0;
    std::vector<uint64_t> counters;

    void begin() override
    {
        counters.clear();
        position = offset;
        for (uint64_t i = 0; i < STREAMS; i++)
            counters.push_back(offset / 4 / STREAMS + (i < offset / 4 % STREAMS));
    }
    /* Numbers one by one, of the counter of each; steps: how many a group of four takes */
    template <class T, class F>
    void each(T *out, size_t n, int steps, F f)
    {
        for (size_t i = 0; i < n; i++, position++) {
            uint64_t stream = position / 4 % STREAMS, &counter = counters[stream];
            int place = position % 4;
            out[i] = f(philox(counter + (steps > 1 ? place / 2 : 0), stream, seed), place);
            if (place == 3) counter += steps;
        }
    }
    using Four = const std::array<uint32_t, 4> &;
    void take(uint32_t *out, size_t n) override
    {
        each(out, n, 1, [](Four x, int i) { return x[i]; });
    }
    void take(float *out, size_t n) override
    {
        each(out, n, 1, [](Four x, int i) { return uniform_of(x[i]); });
    }
    void take(double *out, size_t n) override
    {
        each(out, n, 2, [](Four x, int i) { return uniform_of(x[i % 2 * 2], x[i % 2 * 2 + 1]); });
    }
    void take_normal(float *out, size_t n) override
    {
        each(out, n, 1, [](Four x, int i) {
            float pair[2];
            normals(x[i & ~1], x[i | 1], pair);
            return pair[i % 2];
        });
    }
    void take_normal(double *out, size_t n) override
    {
        each(out, n, 2, [](Four x, int i) {
            double pair[2];
            normals(x[0], x[1], x[2], x[3], pair);
            return pair[i % 2];
        });
    }
};

/* One dimension after the other, each as long. */
struct Sobol : Generator {
    unsigned dimensions = 1;
    uint64_t position = 0;

    void begin() override { position = offset; }
    template <class T, class F>
    void each(T *out, size_t n, F f)
    {
        need(n % dimensions == 0, LENGTH_NOT_MULTIPLE);
        size_t length = n / dimensions;
        for (unsigned d = 0; d < dimensions; d++) {
            auto directions = sobol_directions(d);
            uint64_t x = 0, gray = position ^ position >> 1;
            for (int bit = 0; bit < 64; bit++)
                if (gray >> bit & 1) x ^= directions[bit];
            for (size_t i = 0; i < length; i++) {
                *out++ = f(x);
                x ^= directions[__builtin_ctzll(~(position + i))];
            }
        }
        position += length;
    }
    bool wide() const { return type == SOBOL64; }
    double part(uint64_t x) const /* without its end points */
    {
        return wide() ? (double)(x >> 11) * 0x1p-53 + 0x1p-54
                      : (double)(x >> 32) * 0x1p-32 + 0x1p-33;
    }
    void take(uint32_t *out, size_t n) override
    {
        need(!wide(), TYPE_ERROR);
        each(out, n, [](uint64_t x) { return (uint32_t)(x >> 32); });
    }
    void take(uint64_t *out, size_t n) override
    {
        need(wide(), TYPE_ERROR);
        each(out, n, [](uint64_t x) { return x; });
    }
    void take(float *out, size_t n) override
    {
        each(out, n, [](uint64_t x) { return uniform_of((uint32_t)(x >> 32)); });
    }
    void take(double *out, size_t n) override
    {
        each(out, n, [&](uint64_t x) { return part(x) + (wide() ? 0 : 0x1p-33); });
    }
    void take_normal(float *out, size_t n) override
    {
        each(out, n, [](uint64_t x) {
            uint32_t bits = (uint32_t)(x >> 32);
            bool upper = bits > 0x80000000u;
            float z = (float)normal_below(uniform_of(upper ? ~bits : bits));
            return upper ? -z : z;
        });
    }
    void take_normal(double *out, size_t n) override
    {
        each(out, n, [&](uint64_t x) { return normal_below(part(x)); });
    }
};

struct Numbers {
    unsigned polynomial;
    int degree;
    uint64_t first[14];
};

/* Whether the powers of x modulo a polynomial, whose coefficients are bits, are all that there are. */
static bool is_primitive(unsigned polynomial, int degree)
{
    unsigned power = 1, order = 0;
    do {
        power <<= 1, order++;
        if (power >> degree & 1) power ^= polynomial;
    } while (power != 1);
    return order + 1 == 1u << degree;
}

/* Of all dimensions but the first: each has the next primitive polynomial. */
static std::vector<Numbers> all_numbers()
{
    static const char packed[] =
#include "joe_kuo.inc"
        ;
    size_t at = 0;
    std::vector<Numbers> out;
    for (unsigned polynomial = 3; out.size() < DIMENSIONS - 1; polynomial += 2) {
        int degree = 31 - __builtin_clz(polynomial);
        if (!is_primitive(polynomial, degree)) continue;
        Numbers numbers{polynomial, degree, {}};
        for (int i = 0; i < degree; i++) {
            uint64_t number = 0;
            for (int bit = 0; bit < i; bit++, at++)
                number = number << 1 | ((packed[at / 6] - '0') >> (5 - at % 6) & 1);
            numbers.first[i] = number << 1 | 1;
        }
        out.push_back(numbers);
    }
    return out;
}

std::array<uint64_t, 64> sobol_directions(unsigned dimension)
{
    static const auto all = all_numbers();
    std::array<uint64_t, 64> out{};
    if (!dimension)
        for (int bit = 0; bit < 64; bit++) out[bit] = 1ull << (63 - bit);
    else {
        const auto &[polynomial, degree, first] = all[dimension - 1];
        for (int bit = 0; bit < 64; bit++) {
            if (bit < degree) {
                out[bit] = first[bit] << (63 - bit);
                continue;
            }
            out[bit] = out[bit - degree] ^ out[bit - degree] >> degree;
            for (int k = 1; k < degree; k++)
                if (polynomial >> (degree - k) & 1) out[bit] ^= out[bit - k];
        }
    }
    return out;
}

/* ---- calls ---- */

static Generator *made(int type)
{
    switch (type) {
    case 100:
    case XORWOW: return new Streams<Xorwow>;
    case MRG32K3A: return new Streams<Mrg32k3a>;
    case PHILOX: return new Philox;
    case 200:
    case SOBOL32:
    case SOBOL64: return new Sobol;
    case 141:
    case 142:
    case 202:
    case 204: throw Status{UNSUPPORTED};
    }
    throw Status{TYPE_ERROR};
}

static int create(const char *name, Generator **out, int type, bool on_host)
{
    return guarded(name, STATUSES, [&] {
        *out = made(type);
        (*out)->type = type;
        (*out)->on_host = on_host;
    });
}

LIBRARY curandCreateGenerator(Generator **out, int type)
{ return create(__func__, out, type, false); }
LIBRARY curandCreateGeneratorHost(Generator **out, int type)
{ return create(__func__, out, type, true); }

LIBRARY curandDestroyGenerator(Generator *generator)
{
    if (!generator) return NOT_INITIALIZED;
    delete generator;
    return 0;
}

LIBRARY curandGetVersion(int *version)
{
    *version = 10400;
    return 0;
}

LIBRARY curandGetProperty(int which, int *value)
{
    const int parts[] = {10, 4, 0};
    if (which < 0 || which > 2) return OUT_OF_RANGE;
    *value = parts[which];
    return 0;
}

LIBRARY curandSetStream(Generator *generator, CUstream stream)
{
    if (!generator) return NOT_INITIALIZED;
    generator->stream = stream;
    return 0;
}

LIBRARY curandSetPseudoRandomGeneratorSeed(Generator *generator, unsigned long long seed)
{
    if (!generator) return NOT_INITIALIZED;
    if (generator->type >= 200) return TYPE_ERROR;
    generator->seed = seed;
    generator->seeded = false;
    return 0;
}

LIBRARY curandSetGeneratorOffset(Generator *generator, unsigned long long offset)
{
    if (!generator) return NOT_INITIALIZED;
    generator->offset = offset;
    generator->seeded = false;
    return 0;
}

LIBRARY curandSetGeneratorOrdering(Generator *generator, int order)
{
    if (!generator) return NOT_INITIALIZED;
    return guarded(__func__, STATUSES, [&] {
        bool quasi = generator->type >= 200;
        need(quasi == (order == QUASI_DEFAULT), OUT_OF_RANGE);
        need(quasi || order == BEST || order == DEFAULT || order == LEGACY, UNSUPPORTED);
        generator->seeded = false;
    });
}

LIBRARY curandSetQuasiRandomGeneratorDimensions(Generator *generator, unsigned dimensions)
{
    if (!generator) return NOT_INITIALIZED;
    return guarded(__func__, STATUSES, [&] {
        auto *sobol = dynamic_cast<Sobol *>(generator);
        need(sobol, TYPE_ERROR);
        need(dimensions >= 1 && dimensions <= 20000, OUT_OF_RANGE);
        need(dimensions <= DIMENSIONS, UNSUPPORTED);
        sobol->dimensions = dimensions;
        sobol->seeded = false;
    });
}

LIBRARY curandGenerateSeeds(Generator *generator)
{
    if (!generator) return NOT_INITIALIZED;
    return guarded(__func__, STATUSES, [&] {
        generator->begin();
        generator->seeded = true;
    });
}

/* Takes n numbers in the generator's stream, changed one by one. */
template <class T, class Take, class Change>
static int generate(const char *name, Generator *generator, T *out, size_t n, Take take,
                    Change change)
{
    if (!generator) return NOT_INITIALIZED;
    return in_stream(name, STATUSES, generator->stream, [=] {
        if (!generator->seeded) generator->begin();
        generator->seeded = true;
        std::vector<T> numbers(n);
        take(numbers.data());
        for (T &number : numbers) number = change(number);
        if (!generator->on_host) store(out, numbers);
        else if (n) memcpy(out, numbers.data(), n * sizeof(T));
    });
}

#define GENERATE(name, T, Number)                                                                  \
    LIBRARY name(Generator *generator, T *out, size_t n)                                           \
    {                                                                                              \
        return generate(                                                                           \
            __func__, generator, (Number *)out, n, [=](Number *to) { generator->take(to, n); },    \
            [](Number number) { return number; });                                                 \
    }
GENERATE(curandGenerate, unsigned, uint32_t)
GENERATE(curandGenerateLongLong, unsigned long long, uint64_t)
GENERATE(curandGenerateUniform, float, float)
GENERATE(curandGenerateUniformDouble, double, double)

#define NORMAL(name, T, change)                                                                    \
    LIBRARY name(Generator *generator, T *out, size_t n, T mean, T deviation)                      \
    {                                                                                              \
        if (generator && generator->type < 200 && n % 2) return LENGTH_NOT_MULTIPLE;               \
        return generate(                                                                           \
            __func__, generator, out, n, [=](T *to) { generator->take_normal(to, n); },            \
            [=](T number) { return (T)change(mean + deviation * number); });                       \
    }
NORMAL(curandGenerateNormal, float, )
NORMAL(curandGenerateNormalDouble, double, )
NORMAL(curandGenerateLogNormal, float, std::exp)
NORMAL(curandGenerateLogNormalDouble, double, std::exp)

REFUSED(curandCreatePoissonDistribution, UNSUPPORTED)
REFUSED(curandDestroyDistribution, UNSUPPORTED)
REFUSED(curandGeneratePoisson, UNSUPPORTED)
REFUSED(curandGeneratePoissonMethod, UNSUPPORTED)
REFUSED(curandGenerateBinomial, UNSUPPORTED)
REFUSED(curandGenerateBinomialMethod, UNSUPPORTED)
REFUSED(curandGetDirectionVectors32, UNSUPPORTED)
REFUSED(curandGetScrambleConstants32, UNSUPPORTED)
REFUSED(curandGetDirectionVectors64, UNSUPPORTED)
REFUSED(curandGetScrambleConstants64, UNSUPPORTED)
