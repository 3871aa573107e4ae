#include "kernels/common/refusal/value_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/contract/errors.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

template <>
void require_values_in_range<double>(const CsrMatrix&) {}

template <>
void require_values_in_range<float>(const CsrMatrix& matrix) {
    const double* values = matrix.values.data();
    const auto overflows = [=](std::int64_t i) {
        return std::isfinite(values[i]) && !std::isfinite(static_cast<float>(values[i]));
    };
    const std::int64_t count = count_in_parallel(matrix.nonzeros(), overflows);
    if (count == 0) return;
    double largest = 0;
    for (Offset i = 0; i < matrix.nonzeros(); ++i) {
        if (overflows(i)) largest = std::max(largest, std::abs(values[i]));
    }
    throw Unsuitable(fmt::format("{} of {} values are finite in f64 but not in f32 (the largest magnitude is {:.6g}): use f64",
                                 count, matrix.nonzeros(), largest));
}

}  // namespace workbench
