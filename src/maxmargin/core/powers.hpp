// Kernel values of another width from the exponents of one: factor 2^(gamma min(t, 0)).

#pragma once

#include "form.hpp"

namespace maxmargin {

template <class T>
void powers(const T* t, T gamma, T factor, T* K, Index count) {
    constexpr Index L = LANES<T>;
    const auto value = [=](Lanes<T> exponents) { return factor * exp2<T>(gamma * exponents); };
    Index k = 0;
    for (; k + L <= count; k += L) store(value(load<L>(t + k)), K + k);
    Lanes<T> rest = {};
    for (Index l = 0; k + l < count; l++) rest[l] = t[k + l];
    rest = value(rest);
    for (Index l = 0; k + l < count; l++) K[k + l] = rest[l];
}

}  // namespace maxmargin
