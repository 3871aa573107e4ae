// Failures of one rank that all ranks come to know, so that they end together and say so once.
#pragma once

#include <functional>
#include <optional>

#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/failure.hpp"
#include "pipeline/contract/ranks.hpp"

namespace workbench {

/// What failed on some ranks, thrown on all of them with one text: to be told by one.
struct RanksFailed : UserError {
    using UserError::UserError;
};

/// Called by all, with the failure of this rank, if any. Throws RanksFailed on all ranks where one has failed.
void agree(Ranks& ranks, const std::optional<Failure>& mine);

/// Of the exception that is being handled; a layout that does not suit is an input that the recipe cannot take.
[[nodiscard]] Failure failure_of_rank();

/// Called by all. Runs work in which this rank does not wait for another one, and throws RanksFailed on all where it threw on
/// one.
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
