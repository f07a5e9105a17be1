// Dual coordinate descent for linear machines: sweeps over the active variables in random order.
//
//     G = x_i . w - m . w - (p_i - |m|^2 - rho) S + b - y_i + q_i beta_i    with S the sum of beta
//     beta_i = the minimiser of the quadratic with this slope and epsilon |beta|, within the bounds
//     w, m . w and S follow
//
// A variable at a bound whose outward slope exceeds a share of the last sweep's worst violation is
// left out. See solvers/linear/dual_coordinate_descent.py.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "data_rows.hpp"

namespace maxmargin {

constexpr Index RUN = 16;  // neighbours that stay together in the random order: a tenth of a sweep
                           // beyond the cache
constexpr double PINNED = 0.25;  // share of the worst violation beyond which an outward gradient
                                 // leaves its variable out

// Puts runs of the active variables in random order; changes the random bits.
//
// By Fisher and Yates, over runs of neighbours, which the processor reads ahead. A few rows are in
// cache anyhow, and are shuffled one by one.
inline void shuffle(Index* order, Index active, std::uint64_t& bits) {
    const Index run = active >= 64 * RUN ? RUN : 1, runs = active / run;
    for (Index k = 0; k < runs - 1; k++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        const Index j = k + Index(bits % std::uint64_t(runs - k));
        std::swap_ranges(order + k * run, order + k * run + run * (j > k), order + j * run);
    }
}

// What a step reads of its variable, together in memory.
struct Variable {
    double beta, y, lower, upper, curvature, square, shift;  // |x_i - m|^2 and p_i at the end
};

// What sweeps hand on to the next.
struct SweepState {
    double offset, total, mean_score;  // b, S and m . w
    double highest, lowest;            // slopes beyond which a variable at a bound is left out
    double violation, gap;             // of the last sweep
    Index active;                      // how many variables of the order are active
    std::uint64_t random;
};

// The minimiser of slope (t - beta) + square (t - beta)^2 / 2 + epsilon |t|.
inline double best_value(double beta, double slope, double square, double epsilon) {
    const double centre = beta - slope / square, reach = epsilon / square;
    if (centre > reach) return centre - reach;
    return centre < -reach ? centre + reach : 0;
}

// The most that a change of this beta gains at a fixed w: its term of the gap.
inline double most_won(const Variable& v, double slope, double epsilon) {
    if (epsilon == 0 && v.curvature == 0)
        return slope * (v.beta - (slope > 0 ? v.lower : v.upper));
    const double best = best_value(v.beta, slope, std::max(v.curvature, 1e-30), epsilon);
    const double value = std::min(std::max(best, v.lower), v.upper), move = value - v.beta;
    return -move * (slope + 0.5 * v.curvature * move) -
           epsilon * (std::abs(value) - std::abs(v.beta));
}

struct SweepProblem {
    double epsilon;      // of epsilon |beta|
    double penalty;      // rho
    double mean_square;  // |m|^2
};

// Sweeps until the estimated gap is <= target, or `work` rows are visited; returns their number.
template <class Rows>
Index sweep(
    const Rows& rows, Variable* variables, const SweepProblem& problem, double* w,
    Span<Index> order, SweepState& state, double target, Index work) {
    const auto [epsilon, penalty, mean_square] = problem;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    Index visited = 0;
    while (visited < work) {
        shuffle(order.data(), state.active, state.random);
        visited += state.active;
        double highest = 0, lowest = 0, gap = 0;
        Index kept = 0;
        for (Index k = 0; k < state.active; k++) {
            const Index i = order[k];
            Variable& v = variables[i];
            const double beta = v.beta;
            double slope = rows.product(i, w) - state.mean_score + state.offset - v.y;
            slope += (mean_square - v.shift + penalty) * state.total + v.curvature * beta;
            const double right = beta >= 0 ? slope + epsilon : slope - epsilon;
            const double left = beta > 0 ? slope + epsilon : slope - epsilon;
            const bool rises = beta < v.upper, falls = beta > v.lower;
            if ((right < 0 && rises) || (left > 0 && falls)) {
                const double violation = right < 0 ? right : left;
                highest = std::max(highest, violation), lowest = std::min(lowest, violation);
                gap += most_won(v, slope, epsilon);
                const double square = std::max(v.square + penalty + v.curvature, 1e-12);
                const double best = best_value(beta, slope, square, epsilon);
                v.beta = std::min(std::max(best, v.lower), v.upper);
                state.total += v.beta - beta;
                state.mean_score += (v.beta - beta) * v.shift;
                rows.add(i, v.beta - beta, w);
            } else if ((right > state.highest || !rises) && (left < state.lowest || !falls)) {
                continue;
            }
            order[kept++] = i;
        }
        state.active = kept;
        state.offset += penalty * state.total;
        state.highest = highest > 0 ? PINNED * highest : infinite;
        state.lowest = lowest < 0 ? PINNED * lowest : -infinite;
        state.violation = highest - lowest + penalty * std::abs(state.total);
        state.gap = gap + penalty * state.total * state.total;
        if (state.gap <= target) break;
        if (state.active == 0) {  // all are at bounds, but b still changes
            state.active = Index(order.size()), state.highest = infinite, state.lowest = -infinite;
            for (Index k = 0; k < state.active; k++) order[k] = k;
        }
    }
    return visited;
}

}  // namespace maxmargin
