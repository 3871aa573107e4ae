// Shared by the stages that place rows by their lengths: which rows, how far they may move, and the change.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pipeline/contract/stage.hpp"

namespace workbench {

/// Places rows of these lengths: gives the row in each place, as Permutation::from_old_of_new takes it. Called for many groups
/// of rows at a time, from all cores.
using PlaceRows = std::function<std::vector<Index>(std::span<const Index> lengths)>;

/// `within` and `apply`.
[[nodiscard]] std::vector<ParameterDeclaration> placement_parameters();

/// An order of the matrix, or of the storage in every tile. Throws ParameterError where `apply` and `within` do not go
/// together.
[[nodiscard]] StageContract placement_contract(const Parameters& parameters);

/// Places all rows, those of each partition, or those of each tile as they are stored in it. Where nodes are to stay whole,
/// they are placed by their longest rows.
[[nodiscard]] StageChange place_rows(const StagedMatrix& staged, const Parameters& parameters, const PlaceRows& place);

}  // namespace workbench
