// Boost.Graph's Cuthill-McKee, as an oracle for the one of the stages and to be timed beside it.
#pragma once

#include <vector>

#include "stages/graph.hpp"

namespace workbench {

/// The vertices in the order of Cuthill and McKee, not reversed; a component begins at a vertex at its rim. One thread.
[[nodiscard]] std::vector<Index> boost_order(const Graph& graph);

}  // namespace workbench
