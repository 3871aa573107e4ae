#include "pipeline/distributed/rank_shares.hpp"

#include <algorithm>

#include "pipeline/distributed/messages.hpp"

namespace workbench {
namespace {

/// The columns outside [first, end), each once, ascending.
std::vector<Index> columns_outside(const CsrMatrix& matrix, Index first, Index end) {
    std::vector<Index> found;
    std::size_t sorted = 0;
    const auto tidy = [&] {
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(sorted), found.end());
        std::inplace_merge(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(sorted), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        sorted = found.size();
    };
    // Now and then, so that the list stays about as long as the halo.
    constexpr std::size_t most_unsorted = std::size_t{1} << 20;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (const Index column : matrix.row_columns(row)) {
            if (column < first || column >= end) found.push_back(column);
        }
        if (found.size() > 2 * sorted + most_unsorted) tidy();
    }
    tidy();
    return found;
}

}  // namespace

HaloPlan RankShares::plan(std::span<const Index> place) const {
    HaloPlan plan{{}, send, receive, static_cast<Index>(halo_columns.size())};
    plan.places.reserve(places.size());
    for (const Index element : places) plan.places.push_back(place[element]);
    return plan;
}

RankShares split_by_rank(Ranks& ranks, RankRows rows) {
    RankShares shares;
    const Index first = rows.column_ends[ranks.rank()];
    const Index end = rows.column_ends[ranks.rank() + 1];
    const CsrMatrix& matrix = rows.matrix;
    shares.first_column = first;
    shares.halo_columns = columns_outside(matrix, first, end);
    const std::vector<Index>& halo = shares.halo_columns;

    // A rank's elements of x have neighbouring numbers, so those of one rank stand together in the halo.
    std::vector<Bytes> wanted(ranks.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const auto begin = std::lower_bound(halo.begin(), halo.end(), rows.column_ends[rank]);
        const auto stop = std::lower_bound(begin, halo.end(), rows.column_ends[rank + 1]);
        const auto count = static_cast<Index>(stop - begin);
        if (count > 0) shares.receive.push_back({rank, static_cast<Index>(begin - halo.begin()), count});
        MessageWriter writer;
        writer.put_all(std::span<const Index>(begin, stop));
        wanted[rank] = writer.take();
    }
    const std::vector<Bytes> asked = ranks.exchange(wanted);
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const std::vector<Index> columns = MessageReader(asked[rank]).get_all<Index>();
        if (columns.empty()) continue;
        shares.send.push_back({rank, static_cast<Index>(shares.places.size()), static_cast<Index>(columns.size())});
        for (const Index column : columns) shares.places.push_back(column - first);
    }

    CsrMatrix& inside = shares.inside;
    CsrMatrix& outside = shares.outside;
    inside.rows = matrix.rows;
    inside.columns = end - first;
    outside.columns = static_cast<Index>(halo.size());
    inside.row_offsets.reserve(static_cast<std::size_t>(matrix.rows) + 1);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index column = matrix.column_indices[i];
            const bool is_inside = column >= first && column < end;
            CsrMatrix& share = is_inside ? inside : outside;
            share.column_indices.push_back(
                is_inside ? column - first
                          : static_cast<Index>(std::lower_bound(halo.begin(), halo.end(), column) - halo.begin()));
            share.values.push_back(matrix.values[i]);
        }
        inside.row_offsets.push_back(static_cast<Offset>(inside.values.size()));
        if (static_cast<Offset>(outside.values.size()) == outside.row_offsets.back()) continue;
        outside.row_offsets.push_back(static_cast<Offset>(outside.values.size()));
        shares.outside_rows.push_back(row);
    }
    outside.rows = static_cast<Index>(shares.outside_rows.size());
    return shares;
}

}  // namespace workbench
