// The methods that gpu_row_placement.cpp compares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/matrix/types.hpp"

namespace workbench {

/// The row lengths of consecutive tiles of `rows` rows.
struct TilesToPlace {
    Index rows = 0;
    std::vector<Index> lengths;  // [tiles * rows]

    [[nodiscard]] Index count() const { return static_cast<Index>(lengths.size()) / rows; }
};

struct GpuMethod {
    std::string name;
    std::vector<Index> places;    // [tiles * rows] the row of the tile at each place
    std::vector<double> seconds;  // of each run, with cold caches
};

/// Runs every method `repetitions` times. `groups`: groups of the dynamic program; `samples`: sample sizes of the hash.
[[nodiscard]] std::vector<GpuMethod> place_on_gpu(const TilesToPlace& tiles, int repetitions, Index groups,
                                                  const std::vector<Index>& samples);

[[nodiscard]] std::string gpu_name();

}  // namespace workbench
