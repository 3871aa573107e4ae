// Shared by the stages that place rows by their lengths: the groups within which rows move, and the resulting change.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/contract/stage.hpp"

namespace workbench {

/// Returns the row in each place (list[new] = old) for rows of these lengths. Called concurrently for many groups of rows.
using PlaceRows = std::function<std::vector<Index>(std::span<const Index> lengths)>;

/// `within` and `apply`, followed by the stage's own parameter.
[[nodiscard]] std::vector<ParameterDeclaration> placement_parameters(ParameterDeclaration own);

/// The contract of an order of the matrix, or of the storage of every tile. Throws ParameterError for `apply` within tiles.
[[nodiscard]] StageContract placement_contract(const Parameters& parameters);

/// Places all rows, the rows of each partition, or the stored rows of each tile. Nodes are placed by their longest rows.
[[nodiscard]] StageChange place_rows(const StagedMatrix& staged, const Parameters& parameters, const PlaceRows& place);

}  // namespace workbench
