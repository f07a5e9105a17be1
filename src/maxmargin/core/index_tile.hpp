// The tile for sparse rows of very many columns: an inverted index.
//
// See gram/index_tile.py. A column is the list of the left rows that have it, and z_k is added to t
// of these rows alone; a common column is laid out in full. Left rows come in groups whose t stays
// in the first-level cache.

#pragma once

#include <vector>

#include "sparse_tile.hpp"

namespace maxmargin {

constexpr std::uint32_t NONE = 0xFFFFFFFF;  // the number of no list
constexpr Index FEW = 24;  // right rows whose products are added in T: exact against fast

// Left rows, in groups: common columns, |x|^2 and 1 in full, and a list for each rare column.
//
// The lists of group g are firsts[g] <= l < lasts[g]. List l is about the column names[l]; it has
// values[e] in row members[e] of the group for starts[l] <= e < starts[l + 1].
template <class T>
struct InvertedIndex {
    Index width;
    Stack<T> full;  // (groups, common + 2, rows of a group)
    Span<std::int64_t> firsts, lasts;
    Span<std::int32_t> names;
    Span<std::int64_t> starts;
    Span<std::uint16_t> members;
    Span<T> values;
};

// Right rows: row j has values[k] in columns[k] for starts[j] <= k < stops[j]. The columns before
// middles[j] are common, and numbered as such.
template <class T>
struct IndexRows {
    Span<std::int64_t> starts, middles, stops;
    Span<std::int32_t> columns;
    Span<T> values;
};

// Lays out the groups start <= g < stop; whether every column exists.
template <class X, class T>
bool lay_groups(
    const CompressedRows<X>& rows, Span<const std::int64_t> numbers,
    Span<const std::int32_t> common, Index start, Index stop, const InvertedIndex<T>& left) {
    const Index d = left.full.rows - 2, size = left.full.columns;
    std::vector<std::uint32_t> list_of(rows.width, NONE);
    for (Index g = start; g < stop; g++) {
        const Index top = g * size, bottom = std::min(top + size, Index(numbers.size()));
        const Index first = left.firsts[g];
        const Matrix<T> full = left.full[g];
        Index last = first;
        for (Index r = top; r < bottom; r++) {
            double norm = 0;
            for (Index k = rows.starts[numbers[r]]; k < rows.starts[numbers[r] + 1]; k++) {
                const std::int32_t column = rows.columns[k];
                if (std::uint32_t(column) >= std::uint32_t(rows.width)) return false;
                norm += double(rows.values[k]) * double(rows.values[k]);
                if (common[column] >= 0) {
                    full[common[column]][r - top] = T(rows.values[k]);
                    continue;
                }
                if (list_of[column] == NONE) {
                    list_of[column] = std::uint32_t(last);
                    left.names[last] = column;
                    left.starts[last++] = 0;
                }
                left.starts[list_of[column]]++;
            }
            full[d][r - top] = T(norm);
            full[d + 1][r - top] = 1;
        }
        left.lasts[g] = last;
        Index place = first;
        for (Index l = first; l < last; l++) {
            const Index length = left.starts[l];
            left.starts[l] = place;
            place += length;
        }
        for (Index r = top; r < bottom; r++) {
            for (Index k = rows.starts[numbers[r]]; k < rows.starts[numbers[r] + 1]; k++) {
                const std::uint32_t l = list_of[rows.columns[k]];
                if (l == NONE) continue;
                left.members[left.starts[l]] = std::uint16_t(r - top);
                left.values[left.starts[l]++] = T(rows.values[k]);
            }
        }
        for (Index l = last; l > first; l--) {  // filling moved each start to the next one
            left.starts[l] = left.starts[l - 1];
            list_of[left.names[l - 1]] = NONE;
        }
        left.starts[first] = first;
    }
    return true;
}

// Right rows start <= r < stop: the two last entries first, then common and rare columns.
template <class X, class T>
bool copy_split(
    const CompressedRows<X>& rows, Span<const std::int64_t> numbers,
    Span<const std::int32_t> common, Index d, Factors factors, Index start, Index stop,
    const IndexRows<T>& right) {
    for (Index r = start; r < stop; r++) {
        Index front = right.starts[r] + 2, back = right.stops[r];
        double norm = 0;
        for (Index k = rows.starts[numbers[r]]; k < rows.starts[numbers[r] + 1]; k++) {
            const std::int32_t column = rows.columns[k];
            if (std::uint32_t(column) >= std::uint32_t(rows.width)) return false;
            norm += double(rows.values[k]) * double(rows.values[k]);
            const Index place = common[column] >= 0 ? front++ : --back;
            right.columns[place] = common[column] >= 0 ? common[column] : column;
            right.values[place] = T(factors.scale * double(rows.values[k]));
        }
        const Index first = right.starts[r];
        right.columns[first] = std::int32_t(d), right.values[first] = T(factors.square);
        right.columns[first + 1] = std::int32_t(d + 1);
        right.values[first + 1] = T(factors.square * norm + factors.offset);
        right.middles[r] = front;
    }
    return true;
}

// The products of left rows and right rows, a group of left rows after the other.
template <class T>
class IndexTile {
   public:
    IndexTile(const InvertedIndex<T>& left, const IndexRows<T>& rows)
        : left_(left), rows_(rows), list_of_(left.width, NONE), t_(whole(left.full.columns)) {}

    // out[g][i] += sum of coef[j] f(t) over start <= j < stop, for row i of group g.
    void weigh(
        const Form<T>& form, Span<const T> coef, Index start, Index stop, Matrix<double> out) {
        const Index size = left_.full.columns;
        std::vector<T> few(t_.size());
        for (Index g = 0; g < left_.full.count; g++) {
            enter(g);
            for (Index j = start; j < stop; j++) {
                multiply(g, j, size);
                apply(form, size, [&](Lanes<T> values, Index i) {
                    store(load<LANES<T>>(&few[i]) + coef[j] * values, &few[i]);
                });
                if ((j - start) % FEW != FEW - 1 && j != stop - 1) continue;
                for (Index i = 0; i < size; i++) out[g][i] += double(few[i]), few[i] = 0;
            }
            leave(g);
        }
    }

    // out[j][i] = factor f(t) for start <= j < stop; half: for i <= j, and mirrored.
    void fill(
        const Form<T>& form, bool half, bool add, Index start, Index stop, Matrix<T> out) {
        const Index n = out.columns, size = left_.full.columns;
        for (Index g = 0; g < left_.full.count; g++) {
            const Index first = g * size;
            enter(g);
            for (Index j = half ? std::max(start, first) : start; j < stop; j++) {
                const Index some = std::min(size, (half ? j + 1 : n) - first);
                multiply(g, j, some);
                T* to = out[j] + first;
                apply(form, some, [&](Lanes<T> values, Index i) {
                    if (!add && i + LANES<T> <= some) return store(values, to + i);
                    store(values, &t_[i]);
                    detail::put_some(&t_[i], std::min(LANES<T>, some - i), add, to + i);
                });
            }
            if (half) {
                const View<T> view = {out.data, out.rows, n, n, 1};
                mirror_rows(view, start, stop, first, std::min(first + size, n));
            }
            leave(g);
        }
    }

   private:
    InvertedIndex<T> left_;
    IndexRows<T> rows_;
    std::vector<std::uint32_t> list_of_;  // of each column, in the group entered
    std::vector<T> t_;                    // of the rows of a group

    static Index whole(Index count) { return (count + LANES<T> - 1) / LANES<T> * LANES<T>; }

    void enter(Index g) {
        for (Index l = left_.firsts[g]; l < left_.lasts[g]; l++)
            list_of_[left_.names[l]] = std::uint32_t(l);
    }

    void leave(Index g) {
        for (Index l = left_.firsts[g]; l < left_.lasts[g]; l++) list_of_[left_.names[l]] = NONE;
    }

    // Calls use(factor f(t), i) for registers of numbers from i on.
    template <class Use>
    void apply(const Form<T>& form, Index count, Use&& use) {
        with_values(form, [&](auto values) {
            for (Index i = 0; i < count; i += LANES<T>) use(values(load<LANES<T>>(&t_[i])), i);
        });
    }

    // t = <x, z_j> for the first `count` rows x of group g.
    void multiply(Index g, Index j, Index count) {
        const Matrix<T> full = left_.full[g];
        T* __restrict t = t_.data();
        const T* entries = left_.values.data();
        const std::uint16_t* members = left_.members.data();
        std::fill_n(t, count, T(0));
        for (Index k = rows_.starts[j]; k < rows_.middles[j]; k++) {
            const T z = rows_.values[k], *x = full[rows_.columns[k]];
            for (Index i = 0; i < count; i++) t[i] += z * x[i];
        }
        const Index stop = rows_.stops[j];
        for (Index k = rows_.middles[j]; k < stop; k++) {
            const std::uint32_t l = list_of_[rows_.columns[k]];
            if (l == NONE) continue;
            const T z = rows_.values[k];
            const Index last = left_.starts[l + 1];
            for (Index e = left_.starts[l]; e < last && members[e] < count; e++)
                t[members[e]] += z * entries[e];
        }
    }
};

}  // namespace maxmargin
