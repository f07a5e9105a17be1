// From a known optimum to its neighbours, by block pivots: the loop of maxmargin.solvers.qp.path.
//
// At the known optimum the units F are free, the others B at a knot of their staircases, and
//
//     (beta_F, b, q_B) = T (q_F, d, beta_B).
//
// The right-hand side is given, the left-hand side follows. In the neighbour other numbers are
// given. With J the units that have changed sides since, beta for q or q for beta, the x with
//
//     T_JJ x = (what must follow in J) - (what follows in J if nobody changes sides)
//
// is by how much what was given of J moves, and sum_j x_j T_j is added to all that follows. Where
// T_JJ is singular, a part of x is 0.
//
// Each round solves this, and all units that are then off their staircases change sides at once.
// Where that does not make them fewer, a part of the way is gone first: half of it, a quarter, ...

#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "products.hpp"

namespace maxmargin {

constexpr int PIVOT_ROUNDS = 100;  // most systems for one neighbour; then it is none
constexpr int PATIENCE = 2;  // rounds that do not make the wrong units fewer: more halve the step
constexpr Index AWAY = 2;  // times the fewest wrong ones so far: then pivots lead away
                           // (california: 20 to 12 ms)
constexpr double SHORTEST = 1.0 / 64;  // step

// A place is a row and column of T: first the units F, then the groups, then the units B.
struct KnownOptimum {
    Matrix<const double> columns;  // columns[k] is column k of T
    const double* follows;         // beta_F, b, q_B
    Span<const Index> order;       // the unit at each place, -1 for a group
    Index count;                   // places of F and of groups
    const Index* state;            // of each unit: 2k at knot k, 2k - 1 free below it
    const double* beta;            // of each unit
    Matrix<const double> stairs;   // of each unit: its knots, then its targets
    double slack;  // how far q may be outside of its interval
    double snap;   // what rounding leaves of a variable at a bound: of its width, or of the largest
                   // |beta| where that is infinite

    Index size() const { return Index(order.size()); }
    Index pieces() const { return stairs.columns / 2; }
};

// The problem of a neighbour: a unit that it does not have, or -1; its stairs; its sums' growth.
struct Neighbour {
    Index removed;
    Matrix<const double> stairs;
    const double* lacking;
};

namespace detail {

// x = A^-1 x in place, by elimination with the largest pivots; 0 where the pivot is 0. A is lost.
inline void eliminate(Matrix<double> A, double* x) {
    const Index m = A.rows;
    for (Index i = 0; i < m; i++) {
        Index best = i;
        for (Index j = i + 1; j < m; j++)
            if (std::abs(A[j][i]) > std::abs(A[best][i])) best = j;
        if (A[best][i] == 0) continue;
        if (best != i) {
            std::swap_ranges(A[i] + i, A[i] + m, A[best] + i);
            std::swap(x[i], x[best]);
        }
        for (Index j = i + 1; j < m; j++) {
            const double multiple = A[j][i] / A[i][i];
            if (multiple == 0) continue;
            add_multiple(-multiple, A[i] + i + 1, A[j] + i + 1, m - i - 1);
            x[j] -= multiple * x[i];
        }
    }
    for (Index i = m - 1; i >= 0; i--) {
        const double rest = x[i] - dot(A[i] + i + 1, x + i + 1, m - i - 1);
        x[i] = A[i][i] == 0 ? 0 : rest / A[i][i];
    }
}

}  // namespace detail

// Goes to one neighbour after another; its memory is made once.
class Pivots {
   public:
    explicit Pivots(const KnownOptimum& known)
        : known_(known),
          last_(known.pieces()),
          width_(known.stairs.columns),
          old_(known.size() * width_),
          goal_(old_.size()),
          stairs_(old_.size()),
          before_(known.size()),
          was_(known.size()),
          lacking_(known.size()),
          value_(known.size()),
          multiples_(known.size()),
          moving_(known.size()),
          wrong_(known.size()),
          changed_(known.size()),
          first_(known.size()) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        for (Index k = 0; k < known.size(); k++) {
            const Index unit = known.order[k];
            double* old = &old_[k * width_];
            if (unit >= 0) {
                std::copy_n(known.stairs[unit], width_, old);
                before_[k] = known.beta[unit];
                first_.state[k] = known.state[unit];
            } else {  // a group is a unit that is free without end, of target 0
                std::fill_n(old, last_ + 1, infinite);
                std::fill_n(old + last_ + 1, last_, 0.0);
                old[0] = -infinite;
                first_.state[k] = 1;
            }
            was_[k] = old[target(first_.state[k])];
            limit(k, old, first_);
            first_.follows[k] = known.follows[k];
        }
        goal_ = stairs_ = old_;
        kept_ = now_ = first_;
    }

    // Writes beta of the units; returns the rounds, or 0 if the pivots came to no end: then it is
    // that of a part of the way.
    Index go(const Neighbour& neighbour, double* beta) {
        aim(neighbour);
        double at = 0, step = 1;
        for (int round = 1, patience = restart(step), fewest = int(known_.size());
             round <= PIVOT_ROUNDS; round++) {
            solve();
            const Index count = find_wrong();
            if (count == 0) {
                write(beta);
                at += step;
                if (at == 1) return round;
                step = std::min(2 * step, 1 - at);
                kept_ = now_;
            } else {
                patience = count < fewest ? PATIENCE : patience - 1;
                fewest = std::min(fewest, int(count));
                if (count > 0 && patience >= 0 && count <= AWAY * (fewest + 1)) {
                    change_sides(count, at + step);
                    continue;
                }
                step /= 2;
                if (step < SHORTEST) return 0;
            }
            fewest = int(known_.size());
            patience = restart(at + step);
        }
        return 0;
    }

   private:
    // Where each place stands.
    struct Standing {
        std::vector<Index> state;
        std::vector<double> low, high;  // of what follows: of beta where it is free, else of q
        std::vector<double> given;      // how far what is given is from the known optimum's
        std::vector<double> follows;    // if nobody had changed sides

        explicit Standing(Index size)
            : state(size), low(size), high(size), given(size), follows(size) {}
        Standing() = default;
    };

    const KnownOptimum& known_;
    const Index last_, width_;
    std::vector<double> old_, goal_, stairs_;  // at each place: its knots, then its targets
    std::vector<double> before_, was_;         // beta, and the target of who was free
    std::vector<double> lacking_;              // of groups
    std::vector<double> value_, multiples_, system_;
    std::vector<Index> moving_, wrong_, changed_;
    Index movers_ = 0;
    Standing first_, kept_, now_;

    Index target(Index state) const { return last_ + 1 + std::min(state / 2, last_ - 1); }
    static bool is_free(Index state) { return state % 2 == 1; }

    // Whether beta is given where q was, or q where beta was.
    bool crossed(Index k) const { return is_free(now_.state[k]) != (k < known_.count); }

    // Between what beta must be where it is free, or q at a knot.
    void limit(Index k, const double* stairs, Standing& on) const {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        const Index state = on.state[k], i = state / 2;
        const double width = stairs[last_] - stairs[0];
        if (is_free(state)) {
            const double rounding = width < infinite ? known_.snap * width : 0;
            on.low[k] = stairs[i] - rounding;
            on.high[k] = stairs[i + 1] + rounding;
        } else {
            const bool fixed = width == 0;
            on.low[k] = fixed || i == last_ ? -infinite : stairs[last_ + 1 + i] - known_.slack;
            on.high[k] = fixed || i == 0 ? infinite : stairs[last_ + i] + known_.slack;
        }
    }

    // Notes which places are to move, and where.
    void aim(const Neighbour& neighbour) {
        for (Index m = 0; m < movers_; m++) {
            const Index from = moving_[m] * width_;
            std::copy_n(&old_[from], width_, &goal_[from]);
            std::copy_n(&old_[from], width_, &stairs_[from]);
        }
        movers_ = 0;
        Index group = 0;
        for (Index k = 0; k < known_.size(); k++) {
            const Index unit = known_.order[k];
            bool moves;
            if (unit < 0) {
                lacking_[k] = neighbour.lacking[group++];
                moves = lacking_[k] != 0;
            } else {
                double* goal = &goal_[k * width_];
                const double* old = &old_[k * width_];
                std::copy_n(neighbour.stairs[unit], width_, goal);
                if (unit == neighbour.removed) std::fill_n(goal, last_ + 1, 0.0);
                moves = !std::equal(old, old + width_, goal);
            }
            if (moves) moving_[movers_++] = k;
        }
        kept_ = first_;
    }

    // Begins the way to a share of the goal where the last step has come; returns the patience.
    int restart(double share) {
        now_ = kept_;
        for (Index m = 0; m < movers_; m++) {
            const Index k = moving_[m];
            const double *old = &old_[k * width_], *goal = &goal_[k * width_];
            double* stairs = &stairs_[k * width_];
            for (Index j = 0; j < width_; j++)
                stairs[j] = share < 1 ? between(old[j], goal[j], share) : goal[j];
            if (stairs[0] == stairs[last_]) now_.state[k] = 0;
            multiples_[m] = give(k, share);
        }
        follow(moving_.data(), movers_);
        return PATIENCE;
    }

    static double between(double old, double goal, double share) {
        return old == goal ? old : (1 - share) * old + share * goal;
    }

    // Lets all wrong units take the next state of their staircases.
    void change_sides(Index count, double share) {
        for (Index w = 0; w < count; w++) {
            const Index k = wrong_[w];
            // beta rises where it is above its piece, or where it is at a knot and q is too small.
            const bool rises = (value_[k] < now_.low[k]) != is_free(now_.state[k]);
            now_.state[k] += rises ? 1 : -1;
            multiples_[w] = give(k, share);
        }
        follow(wrong_.data(), count);
    }

    // What is given at a place in its state; returns by how much it is more than it was.
    double give(Index k, double share) {
        const double* stairs = &stairs_[k * width_];
        limit(k, stairs, now_);
        const Index state = now_.state[k];
        double given = 0;
        if (known_.order[k] < 0)
            given = share * lacking_[k];
        else if (!crossed(k))
            given = is_free(state) ? stairs[target(state)] - was_[k]
                                   : stairs[state / 2] - before_[k];
        const double change = given - now_.given[k];
        now_.given[k] = given;
        return change;
    }

    // What follows from the changes at some places.
    void follow(const Index* places, Index count) {
        Index some = 0;
        for (Index m = 0; m < count; m++) {
            if (multiples_[m] == 0) continue;
            changed_[some] = places[m];
            multiples_[some++] = multiples_[m];
        }
        add_columns(some, now_.follows.data());
    }

    void add_columns(Index count, double* to) const {
        add_rows(
            count, [&](Index j) { return known_.columns[changed_[j]]; },
            [&](Index j) { return multiples_[j]; }, to, known_.size());
    }

    // The values at all places: beta where a unit is free, else q.
    void solve() {
        value_ = now_.follows;
        Index m = 0;
        for (Index k = 0; k < known_.size(); k++) {
            changed_[m] = k;
            m += crossed(k);
        }
        if (m == 0) return;
        if (Index(system_.size()) < m * m) system_.resize(m * m);
        const Matrix<double> A = {system_.data(), m, m};
        for (Index j = 0; j < m; j++) {
            const Index k = changed_[j], state = now_.state[k];
            const double* column = known_.columns[k];
            for (Index i = 0; i < m; i++) A[i][j] = column[changed_[i]];
            const Index place = k < known_.count ? state / 2 : target(state);
            multiples_[j] = stairs_[k * width_ + place] - value_[k];
        }
        detail::eliminate(A, multiples_.data());
        add_columns(m, value_.data());
        for (Index j = 0; j < m; j++) {
            const Index k = changed_[j];
            value_[k] = multiples_[j] + (k < known_.count ? was_[k] : before_[k]);
        }
    }

    // Lists the units off their staircases; returns how many there are, -1 if a value is no number.
    Index find_wrong() {
        Index count = 0;
        bool numbers = true;
        for (Index k = 0; k < known_.size(); k++) {
            const double value = value_[k];
            wrong_[count] = k;
            count += value < now_.low[k] || value > now_.high[k];
            numbers &= value == value;
        }
        return numbers ? count : -1;
    }

    // Writes beta of the units; one that is at a knot but for rounding is there.
    void write(double* beta) const {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        double largest = 0;
        for (Index k = 0; k < known_.size(); k++) {
            const Index unit = known_.order[k], state = now_.state[k];
            if (unit < 0) continue;
            beta[unit] = is_free(state) ? value_[k] : stairs_[k * width_ + state / 2];
            largest = std::max(largest, std::abs(beta[unit]));
        }
        for (Index k = 0; k < known_.size(); k++) {
            const Index unit = known_.order[k], state = now_.state[k];
            if (unit < 0 || !is_free(state)) continue;
            const double* stairs = &stairs_[k * width_];
            const double width = stairs[last_] - stairs[0];
            const double near = known_.snap * (width < infinite ? width : largest);
            for (const double knot : {stairs[state / 2], stairs[state / 2 + 1]})
                if (std::abs(beta[unit] - knot) <= near) beta[unit] = knot;
        }
    }
};

}  // namespace maxmargin
