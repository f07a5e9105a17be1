// Inner products of vectors, and sums of their multiples, in float64.
//
// The terms of an inner product are added in lanes, which are added up at the end: an order that
// depends on the width of a register only. A loop over multiples needs no order and is left to the
// compiler.

#pragma once

#include "simd.hpp"

namespace maxmargin {

namespace detail {

constexpr Index DOUBLES = BYTES / 8;
using Doubles = Vector<double, DOUBLES>;

template <class T>
inline Doubles load_doubles(const T* from) {
    return __builtin_convertvector(load<DOUBLES>(from), Doubles);
}

inline double sum_of_lanes(Doubles lanes) {
    double sum = 0;
    for (Index l = 0; l < DOUBLES; l++) sum += lanes[l];
    return sum;
}

}  // namespace detail

// x . w, over n columns.
template <class T, class U>
inline double dot(const T* x, const U* w, Index n) {
    using namespace detail;
    Doubles a = {}, b = {}, c = {}, d = {};
    Index k = 0;
    for (; k + 4 * DOUBLES <= n; k += 4 * DOUBLES) {
        a += load_doubles(x + k) * load_doubles(w + k);
        b += load_doubles(x + k + DOUBLES) * load_doubles(w + k + DOUBLES);
        c += load_doubles(x + k + 2 * DOUBLES) * load_doubles(w + k + 2 * DOUBLES);
        d += load_doubles(x + k + 3 * DOUBLES) * load_doubles(w + k + 3 * DOUBLES);
    }
    for (; k + DOUBLES <= n; k += DOUBLES) a += load_doubles(x + k) * load_doubles(w + k);
    double sum = sum_of_lanes((a + b) + (c + d));
    for (; k < n; k++) sum += double(x[k]) * double(w[k]);
    return sum;
}

// w += t x, over n columns.
template <class T>
inline void add_multiple(double t, const T* __restrict x, double* __restrict w, Index n) {
    for (Index k = 0; k < n; k++) w[k] += t * double(x[k]);
}

// out += the sum of multiples of some rows, four at a time: a quarter of the time of one by one.
//
// `row(j)` begins at the first column, `multiple(j)` is its factor, for 0 <= j < count.
template <class Row, class Multiple>
inline void add_rows(
    Index count, const Row& row, const Multiple& multiple, double* __restrict out, Index n) {
    Index j = 0;
    for (; j + 4 <= count; j += 4) {
        const double a = multiple(j), b = multiple(j + 1), c = multiple(j + 2), d = multiple(j + 3);
        if (a == 0 && b == 0 && c == 0 && d == 0) continue;
        const double *x = row(j), *y = row(j + 1), *z = row(j + 2), *w = row(j + 3);
        for (Index k = 0; k < n; k++) out[k] += a * x[k] + b * y[k] + (c * z[k] + d * w[k]);
    }
    for (; j < count; j++)
        if (const double a = multiple(j); a != 0) add_multiple(a, row(j), out, n);
}

}  // namespace maxmargin
