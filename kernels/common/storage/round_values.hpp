// Values that are rounded because a recipe says so (core/contract/rounding.hpp). A value array stores f32 or Bf16, without
// codes; all arithmetic is in the precision of the vectors.
#pragma once

#include "core/matrix/bf16.hpp"
#include "core/matrix/host_array.hpp"

namespace workbench {

/// To nearest. Throws Unsuitable where a finite value would become infinite.
[[nodiscard]] HostArray<float> round_to_f32(const HostArray<double>& values);
[[nodiscard]] HostArray<Bf16> round_to_bf16(const HostArray<double>& values);

/// All 65,536 numbers of bf16 by their bits, so that its arrays are decoded like codes with a dictionary.
[[nodiscard]] const float* numbers_of_bf16();

}  // namespace workbench
