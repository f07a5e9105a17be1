// All pairs of classes of one problem, a strip of K at a time (see solvers/qp/all_pairs.py).
//
// The rows are in the order of their classes, and K[a, b] is the block of the rows of two classes.
// A strip holds the rows of some classes and the columns from the first of them on; the pairs
// (a, b) with a in the strip and b > a are solved one after the other:
//
//     the matrix of the pair   from K[a, a], K[a, b] and K[b, b]
//     second-order SMO         from beta = 0
//     the active-set method    to the last digits
//     G = K beta + p, P and D  from beta alone

#pragma once

#include <memory>
#include <vector>

#include "active_set.hpp"
#include "smo.hpp"

namespace maxmargin {

constexpr int STAGES = 3;            // records of a pair: at 0, after SMO, at the end
constexpr double SMO_SHARE = 0.4;    // of tol, to which SMO goes: b moves between its extremes

struct PairRecord {
    double dual, primal, violation, movement;
};

// K of some classes, `first` up to `last`, and what else K[b, b] is taken from.
struct Strip {
    Matrix<const double> K;
    Span<const double> own;     // the blocks K[b, b], one after the other; empty if all are in K
    Span<const Index> starts;   // of each class
    Span<const Index> blocks;   // of each block in `own`
    Index first, last;

    Index classes() const { return Index(starts.size()) - 1; }
    Index size(Index a) const { return starts[a + 1] - starts[a]; }
    Index offset(Index a) const { return starts[a] - starts[first]; }
};

// What is found, pairs in the order (0, 1), (0, 2), ..., (1, 2), ...
struct PairResults {
    Matrix<double> coef;    // (classes - 1, rows), in LIBSVM's layout
    PairRecord (*records)[STAGES];
    double* offsets;
    Index *steps, *evaluations;
};

struct PairLimits {
    double tol;
    Index steps;  // for each row of a pair; 0: the pair stays at beta = 0
    Index held;   // rows up to which the active-set method is tried
    Index free;   // most free variables of the active-set method
};

namespace detail {

// The matrix of a pair, with zeros up to whole registers in each row.
struct PairRows {
    static constexpr bool PADDED = true;
    Matrix<double> K;
    const double* operator()(Index i) const { return K[i]; }
};

}  // namespace detail

// Memory for pairs of up to q rows, and the steps of a pair.
class PairSolver {
   public:
    PairSolver(const Strip& strip, const PairLimits& limits, const double* bounds, Index q)
        : strip_(strip),
          limits_(limits),
          bounds_(bounds),
          matrix_(q * padded<double>(q)),
          vectors_(10 * q),
          scores_(Scores<double>::space(q, 1)),
          room_(std::min(limits.free, q)),
          system_((room_ + 3) * room_),
          numbers_(q),
          F_(room_),
          group_(q),
          is_free_(new bool[q]) {
        for (Index i = 0; i < q; i++) numbers_[i] = i;
    }

    // Solves the pair (a, b), whose number is `pair`.
    void solve(Index a, Index b, Index pair, const PairResults& into) {
        const Index m = strip_.size(a), q = m + strip_.size(b), stride = padded<double>(q);
        const Matrix<double> K = {matrix_.data(), q, stride};
        double* vector = vectors_.data();
        const auto next = [&] { return vector += q, vector - q; };
        double *beta = next(), *G = next(), *linear = next(), *lower = next(), *upper = next();
        double *diagonal = next(), *before = next(), *best = next(), *product = (next(), next());
        if (limits_.steps) into.evaluations[pair] = gather(a, b, K);
        for (Index i = 0; i < q; i++) {
            const bool first = i < m;
            const double C = bounds_[first ? strip_.starts[a] + i : strip_.starts[b] + i - m];
            linear[i] = G[i] = first ? -1 : 1;
            lower[i] = first ? 0 : -C, upper[i] = first ? C : 0;
            beta[i] = before[i] = 0, diagonal[i] = K[i][i];
        }
        const std::size_t n = q;
        const Box box = {{lower, n}, {upper, n}, {group_.data(), n}, 1};
        const ActiveSetSpace space = {
            {system_.data(), room_ + 3, room_}, {sides_, 3, 1}, {best, 2, q}, {product, n},
            {is_free_.get(), n}, F_, {worst_, 1, 2}};
        const Kernel kernel = {{matrix_.data(), q, stride}, numbers_.data()};
        ActiveSet exact(kernel, linear, box, beta, G, space);
        PairRecord* record = into.records[pair];
        for (int stage = 0; stage < STAGES; stage++) {
            if (stage == 1 && limits_.steps) {
                Scores<double> scores(scores_.data(), box, diagonal, beta, G);
                Smo smo(detail::PairRows{K}, 1, box, scores, beta);
                into.steps[pair] = smo.solve(SMO_SHARE * limits_.tol, limits_.steps * q);
                exact.bring_gradient();
            }
            if (stage == 2 && limits_.steps && q <= limits_.held &&
                record[1].violation <= limits_.tol) {
                exact.solve();
                std::copy_n(best, q, beta), std::copy_n(best + q, q, G);
            }
            for (Index i = 0; i < q; i++) {
                record[stage].movement += std::abs(beta[i] - before[i]);
                before[i] = beta[i];
            }
            const Sides sides(space.sides);
            const double none = 0;
            const Values found = values_of(box, linear, {&none, 1}, beta, G, sides, sides.offset);
            record[stage].dual = -(found.quadratic + found.slope);
            record[stage].primal = found.quadratic + found.loss;
            record[stage].violation = found.violation;
        }
        into.offsets[pair] = sides_[2];
        std::copy_n(beta, m, into.coef[b - 1] + strip_.starts[a]);
        std::copy_n(beta + m, q - m, into.coef[a] + strip_.starts[b]);
    }

   private:
    const Strip& strip_;
    const PairLimits& limits_;
    const double* bounds_;
    std::vector<double> matrix_, vectors_, scores_;
    Index room_;
    std::vector<double> system_;
    std::vector<Index> numbers_, F_;
    std::vector<std::int8_t> group_;
    std::unique_ptr<bool[]> is_free_;
    double sides_[3] = {};
    Index worst_[2] = {};

    // K of the rows of a and b; returns how many of its entries are new.
    Index gather(Index a, Index b, Matrix<double> K) const {
        const Index m = strip_.size(a), width = strip_.size(b);
        const Index at_a = strip_.offset(a), at_b = strip_.offset(b);
        for (Index i = 0; i < m; i++) {
            std::copy_n(strip_.K[at_a + i] + at_a, m, K[i]);
            const double* row = strip_.K[at_a + i] + at_b;
            std::copy_n(row, width, K[i] + m);
            for (Index j = 0; j < width; j++) K[m + j][i] = row[j];
        }
        for (Index i = 0; i < width; i++) {
            const double* row = b < strip_.last ? strip_.K[at_b + i] + at_b
                                                : &strip_.own[strip_.blocks[b] + i * width];
            std::copy_n(row, width, K[m + i] + m);
        }
        for (Index i = 0; i < K.rows; i++) std::fill(K[i] + K.rows, K[i] + K.columns, 0.0);
        const bool last = a == strip_.classes() - 2;
        return m * width + (b == a + 1 ? m * m : 0) + (last ? width * width : 0);
    }
};

// Solves the pairs (a, b), begin <= a < end, of a strip; bounds are those of |beta|.
inline void solve_strip(const Strip& strip, Index begin, Index end, const double* bounds,
                        const PairLimits& limits, const PairResults& into) {
    const Index classes = strip.classes();
    Index q = 0, pair = begin * (2 * classes - begin - 1) / 2;
    for (Index a = begin; a < end; a++)
        for (Index b = a + 1; b < classes; b++) q = std::max(q, strip.size(a) + strip.size(b));
    PairSolver solver(strip, limits, bounds, q);
    for (Index a = begin; a < end; a++)
        for (Index b = a + 1; b < classes; b++) solver.solve(a, b, pair++, into);
}

}  // namespace maxmargin
