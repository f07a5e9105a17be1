// Block SMO on a kernel matrix that is held in memory (see solvers/qp/held_smo.py).
//
//     repeat
//         W = the variables that violate KKT most, or come closest to it
//         minimise over beta_W by second-order SMO on a copy of K[W, W] in float32, of the rows
//             that it asks for
//         f += K[:, W] times the change of beta_W, in float64
//     until the violation is <= aim

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cached_rows.hpp"
#include "on_demand.hpp"
#include "smo.hpp"

namespace maxmargin {

constexpr Index SMALLEST_BLOCK = 384;  // variables: so many fit into a core's cache
constexpr double BLOCK_ROOM = 1.5;     // times the free variables: so many are in a block
constexpr double BAD = 0.1;            // of the worst violation: who violates more is in the block, if
                                       // there is room
constexpr int BISECTIONS = 12;  // to find the least score of a block: the rest is drawn evenly

// A problem of one group on the rows of K; a regressor's variables share theirs.
template <class T>
struct HeldProblem {
    Matrix<const T> K;
    Span<const std::int64_t> rows;  // of each variable
    const double *linear, *lower, *upper;
};

template <class T>
class HeldBlocks {
   public:
    // `space` is memory for K[W, W] of up to `most` variables.
    HeldBlocks(const HeldProblem<T>& problem, double* beta, double* f, float* space, Index most)
        : p_(problem), beta_(beta), f_(f), space_(space), most_(most),
          score_(problem.rows.size()) {}

    // Takes steps until the violation is <= aim, or so many were taken, or none is possible.
    Index descend(double aim, Index limit) {
        Index steps = 0;
        while (steps < limit) {
            const State state = survey();
            if (state.violation <= aim) break;
            Index bad = 0;
            for (const double score : score_) bad += score > BAD * state.violation;
            const Index wanted = std::max(Index(BLOCK_ROOM * double(state.free)), state.free + bad);
            const double outside =
                choose(-state.violation, std::min(std::max(SMALLEST_BLOCK, wanted), most_));
            const double goal =
                std::max({0.4 * aim, 0.6 * outside, 0.02 * state.violation});
            const Index m = Index(W_.size());
            steps += solve(state.middle, goal, std::min(50 * m, limit - steps));
            if (!move()) break;
        }
        return steps;
    }

   private:
    struct State {
        double violation, middle;  // and the offset in the middle of the extremes of -G
        Index free;
    };

    const HeldProblem<T>& p_;
    double *beta_, *f_;
    float* space_;
    Index most_;
    std::vector<double> score_, now_;
    std::vector<Index> W_;

    bool rises(Index v) const { return beta_[v] < p_.upper[v]; }
    bool falls(Index v) const { return beta_[v] > p_.lower[v]; }
    double gradient(Index v) const { return f_[p_.rows[v]] + p_.linear[v]; }

    // The score of a variable is by how much it violates KKT with that offset; if it does not, minus
    // the change of its gradient at which it would.
    State survey() {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        double up = -infinite, down = infinite;
        Index free = 0;
        for (Index v = 0; v < Index(score_.size()); v++) {
            const double slope = -gradient(v);
            if (rises(v) && slope > up) up = slope;
            if (falls(v) && slope < down) down = slope;
            free += rises(v) && falls(v);
        }
        const double middle = 0.5 * (up + down);
        for (Index v = 0; v < Index(score_.size()); v++) {
            const double slope = -gradient(v) - middle;
            score_[v] = std::max(rises(v) ? slope : -infinite, falls(v) ? -slope : -infinite);
        }
        return {up - down, middle, free};
    }

    Index above(double score) const {
        Index count = 0;
        for (const double each : score_) count += each > score;
        return count;
    }

    // W = the variables of the largest scores above `least`, up to `size`; returns the largest score
    // of the others.
    //
    // Of those with nearly the same score some are taken, evenly spread: they are much alike, and
    // once a few have moved, the others no longer violate.
    double choose(double least, Index size) {
        double low = least, high = least;
        Index sure = above(least), between = 0;
        if (sure > size) {
            Index over = sure;
            sure = 0, high = std::max(least, *std::max_element(score_.begin(), score_.end()));
            for (int k = 0; k < BISECTIONS; k++) {
                const double middle = 0.5 * (low + high);
                const Index count = above(middle);
                if (count > size)
                    low = middle, over = count;
                else
                    high = middle, sure = count;
            }
            between = over - sure;
        }
        W_.clear();
        for (Index v = 0, seen = 0; v < Index(score_.size()); v++) {
            if (score_[v] > high) {
                W_.push_back(v);
            } else if (score_[v] > low) {
                if ((seen + 1) * (size - sure) / between > seen * (size - sure) / between)
                    W_.push_back(v);
                seen++;
            }
        }
        return between ? std::max(high, 0.0) : 0;
    }

    // Solves for beta_W, in `now_`; returns the steps.
    Index solve(double middle, double goal, Index limit) {
        const Index m = Index(W_.size());
        std::vector<double> low(m), high(m), G(m);
        std::vector<std::int64_t> own(m);
        std::vector<float> diagonal(m), room(Scores<float>::space(m, 1));
        const std::vector<std::int8_t> group(m);
        std::vector<char> made(m);  // of bool there is no array
        now_.resize(m);
        for (Index i = 0; i < m; i++) {
            const Index v = W_[i];
            own[i] = p_.rows[v];
            now_[i] = beta_[v], low[i] = p_.lower[v], high[i] = p_.upper[v];
            G[i] = gradient(v) + middle;
            diagonal[i] = float(p_.K[own[i]][own[i]]);
        }
        const Box box = {low, high, group, 1};
        const Scores<float> scores(room.data(), box, diagonal.data(), now_.data(), G.data());
        using Copied = CopiedRow<T, float>;
        const OnDemand<float, Copied> rows = {
            {space_, m, m}, {reinterpret_cast<bool*>(made.data()), std::size_t(m)}, {p_.K, own}};
        return Smo(rows, 1, box, scores, now_.data()).solve(goal, limit);
    }

    // Moves beta_W and f; returns whether any variable has moved.
    bool move() {
        std::vector<std::int64_t> moved;
        std::vector<double> delta;
        for (Index i = 0; i < Index(W_.size()); i++) {
            const double change = now_[i] - beta_[W_[i]];
            if (change == 0) continue;
            beta_[W_[i]] = now_[i];
            moved.push_back(p_.rows[W_[i]]), delta.push_back(change);
        }
        if (moved.empty()) return false;
        while (moved.size() % TOGETHER) moved.push_back(moved[0]), delta.push_back(0);
        add_rows<T, double>(p_.K, moved, delta, 0, p_.K.columns, f_);
        return true;
    }
};

}  // namespace maxmargin
