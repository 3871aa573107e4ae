// Ways to bring rows of like length together in every tile on a GPU: what gpu_row_placement.cpp compares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// Tiles of `rows` rows each, one after the other, and the nonzeros of each row.
struct TilesToPlace {
    Index rows = 0;
    std::vector<Index> lengths;  // [tiles * rows]

    [[nodiscard]] Index count() const { return static_cast<Index>(lengths.size()) / rows; }
};

struct GpuMethod {
    std::string name;
    std::vector<Index> places;    // [tiles * rows] which row of its tile is in each place
    std::vector<double> seconds;  // of each run, caches cold
};

/// Runs every method `repetitions` times. `groups`: of the dynamic program; `samples`: of the hash, one method each.
[[nodiscard]] std::vector<GpuMethod> place_on_gpu(const TilesToPlace& tiles, int repetitions, Index groups,
                                                  const std::vector<Index>& samples);

[[nodiscard]] std::string gpu_name();

}  // namespace workbench
