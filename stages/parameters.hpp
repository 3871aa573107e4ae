// Parameters that several stages share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/stage.hpp"

namespace workbench {

/// `seed` of a random number generator.
[[nodiscard]] ParameterDeclaration seed_parameter(Limits limits = between(0, largest_index));

/// `order`: descending or ascending. `items`: the items that come first if it descends, such as "longest rows".
[[nodiscard]] ParameterDeclaration direction_parameter(const std::string& items);
[[nodiscard]] bool descends(const Parameters& parameters);

/// `apply`: the axes that an order acts on. `remark`: appended to the help text.
[[nodiscard]] ParameterDeclaration apply_parameter(IfAbsent if_absent, std::vector<std::string> axes,
                                                   const std::string& remark = "");
/// The value of `apply`; Acts::symmetric if it is absent.
[[nodiscard]] Acts axes_of(const Parameters& parameters);

/// `value_bytes`, for values of another precision than that of the run. `purpose`: the beginning of the help text.
[[nodiscard]] ParameterDeclaration value_bytes_parameter(const std::string& purpose);
/// Throws ParameterError unless value_bytes is absent, 4 or 8.
void require_value_bytes(const Parameters& parameters);

/// Throws ParameterError unless exactly one of these parameters is given.
void require_one_of(const Parameters& parameters, const std::vector<std::string_view>& names);

}  // namespace workbench
