// One number of each rank, and what all of them make: the same bits on all ranks.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "pipeline/contract/ranks.hpp"

namespace workbench {

/// Called by all, as those below. In the order of the ranks.
[[nodiscard]] inline std::vector<double> of_each(Ranks& ranks, double mine) {
    std::vector<double> all(ranks.size());
    ranks.gather(std::span(&mine, 1), all);
    return all;
}

[[nodiscard]] inline double sum_of(Ranks& ranks, double mine) {
    const std::vector<double> all = of_each(ranks, mine);
    return std::accumulate(all.begin(), all.end(), 0.0);
}

[[nodiscard]] inline double largest_of(Ranks& ranks, double mine) {
    const std::vector<double> all = of_each(ranks, mine);
    return *std::max_element(all.begin(), all.end());
}

}  // namespace workbench
