// Votes of one-versus-one machines: pair (a, b), a < b, positive for a; pairs in the order (0, 1),
// (0, 2), ..., (1, 2), ...

#pragma once

#include <algorithm>

#include "arrays.hpp"

namespace maxmargin {

// The decision values of each pair: what the support vectors of a say against b, parts[a][b - 1], and
// those of b against a, parts[b][a].
//
// Some a at a time, whose parts of b lie side by side.
inline void add_sides(Stack<const double> parts, Matrix<double> decisions) {
    constexpr Index some = 8;
    const Index classes = parts.count;
    for (Index first = 0; first < classes; first += some) {
        for (Index b = first + 1; b < classes; b++) {
            for (Index a = first; a < std::min(first + some, b); a++) {
                const double *of_a = parts[a][b - 1], *of_b = parts[b][a];
                double* out = decisions[a * (2 * classes - a - 1) / 2 + b - a - 1];
                for (Index i = 0; i < decisions.columns; i++) out[i] = of_a[i] + of_b[i];
            }
        }
    }
}

// Adds the votes of each row for each class, and the decision values for it.
inline void count_votes(
    Matrix<const double> decisions, Matrix<double> votes, Matrix<double> values) {
    Index pair = 0;
    for (Index a = 0; a < votes.rows; a++) {
        for (Index b = a + 1; b < votes.rows; b++, pair++) {
            const double* value = decisions[pair];
            double *for_a = votes[a], *for_b = votes[b], *sum_a = values[a], *sum_b = values[b];
            for (Index i = 0; i < votes.columns; i++) {
                for_a[i] += value[i] > 0 ? 1 : 0;
                for_b[i] += value[i] > 0 ? 0 : 1;
                sum_a[i] += value[i];
                sum_b[i] -= value[i];
            }
        }
    }
}

}  // namespace maxmargin
