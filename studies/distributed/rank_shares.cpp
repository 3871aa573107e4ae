#include "studies/distributed/rank_shares.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "studies/distributed/messages.hpp"

namespace workbench {
namespace {

/// A set of columns with the rank of each member: one bit per column and one count per 64 columns.
class ColumnSet {
public:
    explicit ColumnSet(Index columns) : words_(static_cast<std::size_t>(columns) / 64 + 1, 0) {}

    void add(Index column) { words_[column / 64] |= std::uint64_t{1} << (column % 64); }

    /// All members, ascending; call it after the last add.
    [[nodiscard]] std::vector<Index> columns() {
        std::vector<Index> found;
        before_.reserve(words_.size());
        for (std::size_t word = 0; word < words_.size(); ++word) {
            before_.push_back(static_cast<Index>(found.size()));
            for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
                found.push_back(static_cast<Index>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
            }
        }
        return found;
    }

    /// The number of smaller members.
    [[nodiscard]] Index place(Index column) const {
        const std::uint64_t lower = words_[column / 64] & ((std::uint64_t{1} << (column % 64)) - 1);
        return before_[column / 64] + std::popcount(lower);
    }

private:
    std::vector<std::uint64_t> words_;
    std::vector<Index> before_;
};

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
    ColumnSet needed(matrix.columns);
    for (const Index column : matrix.column_indices) {
        if (column < first || column >= end) needed.add(column);
    }
    shares.halo_columns = needed.columns();
    const std::vector<Index>& halo = shares.halo_columns;

    // Each rank owns a range of columns, so its elements are contiguous in the halo.
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
            share.column_indices.push_back(is_inside ? column - first : needed.place(column));
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
