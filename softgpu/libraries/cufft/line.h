/* Fourier transforms of one line: by its prime factors, or as a convolution where one is large. All in
   doubles. */
#ifndef SOFTGPU_CUFFT_LINE_H
#define SOFTGPU_CUFFT_LINE_H

#include <cmath>
#include <memory>

#include "../device.h"

using Complex = std::complex<double>;

/* The complex number at this part of the unit circle. */
inline Complex at_turn(double part) { return std::polar(1.0, 2 * M_PI * part); }

class Line
{
    static constexpr size_t LARGE = 61; /* a larger prime factor takes a convolution */

    size_t n;
    double sign;
    std::vector<size_t> factors;
    std::vector<Complex> turns; /* or the chirp */
    std::unique_ptr<Line> there, back;
    std::vector<Complex> filter;

    void prepare_convolution()
    {
        size_t room = 1;
        while (room < 2 * n) room *= 2;
        there = std::make_unique<Line>(room, -1), back = std::make_unique<Line>(room, 1);
        std::vector<Complex> chirps(room);
        for (size_t i = 0; i < n; i++) {
            turns[i] = at_turn(sign * (double)((unsigned __int128)i * i % (2 * n)) / (2.0 * n));
            chirps[i] = chirps[(room - i) % room] = std::conj(turns[i]);
        }
        filter = (*there)(chirps);
    }

    /* Of every step-th element of `from`: its parts, transformed, and what they sum up to. */
    void combine(const Complex *from, Complex *to, size_t length, size_t step, size_t factor) const
    {
        if (length == 1) {
            *to = *from;
            return;
        }
        size_t parts = factors[factor], part = length / parts;
        for (size_t r = 0; r < parts; r++)
            combine(from + r * step, to + r * part, part, step * parts, factor + 1);
        Complex terms[LARGE + 1];
        for (size_t k = 0; k < part; k++) {
            for (size_t r = 0; r < parts; r++) terms[r] = to[r * part + k] * turns[r * k * step];
            for (size_t q = 0; q < parts; q++) {
                Complex sum = terms[0];
                for (size_t r = 1; r < parts; r++)
                    sum += terms[r] * turns[r * q % parts * (n / parts)];
                to[q * part + k] = sum;
            }
        }
    }

    std::vector<Complex> convolved(const std::vector<Complex> &in) const
    {
        std::vector<Complex> wide(filter.size());
        for (size_t i = 0; i < n; i++) wide[i] = in[i] * turns[i];
        wide = (*there)(wide);
        for (size_t i = 0; i < wide.size(); i++) wide[i] *= filter[i] / (double)wide.size();
        wide = (*back)(wide);
        wide.resize(n);
        for (size_t i = 0; i < n; i++) wide[i] *= turns[i];
        return wide;
    }

  public:
    Line(size_t n, int sign) : n(n), sign(sign), turns(n)
    {
        size_t left = n;
        for (size_t factor : {4, 2}) /* then odd ones */
            for (; left % factor == 0; left /= factor) factors.push_back(factor);
        for (size_t factor = 3; factor <= LARGE; factor += 2)
            for (; left % factor == 0; left /= factor) factors.push_back(factor);
        if (left > 1) prepare_convolution();
        else
            for (size_t i = 0; i < n; i++) turns[i] = at_turn(sign * (double)i / n);
    }
    std::vector<Complex> operator()(const std::vector<Complex> &in) const
    {
        if (filter.size()) return convolved(in);
        std::vector<Complex> out(n);
        combine(in.data(), out.data(), n, 1, 0);
        return out;
    }
};

#endif
