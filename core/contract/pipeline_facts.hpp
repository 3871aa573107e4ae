// The properties of a pipeline that are known before a matrix is read, by which the recipe checker refuses recipes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/matrix/staged_matrix.hpp"

namespace workbench {

/// The preconditions of a stage or layout with given parameters.
struct Needs {
    bool square = false;                   // of the matrix; checked when it has been read
    std::vector<CutKind> cuts = {};        // kinds of cuts that must exist
    std::vector<ShareChoice> shares = {};  // shares that must exist; empty and not `unsplit`: any
    bool unsplit = false;                  // the nonzeros must not be split into shares
    bool columns_by_density = false;       // columns must descend in their number of nonzeros
};

/// Shares that a stage makes, possibly only with, or only without, cuts of an earlier stage.
struct GivesShares {
    ShareKind kind = ShareKind::all;
    std::optional<CutKind> only_with = {};
    std::optional<CutKind> only_without = {};
};

/// The preconditions and effects of a stage with given parameters.
struct StageContract {
    Needs needs = {};
    std::optional<Acts> acts = {};    // the axes that it reorders; none if it does not reorder the matrix
    std::vector<CutKind> keeps = {};  // kinds of cuts that remain valid
    std::vector<CutKind> gives_cuts = {};
    std::map<CutKind, std::int64_t> most_pieces = {};  // of its cuts, where the number does not depend on the matrix
    std::vector<GivesShares> gives_shares = {};        // empty: it does not split
    std::optional<ShareId> splits = {};                // the share that it splits; by default the whole matrix
    std::vector<ShareId> unites = {};                  // the shares that its one share replaces
    bool depends_on_precision = false;                 // it reads StageContext::precision, and runs once per precision
    bool gives_columns_by_density = false;             // its column order descends in the number of nonzeros
};

}  // namespace workbench
