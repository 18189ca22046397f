/* The generators' sequences, as NVIDIA documents them. */
#ifndef SOFTGPU_CURAND_ENGINES_H
#define SOFTGPU_CURAND_ENGINES_H

#include <array>

#include "../device.h"

/* XORWOW: an xorshift of 160 bits, which a Weyl sequence is added to. */
class Xorwow
{
    using Words = std::array<uint32_t, 5>;
    using Map = std::array<Words, 160>; /* what each bit becomes */

    Words words;
    uint32_t weyl;

    void advance()
    {
        uint32_t t = words[0] ^ words[0] >> 2;
        for (int i = 0; i < 4; i++) words[i] = words[i + 1];
        words[4] = words[4] ^ words[4] << 4 ^ t ^ t << 1;
    }
    static Words mapped(const Map &map, const Words &from)
    {
        Words out{};
        for (int bit = 0; bit < 160; bit++)
            if (from[bit / 32] >> bit % 32 & 1)
                for (int i = 0; i < 5; i++) out[i] ^= map[bit][i];
        return out;
    }
    static Map twice(const Map &map)
    {
        Map out;
        for (int bit = 0; bit < 160; bit++) out[bit] = mapped(map, map[bit]);
        return out;
    }

  public:
    static constexpr Size STREAMS = 4096;

    explicit Xorwow(uint64_t seed)
    {
        uint32_t low = 1099087573u * ((uint32_t)seed ^ 0xaad26b49u);
        uint32_t high = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xf7dcefddu);
        words = {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high,
                 5783321u + low};
        weyl = 6615241u + low + high;
    }
    /* The same many steps further, or 2^67 times as many. */
    struct Jump {
        Map map;
        uint32_t weyl;
    };
    static Jump jump(uint64_t steps, bool streams = false)
    {
        Map power, out;
        for (int bit = 0; bit < 160; bit++) {
            Xorwow one(0);
            one.words = {};
            one.words[bit / 32] = 1u << bit % 32;
            out[bit] = one.words;
            one.advance();
            power[bit] = one.words;
        }
        for (int i = 0; streams && i < 67; i++) power = twice(power);
        for (uint64_t left = steps; left; left >>= 1, power = twice(power))
            if (left & 1)
                for (Words &words : out) words = mapped(power, words);
        return {out, streams ? 0 : (uint32_t)(steps * 362437u)};
    }
    void follow(const Jump &jump)
    {
        words = mapped(jump.map, words);
        weyl += jump.weyl;
    }
    uint32_t bits()
    {
        advance();
        return words[4] + (weyl += 362437u);
    }
};

/* MRG32k3a: two recurrences, modulo two primes. */
class Mrg32k3a
{
    static constexpr uint64_t M1 = 4294967087u, M2 = 4294944443u;
    using Row = std::array<uint64_t, 3>;
    using Map = std::array<Row, 3>;

    Row one, other;

    static Row mapped(const Map &map, const Row &from, uint64_t modulus)
    {
        Row out{};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) out[i] = (out[i] + map[i][j] * from[j] % modulus) % modulus;
        return out;
    }
    static Map product(const Map &a, const Map &b, uint64_t modulus)
    {
        Map out{};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 3; k++)
                    out[i][j] = (out[i][j] + a[i][k] * b[k][j] % modulus) % modulus;
        return out;
    }
    static Map power(Map map, int doublings, uint64_t steps, uint64_t modulus)
    {
        Map out = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        for (int i = 0; i < doublings; i++) map = product(map, map, modulus);
        for (; steps; steps >>= 1, map = product(map, map, modulus))
            if (steps & 1) out = product(map, out, modulus);
        return out;
    }

  public:
    static constexpr Size STREAMS = 81920;
    static constexpr double NORM = 2.3283065498378288e-10;

    explicit Mrg32k3a(uint64_t seed) : one{12345, 12345, 12345}, other(one)
    {
        if (!seed) return;
        uint64_t low = (uint32_t)seed ^ 0x55555555u, high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaau;
        one = {low * 12345 % M1, high * 12345 % M1, low * 12345 % M1};
        other = {high * 12345 % M2, low * 12345 % M2, high * 12345 % M2};
    }
    struct Jump {
        Map one, other;
    };
    static Jump jump(uint64_t steps, bool streams = false)
    {
        int doublings = streams ? 76 : 0;
        return {power({{{0, 1, 0}, {0, 0, 1}, {M1 - 810728, 1403580, 0}}}, doublings, steps, M1),
                power({{{0, 1, 0}, {0, 0, 1}, {M2 - 1370589, 0, 527612}}}, doublings, steps, M2)};
    }
    void follow(const Jump &jump)
    {
        one = mapped(jump.one, one, M1);
        other = mapped(jump.other, other, M2);
    }
    double next()
    {
        uint64_t a = (1403580 * one[1] + (M1 - 810728) * one[0] % M1) % M1;
        uint64_t b = (527612 * other[2] + (M2 - 1370589) * other[0] % M2) % M2;
        one = {one[1], one[2], a}, other = {other[1], other[2], b};
        return (double)(a > b ? a - b : a + M1 - b);
    }
    uint32_t bits() { return (uint32_t)(next() * 1.000000048662); }
};

/* Philox4x32-10: four numbers of a counter, encrypted by the seed. */
inline std::array<uint32_t, 4> philox(uint64_t counter, uint64_t stream, uint64_t seed)
{
    std::array<uint32_t, 4> x = {(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)stream,
                                 (uint32_t)(stream >> 32)};
    uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++, low += 0x9e3779b9u, high += 0xbb67ae85u) {
        uint64_t a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
        x = {(uint32_t)(b >> 32) ^ x[1] ^ low, (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ high,
             (uint32_t)a};
    }
    return x;
}

/* Sobol's sequence in so many dimensions, by the direction numbers of Joe and Kuo. */
constexpr unsigned DIMENSIONS = 1024;
std::array<uint64_t, 64> sobol_directions(unsigned dimension);

#endif
