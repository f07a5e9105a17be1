// The largest of many numbers and its place, as many at a time as a vector register holds.
//
// A compiler that must respect NaN does not vectorise a loop whose result is a maximum, let alone
// its place. Here each lane of a register keeps its own maximum and the place of it; the lanes are
// compared with each other once, at the end. A NaN is never larger.

#pragma once

#include <limits>
#include <type_traits>

#include "simd.hpp"

namespace maxmargin {

template <class T>
constexpr T INFINITE = std::numeric_limits<T>::infinity();

// The numbers, rounded up to whole registers.
template <class T>
constexpr Index padded(Index count) {
    return (count + LANES<T> - 1) / LANES<T> * LANES<T>;
}

// As many numbers as a register holds, computed from entries that are stored as such or in 16 bits.
template <class T, class Entry>
inline Lanes<T> load_entries(const Entry* from) {
    if constexpr (std::is_same_v<T, Entry>) {
        return load<LANES<T>>(from);
    } else {
        auto wide = __builtin_convertvector(load<LANES<T>>(from), Vector<std::int32_t, LANES<T>>);
        return __builtin_convertvector(wide, Lanes<T>);
    }
}

namespace detail {

// Copies `count` < LIMIT numbers in a few pieces of known length.
template <Index LIMIT, class T>
inline void copy_some(const T* from, T* to, Index count) {
    if constexpr (constexpr Index half = LIMIT / 2; half > 0) {
        if (count & half) {
            __builtin_memcpy(to, from, half * sizeof(T));
            to += half, from += half;
        }
        copy_some<half>(from, to, count);
    }
}

}  // namespace detail

// As `load_entries` with fewer than a register holds, and zeros in the other lanes.
template <class T, class Entry>
inline Lanes<T> load_some_entries(const Entry* from, Index count) {
    Entry some[LANES<T>] = {};
    detail::copy_some<LANES<T>>(from, some, count);
    return load_entries<T>(some);
}

// Calls each(first, turn) for every register of n numbers, in turns of 0 and 1: a result of which
// each turn has one is waited for half as long.
template <class T, class Each>
inline void over(Index n, Each&& each) {
    Index k = 0;
    for (; k + 2 * LANES<T> <= n; k += 2 * LANES<T>) each(k, 0), each(k + LANES<T>, 1);
    if (k < n) each(k, 0);
    if (k + LANES<T> < n) each(k + LANES<T>, 1);
}

// Calls each(first, turn, values) as `over` does, with the n entries of a row.
template <class T, class Entry, class Each>
inline void over_row(const Entry* row, Index n, Each&& each) {
    const Index whole = n - n % LANES<T>;
    over<T>(whole, [&](Index k, int turn) { each(k, turn, load_entries<T>(row + k)); });
    if (whole < n) {
        const auto last = load_some_entries<T>(row + whole, n - whole);
        each(whole, whole / LANES<T> % 2, last);
    }
}

// Calls each(first, turn, values, values) as `over` does, with the n entries of two rows.
template <class T, class Entry, class Each>
inline void over_rows(const Entry* a, const Entry* b, Index n, Each&& each) {
    const Index whole = n - n % LANES<T>, left = n - whole;
    over<T>(whole, [&](Index k, int turn) {
        each(k, turn, load_entries<T>(a + k), load_entries<T>(b + k));
    });
    if (left) {
        const auto x = load_some_entries<T>(a + whole, left);
        const auto y = load_some_entries<T>(b + whole, left);
        each(whole, whole / LANES<T> % 2, x, y);
    }
}

template <class T>
inline Lanes<T> larger(Lanes<T> a, Lanes<T> b) {
    return a > b ? a : b;
}

namespace detail {

// The lanes from FIRST on, as many as there are numbers in the sequence.
template <Index FIRST, class V, Index... LANE>
inline auto lanes_from(V values, std::integer_sequence<Index, LANE...>) {
    return __builtin_shufflevector(values, values, (FIRST + LANE)...);
}

// The larger of each lane of the first half and its fellow of the second, and so on.
template <class T, Index COUNT>
inline T largest_of(Vector<T, COUNT> values) {
    if constexpr (COUNT == 1) {
        return values[0];
    } else {
        constexpr auto half = std::make_integer_sequence<Index, COUNT / 2>();
        const auto a = lanes_from<0>(values, half), b = lanes_from<COUNT / 2>(values, half);
        return largest_of<T, COUNT / 2>(a > b ? a : b);
    }
}

}  // namespace detail

template <class T>
inline T largest_lane(Lanes<T> values) {
    return detail::largest_of<T, LANES<T>>(values);
}

// A value and where it is.
template <class T>
struct Found {
    T value;
    Index place;
};

// The largest value seen so far in each lane, and its place, in two turns.
template <class T>
class Largest {
   public:
    explicit Largest(T least) : values_{every(least), every(least)} {
        for (Index l = 0; l < LANES<T>; l++) numbers_[l] = Whole<T>(l);
    }

    // Values that are at k, k + 1, ...: k rises from call to call.
    void see(Lanes<T> values, Index k, int turn) {
        const auto better = values > values_[turn];
        values_[turn] = better ? values : values_[turn];
        places_[turn] = better ? numbers_ + Whole<T>(k) : places_[turn];
    }

    // The largest of all, at the lowest place, if several have it; at 0 if none was above `least`.
    Found<T> found() const {
        constexpr auto nowhere = std::numeric_limits<Whole<T>>::min();
        const T most = largest_lane<T>(larger<T>(values_[0], values_[1]));
        const auto a = values_[0] == every(most) ? -places_[0] : nowhere;
        const auto b = values_[1] == every(most) ? -places_[1] : nowhere;
        return {most, -detail::largest_of<Whole<T>, LANES<T>>(a > b ? a : b)};
    }

   private:
    Lanes<T> values_[2];
    Vector<Whole<T>, LANES<T>> places_[2] = {}, numbers_;
};

}  // namespace maxmargin
