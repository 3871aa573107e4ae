// What is known about a pipeline before any matrix is read: enough to refuse a recipe that cannot work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/matrix/staged_matrix.hpp"

namespace workbench {

/// What a stage or layout, with given parameters, must find before it.
struct Needs {
    bool square = false;                   // checked as soon as the matrix is read
    std::vector<CutKind> cuts = {};        // kinds of cuts that must be there
    std::vector<std::string> shares = {};  // shares that must be there; empty and not `unsplit`: any
    bool unsplit = false;                  // the nonzeros must not be split into shares
    bool columns_by_density = false;       // columns must be in descending order of their nonzeros
};

/// What a stage, with given parameters, does to what is known.
struct StageContract {
    Needs needs = {};
    std::optional<Acts> acts = {};    // none: it changes no order
    std::vector<CutKind> keeps = {};  // kinds of cuts that its order leaves valid
    std::vector<CutKind> gives_cuts = {};
    std::vector<std::string> gives_shares = {};  // empty: it does not split
    bool gives_columns_by_density = false;       // its order of the columns descends in their nonzeros
};

}  // namespace workbench
