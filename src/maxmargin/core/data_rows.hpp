// The rows of the data matrix X of linear machines, dense or CSR, float32 or float64.
//
// A linear machine keeps w, the sum of beta_i x_i, and needs x_i . w and w += t x_i, one row at a
// time. Only here do dense and sparse rows differ. Sums are in float64 whatever X is.

#pragma once

#include <cstdint>
#include <variant>

#include "products.hpp"

namespace maxmargin {

template <class T>
struct DenseRows {
    static constexpr bool SPARSE = false;
    Matrix<const T> X;

    Index count() const { return X.rows; }
    Index columns() const { return X.columns; }
    double product(Index i, const double* w) const { return dot(X[i], w, X.columns); }
    void add(Index i, double t, double* w) const { add_multiple(t, X[i], w, X.columns); }
    double squared_norm(Index i) const { return dot(X[i], X[i], X.columns); }
};

template <class T, class Column>
struct SparseRows {
    static constexpr bool SPARSE = true;
    const T* data;
    const Column *indices, *starts;
    Index rows, width;

    Index count() const { return rows; }
    Index columns() const { return width; }
    double product(Index i, const double* w) const {
        double sum = 0;
        for_each(i, [&](Index k, double x) { sum += x * w[k]; });
        return sum;
    }
    void add(Index i, double t, double* w) const {
        for_each(i, [&](Index k, double x) { w[k] += t * x; });
    }
    double squared_norm(Index i) const {
        double sum = 0;
        for_each(i, [&](Index, double x) { sum += x * x; });
        return sum;
    }
    // Calls each(column, value) for what is stored of row i.
    template <class Each>
    void for_each(Index i, Each&& each) const {
        for (Index e = starts[i], end = starts[i + 1]; e < end; e++)
            each(Index(indices[e]), double(data[e]));
    }
};

using DataRows = std::variant<
    DenseRows<float>, DenseRows<double>, SparseRows<float, std::int32_t>,
    SparseRows<double, std::int32_t>, SparseRows<float, std::int64_t>,
    SparseRows<double, std::int64_t>>;

// The lower triangle of X' diag(weights) X is added to `products`; columns of a row are sorted.
template <class T, class Column>
void add_products(
    const SparseRows<T, Column>& X, const double* weights, Matrix<double> products) {
    for (Index i = 0; i < X.rows; i++) {
        if (weights[i] == 0) continue;
        for (Index a = X.starts[i]; a < X.starts[i + 1]; a++) {
            const double value = weights[i] * double(X.data[a]);
            double* line = products[X.indices[a]];
            for (Index b = X.starts[i]; b <= a; b++) line[X.indices[b]] += value * double(X.data[b]);
        }
    }
}

}  // namespace maxmargin
