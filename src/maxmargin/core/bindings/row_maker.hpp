// The Python class of `OnDemand`: which rows are there, and what makes the others.

#pragma once

#include "border.hpp"
#include "on_demand.hpp"

namespace maxmargin::border {

template <class T>
struct RowMaker {
    Array<bool, 1> made;
    Array<const T, 3> panels, rows;
    Form<T> form;

    // K with the rows of this maker.
    OnDemand<T, TileRow<T>> of(const Array<T, 2>& K) const {
        require(K.length() == made.length() && Index(K.shape(1)) <= panels.length() * PANEL<T>,
                "row maker: it makes the rows of another matrix");
        return {K, made, {panels, rows, form}};
    }
};

// The form as Python has it: no power is 2^t, a negative one tanh.
template <class T>
Form<T> form_of(std::optional<int> power, double factor) {
    if (!power) return {Function::EXPONENTIAL, 0, T(factor)};
    return {*power < 0 ? Function::TANH : Function::POWER, *power, T(factor)};
}

template <class T>
RowMaker<T> row_maker(
    const Array<bool, 1>& made, const Array<const T, 3>& panels, const Array<const T, 3>& rows,
    std::optional<int> power, double factor) {
    require(Index(panels.shape(2)) == PANEL<T> && Index(rows.shape(2)) == GROUP &&
                panels.shape(1) == rows.shape(1) && made.length() <= rows.length() * GROUP,
            "row maker: these are not panels and right rows");
    return {made, panels, rows, form_of<T>(power, factor)};
}

template <class T>
void make_row(const RowMaker<T>& maker, const Array<T, 2>& K, Index number) {
    require(0 <= number && number < maker.made.length(), "row maker: no row of this number");
    maker.of(K)(number);
}

template <class T>
void bind_row_maker(nb::module_& module, const char* name) {
    nb::class_<RowMaker<T>>(module, name)
        .def_prop_ro("made", [](const RowMaker<T>& maker) { return nb::ndarray<nb::numpy, bool>(maker.made); })
        .def("make", make_row<T>, nb::call_guard<nb::gil_scoped_release>());
    module.def("row_maker", row_maker<T>);
}

}  // namespace maxmargin::border
