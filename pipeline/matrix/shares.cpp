#include "pipeline/matrix/shares.hpp"

namespace workbench {

Share reorder_rows(const Share& share, std::span<const Index> old_of_new) {
    Share ordered{share.name, {}, {0}, {}};
    ordered.rows.reserve(share.rows.size());
    ordered.row_offsets.reserve(share.row_offsets.size());
    ordered.entries.reserve(share.entries.size());
    for (const Index old : old_of_new) {
        ordered.rows.push_back(share.rows[old]);
        ordered.entries.insert(ordered.entries.end(), share.entries.begin() + share.row_offsets[old],
                               share.entries.begin() + share.row_offsets[old + 1]);
        ordered.row_offsets.push_back(static_cast<Offset>(ordered.entries.size()));
    }
    return ordered;
}

ShareView::ShareView(const CsrMatrix& whole) : row_count_(whole.rows), offsets_(whole.row_offsets.data()) {}

ShareView::ShareView(const Share& share)
    : row_count_(static_cast<Index>(share.rows.size())),
      rows_(share.rows.data()),
      offsets_(share.row_offsets.data()),
      entries_(share.entries.data()) {}

}  // namespace workbench
