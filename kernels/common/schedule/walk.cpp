#include "kernels/common/schedule/walk.hpp"

namespace workbench {

void require_run_inside(Offset first, Offset count, Offset stride, Offset size) {
    // The last slot by division: the product may be beyond 64 bits where offsets were tampered with.
    const bool inside = first >= 0 && first < size && stride > 0 && (count - 1) <= (size - 1 - first) / stride;
    if (!inside) throw std::logic_error("a row's slots lie outside their array of " + std::to_string(size));
}

}  // namespace workbench
