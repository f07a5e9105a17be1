// What crosses the border between Python and the core.
//
// An argument is one of the types below. Its dtype, its number of dimensions and its order in
// memory are checked when a function is called: another one is a TypeError, and nothing is ever
// converted, for the core would write to the copy. Shapes, and numbers of rows that come from
// users, are checked by `require`: a ValueError.
//
//     Array<double, 1>         written;  Array<const double, 2>: read (read-only arrays, too)
//     Strided<const float>     a matrix in any order
//     Optional<Array<...>>     may be None
//
// Functions take them by `const &` (or references to arrays would be given back without Python's
// lock) and are bound by `define`, which releases that lock. One name may be defined for several
// types: Python's call takes the first that fits.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>

#include "arrays.hpp"

namespace maxmargin::border {

namespace nb = nanobind;

template <class T, size_t N>
struct Array : nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu> {
    Index length() const { return Index(this->shape(0)); }
    operator Span<T>() const requires(N == 1) { return {this->data(), this->size()}; }
    operator Matrix<T>() const requires(N == 2) {
        return {this->data(), Index(this->shape(0)), Index(this->shape(1))};
    }
    operator Stack<T>() const requires(N == 3) {
        return {this->data(), Index(this->shape(0)), Index(this->shape(1)), Index(this->shape(2))};
    }
};

template <class T>
struct Strided : nb::ndarray<T, nb::ndim<2>, nb::device::cpu> {
    operator View<T>() const {
        return {this->data(), Index(this->shape(0)), Index(this->shape(1)), this->stride(0),
                this->stride(1)};
    }
};

template <class A>
using Optional = std::optional<A>;

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw nb::value_error(otherwise);
}

template <class Function>
void define(nb::module_& module, const char* name, Function function) {
    module.def(name, function, nb::call_guard<nb::gil_scoped_release>());
}

void bind_tiles(nb::module_&);
void bind_solvers(nb::module_&);
void bind_linear(nb::module_&);
void bind_machines(nb::module_&);

}  // namespace maxmargin::border

namespace nanobind::detail {

// As the caster of the ndarray, which is told never to convert.
template <class Array, class Base>
struct unconverted : type_caster<Base> {
    using Caster = type_caster<Base>;
    template <typename T_>
    using Cast = Array&;
    template <typename T_>
    static constexpr bool can_cast() {
        return true;
    }
    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        return Caster::from_python(source, flags & ~uint32_t(cast_flags::convert), cleanup);
    }
    operator Array&() { return static_cast<Array&>(this->value); }
    operator Array*() { return static_cast<Array*>(&this->value); }
};

template <class T, size_t N>
struct type_caster<maxmargin::border::Array<T, N>>
    : unconverted<maxmargin::border::Array<T, N>, ndarray<T, ndim<N>, c_contig, device::cpu>> {};

template <class T>
struct type_caster<maxmargin::border::Strided<T>>
    : unconverted<maxmargin::border::Strided<T>, ndarray<T, ndim<2>, device::cpu>> {};

}  // namespace nanobind::detail
