// Sparse rows as lists: row i has values[k] in columns[k] for starts[i] <= k < starts[i + 1].

#pragma once

#include <cstdint>

#include "arrays.hpp"

namespace maxmargin {

template <class T>
struct CompressedRows {
    Span<const std::int64_t> starts;
    Span<const std::int32_t> columns;
    Span<const T> values;
    Index width;  // columns of the matrix

    Index rows() const { return Index(starts.size()) - 1; }
};

// counts[i + 1] = the numbers of row start <= i < stop that are not zero.
template <class X>
void count(View<const X> rows, Index start, Index stop, Span<std::int64_t> counts) {
    for (Index i = start; i < stop; i++) {
        std::int64_t found = 0;
        for (Index k = 0; k < rows.columns; k++) found += rows(i, k) != 0;
        counts[i + 1] = found;
    }
}

// The numbers of rows start <= i < stop that are not zero, and their columns, from starts[i] on.
template <class X>
void compress(
    View<const X> rows, Index start, Index stop, Span<const std::int64_t> starts,
    Span<std::int32_t> columns, Span<X> values) {
    for (Index i = start; i < stop; i++) {
        std::int64_t place = starts[i];
        for (Index k = 0; k < rows.columns; k++)
            if (const X value = rows(i, k); value != 0)
                columns[place] = std::int32_t(k), values[place++] = value;
    }
}

}  // namespace maxmargin
