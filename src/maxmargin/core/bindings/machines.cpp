// What machines/, explanations/ and selection/ call.

#include <nanobind/stl/pair.h>

#include <utility>
#include <vector>

#include "border.hpp"
#include "powers.hpp"
#include "shapley.hpp"
#include "symmetry.hpp"
#include "votes.hpp"

namespace maxmargin::border {

void sides(const Array<const double, 3>& parts, const Array<double, 2>& decisions) {
    const Index k = Index(parts.shape(0));
    require(k >= 2 && Index(parts.shape(1)) == k - 1 &&
                Index(decisions.shape(0)) == k * (k - 1) / 2 &&
                decisions.shape(1) == parts.shape(2),
            "add_sides: parts and decisions do not agree");
    add_sides(parts, decisions);
}

void votes(const Array<const double, 2>& decisions, const Array<double, 2>& votes,
           const Array<double, 2>& values) {
    const Index k = Index(votes.shape(0));
    require(Index(decisions.shape(0)) == k * (k - 1) / 2 &&
                decisions.shape(1) == votes.shape(1) && values.shape(0) == votes.shape(0) &&
                values.shape(1) == votes.shape(1),
            "count_votes: decisions, votes and values do not agree");
    count_votes(decisions, votes, values);
}

template <class T>
std::pair<Index, Index> least_symmetric(const Array<const T, 2>& K) {
    require(K.shape(0) == K.shape(1), "asymmetry: K is not square");
    const Entry found = asymmetry(Matrix<const T>(K));
    return {found.row, found.column};
}

template <class T>
std::pair<Index, Index> minor(const Array<const T, 2>& K, const Array<const T, 1>& scales) {
    require(K.shape(0) == K.shape(1) && scales.size() == K.shape(0),
            "largest_minor: K is not square, or scales has another length");
    const Entry found = largest_minor(Matrix<const T>(K), scales.data());
    return {found.row, found.column};
}

void shapley(const Array<const double, 3>& p, const Array<const double, 3>& q,
             const Array<const double, 2>& coef, const Array<const double, 1>& nodes,
             const Array<const double, 1>& weights, const Array<double, 3>& values) {
    require(p.shape(0) == q.shape(0) && p.shape(2) == q.shape(2) && coef.shape(0) == p.shape(0) &&
                weights.size() == nodes.size() && values.shape(0) == p.shape(1) &&
                values.shape(1) == p.shape(2) && values.shape(2) == coef.shape(1),
            "shapley_sums: the arrays do not agree");
    const Index players = Index(p.shape(2)), count = nodes.length();
    std::vector<double> work((players + 1) * count);
    shapley_sums(p, q, coef, {nodes, weights.data(), {work.data(), players + 1, count}}, values);
}

template <class T>
void fill_powers(const Array<const T, 2>& t, double gamma, double factor, const Array<T, 2>& K,
                 Index start, Index stop) {
    require(t.shape(0) == K.shape(0) && t.shape(1) == K.shape(1), "powers: t and K differ in shape");
    require(0 <= start && start <= stop && stop <= t.length(), "powers: there are no such rows");
    const Index width = Index(t.shape(1));
    powers(t.data() + start * width, T(gamma), T(factor), K.data() + start * width,
           (stop - start) * width);
}

template <class T>
void bind_matrices(nb::module_& module) {
    define(module, "asymmetry", least_symmetric<T>);
    define(module, "largest_minor", minor<T>);
    define(module, "powers", fill_powers<T>);
}

void bind_machines(nb::module_& module) {
    define(module, "add_sides", sides);
    define(module, "count_votes", votes);
    define(module, "shapley_sums", shapley);
    bind_matrices<float>(module);
    bind_matrices<double>(module);
}

}  // namespace maxmargin::border
