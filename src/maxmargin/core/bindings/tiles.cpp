// What gram/ calls: the tiles, and loops over rows of K.

#include <algorithm>

#include "border.hpp"
#include "cached_rows.hpp"
#include "dense_tile.hpp"
#include "index_tile.hpp"
#include "mirror.hpp"
#include "row_maker.hpp"
#include "sparse_tile.hpp"

namespace maxmargin::border {

template <class T>
void mirror(const Strided<T>& out) {
    View<T> view = out;
    require(view.rows == view.columns, "mirror: the matrix is not square");
    require(view.rows < 2 || view.row_step == 1 || view.column_step == 1,
            "mirror: neither rows nor columns lie in one piece");
    maxmargin::mirror(view);
}

using Numbers = Array<const std::int64_t, 1>;

// That numbers start <= r < stop are of some of the rows.
void require_rows(const Numbers& numbers, Index start, Index stop, Index rows, const char* otherwise) {
    require(0 <= start && start <= stop && stop <= numbers.length(), otherwise);
    for (Index r = start; r < stop; r++)
        require(0 <= numbers.data()[r] && numbers.data()[r] < rows, otherwise);
}

template <class X, class T>
void lay(
    const Strided<const X>& source, const Numbers& numbers, const Array<const double, 1>& shift,
    double scale, double a, double b, double c, double d, Index start, Index stop,
    const Array<T, 3>& out) {
    const View<const X> rows = source;
    const Stack<T> to = out;
    require(rows.columns == shift.length() && to.rows == rows.columns + 2, "lay: columns differ");
    require(numbers.length() <= to.count * to.columns, "lay: more rows than places");
    require_rows(numbers, start, stop, rows.rows, "lay: no row of this number");
    maxmargin::lay<X, T>(rows, numbers, shift, {scale, a, b, c, d}, start, stop, to);
}

template <class T>
DenseTile<T> dense_tile(const Array<const T, 3>& panels, const Array<const T, 3>& rows) {
    DenseTile<T> tile = {panels, rows};
    require(tile.panels.columns == PANEL<T> && tile.rows.columns == GROUP &&
                tile.panels.rows == tile.rows.rows,
            "dense tile: these are not panels and right rows");
    return tile;
}

// The entries of a part, where rows and panels are in range.
template <class Tile, class T, class Entry>
void fill_part(
    const Tile& tile, Index right_rows, std::optional<int> power, double factor, bool half, bool add,
    const Part& part, const Array<Entry, 2>& out) {
    require(0 <= part.top && part.top % BLOCK == 0 &&
                part.bottom <= std::min(out.length(), right_rows) && 0 <= part.start &&
                part.stop <= tile.panels.count,
            "fill: rows or panels out of range");
    require(Index(out.shape(1)) > (part.stop - 1) * Tile::WIDTH && (!half || out.shape(0) == out.shape(1)),
            "fill: the entries have another shape");
    fill(tile, form_of<T>(power, factor), half, add, part, Matrix<Entry>(out));
}

template <class Tile, class T>
void weigh_part(
    const Tile& tile, Index right_rows, const Array<const T, 1>& coef, std::optional<int> power,
    Index start, Index stop, const Array<double, 2>& out) {
    require(coef.length() == right_rows && right_rows % BLOCK == 0,
            "weigh: one coefficient for each right row");
    require(0 <= start && stop <= std::min(tile.panels.count, out.length()) &&
                Index(out.shape(1)) == Tile::WIDTH,
            "weigh: panels out of range");
    weigh(tile, form_of<T>(power, 1), Span<const T>(coef), start, stop, Matrix<double>(out));
}

template <class T, class Entry>
void dense_fill(
    const Array<const T, 3>& panels, const Array<const T, 3>& rows, std::optional<int> power,
    double factor, bool half, bool add, Index top, Index bottom, Index start, Index stop,
    const Array<Entry, 2>& out) {
    fill_part<DenseTile<T>, T>(
        dense_tile(panels, rows), rows.length() * GROUP, power, factor, half, add,
        {top, bottom, start, stop}, out);
}

template <class T>
void dense_weigh(
    const Array<const T, 3>& panels, const Array<const T, 3>& rows, const Array<const T, 1>& coef,
    std::optional<int> power, Index start, Index stop, const Array<double, 2>& out) {
    weigh_part<DenseTile<T>, T>(
        dense_tile(panels, rows), rows.length() * GROUP, coef, power, start, stop, out);
}

template <class T>
void bind_dense(nb::module_& module) {
    define(module, "lay", lay<float, T>);
    define(module, "lay", lay<double, T>);
    define(module, "dense_fill", dense_fill<T, T>);
    define(module, "dense_fill", dense_fill<T, std::uint16_t>);
    define(module, "dense_weigh", dense_weigh<T>);
}

template <class X>
void count_nonzero(
    const Strided<const X>& source, Index start, Index stop, const Array<std::int64_t, 1>& counts) {
    const View<const X> rows = source;
    require(0 <= start && stop <= rows.rows && counts.length() == rows.rows + 1,
            "count_nonzero: rows out of range");
    count(rows, start, stop, Span<std::int64_t>(counts));
}

template <class X>
void compress(
    const Strided<const X>& source, Index start, Index stop, const Numbers& starts,
    const Array<std::int32_t, 1>& columns, const Array<X, 1>& values) {
    const View<const X> rows = source;
    require(0 <= start && stop <= rows.rows && starts.length() == rows.rows + 1 &&
                columns.length() == values.length() && starts.data()[rows.rows] <= columns.length(),
            "compress: rows out of range");
    maxmargin::compress<X>(rows, start, stop, starts, columns, values);
}

// A CSR matrix; its starts must be where its numbers are, its columns are checked when copied.
template <class X>
CompressedRows<X> compressed(
    const Numbers& starts, const Array<const std::int32_t, 1>& columns,
    const Array<const X, 1>& values, Index width, const Numbers& numbers, Index start, Index stop) {
    require(starts.length() > 0 && columns.length() == values.length(), "not a CSR matrix");
    require_rows(numbers, start, stop, starts.length() - 1, "no row of this number");
    for (Index r = start; r < stop; r++) {
        const std::int64_t *ends = starts.data() + numbers.data()[r];
        require(0 <= ends[0] && ends[0] <= ends[1] && ends[1] <= columns.length(),
                "not a CSR matrix: a row begins or ends where it has no numbers");
    }
    return {starts, columns, values, width};
}

constexpr const char* NO_COLUMN = "not a CSR matrix: a number is in a column that does not exist";

template <class X, class T>
void scatter(
    const Numbers& starts, const Array<const std::int32_t, 1>& columns,
    const Array<const X, 1>& values, const Numbers& numbers, Index start, Index stop,
    const Array<T, 3>& panels) {
    const Stack<T> to = panels;
    require(numbers.length() <= to.count * to.columns && to.rows >= 2, "scatter: more rows than places");
    const auto rows = compressed(starts, columns, values, to.rows - 2, numbers, start, stop);
    require(maxmargin::scatter(rows, Span<const std::int64_t>(numbers), start, stop, to), NO_COLUMN);
}

template <class X, class T>
void copy_rows(
    const Numbers& starts, const Array<const std::int32_t, 1>& columns,
    const Array<const X, 1>& values, Index width, const Numbers& numbers, double scale,
    double square, double offset, Index start, Index stop, const Numbers& to,
    const Array<std::int32_t, 1>& to_columns, const Array<T, 1>& to_values) {
    const auto rows = compressed(starts, columns, values, width, numbers, start, stop);
    require(to.length() > stop && to_columns.length() == to_values.length(), "copy_rows: no room");
    for (Index r = start; r < stop; r++) {
        const Index length = starts.data()[numbers.data()[r] + 1] - starts.data()[numbers.data()[r]];
        require(0 <= to.data()[r] && to.data()[r] + length + 2 <= to.data()[r + 1] &&
                    to.data()[r + 1] <= to_columns.length(),
                "copy_rows: no room");
    }
    require(copy<X, T>(rows, numbers, {scale, square, offset}, start, stop, to, to_columns, to_values),
            NO_COLUMN);
}

template <class T>
SparseTile<T> sparse_tile(
    const Array<const T, 3>& panels, const Numbers& starts,
    const Array<const std::int32_t, 1>& columns, const Array<const T, 1>& values) {
    const SparseTile<T> tile = {panels, {starts, columns, values, Index(panels.shape(1))}};
    require(tile.panels.columns == SparseTile<T>::WIDTH && starts.length() % BLOCK == 1 &&
                columns.length() == values.length() &&
                starts.data()[starts.length() - 1] <= columns.length(),
            "sparse tile: these are not panels and right rows");
    return tile;
}

template <class T, class Entry>
void sparse_fill(
    const Array<const T, 3>& panels, const Numbers& starts,
    const Array<const std::int32_t, 1>& columns, const Array<const T, 1>& values,
    std::optional<int> power, double factor, bool half, bool add, Index top, Index bottom,
    Index start, Index stop, const Array<Entry, 2>& out) {
    fill_part<SparseTile<T>, T>(
        sparse_tile(panels, starts, columns, values), starts.length() - 1, power, factor, half, add,
        {top, bottom, start, stop}, out);
}

template <class T>
void sparse_weigh(
    const Array<const T, 3>& panels, const Numbers& starts,
    const Array<const std::int32_t, 1>& columns, const Array<const T, 1>& values,
    const Array<const T, 1>& coef, std::optional<int> power, Index start, Index stop,
    const Array<double, 2>& out) {
    weigh_part<SparseTile<T>, T>(
        sparse_tile(panels, starts, columns, values), starts.length() - 1, coef, power, start, stop, out);
}

// The arrays of an InvertedIndex, and of IndexRows, as gram/index_tile.py has them.
template <class T>
InvertedIndex<T> inverted_index(
    Index width, const Array<T, 3>& full, const Array<std::int64_t, 1>& firsts,
    const Array<std::int64_t, 1>& lasts, const Array<std::int32_t, 1>& names,
    const Array<std::int64_t, 1>& starts, const Array<std::uint16_t, 1>& members,
    const Array<T, 1>& values) {
    require(full.length() == firsts.length() && full.length() == lasts.length() &&
                names.length() == starts.length() && members.length() == values.length() &&
                names.length() == members.length() && full.shape(1) >= 2,
            "index tile: these are not left rows");
    return {width, full, firsts, lasts, names, starts, members, values};
}

template <class T>
IndexRows<T> index_rows(
    const Array<std::int64_t, 1>& starts, const Array<std::int64_t, 1>& middles,
    const Array<std::int64_t, 1>& stops, const Array<std::int32_t, 1>& columns,
    const Array<T, 1>& values) {
    require(starts.length() == middles.length() && starts.length() == stops.length() &&
                columns.length() == values.length(),
            "index tile: these are not right rows");
    return {starts, middles, stops, columns, values};
}

template <class X, class T>
void index_lay(
    const Numbers& starts, const Array<const std::int32_t, 1>& columns,
    const Array<const X, 1>& values, const Numbers& numbers,
    const Array<const std::int32_t, 1>& common, Index start, Index stop, Index width,
    const Array<T, 3>& full, const Array<std::int64_t, 1>& firsts,
    const Array<std::int64_t, 1>& lasts, const Array<std::int32_t, 1>& names,
    const Array<std::int64_t, 1>& list_starts, const Array<std::uint16_t, 1>& members,
    const Array<T, 1>& entries) {
    const auto left = inverted_index(width, full, firsts, lasts, names, list_starts, members, entries);
    require(common.length() == width && 0 <= start && stop <= full.length(), "index_lay: out of range");
    const auto rows = compressed(starts, columns, values, width, numbers, 0, numbers.length());
    require(lay_groups(rows, Span<const std::int64_t>(numbers), Span<const std::int32_t>(common), start,
                       stop, left),
            NO_COLUMN);
}

template <class X, class T>
void index_copy(
    const Numbers& starts, const Array<const std::int32_t, 1>& columns,
    const Array<const X, 1>& values, const Numbers& numbers,
    const Array<const std::int32_t, 1>& common, Index full, double scale, double square,
    double offset, Index start, Index stop, const Array<std::int64_t, 1>& to,
    const Array<std::int64_t, 1>& middles, const Array<std::int64_t, 1>& stops,
    const Array<std::int32_t, 1>& to_columns, const Array<T, 1>& to_values) {
    const auto right = index_rows(to, middles, stops, to_columns, to_values);
    const auto rows = compressed(starts, columns, values, common.length(), numbers, start, stop);
    require(stop <= to.length(), "index_copy: out of range");
    require(copy_split(rows, Span<const std::int64_t>(numbers), Span<const std::int32_t>(common), full,
                       {scale, square, offset}, start, stop, right),
            NO_COLUMN);
}

template <class T>
void index_fill(
    Index width, const Array<T, 3>& full, const Array<std::int64_t, 1>& firsts,
    const Array<std::int64_t, 1>& lasts, const Array<std::int32_t, 1>& names,
    const Array<std::int64_t, 1>& list_starts, const Array<std::uint16_t, 1>& members,
    const Array<T, 1>& entries, const Array<std::int64_t, 1>& starts,
    const Array<std::int64_t, 1>& middles, const Array<std::int64_t, 1>& stops,
    const Array<std::int32_t, 1>& columns, const Array<T, 1>& values, std::optional<int> power,
    double factor, bool half, bool add, Index start, Index stop, const Array<T, 2>& out) {
    IndexTile<T> tile(
        inverted_index(width, full, firsts, lasts, names, list_starts, members, entries),
        index_rows(starts, middles, stops, columns, values));
    const Index size = Index(full.shape(2)), n = Index(out.shape(1));
    require(0 <= start && stop <= std::min(out.length(), starts.length()) &&
                (full.length() - 1) * size < n && n <= full.length() * size &&
                (!half || out.shape(0) == out.shape(1)),
            "index_fill: the entries have another shape");
    tile.fill(form_of<T>(power, factor), half, add, start, stop, Matrix<T>(out));
}

template <class T>
void index_weigh(
    Index width, const Array<T, 3>& full, const Array<std::int64_t, 1>& firsts,
    const Array<std::int64_t, 1>& lasts, const Array<std::int32_t, 1>& names,
    const Array<std::int64_t, 1>& list_starts, const Array<std::uint16_t, 1>& members,
    const Array<T, 1>& entries, const Array<std::int64_t, 1>& starts,
    const Array<std::int64_t, 1>& middles, const Array<std::int64_t, 1>& stops,
    const Array<std::int32_t, 1>& columns, const Array<T, 1>& values,
    const Array<const T, 1>& coef, std::optional<int> power, Index start, Index stop,
    const Array<double, 2>& out) {
    IndexTile<T> tile(
        inverted_index(width, full, firsts, lasts, names, list_starts, members, entries),
        index_rows(starts, middles, stops, columns, values));
    require(0 <= start && stop <= std::min(coef.length(), starts.length()) &&
                out.shape(0) == full.shape(0) && out.shape(1) == full.shape(2),
            "index_weigh: the sums have another shape");
    tile.weigh(form_of<T>(power, 1), Span<const T>(coef), start, stop, Matrix<double>(out));
}

template <class T, class Real>
void add_rows(
    const Array<const T, 2>& rows, const Numbers& places, const Array<const Real, 1>& coef,
    const Array<double, 1>& out, Index start, Index stop) {
    require(places.length() == coef.length() && coef.length() % TOGETHER == 0 && 0 <= start &&
                stop <= out.length() && out.length() == Index(rows.shape(1)),
            "add_rows: shapes differ");
    require_rows(places, 0, places.length(), rows.length(), "add_rows: no row of this number");
    maxmargin::add_rows<T, Real>(rows, places, coef, start, stop, out.data());
}

template <class T, class To>
void gather_entries(
    const Array<const T, 2>& rows, const Numbers& lines, const Numbers& columns,
    const Numbers& into, const Array<To, 2>& out, Index start, Index stop) {
    require(columns.length() == Index(out.shape(1)), "gather_entries: shapes differ");
    require_rows(lines, start, stop, rows.length(), "gather_entries: no row of this number");
    require_rows(into, start, stop, out.length(), "gather_entries: no line of this number");
    require_rows(columns, 0, columns.length(), Index(rows.shape(1)), "gather_entries: no column of this number");
    maxmargin::gather_entries<T, To>(rows, lines, columns, into, start, stop, out);
}

template <class T>
void complete(
    const Array<T, 2>& values, const Numbers& place, const Numbers& present, const Numbers& missing,
    const Array<const T, 2>& entries, Index start, Index stop) {
    const Index n = Index(values.shape(1));
    require(place.length() == n && 0 <= start && stop <= missing.length() &&
                entries.length() == missing.length() && entries.shape(0) == entries.shape(1),
            "complete: shapes differ");
    require_rows(present, 0, present.length(), n, "complete: no row of this number");
    require_rows(missing, 0, missing.length(), n, "complete: no row of this number");
    for (const Numbers* some : {&present, &missing})
        for (Index k = 0; k < some->length(); k++)
            require(0 <= place.data()[some->data()[k]] && place.data()[some->data()[k]] < values.length(),
                    "complete: no place of this number");
    maxmargin::complete<T>(values, place, present, missing, entries, start, stop);
}

template <class T>
void bind_sparse(nb::module_& module) {
    define(module, "count_nonzero", count_nonzero<T>);
    define(module, "compress", compress<T>);
    define(module, "scatter", scatter<float, T>);
    define(module, "scatter", scatter<double, T>);
    define(module, "copy_rows", copy_rows<float, T>);
    define(module, "copy_rows", copy_rows<double, T>);
    define(module, "sparse_fill", sparse_fill<T, T>);
    define(module, "sparse_fill", sparse_fill<T, std::uint16_t>);
    define(module, "sparse_weigh", sparse_weigh<T>);
    define(module, "index_lay", index_lay<float, T>);
    define(module, "index_lay", index_lay<double, T>);
    define(module, "index_copy", index_copy<float, T>);
    define(module, "index_copy", index_copy<double, T>);
    define(module, "index_fill", index_fill<T>);
    define(module, "index_weigh", index_weigh<T>);
}

template <class T>
void bind_cached_rows(nb::module_& module) {
    define(module, "add_rows", add_rows<T, T>);
    define(module, "gather_entries", gather_entries<T, float>);
    define(module, "gather_entries", gather_entries<T, double>);
    define(module, "complete", complete<T>);
}

void bind_tiles(nb::module_& module) {
    module.attr("BLOCK") = BLOCK;
    module.attr("GROUP") = GROUP;
    // By the bytes of a number: rows of a panel, and the exponent below which 2^t is 0.
    nb::dict dense, sparse, least;
    dense[nb::int_(4)] = PANEL<float>, dense[nb::int_(8)] = PANEL<double>;
    sparse[nb::int_(4)] = SparseTile<float>::WIDTH, sparse[nb::int_(8)] = SparseTile<double>::WIDTH;
    least[nb::int_(4)] = detail::Exponential<float>::LEAST;
    least[nb::int_(8)] = detail::Exponential<double>::LEAST;
    module.attr("LEAST") = least;
    module.attr("PANEL") = dense;
    module.attr("SPARSE_PANEL") = sparse;
    define(module, "mirror", mirror<std::uint16_t>);
    define(module, "mirror", mirror<float>);
    define(module, "mirror", mirror<double>);
    bind_row_maker<float>(module, "RowMaker32");
    bind_row_maker<double>(module, "RowMaker64");
    bind_dense<float>(module);
    bind_dense<double>(module);
    bind_sparse<float>(module);
    bind_sparse<double>(module);
    bind_cached_rows<float>(module);
    bind_cached_rows<double>(module);
    define(module, "add_rows", add_rows<float, double>);
}

}  // namespace maxmargin::border
