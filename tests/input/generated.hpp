// Generated matrices, and what is asked of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "pipeline/contract/parameters.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

using Given = std::map<std::string, ParameterValue>;

[[nodiscard]] inline ParameterValue whole(std::int64_t number) { return number; }

/// The matrix of a generator, of whose parameters the others have their defaults.
[[nodiscard]] CsrMatrix made(const std::string& name, const Given& given);

/// Why it is not made: "PARAMETER: ..." of a ParameterError, "EXIT_CODE ..." of a UserError; "made" where it is.
[[nodiscard]] std::string refusal(const std::string& name, const Given& given);

/// Every bit of every array.
[[nodiscard]] std::uint64_t hash_of(const CsrMatrix& matrix);

/// Can it be factorised as L L^T? Only the lower triangle is looked at.
[[nodiscard]] bool positive_definite(const CsrMatrix& matrix);

}  // namespace workbench
