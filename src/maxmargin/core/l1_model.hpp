// The minimum of q(x) = (x - w)' H (x - w) / 2 - g . (x - w) + |x|_1 by coordinate descent.
//
// One x_j at a time is set to its best value, and the slope of the smooth part follows: a row of H.

#pragma once

#include <algorithm>
#include <cmath>

#include "products.hpp"

namespace maxmargin {

// Sweeps over x until no condition is violated by more than `enough`; returns the worst violation.
inline double descend_l1(Matrix<const double> H, double* x, double* slope, double enough, Index sweeps) {
    double violation = 0;
    for (Index sweep = 0; sweep < sweeps; sweep++) {
        violation = 0;
        for (Index j = 0; j < H.columns; j++) {
            const double here = x[j], curvature = H[j][j];
            const double beyond = here == 0 ? std::max(std::abs(slope[j]) - 1, 0.0)
                                            : std::abs(slope[j] + (here > 0 ? 1 : -1));
            if (beyond == 0) continue;
            violation = std::max(violation, beyond);
            double best = 0;
            if (curvature > 0) {
                const double centre = here - slope[j] / curvature, reach = 1 / curvature;
                best = centre > reach ? centre - reach : std::min(centre + reach, 0.0);
            }
            if (best == here) continue;
            x[j] = best;
            add_multiple(best - here, H[j], slope, H.columns);
        }
        if (violation <= enough) break;
    }
    return violation;
}

}  // namespace maxmargin
