// The Python module; its name says for which CPUs it is built.

#include <nanobind/nanobind.h>

#include "border.hpp"
#include "simd.hpp"

namespace maxmargin::border {

// The best build that this CPU runs.
const char* best() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) return "avx512";
    if (__builtin_cpu_supports("x86-64-v3")) return "avx2";
#endif
    return "baseline";
}

}  // namespace maxmargin::border

NB_MODULE(MAXMARGIN_BUILD, module) {
    using namespace maxmargin;
    module.attr("CPU") = CPU;
    module.attr("UNIT") = int(UNIT);
    module.def("best", border::best);
    border::bind_tiles(module);
    border::bind_solvers(module);
    border::bind_linear(module);
    border::bind_machines(module);
}
