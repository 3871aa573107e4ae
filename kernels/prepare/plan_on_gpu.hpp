// Reorders a matrix that is on the GPU and stores it there in sliced ELL: of rows, of rows of blocks, or by parts.
#pragma once

#include "core/contract/device.hpp"
#include "core/contract/planned_matrix.hpp"
#include "core/contract/rounding.hpp"

namespace workbench {

/// For the PlanRunner of a GPU.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<PlannedMatrix<Value>> run_plan_on_gpu(const DevicePlan& plan, const CsrOnDevice<Value>& matrix,
                                                                    Device& device);

/// The integers that replace values in an exact comparison: equal ones have equal integers, so that their codings take them;
/// none if a coding takes no other values.
enum class Integers { by_place, by_value, none };

/// For PlannedMatrix::difference of a GPU. rounding: of the values that are stored.
template <ValueType Value>
[[nodiscard]] std::string difference_on_gpu(PlannedMatrix<Value>& planned, const CsrOnDevice<Value>& matrix, Integers integers,
                                            Rounding rounding, Device& device);

}  // namespace workbench
