// What is known about a pipeline before any matrix is read; recipes that cannot work are refused by it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// What a stage or layout, with given parameters, must find before it.
struct Needs {
    bool square = false;                   // checked as soon as the matrix is read
    std::vector<CutKind> cuts = {};        // kinds of cuts that must be there
    std::vector<ShareChoice> shares = {};  // shares that must be there; empty and not `unsplit`: any
    bool unsplit = false;                  // the nonzeros must not be split into shares
    bool columns_by_density = false;       // columns must be in descending order of their nonzeros
};

/// Shares that a stage makes, perhaps only with, or only without, cuts that a stage before it has made.
struct GivesShares {
    ShareKind kind = ShareKind::all;
    std::optional<CutKind> only_with = {};
    std::optional<CutKind> only_without = {};
};

/// What a stage, with given parameters, does to what is known.
struct StageContract {
    Needs needs = {};
    std::optional<Acts> acts = {};    // none: it leaves the order of the matrix as it is
    std::vector<CutKind> keeps = {};  // kinds of cuts that its order leaves valid
    std::vector<CutKind> gives_cuts = {};
    std::map<CutKind, std::int64_t> most_pieces = {};  // of cuts that it gives, where it is known without the matrix
    std::vector<GivesShares> gives_shares = {};        // empty: it does not split
    bool depends_on_precision = false;                 // it asks for StageContext::precision, and runs anew for each
    bool gives_columns_by_density = false;             // its order of the columns descends in their nonzeros
};

}  // namespace workbench
