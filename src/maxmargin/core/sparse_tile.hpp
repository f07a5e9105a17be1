// The tile for sparse rows: products with zeros are left out.
//
//     panels (n / WIDTH, d + 2, WIDTH)    left rows in full: (x, |x|^2, 1)
//     rows                                right rows: lists of (scale z, square, square |z|^2 + offset)
//
// See gram/sparse_tile.py. A sum runs over the list of a right row; a column of a panel is loaded for
// it alone. Two sums, of every other column, hide the time of loads.

#pragma once

#include "compressed_rows.hpp"
#include "tile.hpp"

namespace maxmargin {

template <class T>
struct SparseTile {
    static constexpr Index WIDTH = 4 * LANES<T>;
    Stack<const T> panels;
    CompressedRows<T> rows;  // of even lengths

    Index bytes_of_panel() const { return panels.rows * WIDTH * Index(sizeof(T)); }
    Index blocks_in(Index) const { return rows.rows(); }  // a panel is the larger part

    void multiply(Index block, Index p, T* t) const {
        const T* panel = panels[p].data;
        for (Index j = block * BLOCK; j < (block + 1) * BLOCK; j++, t += WIDTH) {
            Lanes<T> sum[4] = {}, rest[4] = {};
            for (Index k = rows.starts[j]; k < rows.starts[j + 1]; k += 2) {
                const T z = rows.values[k], other_z = rows.values[k + 1];
                const T *x = panel + rows.columns[k] * WIDTH;
                const T *other_x = panel + rows.columns[k + 1] * WIDTH;
#pragma GCC unroll 4
                for (Index v = 0; v < 4; v++) {
                    sum[v] += z * load<LANES<T>>(x + v * LANES<T>);
                    rest[v] += other_z * load<LANES<T>>(other_x + v * LANES<T>);
                }
            }
#pragma GCC unroll 4
            for (Index v = 0; v < 4; v++) store(sum[v] + rest[v], t + v * LANES<T>);
        }
    }
};

// Left rows start <= r < stop, numbers[r] of X; whether every column exists.
template <class X, class T>
bool scatter(
    const CompressedRows<X>& rows, Span<const std::int64_t> numbers, Index start, Index stop,
    Stack<T> panels) {
    for (Index r = start; r < stop; r++) {
        T* to = panels[r / panels.columns].data + r % panels.columns;
        double norm = 0;
        for (Index k = rows.starts[numbers[r]]; k < rows.starts[numbers[r] + 1]; k++) {
            if (std::uint32_t(rows.columns[k]) >= std::uint32_t(rows.width)) return false;
            to[rows.columns[k] * panels.columns] = T(rows.values[k]);
            norm += double(rows.values[k]) * double(rows.values[k]);
        }
        to[rows.width * panels.columns] = T(norm);
        to[(rows.width + 1) * panels.columns] = 1;
    }
    return true;
}

// What a right row is made with: (scale z, square, square |z|^2 + offset).
struct Factors {
    double scale, square, offset;
};

// Right rows start <= r < stop, numbers[r] of Z, from starts[r] on; whether every column exists.
template <class X, class T>
bool copy(
    const CompressedRows<X>& rows, Span<const std::int64_t> numbers, Factors factors, Index start,
    Index stop, Span<const std::int64_t> starts, Span<std::int32_t> columns, Span<T> values) {
    for (Index r = start; r < stop; r++) {
        std::int64_t place = starts[r];
        double norm = 0;
        for (Index k = rows.starts[numbers[r]]; k < rows.starts[numbers[r] + 1]; k++) {
            if (std::uint32_t(rows.columns[k]) >= std::uint32_t(rows.width)) return false;
            columns[place] = rows.columns[k];
            values[place++] = T(factors.scale * double(rows.values[k]));
            norm += double(rows.values[k]) * double(rows.values[k]);
        }
        columns[place] = std::int32_t(rows.width), values[place] = T(factors.square);
        columns[place + 1] = std::int32_t(rows.width + 1);
        values[place + 1] = T(factors.square * norm + factors.offset);
    }
    return true;
}

}  // namespace maxmargin
