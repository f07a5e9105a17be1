// The perceptron's rule for several classes: a row moves the weights of its own class toward it, and
// those of each class that scores as much away from it.

#pragma once

#include "data_rows.hpp"

namespace maxmargin {

// The weights w_k and offsets b_k of each class; `one` is what the offset is multiplied with.
struct ClassWeights {
    Matrix<double> W;
    double *b, one;
};

// Visits all rows once; returns the number of mistakes. `scores` is room for those of a row.
template <class Rows>
Index perceptron_epoch(
    const Rows& rows, const Index* labels, const double* weights, const ClassWeights& model,
    double* scores) {
    const Index classes = model.W.rows;
    Index mistakes = 0;
    for (Index i = 0; i < rows.count(); i++) {
        for (Index k = 0; k < classes; k++)
            scores[k] = rows.product(i, model.W[k]) + model.b[k];
        Index rivals = -1;  // not counting the own class
        for (Index k = 0; k < classes; k++) rivals += scores[k] >= scores[labels[i]];
        if (weights[i] == 0 || rivals == 0) continue;
        mistakes++;
        const double own = scores[labels[i]];
        for (Index k = 0; k < classes; k++) {
            if (!(scores[k] >= own)) continue;
            const double step = k == labels[i] ? weights[i] : -weights[i] / double(rivals);
            rows.add(i, step, model.W[k]);
            model.b[k] += step * model.one;
        }
    }
    return mistakes;
}

}  // namespace maxmargin
