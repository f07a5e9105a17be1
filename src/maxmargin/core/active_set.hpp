// The active-set method: from nearly optimal to optimal, to the last digits.
//
// A converged solver has found which variables are free. Their values then solve a linear system,
//
//     K_FF delta + b = -G_F,   the sum of delta over each group = 0,
//
// whose solution is exact where SMO would need ever smaller steps. A free variable that would leave
// its box stops at the bound and is fixed there; a bound variable that violates KKT becomes free.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem.hpp"
#include "products.hpp"

namespace maxmargin {

constexpr int ACTIVE_SET_ROUNDS = 10;  // most changes of the active set: each solves the system again
constexpr double SETTLED = 1e-12;  // violation relative to the largest |G|: rounding leaves as much
constexpr double DEPENDENT = 1e-12;  // pivot relative to its diagonal entry: rounding leaves as much
                                     // of a zero one

// K[rows, rows], in which both copies of a regressor's variable have the same row.
struct Kernel {
    Matrix<const double> K;
    const Index* rows;

    const double* operator[](Index i) const { return K[rows[i]]; }
    double operator()(Index i, Index j) const { return K[rows[i]][rows[j]]; }
};

// Memory for problems of up to `variables`, of which at most `free` are free.
struct ActiveSetSpace {
    Matrix<double> system;   // (free + groups + 2, free)
    Matrix<double> sides;    // (3, groups)
    Matrix<double> best;     // (2, variables): beta and its gradient
    Span<double> product;    // of the rows of K
    Span<bool> is_free;      // of the variables
    Span<Index> F;           // the free variables
    Matrix<Index> worst;     // (groups, 2): the variables to raise and to lower
};

namespace detail {

// Cholesky's U with U'U = A, in place of the upper triangle; inverse_i = 1 / U_ii.
//
// Where a pivot vanishes, row i of U and inverse_i are 0: the variable depends on those before it.
inline void factorize(Matrix<double> A, Index m, double* inverse) {
    for (Index i = 0; i < m; i++) {
        double* row = A[i] + i;
        const double diagonal = row[0];
        add_rows(
            i, [&](Index j) { return A[j] + i; }, [&](Index j) { return -A[j][i]; }, row, m - i);
        inverse[i] = row[0] > DEPENDENT * diagonal ? 1 / std::sqrt(row[0]) : 0;
        for (Index k = 0; k < m - i; k++) row[k] *= inverse[i];
    }
}

// x = (U'U)^-1 x in place, 0 for variables whose pivot vanishes.
inline void substitute(Matrix<double> U, const double* inverse, double* x, Index m) {
    for (Index i = 0; i < m; i++) {
        x[i] *= inverse[i];
        add_multiple(-x[i], U[i] + i + 1, x + i + 1, m - i - 1);
    }
    for (Index i = m - 1; i >= 0; i--)
        x[i] = (x[i] - dot(U[i] + i + 1, x + i + 1, m - i - 1)) * inverse[i];
}

}  // namespace detail

// A problem with few free variables, a nearly optimal beta, and its gradient.
class ActiveSet {
   public:
    ActiveSet(const Kernel& K, const double* linear, const Box& box, double* beta, double* gradient,
              const ActiveSetSpace& space)
        : K_(K), linear_(linear), box_(box), beta_(beta), gradient_(gradient), space_(space) {}

    // `space.best` becomes the beta of least violation among the iterates, with its gradient.
    void solve() {
        for (Index i = 0; i < box_.size(); i++)
            space_.is_free[i] = box_.rises(beta_, i) && box_.falls(beta_, i);
        double least = violation();
        keep();
        for (int round = 0; round < ACTIVE_SET_ROUNDS; round++) {
            const Index m = list_free();
            if (least <= SETTLED * largest_gradient() || m == 0 || m > room()) return;
            newton_step(m);
            const bool whole = advance(m);
            bring_gradient();
            const double now = violation();
            bool by_rounding = whole && now > 0.1 * least;
            for (Index g = 0; g < box_.parts(); g++)
                by_rounding &= space_.is_free[worst(g)[0]] && space_.is_free[worst(g)[1]];
            if (now < least) least = now, keep();
            if (by_rounding) return;
            for (Index g = 0; g < box_.parts() && whole; g++)
                space_.is_free[worst(g)[0]] = space_.is_free[worst(g)[1]] = true;
        }
    }

    // G = K beta + p.
    void bring_gradient() {
        std::fill(space_.product.begin(), space_.product.end(), 0.0);
        add_rows(
            box_.size(), [&](Index i) { return K_[i]; }, [&](Index i) { return beta_[i]; },
            space_.product.data(), Index(space_.product.size()));
        for (Index i = 0; i < box_.size(); i++)
            gradient_[i] = space_.product[K_.rows[i]] + linear_[i];
    }

   private:
    const Kernel& K_;
    const double* linear_;
    const Box& box_;
    double *beta_, *gradient_;
    const ActiveSetSpace& space_;

    Index room() const { return Index(space_.F.size()); }
    Index* worst(Index g) const { return space_.worst[g]; }
    double* right(Index h) const { return space_.system[room() + 1 + h]; }

    void keep() {
        std::copy_n(beta_, box_.size(), space_.best[0]);
        std::copy_n(gradient_, box_.size(), space_.best[1]);
    }

    // Lists the free variables, as many as there is room for; returns how many there are.
    Index list_free() {
        Index m = 0;
        for (Index i = 0; i < box_.size(); i++) {
            if (!space_.is_free[i]) continue;
            if (m < room()) space_.F[m] = i;
            m++;
        }
        return m;
    }

    double largest_gradient() const {
        double value = 0;
        for (Index i = 0; i < box_.size(); i++) value = std::max(value, std::abs(gradient_[i]));
        return value;
    }

    // The worst violation; notes the variables of each group that are to rise and to fall.
    double violation() {
        const Sides sides(space_.sides);
        const double found = survey(box_, beta_, gradient_, sides);
        for (Index g = 0; g < box_.parts(); g++) worst(g)[0] = worst(g)[1] = 0;
        for (Index i = 0; i < box_.size(); i++) {
            const Index g = box_.groups < 2 ? 0 : box_.group[i];
            if (box_.rises(beta_, i) && -gradient_[i] == sides.up[g]) worst(g)[0] = i;
            if (box_.falls(beta_, i) && -gradient_[i] == sides.down[g]) worst(g)[1] = i;
        }
        return found;
    }

    // The share of a step at which beta_i is at its bound.
    double way_to_go(Index i, double delta) const {
        if (delta == 0) return std::numeric_limits<double>::infinity();
        return ((delta > 0 ? box_.upper[i] : box_.lower[i]) - beta_[i]) / delta;
    }

    // Moves the m free variables until the first is at a bound; returns whether none is.
    bool advance(Index m) {
        const double* delta = right(0);
        double share = 1;
        for (Index k = 0; k < m; k++) share = std::min(share, way_to_go(space_.F[k], delta[k]));
        for (Index k = 0; k < m; k++) {
            const Index i = space_.F[k];
            if (way_to_go(i, delta[k]) <= share) {
                beta_[i] = delta[k] > 0 ? box_.upper[i] : box_.lower[i];
                space_.is_free[i] = false;
            } else {
                beta_[i] += share * delta[k];
            }
        }
        return share == 1;
    }

    // right(0) = the delta that makes G + b vanish on the m free variables and keeps the sums.
    //
    // With E the membership of the variables in the groups, delta = -K^-1 (G + E b), and
    // E' delta = 0 gives b. Where E' delta = 0, adding a multiple of E E' to K changes nothing; but
    // then a pivot vanishes only if the variable can be replaced by those before it (duplicate rows,
    // both copies of a regressor's row, more rows than the kernel has dimensions). Such a variable
    // does not move.
    void newton_step(Index m) {
        const Matrix<double>& A = space_.system;
        const Span<Index>& F = space_.F;
        double* inverse = A[room()];
        double shift = 0;
        for (Index k = 0; k < (box_.groups ? m : 0); k++) shift += K_(F[k], F[k]) / double(m);
        for (Index k = 0; k < m; k++) {
            for (Index l = k; l < m; l++)
                A[k][l] = K_(F[k], F[l]) + (box_.group[F[k]] == box_.group[F[l]] ? shift : 0);
            right(0)[k] = -gradient_[F[k]];
            for (Index g = 0; g < box_.groups; g++) right(1 + g)[k] = box_.group[F[k]] == g;
        }
        for (Index g = 0; g < box_.groups; g++) {  // any b will do: with this one, and K small,
            const double members = sum_of(right(1 + g), g, m);  // delta does not cancel
            const double mean = sum_of(right(0), g, m) / std::max(members, 1.0);
            add_multiple(-mean, right(1 + g), right(0), m);
        }
        detail::factorize(A, m, inverse);
        for (Index h = 0; h <= box_.groups; h++) detail::substitute(A, inverse, right(h), m);
        for (Index g = 0; g < box_.groups; g++) {
            const double total = sum_of(right(1 + g), g, m);
            if (!(total > 0)) continue;
            for (Index h = 0; h <= box_.groups; h++)
                if (h == 0 || h > g + 1)
                    add_multiple(-sum_of(right(h), g, m) / total, right(1 + g), right(h), m);
        }
    }

    // The sum of the entries that belong to group g.
    double sum_of(const double* x, Index g, Index m) const {
        double total = 0;
        for (Index k = 0; k < m; k++)
            if (box_.has(g, space_.F[k])) total += x[k];
        return total;
    }
};

}  // namespace maxmargin
