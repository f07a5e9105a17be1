// How far a kernel matrix is from being symmetric, and from being definite in its 2 x 2 minors.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lanes.hpp"

namespace maxmargin {

struct Entry {
    Index row, column;
};

// Where |K_ij - K_ji| is largest: every tile is compared with its mirror image, once.
template <class T>
Entry asymmetry(Matrix<const T> K) {
    constexpr Index TILE = 64;  // a tile and its mirror image stay in cache
    const Index n = K.rows;
    Entry where = {0, 0};
    T worst = 0;
    for (Index top = 0; top < n; top += TILE) {
        for (Index left = top; left < n; left += TILE) {
            for (Index i = top; i < std::min(top + TILE, n); i++) {
                for (Index j = left; j < std::min(left + TILE, n); j++) {
                    const T difference = std::abs(K[i][j] - K[j][i]);
                    if (difference > worst) worst = difference, where = {i, j};
                }
            }
        }
    }
    return where;
}

// Where |K_ij| - scales_i scales_j is largest, i < j; scales are in the precision of K.
template <class T>
Entry largest_minor(Matrix<const T> K, const T* scales) {
    using V = Lanes<T>;
    constexpr Index L = LANES<T>;
    T worst = -std::numeric_limits<T>::infinity();
    Entry where = {0, 0};
    for (Index i = 0; i < K.rows; i++) {
        const auto excess = [&](Index j) { return std::abs(K[i][j]) - scales[i] * scales[j]; };
        const V scale = every(scales[i]);
        Index j = i + 1;
        for (; j + L <= K.rows; j += L) {
            const V k = load<L>(K[i] + j);
            const V over = (k < 0 ? -k : k) - scale * load<L>(scales + j);
            if (!(largest_lane<T>(over) > worst)) continue;
            for (Index l = j; l < j + L; l++)
                if (excess(l) > worst) worst = excess(l), where = {i, l};
        }
        for (; j < K.rows; j++)
            if (excess(j) > worst) worst = excess(j), where = {i, j};
    }
    return where;
}

}  // namespace maxmargin
