// Generated matrices and checks of their properties.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/contract/generator.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

using Given = std::map<std::string, ParameterValue>;

[[nodiscard]] inline ParameterValue whole(std::int64_t number) { return number; }

/// The matrix of a generator; parameters that are not given have their defaults.
[[nodiscard]] CsrMatrix made(const std::string& name, const Given& given);

/// The places of the generator's mesh; empty if there is none.
[[nodiscard]] std::vector<NodePlace> places_of(const std::string& name, const Given& given);

/// The error message: "PARAMETER: ..." for a ParameterError, "EXIT_CODE ..." for a UserError; "made" if there is none.
[[nodiscard]] std::string refusal(const std::string& name, const Given& given);

/// A hash of all bits of all arrays.
[[nodiscard]] std::uint64_t hash_of(const CsrMatrix& matrix);

}  // namespace workbench
