// What problem/ and solvers/qp call: the values of the one problem, SMO, the active set, the path.

#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>
#include <vector>

#include "active_set.hpp"
#include "all_pairs.hpp"
#include "border.hpp"
#include "row_maker.hpp"
#include "held_blocks.hpp"
#include "path.hpp"
#include "smo.hpp"

namespace maxmargin::border {

using Numbers = Array<const Index, 1>;
using Floats = Array<const double, 1>;
using Output = Array<double, 1>;
using Groups = Array<const std::int8_t, 1>;

Box box_of(const Floats& lower, const Floats& upper, const Groups& group, Index groups) {
    require(upper.size() == lower.size() && group.size() == lower.size(),
            "lower, upper and group differ in length");
    require(groups >= 0, "n_groups is negative");
    for (std::size_t i = 0; i < group.size(); i++)
        require(group.data()[i] >= 0 && group.data()[i] < std::max<Index>(groups, 1),
                "group names a group that is not there");
    return {lower, upper, group, groups};
}

// Arguments of SMO besides the matrix.
template <class Real>
struct Block {
    const Array<const Real, 1>& diagonal;
    const Output &gradient, &beta;
    const Floats &lower, &upper;
    const Groups& group;
    Index groups;
    double tol;
    Index most;
};

// Steps on the rows of a source, of a matrix that is large enough.
template <class Real, class Entries, class Source>
Index smo_on(const Entries& K, double unit, const Block<Real>& block, const Source& rows) {
    const Box box = box_of(block.lower, block.upper, block.group, block.groups);
    const std::size_t n = block.lower.size();
    require(block.diagonal.size() == n && block.gradient.size() == n && block.beta.size() == n,
            "smo: diagonal, gradient, beta and bounds differ in length");
    require(K.shape(0) >= n && K.shape(1) >= n, "smo: K has fewer rows or columns than beta");
    if (!n) return 0;
    std::vector<Real> space(Scores<Real>::space(box.size(), box.parts()));
    Scores<Real> scores(
        space.data(), box, block.diagonal.data(), block.beta.data(), block.gradient.data());
    const Index steps =
        Smo(rows, unit, box, scores, block.beta.data()).solve(block.tol, block.most);
    std::copy_n(scores.G, n, block.gradient.data());
    return steps;
}

template <class Entry, class Real>
Index smo(const Array<const Entry, 2>& K, const Array<const Real, 1>& diagonal,
          const Output& gradient, const Output& beta, const Floats& lower, const Floats& upper,
          const Groups& group, Index groups, double tol, Index most) {
    const double unit = std::is_same_v<Entry, std::uint16_t> ? 1 / UNIT : 1;
    return smo_on<Real>(
        K, unit, {diagonal, gradient, beta, lower, upper, group, groups, tol, most}, Rows<Entry>{K});
}

// As `smo`, with rows that are made when they are needed.
template <class Real>
Index smo_on_demand(const Array<Real, 2>& K, const Array<const Real, 1>& diagonal,
                    const Output& gradient, const Output& beta, const Floats& lower,
                    const Floats& upper, const Groups& group, Index groups, double tol, Index most,
                    const RowMaker<Real>& maker) {
    return smo_on<Real>(
        K, 1, {diagonal, gradient, beta, lower, upper, group, groups, tol, most}, maker.of(K));
}

std::tuple<double, double, double, double, double> values(
    const Floats& beta, const Floats& gradient, const Floats& linear, const Floats& lower,
    const Floats& upper, const Groups& group, const Floats& sums, const Array<double, 2>& sides,
    const Floats& offsets) {
    const Box box = box_of(lower, upper, group, Index(sums.size()));
    const std::size_t n = lower.size();
    require(beta.size() == n && gradient.size() == n && linear.size() == n,
            "values: beta, gradient, linear and bounds differ in length");
    require(sides.shape(0) == 3 && Index(sides.shape(1)) == box.parts(),
            "values: sides is not of shape (3, groups)");
    require(offsets.size() == sums.size(), "values: offsets and sums differ in length");
    const Values found = values_of(box, linear.data(), sums, beta.data(), gradient.data(),
                                   Sides(sides), offsets.data());
    return {found.slope, found.quadratic, found.loss, found.margin, found.violation};
}

// Returns beta of least violation with its gradient, as two rows of `best`.
void active_set(const Array<const double, 2>& K, const Numbers& rows, const Floats& linear,
                const Floats& lower, const Floats& upper, const Groups& group, Index groups,
                const Output& beta, const Output& gradient, const Array<double, 2>& best,
                Index most_free) {
    const Box box = box_of(lower, upper, group, groups);
    const Index n = box.size(), room = std::min(most_free, n), parts = box.parts();
    require(Index(rows.size()) == n && Index(linear.size()) == n && Index(beta.size()) == n &&
                Index(gradient.size()) == n && best.shape(0) == 2 && Index(best.shape(1)) == n,
            "active_set: rows, linear, beta, gradient, best and bounds differ in length");
    require(K.shape(0) == K.shape(1), "active_set: K is not square");
    for (Index i = 0; i < n; i++)
        require(rows.data()[i] >= 0 && rows.data()[i] < Index(K.shape(0)),
                "active_set: rows names a row that K does not have");
    std::vector<double> system((room + groups + 2) * room), sides(3 * parts), product(K.shape(0));
    std::vector<Index> F(room), worst(2 * parts);
    const std::unique_ptr<bool[]> is_free(new bool[n]);
    const ActiveSetSpace space = {{system.data(), room + groups + 2, room},
                                  {sides.data(), 3, parts},
                                  best,
                                  product,
                                  {is_free.get(), std::size_t(n)},
                                  F,
                                  {worst.data(), parts, 2}};
    ActiveSet({K, rows.data()}, linear.data(), box, beta.data(), gradient.data(), space).solve();
}

void all_pairs(const Array<const double, 2>& K, const Floats& own, const Numbers& starts,
               const Numbers& blocks, const std::tuple<Index, Index, Index, Index>& classes,
               const Floats& bounds, double tol, const std::tuple<Index, Index, Index>& most,
               const Array<double, 2>& coef, const Array<double, 3>& records, const Output& offsets,
               const Array<Index, 1>& steps, const Array<Index, 1>& evaluations) {
    const auto [first, last, begin, end] = classes;
    const auto [most_steps, held, free] = most;
    const Strip strip = {K, own, starts, blocks, first, last};
    const PairLimits limits = {tol, most_steps, held, free};
    const Index k = strip.classes(), rows = Index(bounds.size()), pairs = k * (k - 1) / 2;
    require(0 <= first && first <= begin && begin <= end && end <= last && last <= k,
            "all_pairs: classes are not in order");
    require(starts.data()[k] == rows && Index(coef.shape(0)) == k - 1 &&
                Index(coef.shape(1)) == rows && Index(blocks.size()) == k + 1,
            "all_pairs: starts, blocks, bounds and coef do not agree");
    require(Index(records.shape(0)) == pairs && records.shape(1) == STAGES &&
                records.shape(2) == 4 && Index(offsets.size()) == pairs &&
                Index(steps.size()) == pairs && Index(evaluations.size()) == pairs,
            "all_pairs: results are not those of all pairs");
    const Index from = starts.data()[first];
    require(!most_steps || (Index(K.shape(0)) >= starts.data()[last] - from &&
                            Index(K.shape(1)) == rows - from &&
                            (last == k || Index(own.size()) == blocks.data()[k])),
            "all_pairs: K is not a strip of these classes");
    const auto lines = reinterpret_cast<PairRecord(*)[STAGES]>(records.data());
    solve_strip(strip, begin, end, bounds.data(), limits,
                {coef, lines, offsets.data(), steps.data(), evaluations.data()});
}

template <class T>
Index held_blocks(const Array<const T, 2>& K, const Numbers& rows, const Floats& linear,
                  const Floats& lower, const Floats& upper, const Output& beta, const Output& f,
                  const Array<float, 1>& space, Index most, double aim, Index limit) {
    const std::size_t n = rows.size();
    require(linear.size() == n && lower.size() == n && upper.size() == n && beta.size() == n,
            "held_blocks: the arrays differ in length");
    require(K.shape(0) == K.shape(1) && f.size() == K.shape(0), "held_blocks: K is not square");
    require(most > 0 && Index(space.size()) >= most * most, "held_blocks: no room for a block");
    for (std::size_t i = 0; i < n; i++)
        require(rows.data()[i] >= 0 && rows.data()[i] < Index(K.shape(0)),
                "held_blocks: there is no such row");
    const HeldProblem<T> problem = {K, rows, linear.data(), lower.data(), upper.data()};
    return HeldBlocks<T>(problem, beta.data(), f.data(), space.data(), most).descend(aim, limit);
}

// Writes a line of `betas` for each neighbour, and how many rounds it took; 0 where it failed.
void follow(const std::tuple<Array<const double, 2>, Floats, Numbers, Index>& tableau,
            const std::tuple<Numbers, Floats, Array<const double, 2>>& optimum,
            const std::tuple<double, double>& tolerances, const Numbers& removed,
            const Array<const double, 3>& stairs, const Array<const double, 2>& lacking,
            const Array<double, 2>& betas, const Array<Index, 1>& rounds) {
    const auto& [columns, follows, order, count] = tableau;
    const auto& [state, beta, old] = optimum;
    const auto [slack, snap] = tolerances;
    const KnownOptimum known = {columns,      follows.data(), order, count, state.data(),
                                beta.data(), old,            slack, snap};
    const Index n = Index(beta.size()), many = Index(removed.size()), last = known.pieces();
    require(columns.shape(0) == order.size() && columns.shape(1) == order.size() &&
                follows.size() == order.size() && 0 <= count && count <= known.size(),
            "follow: the tableau's parts differ in length");
    require(Index(state.size()) == n && Index(old.shape(0)) == n && last > 0 &&
                Index(old.shape(1)) == 2 * last + 1 && Index(stairs.shape(1)) == n &&
                stairs.shape(2) == old.shape(1),
            "follow: state, beta and stairs differ in length");
    require(rounds.size() == removed.size() && Index(betas.shape(0)) == many &&
                Index(betas.shape(1)) == n,
            "follow: results are not those of all neighbours");
    require(!many || (stairs.shape(0) > 0 && lacking.shape(0) == stairs.shape(0)),
            "follow: stairs and lacking differ in length");
    Index groups = 0;
    for (const Index unit : Span<const Index>(order)) {
        require(-1 <= unit && unit < n, "follow: order names a unit that is not there");
        groups += unit < 0;
    }
    require(groups == Index(lacking.shape(1)), "follow: order and lacking differ in groups");
    for (const Index each : Span<const Index>(state))
        require(0 <= each && each <= 2 * last, "follow: a state is not on its staircase");
    Pivots pivots(known);
    const Stack<const double> problems = stairs;
    const Matrix<const double> sums = lacking;
    const Matrix<double> out = betas;
    for (Index k = 0; k < many; k++) {
        const Index line = k % problems.count;
        rounds.data()[k] = pivots.go({removed.data()[k], problems[line], sums[line]}, out[k]);
    }
}

void bind_solvers(nb::module_& module) {
    define(module, "smo", smo<float, float>);
    define(module, "smo", smo<double, double>);
    define(module, "smo", smo<std::uint16_t, float>);
    define(module, "smo", smo_on_demand<float>);
    define(module, "smo", smo_on_demand<double>);
    define(module, "held_blocks", held_blocks<float>);
    define(module, "held_blocks", held_blocks<double>);
    define(module, "values_of", values);
    define(module, "active_set", active_set);
    define(module, "all_pairs", all_pairs);
    define(module, "follow", follow);
}

}  // namespace maxmargin::border
