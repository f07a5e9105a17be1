// The tile for dense rows: a small matrix product whose sums stay in registers.
//
//     panels (n / PANEL, d + 2, PANEL)    (x, |x|^2, 1)
//     rows   (m / GROUP, d + 2, GROUP)    (scale z, square, square |z|^2 + offset)
//
// See gram/dense_tile.py. Of each column, PANEL left entries are two vectors, and GROUP right ones
// are multiplied with both: 2 GROUP sums, three quarters of all registers. More would not stay in
// them, fewer would load operands more often.

#pragma once

#include "tile.hpp"

namespace maxmargin {

template <class T>
constexpr Index PANEL = 2 * LANES<T>;
constexpr Index GROUP = 3 * REGISTERS / 8;
static_assert(BLOCK % GROUP == 0);

template <class T>
struct DenseTile {
    static constexpr Index WIDTH = PANEL<T>;
    Stack<const T> panels, rows;

    Index bytes_of_panel() const { return panels.rows * WIDTH * Index(sizeof(T)); }
    Index blocks_in(Index bytes) const {
        return std::max<Index>(1, bytes / (BLOCK * panels.rows * Index(sizeof(T))));
    }

    void multiply(Index block, Index p, T* t) const {
        for (Index g = 0; g < BLOCK; g += GROUP)
            multiply_group(rows[(block * BLOCK + g) / GROUP].data, panels[p].data, t + g * WIDTH);
    }

   private:
    void multiply_group(const T* z, const T* x, T* t) const {
        Lanes<T> sum[GROUP][2] = {};
        for (Index k = 0; k < panels.rows; k++, z += GROUP, x += WIDTH) {
            const Lanes<T> a = load<LANES<T>>(x), b = load<LANES<T>>(x + LANES<T>);
#pragma GCC unroll 12
            for (Index r = 0; r < GROUP; r++) {
                sum[r][0] += z[r] * a;
                sum[r][1] += z[r] * b;
            }
        }
#pragma GCC unroll 12
        for (Index r = 0; r < GROUP; r++) {
            store(sum[r][0], t + r * WIDTH);
            store(sum[r][1], t + r * WIDTH + LANES<T>);
        }
    }
};

// Rows numbers[start..stop] of X become (scale x, a + b |x|^2, c + d |x|^2), x moved by -shift,
// each at place r % WIDTH of group r / WIDTH of `out`.
struct Ends {
    double scale, a, b, c, d;
};

template <class X, class T>
void lay(
    View<const X> rows, Span<const std::int64_t> numbers, Span<const double> shift, Ends ends,
    Index start, Index stop, Stack<T> out) {
    const Index step = rows.column_step, width = out.columns;
    for (Index r = start; r < stop; r++) {
        const X* from = &rows(numbers[r], 0);
        T* to = out[r / width].data + r % width;
        double norm = 0;
#pragma omp simd reduction(+ : norm)
        for (Index k = 0; k < rows.columns; k++) {
            const T moved = T(from[k * step] - shift[k]);
            norm += double(moved) * double(moved);
        }
        for (Index k = 0; k < rows.columns; k++)
            to[k * width] = T(ends.scale) * T(from[k * step] - shift[k]);
        to[rows.columns * width] = T(ends.a + ends.b * norm);
        to[(rows.columns + 1) * width] = T(ends.c + ends.d * norm);
    }
}

}  // namespace maxmargin
