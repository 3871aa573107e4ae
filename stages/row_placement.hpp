// Shared by the stages that place rows by their lengths: which rows, how far they may move, and the change.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/contract/stage.hpp"

namespace workbench {

/// Places rows of these lengths: gives the row in each place, as Permutation::from_old_of_new takes it. Called for many groups
/// of rows at a time, from all cores.
using PlaceRows = std::function<std::vector<Index>(std::span<const Index> lengths)>;

/// The same of many groups at once, by a preparer: all their lengths one after the other, and the first row of each group
/// [groups + 1]; gives the places counted from each group's first. Nothing: it leaves them to `PlaceRows`.
using PlaceTables =
    std::function<std::optional<std::vector<Index>>(std::span<const Index> lengths, std::span<const Offset> first)>;

/// `within` and `apply`.
[[nodiscard]] std::vector<ParameterDeclaration> placement_parameters();

/// An order of the matrix, or of the storage in every tile. Throws ParameterError where `apply` and `within` do not go
/// together.
[[nodiscard]] StageContract placement_contract(const Parameters& parameters);

/// Places all rows, those of each partition, or those of each tile as they are stored in it. Where nodes are to stay whole,
/// they are placed by their longest rows. `place_tables`: asked first; null: nobody is.
[[nodiscard]] StageChange place_rows(const StagedMatrix& staged, const Parameters& parameters, const PlaceRows& place,
                                     const PlaceTables& place_tables = nullptr);

}  // namespace workbench
