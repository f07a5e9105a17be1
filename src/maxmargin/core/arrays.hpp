// Arrays as the core sees them: numbers one after another in memory, and how many there are.

#pragma once

#include <cstddef>
#include <span>

namespace maxmargin {

using Index = std::ptrdiff_t;

template <class T>
using Span = std::span<T>;

// A matrix whose rows lie one after another.
template <class T>
struct Matrix {
    T* data;
    Index rows, columns;

    T* operator[](Index row) const { return data + row * columns; }
    Span<T> row(Index row) const { return {data + row * columns, std::size_t(columns)}; }
};

// Matrices of one shape, one after another.
template <class T>
struct Stack {
    T* data;
    Index count, rows, columns;

    Matrix<T> operator[](Index number) const {
        return {data + number * rows * columns, rows, columns};
    }
    Index size() const { return count * rows * columns; }
};

// A matrix whose entry (i, j) is data[i * row_step + j * column_step]: any view of an array.
template <class T>
struct View {
    T* data;
    Index rows, columns, row_step, column_step;

    T& operator()(Index row, Index column) const {
        return data[row * row_step + column * column_step];
    }
};

}  // namespace maxmargin
