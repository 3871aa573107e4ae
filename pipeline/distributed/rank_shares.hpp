// One rank's rows, split into what it multiplies with its own elements of x and what it needs others' for.
#pragma once

#include <vector>

#include "pipeline/contract/links.hpp"
#include "pipeline/distributed/rank_rows.hpp"

namespace workbench {

/// The shares `inside` and `outside` of stage split, where the parts are the ranks, in numbers of their own: a rank has all
/// rows of its part, and need not look at those of others.
struct RankShares {
    CsrMatrix inside;                 // [this rank's rows] x [its elements of x]
    CsrMatrix outside;                // [rows with entries outside] x [halo]
    std::vector<Index> outside_rows;  // which of this rank's rows each of those is
    std::vector<Index> halo_columns;  // [halo] the numbers over all ranks, ascending
    Index first_column = 0;           // of its elements of x
    std::vector<Index> places;        // of its elements of x, in the order in which others get them
    std::vector<HaloPlan::Part> send;
    std::vector<HaloPlan::Part> receive;

    /// What is exchanged where x stands in some order: place[i] is where its element i lies.
    [[nodiscard]] HaloPlan plan(std::span<const Index> place) const;
};

/// Called by all: each rank tells each other one, once, which elements of x it needs.
[[nodiscard]] RankShares split_by_rank(Ranks& ranks, RankRows rows);

}  // namespace workbench
