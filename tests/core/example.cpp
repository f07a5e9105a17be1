// The core without Python: a support vector machine is trained on a ring around a disk, and its
// duality gap proves how good it is: c++ -std=c++20 -O3 -I src/maxmargin/core example.cpp

#include <cstdio>
#include <vector>

#include "dense_tile.hpp"
#include "smo.hpp"

using namespace maxmargin;

int main() {
    constexpr Index n = 480, columns = 2;
    const Index panels = n / PANEL<double>, groups = n / GROUP;
    const double gamma = 1.4427, C = 1;  // of 2^(-gamma |x - z|^2)
    std::vector<double> X, y, p, lower, upper, beta(n), zero(columns), offset(1), sums(1), sides(3);
    std::vector<double> left(panels * 4 * PANEL<double>), right(groups * 4 * GROUP), K(n * n), one(n, 1);
    std::vector<std::int64_t> numbers;
    std::vector<std::int8_t> group(n);
    for (Index i = 0; i < n; i++) {
        const double radius = (i % 2 ? 0.9 : 0.0) + i * 0.618 - std::floor(i * 0.618);
        X.insert(X.end(), {radius * std::cos(double(i)), radius * std::sin(double(i))});
        y.push_back(i % 2 ? 1 : -1), p.push_back(-y[i]), numbers.push_back(i);
        lower.push_back(i % 2 ? 0 : -C), upper.push_back(i % 2 ? C : 0);
    }
    const View<const double> rows = {X.data(), n, columns, columns, 1};
    const Stack<double> P = {left.data(), panels, 4, PANEL<double>}, R = {right.data(), groups, 4, GROUP};
    lay<double, double>(rows, numbers, zero, {1, 0, 1, 1, 0}, 0, n, P);
    lay<double, double>(rows, numbers, zero, {2 * gamma, -gamma, 0, 0, -gamma}, 0, n, R);
    const DenseTile<double> tile = {{P.data, P.count, 4, P.columns}, {R.data, R.count, 4, R.columns}};
    fill(tile, Form<double>{Function::EXPONENTIAL, 0, 1}, true, false, {0, n, 0, panels}, Matrix<double>{K.data(), n, n});

    const Box box = {lower, upper, group, 1};
    std::vector<double> space(Scores<double>::space(n, 1)), gradient(p);
    Scores<double> scores(space.data(), box, one.data(), beta.data(), p.data());
    const Index steps = Smo(Rows<double>{{K.data(), n, n}}, 1, box, scores, beta.data()).solve(1e-6, 10000);
    for (Index i = 0; i < n; i++)
        for (Index j = 0; j < n; j++) gradient[i] += K[i * n + j] * beta[j];
    const Sides found(Matrix<double>{sides.data(), 3, 1});
    survey(box, beta.data(), gradient.data(), found);
    const Values values = values_of(box, p.data(), sums, beta.data(), gradient.data(), found, &sides[2]);
    const double gap = 2 * values.quadratic + values.slope + values.loss;
    std::printf("%td steps, violation %.1e, gap %.1e\n", steps, values.violation, gap / (values.quadratic + values.loss));
    return !(values.violation <= 1e-5 && gap <= 1e-5 * (values.quadratic + values.loss));
}
