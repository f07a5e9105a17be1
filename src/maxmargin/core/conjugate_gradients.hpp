// Conjugate gradients on a face of the box: the free variables, the others fixed at their bounds.
//
//     r = -(slope of the free variables), minus its mean if their sum must stay
//     p = r; repeat
//         t = r.r / p.Kp, but not farther than the nearest bound
//         x += t p,  slope += t K p
//         at a bound: fix that variable and restart from p = r
//         r = -slope again,  p = r + (r.r / last r.r) p
//
// with Kp = X (X'p) + q p over the rows of the free variables alone. Every step lowers the
// objective, and none leaves the box or changes the sum.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "data_rows.hpp"

namespace maxmargin {

constexpr int FACE_STEPS = 300;  // most in one call: then sweeps choose the free variables anew

// The free variables x, the slope of the objective, and what is known of each.
struct Face {
    Span<double> x;
    double* slope;
    const double *q, *lower, *upper;
    bool sum_stays;

    double wall(Index i, double way) const { return way > 0 ? upper[i] : lower[i]; }
};

// Memory: which variables are free, p for each, and X'p.
struct FaceSpace {
    bool* free;
    double* p;
    Span<double> w;
};

// Descends until the largest slope is `remaining` times the first one, or at most `rounding`.
template <class Rows>
void minimise_on_face(
    const Rows& rows, const Face& face, const FaceSpace& space, double remaining,
    double rounding) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto& [x, slope, q, lower, upper, sum_stays] = face;
    const auto& [free, p, w] = space;
    const Index n = Index(x.size());
    double enough = -1, last = infinite;
    for (int step = 0; step < FACE_STEPS; step++) {
        double mean = 0, count = 0, square = 0, largest = 0;
        for (Index i = 0; i < n; i++)
            if (free[i]) mean += slope[i], count += 1;
        if (count < 2) return;
        mean = sum_stays ? mean / count : 0;
        for (Index i = 0; i < n; i++) {
            if (!free[i]) continue;
            square += (mean - slope[i]) * (mean - slope[i]);
            largest = std::max(largest, std::abs(mean - slope[i]));
        }
        if (enough < 0) enough = std::max(remaining * largest, rounding);
        if (largest <= enough) return;
        std::fill(w.begin(), w.end(), 0.0);
        double along = 0, length = 0, curvature = 0;  // r.p, p.p, p.Kp
        for (Index i = 0; i < n; i++) {
            if (!free[i]) continue;
            p[i] = mean - slope[i] + square / last * p[i];
            along += (mean - slope[i]) * p[i];
            length += p[i] * p[i];
            curvature += q[i] * p[i] * p[i];
            rows.add(i, p[i], w.data());
        }
        curvature += dot(w.data(), w.data(), Index(w.size()));
        if (!(along > 0)) return;  // p does not descend: rounding errors are all that is left
        double t = curvature > 1e-14 * length ? along / curvature : infinite;
        for (Index i = 0; i < n; i++)
            if (free[i] && p[i] != 0) t = std::min(t, (face.wall(i, p[i]) - x[i]) / p[i]);
        last = square;
        for (Index i = 0; i < n; i++) {
            if (!free[i] || p[i] == 0) continue;
            const double wall = face.wall(i, p[i]);
            const bool hit = (wall - x[i]) / p[i] <= t;
            x[i] = hit ? wall : x[i] + t * p[i];
            slope[i] += t * (rows.product(i, w.data()) + q[i] * p[i]);
            if (hit) free[i] = false, last = infinite;  // square / infinity = 0: restart
        }
    }
}

}  // namespace maxmargin
