// The one problem: its box, the worst KKT violation, the offsets, the dual and the primal value.
//
//     minimise (beta' K beta) / 2 + p' beta  subject to l <= beta <= u, and fixed sums over groups
//
// With the gradient G = K beta + p, beta is optimal exactly if every group has an offset b with
// G_i + b >= 0 where beta_i < u_i and G_i + b <= 0 where beta_i > l_i (see problem/dual.py).

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "arrays.hpp"

namespace maxmargin {

// The bounds and the group of each variable; no sum is fixed if there are 0 groups.
struct Box {
    Span<const double> lower, upper;
    Span<const std::int8_t> group;
    Index groups;

    Index size() const { return Index(lower.size()); }
    // Sets of variables to look at: the groups, or all together.
    Index parts() const { return std::max<Index>(groups, 1); }
    bool has(Index g, Index i) const { return groups < 2 || group[i] == g; }
    bool rises(const double* beta, Index i) const { return beta[i] < upper[i]; }
    bool falls(const double* beta, Index i) const { return beta[i] > lower[i]; }
};

// For each group: the largest -G that can rise, the smallest that can fall, and the offset b.
struct Sides {
    double *up, *down, *offset;

    Sides(Matrix<double> lines) : up(lines[0]), down(lines[1]), offset(lines[2]) {}
};

namespace detail {

// The sides of one group.
//
// b is the mean -G of the free variables, or else the middle of the two extremes, if there are any.
// Where every variable is at a bound, b may lie anywhere in an interval, and one variable that
// rounding of the sum leaves beside its bound would put b to an end of it. So, for b, a variable
// within the rounding error of the sum of a bound is at that bound. Only here is b chosen.
inline void survey_group(
    const Box& box, Index g, const double* beta, const double* gradient, const Sides& sides) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    double near = 0, count = 0;
    for (Index i = 0; i < box.size(); i++) {
        if (!box.has(g, i)) continue;
        near += std::abs(beta[i]);
        count += 1;
    }
    near *= std::numeric_limits<double>::epsilon() * (4 + std::sqrt(count));
    double up = -infinite, down = infinite, high = -infinite, low = infinite, total = 0;
    count = 0;
    for (Index i = 0; i < box.size(); i++) {
        if (!box.has(g, i)) continue;
        const double slope = -gradient[i];
        bool rises = box.rises(beta, i), falls = box.falls(beta, i);
        if (rises && slope > up) up = slope;
        if (falls && slope < down) down = slope;
        if (rises && falls) {  // what is within rounding of one bound does not tell b
            const bool above = box.upper[i] - beta[i] > near, below = beta[i] - box.lower[i] > near;
            rises = above || !below, falls = below || !above;
            if (rises && falls) total += slope, count += 1;
        }
        if (rises && slope > high) high = slope;
        if (falls && slope < low) low = slope;
    }
    if (count == 0) {
        const bool top = std::abs(high) < infinite, bottom = std::abs(low) < infinite;
        total = (top ? high : 0) + (bottom ? low : 0);
        count = top && bottom ? 2 : 1;
    }
    sides.up[g] = up, sides.down[g] = down, sides.offset[g] = total / count;
}

}  // namespace detail

// The worst violation, with the sides of each group.
//
// A group violates KKT by the distance of its extremes, variables without groups by the distance of
// theirs from 0.
inline double survey(
    const Box& box, const double* beta, const double* gradient, const Sides& sides) {
    double worst = 0;
    for (Index g = 0; g < box.parts(); g++) {
        detail::survey_group(box, g, beta, gradient, sides);
        const double up = sides.up[g], down = sides.down[g];
        worst = std::max(worst, box.groups ? up - down : std::max(up, -down));
    }
    return worst;
}

// What the dual and the primal value are made of.
struct Values {
    double slope, quadratic;  // p' beta, and beta' K beta / 2
    double loss;              // the sum of the largest -(G_i + b) t, and of b d
    double margin;            // the least y_i f(x_i) where a bound is infinite
    double violation;
};

// The values at beta for some offsets, which may be those of `sides`.
//
// Where scaling f up cannot satisfy a constraint, y_i f(x_i) is infinite and its excess is in the
// loss.
inline Values values_of(
    const Box& box, const double* linear, Span<const double> sums, const double* beta,
    const double* gradient, const Sides& sides, const double* offsets) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    Values found = {0, 0, 0, infinite, survey(box, beta, gradient, sides)};
    double excess = 0, price = 0;
    bool scales = true;
    for (Index i = 0; i < box.size(); i++) {
        const double residual = gradient[i] + (box.groups ? offsets[box.group[i]] : 0);
        found.quadratic += 0.5 * beta[i] * (gradient[i] - linear[i]);
        found.slope += beta[i] * linear[i];
        if (box.lower[i] == -infinite || box.upper[i] == infinite) {
            const double sign = box.upper[i] == infinite ? 1 : -1;
            scales = scales && sign * linear[i] < 0;
            const double here = scales ? 1 - residual / linear[i] : infinite;
            found.margin = std::min(found.margin, here);
            excess += std::max(0.0, -sign * residual);
            price = std::max(price, 2 * std::abs(beta[i]));
        } else {
            found.loss -= residual * (residual < 0 ? box.upper[i] : box.lower[i]);
        }
    }
    for (Index g = 0; g < box.groups; g++) found.loss += offsets[g] * sums[g];
    if (!scales) found.loss += price * excess, found.margin = infinite;
    return found;
}

}  // namespace maxmargin
