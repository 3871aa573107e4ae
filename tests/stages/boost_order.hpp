// Cuthill-McKee of Boost.Graph, the reference for correctness and speed of the stage.
#pragma once

#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// The Cuthill-McKee order, not reversed, from a pseudo-peripheral vertex of each component. Serial.
[[nodiscard]] std::vector<Index> boost_order(const Graph& graph);

}  // namespace workbench
