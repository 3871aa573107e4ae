// Reductions of one number per rank, with bit-identical results on all ranks.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "pipeline/contract/ranks.hpp"

namespace workbench {

/// Collective, like the functions below. The numbers in rank order.
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
