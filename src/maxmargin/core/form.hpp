// The form of a kernel that tiles compute: factor f(t), f a function of one inner product t.
//
//     RBF          f(t) = 2^min(t, 0)
//     sigmoid      f(t) = tanh t
//     polynomial   f(t) = t^power
//
// Beside the kernels of kernels/form.py, which say what t is.

#pragma once

#include <cmath>

#include "simd.hpp"

namespace maxmargin {

enum class Function { EXPONENTIAL, TANH, POWER };

template <class T>
struct Form {
    Function function;
    int power;
    T factor;
};

namespace detail {

// Constants of 2^t: bits of the mantissa, and the exponent below which the power is 0. A product
// below the smallest normal number, 2^-126 in float32, takes a hundred times as long as any other:
// with these entries no coefficient above 2^-62 makes one.
template <class T>
struct Exponential;

template <>
struct Exponential<float> {
    static constexpr int MANTISSA = 23, TERMS = 7;
    static constexpr float LEAST = -64;
};

template <>
struct Exponential<double> {
    static constexpr int MANTISSA = 52, TERMS = 14;
    static constexpr double LEAST = -1022;
};

// ln(2)^k / k!, of the Taylor series of 2^f.
constexpr double coefficient(int k) {
    double value = 1;
    for (int i = 1; i <= k; i++) value *= 0.693147180559945309417232121458 / i;
    return value;
}

template <class T, int... K>
inline Lanes<T> series(Lanes<T> f, std::integer_sequence<int, K...>) {
    constexpr int last = sizeof...(K) - 1;
    Lanes<T> power = every(T(coefficient(last)));
    ((K ? power = power * f + every(T(coefficient(last - K))) : power), ...);
    return power;
}

}  // namespace detail

// 2^min(t, 0), or 0 below 2^LEAST.
//
// 2^t = 2^n 2^f, n whole and |f| <= 1/2: Taylor's series of 2^f, and n added to its exponent. Adding
// the large number 1.5 2^MANTISSA rounds t to n and leaves n in the lowest bits.
template <class T>
inline Lanes<T> exp2(Lanes<T> t) {
    using Constants = detail::Exponential<T>;
    using Bits = Vector<Whole<T>, LANES<T>>;
    constexpr T large = T(1.5) * T(Whole<T>(1) << Constants::MANTISSA);
    t = t > 0 ? every(T(0)) : t;
    const Lanes<T> shifted = t + large;
    const Lanes<T> f = t - (shifted - large);
    const Lanes<T> power =
        detail::series<T>(f, std::make_integer_sequence<int, Constants::TERMS>());
    const Lanes<T> scaled = (Lanes<T>)((Bits)power + ((Bits)shifted << Constants::MANTISSA));
    return t < Constants::LEAST ? every(T(0)) : scaled;
}

// tanh t = sign(t) (1 - u) / (1 + u), u = exp(-2 |t|).
template <class T>
inline Lanes<T> tanh(Lanes<T> t) {
    using Bits = Vector<Whole<T>, LANES<T>>;
    const Bits sign = (Bits)t & (Bits)every(T(-0.0));
    const Lanes<T> size = (Lanes<T>)((Bits)t ^ sign);
    const Lanes<T> u = exp2<T>(size * T(-2 / 0.693147180559945309417232121458));
    return (Lanes<T>)((Bits)((1 - u) / (1 + u)) | sign);
}

// Calls use(values) with values(t) = factor f(t), a function of a register.
template <class T, class Use>
inline void with_values(const Form<T>& form, Use&& use) {
    const T factor = form.factor;
    if (form.function == Function::EXPONENTIAL && factor == 1) {
        use([](Lanes<T> t) { return exp2<T>(t); });
    } else if (form.function == Function::EXPONENTIAL) {
        use([=](Lanes<T> t) { return factor * exp2<T>(t); });
    } else if (form.function == Function::TANH) {
        use([=](Lanes<T> t) { return factor * tanh<T>(t); });
    } else {
        const int power = form.power;
        use([=](Lanes<T> t) {
            Lanes<T> product = power ? factor * t : every(factor);
            for (int k = 1; k < power; k++) product *= t;
            return product;
        });
    }
}

}  // namespace maxmargin
