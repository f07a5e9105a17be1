// Shapley values of sums of products over the players, by Gauss' rule (see explanations/shapley.py):
//
//     phi_j = (p_j - q_j) integral over t in [0, 1] of product over l != j of (q_l (1 - t) + p_l t)

#pragma once

#include "arrays.hpp"

namespace maxmargin {

// The rule's nodes and weights, and memory: line j of `work` is the product over the players before
// j, at each node; its last line is the product over the players after j.
struct GaussRule {
    Span<const double> nodes;
    const double* weights;
    Matrix<double> work;  // (players + 1, nodes)
};

// Adds phi of each row, player and function to `values`, of shape (rows, players, functions).
//
// p[i][r][j] and q[i][b][j] are the factors of vector i with row r and background row b, and
// coef[i][k] is its coefficient in function k.
inline void shapley_sums(
    Stack<const double> p, Stack<const double> q, Matrix<const double> coef, const GaussRule& rule,
    Stack<double> values) {
    const Index players = p.columns, count = Index(rule.nodes.size());
    const double* nodes = rule.nodes.data();
    double* after = rule.work[players];
    for (Index i = 0; i < p.count; i++) {
        for (Index r = 0; r < p.rows; r++) {
            for (Index b = 0; b < q.rows; b++) {
                const double *of_row = p[i][r], *of_background = q[i][b];
                for (Index t = 0; t < count; t++) {
                    rule.work[0][t] = rule.weights[t];
                    after[t] = 1;
                }
                for (Index j = 0; j + 1 < players; j++) {
                    const double low = of_background[j], rise = of_row[j] - low;
                    const double* before = rule.work[j];
                    double* next = rule.work[j + 1];
                    for (Index t = 0; t < count; t++) next[t] = before[t] * (low + rise * nodes[t]);
                }
                for (Index j = players - 1; j >= 0; j--) {
                    const double low = of_background[j], rise = of_row[j] - low;
                    const double* before = rule.work[j];
                    double total = 0;
                    for (Index t = 0; t < count; t++) {
                        total += before[t] * after[t];
                        after[t] *= low + rise * nodes[t];
                    }
                    for (Index k = 0; k < coef.columns; k++)
                        values[r][j][k] += coef[i][k] * rise * total;
                }
            }
        }
    }
}

}  // namespace maxmargin
