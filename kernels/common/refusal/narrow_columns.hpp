// Refusals of layouts that store columns in 16 bits, counted from the first column of their piece.
#pragma once

#include <string>

#include "pipeline/matrix/cuts.hpp"

namespace workbench {

/// Throws Unsuitable where a piece has more columns than 16 bits reach. `advice` is what makes pieces smaller: "raise parts of
/// metis_partition".
void require_narrow(const Cuts& pieces, const std::string& advice);

}  // namespace workbench
