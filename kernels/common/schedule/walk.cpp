#include "kernels/common/schedule/walk.hpp"

namespace workbench {

void require_run_inside(Offset first, Offset count, Offset stride, Offset size) {
    // A division, because count * stride may exceed 64 bits if offsets are corrupted.
    const bool inside = first >= 0 && first < size && stride > 0 && (count - 1) <= (size - 1 - first) / stride;
    if (!inside) throw std::logic_error("a row's slots lie outside their array of " + std::to_string(size));
}

}  // namespace workbench
