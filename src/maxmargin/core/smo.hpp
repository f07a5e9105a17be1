// Second-order SMO on a small dense problem whose matrix stays in cache.
//
// A step reads two rows of K in two passes over n numbers:
//
//     1. G += t(K_i - K_j) of the last step; i, the largest -G that can rise, and the smallest -G
//        that can fall: their distance is the violation
//     2. j, the variable that can fall with the largest gain (G_j - G_i)^2 / a,
//        a = K_ii + K_jj - 2 K_ij
//
// Without a sum constraint (no offset) two variables move too, independently: i has the largest
// gain alone, j the largest gain together with i. One at a time would take 2 to 22 times the steps
// (speed.md).
//
// Bounds and groups need no branch: -infinity is added to the score of a variable that cannot
// move. All this runs in Real, however the entries of K are stored. beta and t are float64, and the
// caller computes the gradient of all variables from beta: rounding in here affects this block's
// beta only, and the next block corrects it.

#pragma once

#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "problem.hpp"

namespace maxmargin {

constexpr double CURVATURE = 1e-12;  // in place of one <= 0 (duplicate rows, indefinite K): the step
                                     // ends at a bound
// Of K_ii K_jj: a determinant K_ii K_jj - K_ij^2 up to which rows are parallel in feature space, for
// by rounding it says nothing. In float64; float32 has half the digits.
constexpr double PARALLEL = 1e-13;
constexpr double TINY = 1e-100;  // in place of a K_ii of 0: a step ends at a bound

// Rows of a matrix that are all there; other sources make a row when it is asked for. A source that
// is PADDED has zeros after the last entry of a row, up to whole registers.
template <class Entry>
struct Rows {
    static constexpr bool PADDED = false;
    Matrix<const Entry> K;
    const Entry* operator()(Index i) const { return K[i]; }
};

// Moves of two variables, and the values that they may have.
struct Move {
    double s, t;
};
struct Room {
    double low_s, high_s, low_t, high_t;
};

// The minimum of G_i s + G_j t + (K_ii s^2 + 2 K_ij s t + K_jj t^2) / 2 over the room.
//
// Outside the room the minimum is on a side: that of s if s stays at its bound for the t that is
// best there, else that of t.
inline Move two_step(double G_i, double G_j, double K_ii, double K_jj, double K_ij, Room room) {
    const auto& [low_s, high_s, low_t, high_t] = room;
    const double a = std::max(K_ii, TINY), b = std::max(K_jj, TINY), c = K_ij;
    const double determinant = std::max(a * b - c * c, PARALLEL * a * b);
    double s = (G_j * c - G_i * b) / determinant, t = (G_i * c - G_j * a) / determinant;
    if (low_s <= s && s <= high_s && low_t <= t && t <= high_t) return {s, t};
    s = std::clamp(s, low_s, high_s), t = std::clamp(t, low_t, high_t);
    const double best_t = std::clamp(-(G_j + c * s) / b, low_t, high_t);
    const double slope = G_i + a * s + c * best_t;
    if ((s == low_s && slope >= 0) || (s == high_s && slope <= 0)) return {s, best_t};
    return {std::clamp(-(G_i + c * t) / a, low_s, high_s), t};
}

// The numbers that steps are chosen by, each in whole registers; lanes beyond the last variable
// cannot move.
template <class Real>
struct Scores {
    Index size;             // of each
    Real *G, *diagonal;     // the gradient and K_ii
    Real* inverse;          // 1 / K_ii
    Real *up, *down;        // for each group: 0 where a variable of it can rise or fall, else -infinity

    // How many numbers the scores of n variables in so many groups take.
    static Index space(Index n, Index groups) { return padded<Real>(n) * (3 + 2 * groups); }

    Scores(Real* space, const Box& box, const Real* K_ii, const double* beta, const double* gradient)
        : size(padded<Real>(box.size())),
          G(space),
          diagonal(G + size),
          inverse(diagonal + size),
          up(inverse + size),
          down(up + size * box.parts()) {
        for (Index k = 0; k < size; k++) {
            const bool is = k < box.size();
            G[k] = is ? Real(gradient[k]) : Real(0);
            diagonal[k] = is ? K_ii[k] : Real(1);
            inverse[k] = 1 / std::max(diagonal[k], Real(CURVATURE));
            for (Index g = 0; g < box.parts(); g++) {
                const bool mine = is && box.has(g, k);
                up[g * size + k] = mine && box.rises(beta, k) ? Real(0) : -INFINITE<Real>;
                down[g * size + k] = mine && box.falls(beta, k) ? Real(0) : -INFINITE<Real>;
            }
        }
    }
};

template <class Real, class Source>
class Smo {
   public:
    // Entries of the rows are to be multiplied by `unit`.
    Smo(Source rows, double unit, const Box& box, const Scores<Real>& scores, double* beta)
        : row_(rows), unit_(Real(unit)), box_(box), scores_(scores), beta_(beta) {}

    // Takes steps until the violation is <= tol, at most so many; returns how many.
    Index solve(double tol, Index most) {
        return box_.groups ? pairs(tol, most) : twos(tol, most);
    }

   private:
    using V = Lanes<Real>;
    struct Step {
        Index i = 0, j = 0;
        Move by = {0, 0};  // of beta_i and beta_j
    };
    struct Extremes {
        Found<Real> top;
        Real bottom;
        Real violation() const { return top.value - bottom; }
    };
    struct Gains {
        Real worst;
        Found<Real> most;
    };

    Source row_;
    Real unit_;
    const Box& box_;
    Scores<Real> scores_;
    double* beta_;

    // Entries of a row to look at.
    Index length() const { return Source::PADDED ? scores_.size : box_.size(); }

    // Steps of pairs of one group.
    Index pairs(double tol, Index most) {
        Step step;
        for (Index steps = 0;; steps++) {
            Extremes worst = moved(step);
            Index g = 0;
            for (Index h = 1; h < box_.groups; h++) {
                const Extremes of = extremes(h);
                if (of.violation() > worst.violation()) worst = of, g = h;
            }
            if (!(worst.violation() > Real(tol)) || steps == most) return steps;
            const Index i = worst.top.place;
            const auto [gain, j] = partner(i, g);
            if (gain == 0) return steps;
            const double before_i = beta_[i], before_j = beta_[j];
            const double t = take_pair(i, j);
            if (beta_[i] == before_i && beta_[j] == before_j) return steps;
            mark(g, i), mark(g, j);
            step = {i, j, {t, -t}};
        }
    }

    // Raises beta_i and lowers beta_j by the best t within the box; returns t. Bounds are met exactly.
    double take_pair(Index i, Index j) {
        const double K_ij = unit_ * Real(row_(i)[j]);
        const double a = double(scores_.diagonal[i]) + double(scores_.diagonal[j]) - 2 * K_ij;
        const double up = box_.upper[i] - beta_[i], down = beta_[j] - box_.lower[j];
        const double best = double(scores_.G[j] - scores_.G[i]) / std::max(a, CURVATURE);
        const double t = std::min({best, up, down});
        beta_[i] = t == up ? box_.upper[i] : beta_[i] + t;
        beta_[j] = t == down ? box_.lower[j] : beta_[j] - t;
        return t;
    }

    // Notes whether variable k of group g can rise, and fall.
    void mark(Index g, Index k) {
        scores_.up[g * scores_.size + k] = box_.rises(beta_, k) ? Real(0) : -INFINITE<Real>;
        scores_.down[g * scores_.size + k] = box_.falls(beta_, k) ? Real(0) : -INFINITE<Real>;
    }

    // The extremes of the first group after G += t(K_i - K_j).
    Extremes moved(const Step& step) {
        if (step.by.s == 0) return extremes(0);
        const V t = every(unit_ * Real(step.by.s));
        Largest<Real> top(-INFINITE<Real>);
        V low[2] = {every(-INFINITE<Real>), every(-INFINITE<Real>)};
        over_rows<Real>(row_(step.i), row_(step.j), length(), [&](Index k, int turn, V K_i, V K_j) {
            const V G = load<LANES<Real>>(scores_.G + k) + t * (K_i - K_j);
            store(G, scores_.G + k);
            top.see(load<LANES<Real>>(scores_.up + k) - G, k, turn);
            low[turn] = larger<Real>(low[turn], load<LANES<Real>>(scores_.down + k) + G);
        });
        return {top.found(), -largest_lane<Real>(larger<Real>(low[0], low[1]))};
    }

    // The largest -G of a group that can rise, with its place, and the smallest that can fall.
    Extremes extremes(Index g) const {
        const Real *up = scores_.up + g * scores_.size, *down = scores_.down + g * scores_.size;
        Largest<Real> top(-INFINITE<Real>);
        V low[2] = {every(-INFINITE<Real>), every(-INFINITE<Real>)};
        over<Real>(scores_.size, [&](Index k, int turn) {
            const V G = load<LANES<Real>>(scores_.G + k);
            top.see(load<LANES<Real>>(up + k) - G, k, turn);
            low[turn] = larger<Real>(low[turn], load<LANES<Real>>(down + k) + G);
        });
        return {top.found(), -largest_lane<Real>(larger<Real>(low[0], low[1]))};
    }

    // The variable of group g to lower with i: the largest gain (G_k - G_i)^2 / a.
    Found<Real> partner(Index i, Index g) const {
        const Real* down = scores_.down + g * scores_.size;
        const V G_i = every(scores_.G[i]), K_ii = every(scores_.diagonal[i]);
        const V twice = every(2 * unit_), least = every(Real(CURVATURE));
        Largest<Real> most(0);
        over_row<Real>(row_(i), length(), [&](Index k, int turn, V K_ik) {
            const V G = load<LANES<Real>>(scores_.G + k);
            const V slope = larger<Real>(G - G_i + load<LANES<Real>>(down + k), V{});
            const V a = K_ii + load<LANES<Real>>(scores_.diagonal + k) - twice * K_ik;
            most.see(slope * slope / larger<Real>(a, least), k, turn);
        });
        return most.found();
    }

    // Steps of two variables without a sum constraint.
    Index twos(double tol, Index most) {
        Step step;
        for (Index steps = 0;; steps++) {
            const Gains gains = shifted(step);
            if (!(gains.worst > Real(tol)) || steps == most) return steps;
            step = best_step(gains.most.place);
            const double before_i = beta_[step.i], before_j = beta_[step.j];
            shift(step.i, step.by.s), shift(step.j, step.by.t);
            if (beta_[step.i] == before_i && beta_[step.j] == before_j) return steps;
        }
    }

    // The step of i and its companion, or of i alone if no other moves G in another direction.
    Step best_step(Index i) const {
        const auto [gain, j] = companion(i);
        const Real K_ij = unit_ * Real(row_(i)[j]);
        const Real K_ii = scores_.diagonal[i], K_jj = scores_.diagonal[j];
        const Room room = {box_.lower[i] - beta_[i], box_.upper[i] - beta_[i],
                           box_.lower[j] - beta_[j], box_.upper[j] - beta_[j]};
        const Real G_i = scores_.G[i], G_j = scores_.G[j];
        if (gain == 0 || K_ii * K_jj - K_ij * K_ij <= parallel() * (K_ii * K_jj)) {
            const double alone = -double(G_i) / std::max(double(K_ii), TINY);
            return {i, i, {std::clamp(alone, room.low_s, room.high_s), 0}};
        }
        return {i, j, two_step(G_i, G_j, K_ii, K_jj, K_ij, room)};
    }

    void shift(Index k, double move) {
        beta_[k] = std::clamp(beta_[k] + move, box_.lower[k], box_.upper[k]);
        mark(0, k);
    }

    // The worst violation and the largest gain G_k^2 / K_kk, after G += s K_i + t K_j.
    Gains shifted(const Step& step) {
        const V s = every(unit_ * Real(step.by.s)), t = every(unit_ * Real(step.by.t));
        Largest<Real> most(0);
        V worst[2] = {};
        over_rows<Real>(row_(step.i), row_(step.j), length(), [&](Index k, int turn, V K_i, V K_j) {
            const V G = load<LANES<Real>>(scores_.G + k) + s * K_i + t * K_j;
            store(G, scores_.G + k);
            const V up = load<LANES<Real>>(scores_.up + k) - G;
            const V down = load<LANES<Real>>(scores_.down + k) + G;
            const V violation = larger<Real>(larger<Real>(up, down), V{});
            most.see(violation * violation * load<LANES<Real>>(scores_.inverse + k), k, turn);
            worst[turn] = larger<Real>(worst[turn], violation);
        });
        return {largest_lane<Real>(larger<Real>(worst[0], worst[1])), most.found()};
    }

    // The variable that gains most beyond i if both move, s^2 / (K_ii K_kk - K_ik^2).
    //
    // s = G_i K_ik - G_k K_ii has the sign of k's move.
    Found<Real> companion(Index i) const {
        const V G_i = every(scores_.G[i]), K_ii = every(scores_.diagonal[i]), unit = every(unit_);
        const V share = every(parallel()), least = every(Real(1e-30));
        Largest<Real> most(0);
        over_row<Real>(row_(i), length(), [&](Index k, int turn, V entry) {
            const V K_ik = unit * entry, G = load<LANES<Real>>(scores_.G + k);
            const V product = K_ii * load<LANES<Real>>(scores_.diagonal + k);
            const V s = G_i * K_ik - G * K_ii;
            const V up = load<LANES<Real>>(scores_.up + k) + s;
            const V down = load<LANES<Real>>(scores_.down + k) - s;
            const V slope = larger<Real>(larger<Real>(up, down), V{});
            const V determinant = larger<Real>(product - K_ik * K_ik, share * product + least);
            most.see(slope * slope / determinant, k, turn);
        });
        return most.found();
    }

    static Real parallel() { return Real(sizeof(Real) == 8 ? PARALLEL : std::sqrt(PARALLEL)); }
};

}  // namespace maxmargin
