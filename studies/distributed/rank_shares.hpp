// Splits one rank's rows into the nonzeros that need its own elements of x and those that need other ranks' elements.
#pragma once

#include <vector>

#include "core/contract/links.hpp"
#include "studies/distributed/rank_rows.hpp"

namespace workbench {

/// Shares as made by the stage split, with ranks as parts, each in its own numbering.
struct RankShares {
    CsrMatrix inside;                 // [this rank's rows] x [its elements of x]
    CsrMatrix outside;                // [rows with nonzeros outside] x [halo]
    std::vector<Index> outside_rows;  // this rank's rows with nonzeros outside
    std::vector<Index> halo_columns;  // [halo] in the common numbering, ascending
    Index first_column = 0;           // of its elements of x, in the common numbering
    std::vector<Index> places;        // of its elements of x, in sending order
    std::vector<HaloPlan::Message> send;
    std::vector<HaloPlan::Message> receive;

    /// The exchange for a reordered x: place[i] is the position of this rank's element i.
    [[nodiscard]] HaloPlan plan(std::span<const Index> place) const;
};

/// Collective: each rank sends the others the list of elements that it needs from them.
[[nodiscard]] RankShares split_by_rank(Ranks& ranks, RankRows rows);

}  // namespace workbench
