// Loops over some rows of a matrix: their weighted sum, some of their columns, their mirror images.

#pragma once

#include <algorithm>
#include <cstdint>

#include "arrays.hpp"

namespace maxmargin {

constexpr Index TOGETHER = 4;  // rows that are added before float64 takes over, or mirrored

// out[i] += sum over j of coef[j] rows[places[j]][i] for start <= i < stop; TOGETHER rows are added
// in the type of coef.
template <class T, class Real>
void add_rows(
    Matrix<const T> rows, Span<const std::int64_t> places, Span<const Real> coef, Index start,
    Index stop, double* __restrict out) {
    for (Index j = 0; j < Index(places.size()); j += TOGETHER) {
        const Real a = coef[j], b = coef[j + 1], c = coef[j + 2], d = coef[j + 3];
        const T *p = rows[places[j]], *q = rows[places[j + 1]];
        const T *r = rows[places[j + 2]], *s = rows[places[j + 3]];
        for (Index i = start; i < stop; i++)
            out[i] += double(a * p[i] + b * q[i] + (c * r[i] + d * s[i]));
    }
}

// out[into[i]][j] = rows[lines[i]][columns[j]] for start <= i < stop.
template <class T, class To>
void gather_entries(
    Matrix<const T> rows, Span<const std::int64_t> lines, Span<const std::int64_t> columns,
    Span<const std::int64_t> into, Index start, Index stop, Matrix<To> out) {
    for (Index i = start; i < stop; i++) {
        const T* from = rows[lines[i]];
        To* to = out[into[i]];
        for (Index j = 0; j < Index(columns.size()); j++) to[j] = To(from[columns[j]]);
    }
}

// Fills rows missing[start:stop] of a symmetric matrix whose row i is at place[i].
//
// Their entries in the missing columns are given; those in the columns of the rows that are present
// are the mirror images of entries of these.
template <class T>
void complete(
    Matrix<T> values, Span<const std::int64_t> place, Span<const std::int64_t> present,
    Span<const std::int64_t> missing, Matrix<const T> entries, Index start, Index stop) {
    for (Index first = start; first < stop; first += TOGETHER) {
        const Index last = std::min(first + TOGETHER, stop);
        for (const std::int64_t k : present) {
            const T* row = values[place[k]];
            for (Index r = first; r < last; r++) values[place[missing[r]]][k] = row[missing[r]];
        }
        for (Index r = first; r < last; r++)
            for (Index c = 0; c < Index(missing.size()); c++)
                values[place[missing[r]]][missing[c]] = entries[r][c];
    }
}

}  // namespace maxmargin
