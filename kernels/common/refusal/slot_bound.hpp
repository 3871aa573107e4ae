// The bound that a layout which stores zeros sets itself: beyond it the matrix is unsuitable.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "pipeline/contract/parameters.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

/// The declaration of the bound, for the layouts that have one.
[[nodiscard]] ParameterDeclaration slots_per_nonzero_parameter(double default_value);

/// How many slots a layout may have. No number: as many as fit into memory.
struct SlotBound {
    double slots_per_nonzero = std::numeric_limits<double>::infinity();
    std::string advice;  // what may need fewer slots, or allow more: "smaller blocks (block_size) have fewer"
};

/// Throws Unsuitable, with the figures and the advice, where the slots exceed the bound, or where they would not fit into
/// memory. `storage` says what would be stored: "2 diagonals of 40 rows". The slots are a real number because they may exceed
/// integers.
void require_bounded_slots(const std::string& storage, double slots, Offset nonzeros, std::size_t bytes_per_slot,
                           const SlotBound& bound);

}  // namespace workbench
