// How many bytes a value will take, for stages that fit x, or a part of the matrix, into some memory.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/contract/stage.hpp"

namespace workbench {

/// `value_bytes`, which may be given where the values are not to be those of the run. `of_what`: what they are the size of.
[[nodiscard]] ParameterDeclaration value_bytes_parameter(const std::string& of_what);

/// Throws ParameterError where value_bytes is neither 4 nor 8.
void require_value_bytes(const Parameters& parameters);

/// What the recipe says, or else the size of a value in the precision that the stage runs for.
[[nodiscard]] std::int64_t bytes_of_value(const Parameters& parameters, const StageContext& context);

}  // namespace workbench
