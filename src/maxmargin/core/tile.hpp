// What a tile does with products: the function f, and then the sum or the entries.
//
// Left rows lie in panels, as many rows side by side as some registers hold: a column of them is a
// vector. Right rows come in blocks of BLOCK. A tile only has to know how to multiply:
//
//     tile.WIDTH                        rows of a panel
//     tile.multiply(block, panel, t)    t[r][l] = <row r of the block, row l of the panel>
//
// Entries of a block with a panel, f(t), stay in the first-level cache.

#pragma once

#include <algorithm>
#include <cstdint>

#include "form.hpp"
#include "mirror.hpp"

namespace maxmargin {

// All keep data in a cache; speed.md, "Constants", has the times with other values.
constexpr Index BLOCK = 24;         // right rows whose entries with a panel are in the first level
constexpr Index STRIP = 8 * BLOCK;  // right rows that are mirrored together, in the second level
constexpr Index CACHE = 1 << 18;    // bytes of right rows, or of panels, in the second level

// Right rows and panels of which a thread computes the entries.
struct Part {
    Index top, bottom, start, stop;
};

namespace detail {

// to[l] = from[l] for l < count, or to[l] += from[l]; value * UNIT, rounded, where 16 bits are stored.
template <class T, class Entry>
inline void put_some(const T* from, Index count, bool add, Entry* to) {
    for (Index l = 0; l < count; l++) {
        if constexpr (std::is_same_v<T, Entry>)
            to[l] = add ? to[l] + from[l] : from[l];
        else
            to[l] = Entry(std::int32_t(from[l] * T(UNIT) + T(0.5)));
    }
}

// As `put_some` for a register.
template <class T, class Entry>
inline void put(Lanes<T> values, Entry* to) {
    if constexpr (std::is_same_v<T, Entry>) {
        store(values, to);
    } else {  // CPUs convert to 32 bits only
        const Lanes<T> units = values * T(UNIT) + T(0.5);
        const auto wide = __builtin_convertvector(units, Vector<std::int32_t, LANES<T>>);
        store(__builtin_convertvector(wide, Vector<Entry, LANES<T>>), to);
    }
}

}  // namespace detail

// out[j][i] = factor f(t) for the right rows top <= j < bottom and the rows i of panels
// start <= p < stop; or out[j][i] += that, with `add`.
//
// If half: for i <= j, and out[i][j] = out[j][i], a strip of rows at a time while it is in the
// cache, so that the mirror image is written in long pieces. For each block as many panels as stay
// in the second-level cache take turns, so that rows of `out` are written in long pieces, too.
template <class Tile, class T, class Entry>
void fill(
    const Tile& tile, const Form<T>& form, bool half, bool add, Part part, Matrix<Entry> out) {
    constexpr Index WIDTH = Tile::WIDTH;
    const Index n = out.columns, step = 1 + CACHE / tile.bytes_of_panel();
    alignas(BYTES) T t[BLOCK * WIDTH];
    for (Index strip = part.top; strip < part.bottom; strip += STRIP) {
        const Index end_of_strip = std::min(strip + STRIP, part.bottom);
        for (Index first = part.start; first < part.stop; first += step) {
            for (Index j = strip; j < end_of_strip; j += BLOCK) {
                const Index rows = std::min(BLOCK, end_of_strip - j);
                Index last = std::min(first + step, part.stop);
                if (half) last = std::min(last, (j + BLOCK - 1) / WIDTH + 1);
                for (Index p = first; p < last; p++) {
                    tile.multiply(j / BLOCK, p, t);
                    const Index i = p * WIDTH, least = half ? j + 1 : n;
                    const bool whole = !add && rows == BLOCK && i + WIDTH <= least;
                    with_values(form, [&](auto values) {
                        for (Index r = 0; r < rows; r++) {
                            for (Index l = 0; l < WIDTH; l += LANES<T>) {
                                const Lanes<T> some = values(load<LANES<T>>(t + r * WIDTH + l));
                                if (whole)
                                    detail::put<T>(some, out[j + r] + i + l);
                                else
                                    store(some, t + r * WIDTH + l);
                            }
                        }
                    });
                    for (Index r = 0; r < rows && !whole; r++)
                        detail::put_some(
                            t + r * WIDTH, std::min((half ? j + r + 1 : n) - i, WIDTH), add,
                            out[j + r] + i);
                }
            }
            if (half) {
                const Index right = std::min((first + step) * WIDTH, n);
                const View<Entry> view = {out.data, out.rows, n, n, 1};
                mirror_rows(view, strip, end_of_strip, first * WIDTH, right);
            }
        }
    }
}

// out[p][l] += sum over j of coef[j] f(t) for the row l of each panel start <= p < stop.
//
// coef has a multiple of BLOCK numbers. Sums over a block are taken in T, sums over blocks in
// float64. As many blocks as stay in the second-level cache are multiplied with all panels.
template <class Tile, class T>
void weigh(
    const Tile& tile, const Form<T>& form, Span<const T> coef, Index start, Index stop,
    Matrix<double> out) {
    constexpr Index WIDTH = Tile::WIDTH, REGISTERS_OF = WIDTH / LANES<T>;
    const Index blocks = Index(coef.size()) / BLOCK, step = tile.blocks_in(CACHE);
    alignas(BYTES) T t[BLOCK * WIDTH];
    for (Index first = 0; first < blocks; first += step) {
        const Index last = std::min(first + step, blocks);
        for (Index p = start; p < stop; p++) {
            for (Index b = first; b < last; b++) {
                tile.multiply(b, p, t);
                Lanes<T> sum[REGISTERS_OF] = {}, rest[REGISTERS_OF] = {};  // of every other row
                with_values(form, [&](auto values) {
                    const T *c = coef.data() + b * BLOCK, *y = t;
                    for (Index r = 0; r < BLOCK; r += 2, y += 2 * WIDTH) {
                        for (Index v = 0; v < REGISTERS_OF; v++) {
                            sum[v] += c[r] * values(load<LANES<T>>(y + v * LANES<T>));
                            rest[v] += c[r + 1] * values(load<LANES<T>>(y + WIDTH + v * LANES<T>));
                        }
                    }
                });
                for (Index v = 0; v < REGISTERS_OF; v++)
                    for (Index l = 0; l < LANES<T>; l++) out[p][v * LANES<T> + l] += (sum[v] + rest[v])[l];
            }
        }
    }
}

}  // namespace maxmargin
