// Rows of K that are made when they are first asked for.

#pragma once

#include "dense_tile.hpp"

namespace maxmargin {

// K, of which rows that are not there yet are made by make(i, row).
template <class T, class Make>
struct OnDemand {
    static constexpr bool PADDED = false;
    Matrix<T> K;
    Span<bool> made;
    Make make;

    const T* operator()(Index i) const {
        if (!made[i]) {
            make(i, K.row(i));
            made[i] = true;
        }
        return K[i];
    }
};

// A row from the data, by the dense tile: panels, and right rows of all rows.
template <class T>
struct TileRow {
    Stack<const T> panels, rows;
    Form<T> form;

    void operator()(Index i, Span<T> row) const {
        const T* z = rows[i / GROUP].data + i % GROUP;
        with_values(form, [&](auto values) {
            Index p = 0;
            for (; (p + 4) * PANEL<T> <= Index(row.size()); p += 4) some<4>(z, p, values, row);
            for (; p * PANEL<T> < Index(row.size()); p++) some<1>(z, p, values, row);
        });
    }

   private:
    // The entries of COUNT panels, of which the last one may be longer than the row.
    template <Index COUNT, class Values>
    void some(const T* z, Index p, Values values, Span<T> row) const {
        Lanes<T> sum[COUNT][2] = {};
        for (Index k = 0; k < panels.rows; k++, z += GROUP) {
#pragma GCC unroll 4
            for (Index c = 0; c < COUNT; c++) {
                const T* x = panels[p + c][k];
                sum[c][0] += *z * load<LANES<T>>(x);
                sum[c][1] += *z * load<LANES<T>>(x + LANES<T>);
            }
        }
        alignas(BYTES) T entries[COUNT * PANEL<T>];
        for (Index c = 0; c < COUNT; c++) {
            store(values(sum[c][0]), entries + c * PANEL<T>);
            store(values(sum[c][1]), entries + c * PANEL<T> + LANES<T>);
        }
        const Index first = p * PANEL<T>, count = std::min(COUNT * PANEL<T>, Index(row.size()) - first);
        std::copy_n(entries, count, row.data() + first);
    }
};

// A row of a part of a matrix: which of its rows and columns.
template <class Entry, class T>
struct CopiedRow {
    Matrix<const Entry> matrix;
    Span<const std::int64_t> numbers;

    void operator()(Index i, Span<T> row) const {
        const Entry* from = matrix[numbers[i]];
        for (Index j = 0; j < Index(row.size()); j++) row[j] = T(from[numbers[j]]);
    }
};

}  // namespace maxmargin
