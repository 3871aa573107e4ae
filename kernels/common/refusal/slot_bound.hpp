// The most slots that a layout with padding accepts.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "core/contract/parameters.hpp"
#include "core/matrix/types.hpp"

namespace workbench {

/// The declaration of parameter slots_per_nonzero.
[[nodiscard]] ParameterDeclaration slots_per_nonzero_parameter(double default_value);

/// Default: the slots that fit into memory.
struct SlotBound {
    double slots_per_nonzero = std::numeric_limits<double>::infinity();
    std::string advice;  // how to need fewer slots, or allow more: "smaller blocks (block_size) have fewer"
};

/// Throws Unsuitable, with the figures and the advice, if the slots exceed the bound or the free memory. storage: "2 diagonals
/// of 40 rows". The slots are a real number because they may exceed integers.
void require_bounded_slots(const std::string& storage, double slots, Offset nonzeros, std::size_t bytes_per_slot,
                           const SlotBound& bound);

}  // namespace workbench
