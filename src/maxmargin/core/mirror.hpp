// A symmetric matrix of which the half below the diagonal was computed.
//
// Its mirror image is written a square of 8 x 8 entries at a time, which is turned in registers:
// for each bit of their numbers, lines that differ in it swap the lanes that differ in it.

#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "simd.hpp"

namespace maxmargin {

constexpr Index SQUARE = 8;         // rows and columns that are turned in registers
constexpr Index MIRROR_STRIP = 96;  // rows that are mirrored together: long pieces are written, from
                                    // the cache (speed.md, "Constants")

namespace detail {

template <Index BIT, bool UPPER, class V, Index... LANE>
inline V merged(V low, V high, std::integer_sequence<Index, LANE...>) {
    return __builtin_shufflevector(
        low, high, ((LANE & BIT ? SQUARE + LANE - BIT : LANE) + (UPPER ? BIT : 0))...);
}

template <Index BIT, class V, Index... LINE>
inline void swap_lanes(std::array<V, SQUARE>& lines, std::integer_sequence<Index, LINE...> all) {
    std::array<V, SQUARE> old = lines;
    ((lines[LINE] = merged<BIT, (LINE & BIT) != 0>(old[LINE & ~BIT], old[LINE | BIT], all)), ...);
}

}  // namespace detail

// The square at `to` becomes the transpose of the one at `from`; lines of both are `step` apart.
template <class T>
inline void transpose(const T* from, T* to, Index step) {
    using V = Vector<T, SQUARE>;
    constexpr auto all = std::make_integer_sequence<Index, SQUARE>();
    std::array<V, SQUARE> lines;
    for (Index k = 0; k < SQUARE; k++) lines[k] = load<SQUARE>(from + k * step);
    detail::swap_lanes<4>(lines, all);
    detail::swap_lanes<2>(lines, all);
    detail::swap_lanes<1>(lines, all);
    for (Index k = 0; k < SQUARE; k++) store(lines[k], to + k * step);
}

// out(i, j) = out(j, i) for top <= j < bottom and left <= i < right, i < j.
template <class T>
void mirror_rows(View<T> out, Index top, Index bottom, Index left, Index right) {
    Index step = std::max(out.row_step, out.column_step);
    for (Index i = left; i < std::min(right, bottom); i += SQUARE) {
        for (Index j = top; j < bottom; j += SQUARE) {
            if (i + SQUARE <= std::min(j, right) && j + SQUARE <= bottom) {
                transpose(&out(j, i), &out(i, j), step);
                continue;
            }
            for (Index row = j; row < std::min(j + SQUARE, bottom); row++)
                for (Index column = i; column < std::min({i + SQUARE, right, row}); column++)
                    out(column, row) = out(row, column);
        }
    }
}

// Copies the entries below the diagonal to those above it; rows or columns of `out` lie in pieces.
template <class T>
void mirror(View<T> out) {
    for (Index top = 0; top < out.rows; top += MIRROR_STRIP) {
        Index bottom = std::min(top + MIRROR_STRIP, out.rows);
        mirror_rows(out, top, bottom, 0, bottom);
    }
}

}  // namespace maxmargin
