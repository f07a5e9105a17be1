// Dual coordinate descent for Crammer and Singer's machine: the variables of a row at a time.
//
//     for the active rows in random order
//         G_m = x_i . w_m + b_m + rho S_m + e_im of its live classes m, for the centred rows
//         leave the row out if only one alpha_im can rise, and G of all others is far below that one
//         leave out its classes with alpha_im = 0 and G_m far below all that can rise
//         alpha_i = the best values of its live classes together; w and S follow
//
// See solvers/linear/crammer_singer.py.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "coordinate_descent.hpp"

namespace maxmargin {

constexpr double DISTANT = 0.06;  // share of the worst violation: a class at 0 whose G is further
// below is left out; letter takes 1.3 times as long with 0.25, and 1.2 with 0 to a gap of 1e-5

struct ClassesRow {
    double cost, square, shift;  // c_i, |x_i - m|^2 and x_i . m
};

struct ClassState {
    double offset, total, mean_score;  // b_m, S_m and m . w_m
};

struct ClassesState {
    double pinned, distant;  // distances of G beyond which rows and classes are left out
    double drift;            // how far offsets have moved since all were looked at
    double violation, gap;   // of the last sweep
    Index active;            // how many rows of the order are active
    std::uint64_t random;
};

struct ClassesProblem {
    double penalty;      // rho
    double mean_square;  // |m|^2
    double rounding;     // of c_i: an entry that is so near its bound is at it
};

// The arrays that sweeps change, and memory.
struct ClassesWork {
    Matrix<double> alpha;       // (rows, classes)
    Matrix<std::int32_t> live;  // (rows, classes): first the live classes of a row, its own before all
    Index* live_count;          // of each row
    const ClassesRow* table;
    Span<ClassState> classes;
    View<double> W;             // (columns, classes)
    Span<Index> order;          // first the active rows
    Matrix<double> room;        // (3, classes): G, alpha and the step of a row
};

// The step from alpha to the minimiser of a row's problem with slopes G, its own class first; its parts
// sum to 0.
inline void best_row(const double* alpha, const double* G, Index count, double cost, double square,
                     double* step) {
    double highest = -std::numeric_limits<double>::infinity();
    double* points = step;  // D_m, until the step itself is known
    for (Index k = 0; k < count; k++) {
        points[k] = G[k] - square * alpha[k] + (k ? 0 : square * cost);
        highest = std::max(highest, points[k]);
    }
    double level = highest - square * cost;
    for (Index above = count + 1;;) {
        double total = -square * cost;
        Index number = 0;
        for (Index k = 0; k < count; k++)
            if (points[k] > level) total += points[k], number++;
        if (number == 0 || number >= above) break;  // none was left out, or rounding has brought
        level = total / double(number), above = number;  // one back
    }
    double others = 0;
    for (Index k = 1; k < count; k++) {
        step[k] = std::min(0.0, alpha[k] + (level - G[k]) / square) - alpha[k];
        others += step[k];
    }
    step[0] = -others;
}

template <class Rows>
class CrammerSinger {
   public:
    CrammerSinger(const Rows& rows, const ClassesProblem& problem, const ClassesWork& work)
        : rows_(rows), problem_(problem), work_(work), G_(work.room[0]), a_(work.room[1]),
          step_(work.room[2]) {}

    // Sweeps until the gap seen in passing is <= target, or `work` rows are visited; returns those.
    Index sweep(ClassesState& state, double target, Index work) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        const double penalty = problem_.penalty;
        Index visited = 0;
        while (visited < work) {
            shuffle(work_.order.data(), state.active, state.random);
            visited += state.active;
            double gap = 0, violation = 0, far = 0, drift = 0;
            Index kept = 0;
            for (Index position = 0; position < state.active; position++) {
                const Index i = work_.order[position];
                if (!visit(i, state, gap, violation)) continue;
                work_.order[kept++] = i;
            }
            for (ClassState& c : work_.classes) {
                far += penalty * c.total * c.total;
                c.offset += penalty * c.total;
                drift = std::max(drift, penalty * std::abs(c.total));
            }
            state.gap = gap + far, state.violation = std::max(violation, drift);
            state.active = kept, state.drift += drift;
            state.pinned = PINNED * state.violation, state.distant = DISTANT * state.violation;
            if (state.gap <= target) break;
            if (kept == 0 || state.drift > 4 * state.violation) {
                // Where offsets have moved, rows and classes may matter again.
                state.active = Index(work_.order.size()), state.drift = 0;
                state.pinned = state.distant = infinite;
                for (Index k = 0; k < state.active; k++)
                    work_.order[k] = k, work_.live_count[k] = Index(work_.classes.size());
            }
        }
        return visited;
    }

   private:
    const Rows& rows_;
    const ClassesProblem& problem_;
    const ClassesWork& work_;
    double *G_, *a_, *step_;

    // Solves for one row; returns whether it stays active.
    bool visit(Index i, const ClassesState& state, double& gap, double& violation) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        const ClassesRow& row = work_.table[i];
        std::int32_t* mine = work_.live[i];
        Index count = work_.live_count[i];
        const double shift = problem_.mean_square - row.shift + problem_.penalty;
        scores(i, mine, count);
        double highest = -infinite, runner_up = -infinite, lowest = infinite;
        Index risers = 0;
        for (Index k = 0; k < count; k++) {
            const ClassState& c = work_.classes[mine[k]];
            G_[k] += c.offset - c.mean_score + shift * c.total + (k > 0);
            a_[k] = work_.alpha[i][mine[k]];
            gap += a_[k] * G_[k];
            if (a_[k] < (k ? 0 : row.cost) - problem_.rounding * row.cost) {
                risers++;
                lowest = std::min(lowest, G_[k]);
            }
            if (G_[k] > highest) {
                runner_up = highest, highest = G_[k];
            } else if (G_[k] > runner_up) {
                runner_up = G_[k];
            }
        }
        gap += row.cost * (highest - G_[0]);
        if (highest <= lowest && risers == 1 && highest - runner_up > state.pinned) return false;
        violation = std::max(violation, highest - lowest);
        for (Index k = 1; k < count;) {
            if (a_[k] == 0 && lowest - G_[k] > state.distant) {
                count--;
                std::swap(mine[k], mine[count]);
                G_[k] = G_[count], a_[k] = a_[count];
            } else {
                k++;
            }
        }
        work_.live_count[i] = count;
        if (!(highest - lowest > 1e-15 * std::abs(highest))) return true;
        const double square = std::max(row.square + problem_.penalty, 1e-12);
        best_row(a_, G_, count, row.cost, square, step_);
        for (Index k = 0; k < count; k++) {
            if (step_[k] == 0) continue;
            const Index m = mine[k];
            work_.alpha[i][m] += step_[k];
            work_.classes[m].total += step_[k];
            work_.classes[m].mean_score += step_[k] * row.shift;
            add(i, step_[k], m);
        }
        return true;
    }

    // G = x_i . w of the first of these classes.
    void scores(Index i, const std::int32_t* mine, Index count) {
        const Index all = Index(work_.classes.size());
        if constexpr (!Rows::SPARSE) {  // columns of a class lie together
            for (Index k = 0; k < count; k++) G_[k] = rows_.product(i, &work_.W(0, mine[k]));
        } else if (4 * count < all) {  // classes of a column lie together
            std::fill_n(G_, count, 0.0);
            rows_.for_each(i, [&](Index column, double x) {
                const double* line = &work_.W(column, 0);
                for (Index k = 0; k < count; k++) G_[k] += x * line[mine[k]];
            });
        } else {  // all of a line at once, which uses vectors, take less time than a half one by one
            double* every = step_;
            std::fill_n(every, all, 0.0);
            rows_.for_each(i, [&](Index column, double x) {
                add_multiple(x, &work_.W(column, 0), every, all);
            });
            for (Index k = 0; k < count; k++) G_[k] = every[mine[k]];
        }
    }

    // w_m += t x_i.
    void add(Index i, double t, Index m) {
        if constexpr (Rows::SPARSE)
            rows_.for_each(i, [&](Index column, double x) { work_.W(column, m) += t * x; });
        else
            rows_.add(i, t, &work_.W(0, m));
    }
};

}  // namespace maxmargin
