// What gram/ calls: the tiles, and loops over rows of K.

#include "border.hpp"
#include "mirror.hpp"

namespace maxmargin::border {

template <class T>
void mirror(const Strided<T>& out) {
    View<T> view = out;
    require(view.rows == view.columns, "mirror: the matrix is not square");
    require(view.rows < 2 || (view.row_step == 1 || view.column_step == 1),
            "mirror: neither rows nor columns lie in one piece");
    maxmargin::mirror(view);
}

void bind_tiles(nb::module_& module) {
    define(module, "mirror", mirror<std::uint16_t>);
    define(module, "mirror", mirror<float>);
    define(module, "mirror", mirror<double>);
}

}  // namespace maxmargin::border
