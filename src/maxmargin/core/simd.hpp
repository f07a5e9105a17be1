// Vectors of numbers, by the vector types of GCC and Clang: the only place that knows the CPU.

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "arrays.hpp"

namespace maxmargin {

#if defined(__AVX512F__)
constexpr Index BYTES = 64, REGISTERS = 32;
constexpr const char* CPU = "AVX-512";
#elif defined(__AVX2__)
constexpr Index BYTES = 32, REGISTERS = 16;
constexpr const char* CPU = "AVX2";
#elif defined(__ARM_NEON)
constexpr Index BYTES = 16, REGISTERS = 32;
constexpr const char* CPU = "NEON";
#else
constexpr Index BYTES = 16, REGISTERS = 16;
constexpr const char* CPU = "baseline";
#endif

constexpr double UNIT = 65535;  // what 1 is stored as where entries in [0, 1] have 16 bits

namespace detail {
template <class T, Index COUNT>
struct VectorOf {
    typedef T type __attribute__((vector_size(COUNT * sizeof(T))));
};
}  // namespace detail

// COUNT numbers that are computed with at once.
template <class T, Index COUNT>
using Vector = typename detail::VectorOf<T, COUNT>::type;

// The numbers from a place in memory on, which need not be a multiple of anything.
template <Index COUNT, class T>
inline Vector<T, COUNT> load(const T* from) {
    Vector<T, COUNT> values;
    __builtin_memcpy(&values, from, sizeof values);
    return values;
}

// As many numbers as a register holds.
template <class T>
constexpr Index LANES = BYTES / Index(sizeof(T));
template <class T>
using Lanes = Vector<T, LANES<T>>;
template <class T>
using Whole = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;  // as wide as a T

// The same value in every lane.
template <class T>
inline Lanes<T> every(T value) {
    return value - Lanes<T>{};
}

template <class V, class T>
inline void store(V values, T* to) {
    __builtin_memcpy(to, &values, sizeof values);
}

}  // namespace maxmargin
