// What the linear machines and those on features call: loops over the rows of X.

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "border.hpp"
#include "conjugate_gradients.hpp"
#include "coordinate_descent.hpp"
#include "crammer_singer.hpp"
#include "l1_model.hpp"
#include "perceptron.hpp"

namespace maxmargin::border {

using Numbers = Array<const Index, 1>;
using Floats = Array<const double, 1>;
using Output = Array<double, 1>;
using Mixed = std::tuple<double, double, double>;

template <class T>
void dense_rows(DataRows* self, const Array<const T, 2>& X) {
    new (self) DataRows(DenseRows<T>{X});
}

template <class T, class Column>
void sparse_rows(DataRows* self, const Array<const T, 1>& data,
                 const Array<const Column, 1>& indices, const Array<const Column, 1>& starts,
                 Index columns) {
    const Index rows = starts.length() - 1;
    require(rows >= 0 && starts.data()[0] == 0 && indices.size() == data.size() &&
                starts.data()[rows] <= Index(data.size()),
            "DataRows: data, indices and indptr do not agree");
    require(std::is_sorted(starts.data(), starts.data() + rows + 1),
            "DataRows: indptr is not sorted");
    for (Index e = 0; e < starts.data()[rows]; e++)
        require(indices.data()[e] >= 0 && indices.data()[e] < columns,
                "DataRows: indices names a column that is not there");
    const SparseRows<T, Column> X = {data.data(), indices.data(), starts.data(), rows, columns};
    new (self) DataRows(X);
}

Index count_of(const DataRows& rows) {
    return std::visit([](const auto& X) { return X.count(); }, rows);
}
Index columns_of(const DataRows& rows) {
    return std::visit([](const auto& X) { return X.columns(); }, rows);
}

void require_rows(const Numbers& some, const DataRows& rows) {
    for (std::size_t k = 0; k < some.size(); k++)
        require(some.data()[k] >= 0 && some.data()[k] < count_of(rows), "there is no such row");
}

// out_i = x_i . w
void scores(const DataRows& rows, const Floats& w, const Output& out) {
    require(w.length() == columns_of(rows) && out.length() == count_of(rows),
            "scores: w or out has not the length of a column or row of X");
    std::visit(
        [&](const auto& X) {
            for (Index i = 0; i < X.count(); i++) out.data()[i] = X.product(i, w.data());
        },
        rows);
}

// out_k = x_i . w of the k-th of some rows i
void scores_of(const DataRows& rows, const Numbers& some, const Floats& w, const Output& out) {
    require(w.length() == columns_of(rows) && out.size() == some.size(),
            "scores_of: w or out has the wrong length");
    require_rows(some, rows);
    std::visit(
        [&](const auto& X) {
            for (Index k = 0; k < some.length(); k++)
                out.data()[k] = X.product(some.data()[k], w.data());
        },
        rows);
}

// out += the sum of beta_i x_i
void combine(const DataRows& rows, const Floats& beta, const Output& out) {
    require(beta.length() == count_of(rows) && out.length() == columns_of(rows),
            "combine: beta or out has not the length of a row or column of X");
    std::visit(
        [&](const auto& X) {
            for (Index i = 0; i < X.count(); i++)
                if (beta.data()[i] != 0) X.add(i, beta.data()[i], out.data());
        },
        rows);
}

// w += the sum of coef_k x_i over some rows i
void add(const DataRows& rows, const Numbers& some, const Floats& coef, const Output& w) {
    require(w.length() == columns_of(rows) && coef.size() == some.size(),
            "add: w or coef has the wrong length");
    require_rows(some, rows);
    std::visit(
        [&](const auto& X) {
            for (Index k = 0; k < some.length(); k++)
                X.add(some.data()[k], coef.data()[k], w.data());
        },
        rows);
}

void squared_norms(const DataRows& rows, const Output& out) {
    require(out.length() == count_of(rows), "squared_norms: out has not the length of a column");
    std::visit(
        [&](const auto& X) {
            for (Index i = 0; i < X.count(); i++) out.data()[i] = X.squared_norm(i);
        },
        rows);
}

void products(const DataRows& rows, const Floats& weights, const Array<double, 2>& out) {
    const Index d = columns_of(rows);
    require(weights.length() == count_of(rows) && Index(out.shape(0)) == d &&
                Index(out.shape(1)) == d,
            "add_products: weights or products has the wrong shape");
    std::visit(
        [&]<class Rows>(const Rows& X) {
            if constexpr (Rows::SPARSE)
                add_products(X, weights.data(), out);
            else
                require(false, "add_products: the rows are not sparse");
        },
        rows);
}

void require_order(const Array<Index, 1>& order, Index count, Index active) {
    require(order.length() == count && 0 <= active && active <= count,
            "the order has not the length of a column of X");
    for (Index k = 0; k < count; k++)
        require(order.data()[k] >= 0 && order.data()[k] < count, "order: there is no such row");
}

Index sweep_variables(const DataRows& rows, const Array<double, 2>& variables, const Mixed& problem,
                      const Output& w, const Array<Index, 1>& order, SweepState& state,
                      double target, Index work) {
    const auto [epsilon, penalty, mean_square] = problem;
    require(Index(variables.shape(0)) == count_of(rows) && variables.shape(1) == 7 &&
                w.length() == columns_of(rows),
            "sweep: variables or w has not the shape that X asks for");
    require_order(order, count_of(rows), state.active);
    const auto each = reinterpret_cast<Variable*>(variables.data());
    return std::visit(
        [&](const auto& X) {
            return sweep(X, each, {epsilon, penalty, mean_square}, w.data(), order, state, target,
                         work);
        },
        rows);
}

void face(const DataRows& rows, const Output& x, const Output& slope, const Floats& q,
          const Floats& lower, const Floats& upper, bool sum_stays, double remaining,
          double rounding) {
    const Index n = count_of(rows);
    require(x.length() == n && slope.length() == n && q.length() == n && lower.length() == n &&
                upper.length() == n,
            "minimise_on_face: x, slope, q and bounds have not the length of a column of X");
    std::vector<double> p(n), w(columns_of(rows));
    const std::unique_ptr<bool[]> free(new bool[n]);
    std::fill_n(free.get(), n, true);
    std::visit(
        [&](const auto& X) {
            const Face problem = {x, slope.data(), q.data(), lower.data(), upper.data(), sum_stays};
            minimise_on_face(X, problem, {free.get(), p.data(), w}, remaining, rounding);
        },
        rows);
}

double l1_descent(const Array<const double, 2>& H, const Output& x, const Output& slope,
                  double enough, Index sweeps) {
    require(H.shape(0) == H.shape(1) && x.size() == H.shape(0) && slope.size() == x.size(),
            "descend_l1: H, x and slope differ in length");
    return descend_l1(H, x.data(), slope.data(), enough, sweeps);
}

Index sweep_classes(const DataRows& rows, const Array<double, 2>& alpha,
                    const Array<std::int32_t, 2>& live, const Array<Index, 1>& live_count,
                    const Array<const double, 2>& table, const Array<double, 2>& classes,
                    const Mixed& problem, const Strided<double>& W, const Array<Index, 1>& order,
                    ClassesState& state, double target, Index work) {
    const Index n = count_of(rows), k = Index(classes.shape(0));
    require(Index(alpha.shape(0)) == n && Index(live.shape(0)) == n && live_count.length() == n &&
                Index(table.shape(0)) == n && table.shape(1) == 3 && Index(alpha.shape(1)) == k &&
                Index(live.shape(1)) == k && classes.shape(1) == 3 && Index(W.shape(1)) == k &&
                Index(W.shape(0)) == columns_of(rows),
            "sweep_classes: the arrays do not agree");
    require_order(order, n, state.active);
    for (Index i = 0; i < n; i++)
        require(live_count.data()[i] >= 1 && live_count.data()[i] <= k,
                "sweep_classes: a row has more live classes than there are");
    std::vector<double> room(3 * k);
    const auto [penalty, mean_square, rounding] = problem;
    const ClassesWork arrays = {alpha,
                                live,
                                live_count.data(),
                                reinterpret_cast<const ClassesRow*>(table.data()),
                                {reinterpret_cast<ClassState*>(classes.data()), std::size_t(k)},
                                W,
                                order,
                                {room.data(), 3, k}};
    return std::visit(
        [&]<class Rows>(const Rows& X) {
            require((Rows::SPARSE ? arrays.W.column_step : arrays.W.row_step) == 1,
                    "sweep_classes: W is in the wrong order");
            const ClassesProblem given = {penalty, mean_square, rounding};
            return CrammerSinger(X, given, arrays).sweep(state, target, work);
        },
        rows);
}

void row_step(const Floats& alpha, const Floats& G, double cost, double square, const Output& step) {
    require(G.size() == alpha.size() && step.size() == alpha.size() && alpha.size() > 0,
            "best_row: alpha, G and step differ in length");
    best_row(alpha.data(), G.data(), alpha.length(), cost, square, step.data());
}

Index perceptron(const DataRows& rows, const Numbers& labels, const Floats& weights,
                 const Array<double, 2>& W, const Output& b, double one) {
    const Index n = count_of(rows);
    require(labels.length() == n && weights.length() == n && W.shape(0) == b.size() &&
                Index(W.shape(1)) == columns_of(rows),
            "perceptron_epoch: the arrays do not agree");
    for (Index i = 0; i < n; i++)
        require(labels.data()[i] >= 0 && labels.data()[i] < b.length(),
                "perceptron_epoch: there is no such class");
    std::vector<double> room(b.size());
    return std::visit(
        [&](const auto& X) {
            const ClassWeights model = {W, b.data(), one};
            return perceptron_epoch(X, labels.data(), weights.data(), model, room.data());
        },
        rows);
}

// out_k = z_i . w for the k-th of the rows i of Z; a negative i is left out.
template <class T>
void feature_scores(const Array<const T, 2>& Z, const Array<const std::int32_t, 1>& numbers,
              const Floats& w, const Output& out) {
    require(w.size() == Z.shape(1) && out.size() == numbers.size(),
            "feature_scores: w or out has the wrong length");
    for (Index k = 0; k < numbers.length(); k++) {
        const Index i = numbers.data()[k];
        require(i < Index(Z.shape(0)), "feature_scores: there is no such row");
        if (i >= 0) out.data()[k] = dot(Matrix<const T>(Z)[i], w.data(), w.length());
    }
}

// out += the sum of beta_k z_i for the k-th of the rows i of Z; a negative i is left out.
template <class T>
void combine_features(const Array<const T, 2>& Z, const Array<const std::int32_t, 1>& numbers,
                 const Floats& beta, const Output& out) {
    require(beta.size() == numbers.size() && out.size() == Z.shape(1),
            "combine_features: beta or out has the wrong length");
    for (Index k = 0; k < numbers.length(); k++) {
        const Index i = numbers.data()[k];
        require(i < Index(Z.shape(0)), "combine_features: there is no such row");
        if (i >= 0) add_multiple(beta.data()[k], Matrix<const T>(Z)[i], out.data(), out.length());
    }
}

// The sum of along_i clip(reach_i + t along_i, lower_i, upper_i).
double clipped_sum(const Floats& reach, const Floats& along, const Floats& lower,
                   const Floats& upper, double t) {
    using namespace maxmargin::detail;
    const Index n = reach.length();
    require(along.length() == n && lower.length() == n && upper.length() == n,
            "clipped_sum: the arrays differ in length");
    Doubles part = {};
    Index i = 0;
    for (; i + DOUBLES <= n; i += DOUBLES) {
        const Doubles way = load_doubles(along.data() + i), low = load_doubles(lower.data() + i);
        const Doubles high = load_doubles(upper.data() + i);
        Doubles value = load_doubles(reach.data() + i) + t * way;
        value = value < low ? low : value;
        part += way * (value > high ? high : value);
    }
    double sum = sum_of_lanes(part);
    for (; i < n; i++) {
        const double value = reach.data()[i] + t * along.data()[i];
        sum += along.data()[i] * std::min(std::max(value, lower.data()[i]), upper.data()[i]);
    }
    return sum;
}

void bind_linear(nb::module_& module) {
    nb::class_<DataRows>(module, "DataRows")
        .def("__init__", dense_rows<float>, nb::keep_alive<1, 2>())
        .def("__init__", dense_rows<double>, nb::keep_alive<1, 2>())
        .def("__init__", sparse_rows<float, std::int32_t>, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def("__init__", sparse_rows<double, std::int32_t>, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def("__init__", sparse_rows<float, std::int64_t>, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def("__init__", sparse_rows<double, std::int64_t>, nb::keep_alive<1, 2>(),
             nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    nb::class_<SweepState>(module, "SweepState")
        .def("__init__", [](SweepState* self) { new (self) SweepState{}; })
        .def_rw("offset", &SweepState::offset)
        .def_rw("total", &SweepState::total)
        .def_rw("mean_score", &SweepState::mean_score)
        .def_rw("highest", &SweepState::highest)
        .def_rw("lowest", &SweepState::lowest)
        .def_rw("violation", &SweepState::violation)
        .def_rw("gap", &SweepState::gap)
        .def_rw("active", &SweepState::active)
        .def_rw("random", &SweepState::random);
    nb::class_<ClassesState>(module, "ClassesState")
        .def("__init__", [](ClassesState* self) { new (self) ClassesState{}; })
        .def_rw("pinned", &ClassesState::pinned)
        .def_rw("distant", &ClassesState::distant)
        .def_rw("drift", &ClassesState::drift)
        .def_rw("violation", &ClassesState::violation)
        .def_rw("gap", &ClassesState::gap)
        .def_rw("active", &ClassesState::active)
        .def_rw("random", &ClassesState::random);
    define(module, "scores", scores);
    define(module, "scores_of", scores_of);
    define(module, "combine", combine);
    define(module, "add", add);
    define(module, "squared_norms", squared_norms);
    define(module, "add_products", products);
    define(module, "sweep", sweep_variables);
    define(module, "minimise_on_face", face);
    define(module, "descend_l1", l1_descent);
    define(module, "sweep_classes", sweep_classes);
    define(module, "best_row", row_step);
    define(module, "perceptron_epoch", perceptron);
    define(module, "feature_scores", feature_scores<float>);
    define(module, "feature_scores", feature_scores<double>);
    define(module, "combine_features", combine_features<float>);
    define(module, "combine_features", combine_features<double>);
    define(module, "clipped_sum", clipped_sum);
}

}  // namespace maxmargin::border
