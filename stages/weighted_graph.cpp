#include "stages/weighted_graph.hpp"

namespace workbench {

void sum_up(std::vector<Offset>& counts) {
    using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<Offset>>;
    Kokkos::parallel_scan("sum_up", Range(0, static_cast<Offset>(counts.size())), [&](Offset i, Offset& sum, bool last) {
        sum += counts[i];
        if (last) counts[i] = sum;
    });
}

}  // namespace workbench
