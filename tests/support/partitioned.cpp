#include "support/partitioned.hpp"

#include <string>
#include <utility>

namespace workbench {
namespace {

Share share_where(ShareKind kind, const CsrMatrix& matrix, const std::vector<Index>& piece, bool inside) {
    Share share;
    share.id = {kind};
    for (Index row = 0; row < matrix.rows; ++row) {
        const std::size_t before = share.entries.size();
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if ((piece[row] == piece[matrix.column_indices[k]]) == inside) share.entries.push_back(k);
        }
        if (share.entries.size() == before) continue;
        share.rows.push_back(row);
        share.row_offsets.push_back(static_cast<Offset>(share.entries.size()));
    }
    return share;
}

}  // namespace

StagedMatrix partitioned(const CsrMatrix& matrix, std::vector<Index> boundaries) {
    StagedMatrix staged = stage_input(matrix);
    StageChange change;
    change.cuts = {Cuts{CutKind::partition, std::move(boundaries)}};
    const std::vector<Index> piece = change.cuts[0].pieces();
    change.shares = {share_where(ShareKind::inside, matrix, piece, true),
                     share_where(ShareKind::outside, matrix, piece, false)};
    apply(staged, change, {});
    return staged;
}

void reverse_rows(Share& share) {
    Share reversed{.id = share.id, .rows = {}, .entries = {}};
    for (std::size_t i = share.rows.size(); i-- > 0;) {
        reversed.rows.push_back(share.rows[i]);
        reversed.entries.insert(reversed.entries.end(), share.entries.begin() + share.row_offsets[i],
                                share.entries.begin() + share.row_offsets[i + 1]);
        reversed.row_offsets.push_back(static_cast<Offset>(reversed.entries.size()));
    }
    share = std::move(reversed);
}

}  // namespace workbench
