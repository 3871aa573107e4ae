// Collective operations: reductions, and failures shared by all ranks, so that they end together and report them once.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/contract/ranks.hpp"

namespace workbench {

/// One number per rank, in rank order. Collective, like the reductions below, which are bit-identical on all ranks.
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

/// A failure of some ranks, thrown on all ranks with the same text; rank 0 prints it.
struct RanksFailed : UserError {
    using UserError::UserError;
};

/// Collective; takes this rank's failure, if any. Throws RanksFailed on all ranks if any rank failed.
void agree(Ranks& ranks, const std::optional<Failure>& mine);

/// The exception being handled as a failure; an unsuitable layout counts as an InputError.
[[nodiscard]] Failure failure_of_rank();

/// Collective. Runs work that does not wait for other ranks, and throws RanksFailed on all ranks if it throws on any.
template <typename Work>
auto in_agreement(Ranks& ranks, const Work& work) {
    std::optional<decltype(work())> result;
    std::optional<Failure> failure;
    try {
        result.emplace(work());
    } catch (...) {
        failure = failure_of_rank();
    }
    agree(ranks, failure);
    return std::move(*result);
}

}  // namespace workbench
