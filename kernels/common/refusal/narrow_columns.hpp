// Refusals of layouts that store columns in 16 bits, relative to the first column of their piece.
#pragma once

#include <string>

#include "core/matrix/cuts.hpp"

namespace workbench {

/// Throws Unsuitable if a piece has more than 65536 columns. advice: how to make pieces smaller ("raise parts of
/// metis_partition").
void require_narrow(const Cuts& pieces, const std::string& advice);

}  // namespace workbench
